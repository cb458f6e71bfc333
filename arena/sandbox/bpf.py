"""Assemble a seccomp filter: classic BPF that searches a tree of system call numbers.

Everything is built bottom-up from finished, position-independent pieces: a jump only goes forward
over pieces whose length is known, so its 8 bits are checked where it is made. Paths that test no
argument use only instructions that the kernel (since 5.11) can evaluate in advance: it then doesn't
run the filter at all for a number that is always allowed.

seccomp shows 64 bits of each argument, but the calls tested here declare an int, an unsigned int,
or flags of which all bits that matter are low. The kernel ignores the high half of those, and a
filter that compared it could be passed with garbage there: a test sees the low half alone.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

_LOAD = 0x20  # A = 32 bits of struct seccomp_data at k
_AND = 0x54
_RETURN = 0x06
_JUMP = 0x05
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35

_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16

_FAR = 255  # the longest conditional jump
_LONGEST = 4096  # the kernel's limit for one filter, in instructions
ALLOW = 0x7FFF_0000
KILL = 0x8000_0000
_ERRNO = 0x0005_0000
ALL_BITS = 0xFFFF_FFFF

# More than any pid can be: a filter in which this was not replaced lets no process be signalled.
MAIN_PROCESS = 0x7FFF_FF11
MAIN_GROUP = -MAIN_PROCESS & ALL_BITS
Instruction = tuple[int, int, int, int]  # struct sock_filter: code, jt, jf, k


class Test(NamedTuple):
    """A comparison of an argument: one of `values` (not `inside`: none of them), or >= `least`."""

    argument: int
    values: tuple[int, ...] = ()
    inside: bool = True
    mask: int = ALL_BITS
    least: int = 0


class Clause(NamedTuple):
    """What becomes of a call if all tests hold; if not, the next clause decides."""

    tests: tuple[Test, ...]
    action: int


Leaf = tuple[Clause, ...]  # the clauses for one call in their order; past the last it is allowed


def fail(number: int) -> int:
    """The action that makes a call return an errno; 0: it seems to have succeeded."""
    return _ERRNO | number


class Span(NamedTuple):
    """Consecutive call numbers with the same leaf, up to the next span."""

    first: int
    leaf: Leaf
    weight: int  # how often they are called, compared with others


def assemble(machine: int, foreign: int, spans: Sequence[Span]) -> bytes:
    """The whole program; calls by another convention than `machine` get the action `foreign`."""
    code = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_IF_EQUAL, 1, 0, machine),
        (_RETURN, 0, 0, foreign),
        (_LOAD, 0, 0, _NUMBER_AT),
        *_tree(spans),
    ]
    if len(code) > _LONGEST:
        raise AssertionError(f"a filter of {len(code)} instructions")
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def for_process(program: bytes, pid: int) -> bytes:
    """The filter adapted to the main process `pid`, as it numbers itself."""
    if not 0 < pid < MAIN_PROCESS:
        raise ValueError(f"no pid: {pid}")
    constants = {MAIN_PROCESS: pid, MAIN_GROUP: -pid & ALL_BITS}
    found = bytearray(program)
    for at in range(0, len(program), 8):
        operation, _, _, constant = struct.unpack_from("=HBBI", program, at)
        if operation == _IF_EQUAL and constant in constants:
            struct.pack_into("=I", found, at + 4, constants[constant])
    return bytes(found)


def _tree(spans: Sequence[Span]) -> list[Instruction]:
    """Halve by weight, so that a call that is often made is found after few comparisons."""
    if len(spans) == 1:
        return _leaf(spans[0].leaf)
    half = sum(span.weight for span in spans) / 2
    at, passed = 1, spans[0].weight
    while at < len(spans) - 1 and passed + spans[at].weight / 2 < half:
        passed += spans[at].weight
        at += 1
    below, above = _tree(spans[:at]), _tree(spans[at:])
    first = spans[at].first
    if len(below) <= _FAR:
        return [(_IF_AT_LEAST, len(below), 0, first), *below, *above]
    if len(above) <= _FAR:
        return [(_IF_AT_LEAST, 0, len(above), first), *above, *below]
    return [(_IF_AT_LEAST, 0, 1, first), (_JUMP, 0, 0, len(below)), *below, *above]


def _leaf(leaf: Leaf) -> list[Instruction]:
    code: list[Instruction] = []
    rest: list[Instruction] = [(_RETURN, 0, 0, ALLOW)]
    for clause in reversed(leaf):
        code = [(_RETURN, 0, 0, clause.action)]
        for test in reversed(clause.tests):
            code = _tested(test, code)
        # An unconditional clause never falls through: what follows it can't be reached.
        rest = [*code, *rest] if clause.tests else code
    return rest


def _tested(test: Test, then: list[Instruction]) -> list[Instruction]:
    """The piece that goes on with `then` if the test holds, and else jumps over it."""
    skip = len(then)
    code: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * test.argument)]
    if test.mask != ALL_BITS:
        code.append((_AND, 0, 0, test.mask))
    if test.least:
        code.append((_IF_AT_LEAST, 0, skip, test.least))
    for left, value in zip(range(len(test.values) - 1, -1, -1), test.values, strict=True):
        if test.inside:
            code.append((_IF_EQUAL, left, 0 if left else skip, value))
        else:
            code.append((_IF_EQUAL, left + skip, 0, value))
    if skip + len(test.values) > _FAR:
        raise AssertionError("a test that jumps too far")
    return [*code, *then]
