"""The seccomp filter that a confined program and all its descendants live under.

A deny-list: each rule closes something that namespaces, Landlock and resource limits leave open.
But calls that aren't named in syscalls.toml are refused, and three with hundreds of meanings
(fcntl, ioctl, prctl) have allow-lists. To change what a program may do, edit seccomp.toml.
Pure functions, but for reading these two files.
"""

import errno
import functools
import itertools
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from arena.sandbox import bpf
from arena.sandbox.bpf import Test
from arena.tables import table

_FILTER, _CALLS = table("sandbox/seccomp"), table("sandbox/syscalls")
RULES: Mapping[str, str] = _FILTER["rules"]
_CONSTANTS: Mapping[str, list[int]] = _FILTER["constants"] | {
    "MAIN_PROCESS": [bpf.MAIN_PROCESS],
    "MAIN_GROUP": [bpf.MAIN_GROUP],
}
_OFTEN = {call: int(n) for n, calls in _FILTER["often"].items() for call in calls.split()}
_PRETEND = 0  # instead of an errno: the call returns 0 and does nothing

_COMMON = dict(enumerate(_CALLS["common"].split(), start=_CALLS["common_from"]))
NEWEST = max(_COMMON)
CALLS: Mapping[str, Mapping[str, int]] = {
    machine: {
        name: number
        for number, name in (*enumerate(its["calls"].split()), *_COMMON.items())
        if name != "-"
    }
    for machine, its in _CALLS["machines"].items()
}
"""For each machine, as `uname -m` names it, the number of each call by name."""
_X32 = 0x4000_0000  # on x86_64 this bit in a number selects a third convention, of 32-bit pointers


class _Denial(NamedTuple):
    rule: str
    call: str
    errno: int
    tests: tuple[Test, ...]
    pretend: bool  # with `metadata="pretend"` the call seems to succeed


def _denials() -> Iterator[_Denial]:
    for line in _FILTER["refused"].splitlines():
        if line and line[0] != "#":
            head, _, conditions = line.partition(":")
            rule, number, *calls = head.split()
            tests = tuple(_test(*each.split()) for each in conditions.split(",") if each)
            for call in calls:
                value = _PRETEND if number == "0" else getattr(errno, number)
                yield _Denial(rule, call.removeprefix("~"), value, tests, call[0] == "~")


def _test(argument: str, relation: str, *names: str) -> Test:
    number, _, mask = argument.partition("&")
    values = tuple(value for name in names for value in _CONSTANTS[name])
    if relation == "least":
        return Test(int(number), least=values[0])
    assert relation in {"is", "not"}
    bits = _CONSTANTS[mask][0] if mask else bpf.ALL_BITS
    return Test(int(number), values, inside=relation == "is", mask=bits)


_TABLE = tuple(_denials())


def supported(machine: str | None = None) -> bool:
    """Whether there is a filter for `machine` (as `uname -m` says; this one if None)."""
    if machine is None:
        # A 32-bit Python on a 64-bit kernel makes calls by another convention.
        return sys.maxsize > 2**32 and os.uname().machine in CALLS
    return machine in CALLS


def program(
    *,
    metadata: Literal["allow", "deny", "pretend"],
    locks: bool,
    signals: bool,
    truncation: bool = False,
    timers: bool = False,
    without: Collection[str] = (),
    machine: str | None = None,
) -> bytes:
    """The filter as an array of struct sock_filter.

    `metadata`: what happens to changes of files' modes, owners, times and attributes; "pretend"
    lets those seem to succeed that builds rely on. `locks`: allow file locks, which builds need.
    `signals`, `truncation`, `timers`: include the rules of these names; a filter with "signals" is
    completed by `bpf.for_process`. `without` leaves out rules, to test each guard.
    """
    machine = machine or os.uname().machine
    if not supported(machine):
        raise ValueError(
            f"no system call filter for {machine}: there is one for {' and '.join(sorted(CALLS))}"
        )
    if unknown := set(without) - RULES.keys():
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
    out = {*without, *(["metadata", "attributes"] if metadata == "allow" else [])}
    optional = {"locks": not locks, "signals": signals, "truncation": truncation, "timers": timers}
    out |= {rule for rule, wanted in optional.items() if not wanted}
    return _program(machine, frozenset(RULES.keys() - out), metadata == "pretend")


@functools.lru_cache(maxsize=16)  # a handful of kinds of programs; more are tests'
def _program(machine: str, rules: frozenset[str], pretend: bool) -> bytes:  # noqa: FBT001 - hashed
    leaves: dict[str, bpf.Leaf] = {}
    for denial in _TABLE:
        if denial.rule in rules:
            number = _PRETEND if pretend and denial.pretend else denial.errno
            clause = bpf.Clause(denial.tests, bpf.fail(number))
            leaves[denial.call] = (*leaves.get(denial.call, ()), clause)
    foreign = bpf.KILL if "architecture" in rules else bpf.ALLOW
    arch = _CALLS["machines"][machine]["arch"]
    return bpf.assemble(arch, foreign, tuple(_spans(machine, rules, leaves)))


def _spans(
    machine: str, rules: frozenset[str], leaves: Mapping[str, bpf.Leaf]
) -> Iterator[bpf.Span]:
    """All call numbers in order; neighbours with the same leaf are one span."""
    missing: bpf.Leaf = (bpf.Clause((), bpf.fail(errno.ENOSYS)),)
    unknown = missing if "unknown" in rules else ()
    whole = [(number, unknown, 0) for number in range(NEWEST + 1)]
    for name, number in CALLS[machine].items():
        whole[number] = (number, leaves.get(name, ()), _OFTEN.get(name, 0))
    # The rest up to 32 bits; above the bit x32 are the numbers that are negative.
    whole.append((NEWEST + 1, unknown, 0))
    if machine == "x86_64":
        whole += [(_X32, missing if "x32" in rules else (), 0), (2 * _X32, unknown, 0)]
    for leaf, run in itertools.groupby(whole, key=lambda entry: entry[1]):
        same = list(run)
        yield bpf.Span(same[0][0], leaf, 1 + sum(weight for _, _, weight in same))
