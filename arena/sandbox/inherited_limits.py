"""What this process was given by whoever has started it, held against what a bot is promised.

Theory of operation. Resource limits and control groups are passed on from parent to child, so
what a shell, a container or a batch system has set upon the arena holds for every bot as well:
one that stays within its own limits would fail by a limit that it was never told of. `read` finds
what was given; the rest is arithmetic. What one bot can't have is a `lack`; how many can have
theirs at a time is `room`. Memory that a control group above us limits is no lack as long as one
bot has its share: few use all of it, and whom the kernel kills for it is not blamed (see oom.py).

Invariant: reads, and but for `take` changes nothing; what can't be found out limits nothing.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.sandbox import Launch, meter
from arena.sandbox.cgroupfs import MEMORY, PIDS, PROC, Unfit, membership
from arena.sandbox.environment import has_spare_uids, limits

UNTOUCHED_MB = 4096
"""Addresses that runtimes ask for and never touch, on top of memory: node 736 MB, a JVM 4 GB."""

OVERHEAD = 4
"""Processes that come with a bot: the sandbox's two, a spawner, its part of a worker."""

OWN = 6
"""The arena's own, besides: this process with its threads."""

_NO_LIMIT = 1 << 60
"""Version 1 of the control groups says so by the largest number of pages there is."""

_MB = 1 << 20

ULIMIT_U = "ulimit -u"
"""Where it counts all that a user runs."""


class _Kind(NamedTuple):
    """A resource limit, in words."""

    what: str
    flag: str
    """Of `ulimit`."""
    unit: int = 1
    """By which values are divided when they are told."""
    step: int = 1
    """By which `ulimit` counts; 0: only no limit at all is sure to do."""
    lower: str = ""
    """Our own flag by which less of it is promised."""


_KINDS = {
    "AS": _Kind("MB of addresses", "-v", _MB, 0),
    "DATA": _Kind("MB of data", "-d", _MB, 0, "--memory"),
    "NPROC": _Kind("processes and threads", "-u", lower="--tasks"),
    "NOFILE": _Kind("file descriptors", "-n"),
    "FSIZE": _Kind("KB to a file", "-f", 1 << 10, 512, "--scratch"),
    "SIGPENDING": _Kind("pending signals", "-i"),
    "CPU": _Kind("seconds of CPU", "-t", step=0),
}


class Bound(NamedTuple):
    """A limit that many processes share."""

    where: str
    """The file, or the command, that sets it."""
    most: int
    used: int = 0


class Given(NamedTuple):
    """What a process may use and pass on."""

    rlimits: Mapping[str, int] = {}
    """Hard limits by their names in `resource`; without those that limit nothing."""
    tasks: tuple[Bound, ...] = ()
    """Limits on processes and threads that bots share with each other, and with us."""
    memory: tuple[Bound, ...] = ()
    """The same of memory, in bytes."""


def take() -> None:
    """Have as many descriptors as we may: the limit that we meet at first is but a default."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def read(proc: Path = PROC, *, spare_uids: bool | None = None) -> Given:
    """Find what was given. `spare_uids`: whether each bot runs as a user of its own."""
    apart = has_spare_uids() if spare_uids is None else spare_uids
    hard = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in _KINDS}
    rlimits = {name: most for name, most in hard.items() if most != resource.RLIM_INFINITY}
    tasks = tuple(_bounds(proc, PIDS, _tasks_of))
    if not apart and "NPROC" in rlimits:
        tasks = (Bound(ULIMIT_U, rlimits.pop("NPROC"), users_tasks()), *tasks)
    return Given(rlimits, tasks, tuple(_bounds(proc, MEMORY, _memory_of)))


def users_tasks() -> int:
    """How many processes and threads our user has now, as far as they are to be seen."""
    own, count = os.geteuid(), 0
    for entry in os.scandir(meter.PROC):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if entry.stat().st_uid == own:
                    count += len(os.listdir(f"{entry.path}/task"))  # noqa: PTH208 - cheaper
    return count


def _bounds(proc: Path, controller: str, bound: Callable[[Path], Bound]) -> Iterator[Bound]:
    """Those of our control group and the ones above, as far as they are to be seen."""
    try:
        found = membership(proc, controller)
    except Unfit:
        return
    for folder in (found.own, *found.own.parents):
        # No limit at this place: "max", or a root, which has no such file.
        with contextlib.suppress(OSError, ValueError):
            if (here := bound(folder)).most < _NO_LIMIT:
                yield here
        if folder == found.top:
            return


def _tasks_of(folder: Path) -> Bound:
    path = folder / "pids.max"
    most = int(path.read_text())
    return Bound(str(path), most, int((folder / "pids.current").read_text()))


def _memory_of(folder: Path) -> Bound:
    path = folder / "memory.max"
    if not path.exists():
        path = folder / "memory.limit_in_bytes"
    return Bound(str(path), int(path.read_text()))


# ---------------------------------------------------------------------------------- arithmetic


def needs(launch: Launch) -> dict[str, int]:
    """The resource limits under which a program has all that its launch promises."""
    asked = limits(launch) | {"NPROC": launch.tasks + OVERHEAD}
    if launch.memory_mb:
        asked["AS"] = launch.memory_mb + UNTOUCHED_MB << 20
    return {name: value for name, value in asked.items() if value and name in _KINDS}


class Verdict(NamedTuple):
    """What follows from it for matches between bots."""

    tables: int
    """How many can be played at a time."""
    lack: str = ""
    """The first promise that can't be kept, in one line that says what to do; empty: all can."""
    notes: tuple[str, ...] = ()
    """What is worth a line, and stops nobody."""


def judge(
    given: Given,
    launch: Launch,
    *,
    seats: int,
    tables: int,
    fixed: bool,
    flags: Collection[str] = (),
) -> Verdict:
    """Whether so many tables of bots can be alive at a time, each with what its launch promises.

    Without `fixed`, fewer will do where there is no room for the processes of all. `flags`: those
    of our own by which less could be promised.
    """
    if short := lack(given, launch, at_once=seats, flags=flags):
        return Verdict(0, short)
    notes = []
    rooms = (_room(bound, launch) // seats for bound in given.tasks)
    room = min(tables, *rooms, tables)
    if room < tables:
        short = lack(given, launch, at_once=seats * tables, flags=flags)
        if fixed:
            return Verdict(0, f"{short}, or --jobs to {room}")
        notes.append(f"{_matches(room)} at a time, not {tables}: {short}")
    for bound in given.memory:
        if bound.most < (wanted := seats * room * launch.memory_mb) << 20:
            notes.append(
                f"{_matches(room)} at a time may use {wanted} MB of memory, and "
                f"{bound.most >> 20} MB are all that there is ({bound.where}); what is being "
                "played when that runs out is played again"
            )
            break
    return Verdict(room, notes=tuple(notes))


def lack(given: Given, launch: Launch, *, at_once: int = 1, flags: Collection[str] = ()) -> str:
    """Why so many such programs can't have what they are promised, and what to do about it."""
    for short in (
        *_short_of_rlimits(given, launch),
        *_short_of_memory(given, launch),
        *_short_of_tasks(given, launch, at_once),
    ):
        by = f" (`{short.command}`)" if short.command else ""
        lower = f", or lower {short.lower}" if short.lower in flags else ""
        return f"{short.what}; raise that where the arena is started{by}{lower}"
    return ""


class _Short(NamedTuple):
    what: str
    command: str
    """That raises the limit; empty: it is no process's own."""
    lower: str


def _short_of_rlimits(given: Given, launch: Launch) -> Iterator[_Short]:
    for name, needed in needs(launch).items():
        most = given.rlimits.get(name, needed)
        if most < needed:
            kind = _KINDS[name]
            wanted = str(needed // kind.step) if kind.step else "unlimited"
            what = (
                f"{most // kind.unit} {kind.what} are all that a process may have here "
                f"(ulimit {kind.flag}), {_promise(launch)} needs {-(-needed // kind.unit)}"
            )
            yield _Short(what, f"ulimit {kind.flag} {wanted}", kind.lower)


def _short_of_memory(given: Given, launch: Launch) -> Iterator[_Short]:
    for bound in given.memory:
        if bound.most < launch.memory_mb << 20:
            what = (
                f"{bound.most >> 20} MB of memory are all that there is ({bound.where}), "
                f"{_promise(launch)} needs {launch.memory_mb}"
            )
            yield _Short(what, "", "--memory")


def _short_of_tasks(given: Given, launch: Launch, at_once: int) -> Iterator[_Short]:
    for bound in given.tasks if launch.tasks else ():
        if _room(bound, launch) < at_once:
            needed = OWN + at_once * (launch.tasks + OVERHEAD)
            who = f"{at_once} bots" if at_once > 1 else f"a {_kind(launch)}"
            what = (
                f"{bound.most} processes and threads may run here ({bound.where}) and "
                f"{bound.used} do, {who} with {launch.tasks} tasks must find room for {needed} more"
            )
            own = bound.where == ULIMIT_U
            yield _Short(what, f"{ULIMIT_U} {bound.used + needed}" if own else "", "--tasks")


def _room(bound: Bound, launch: Launch) -> int:
    """How many such programs can have their tasks at a time."""
    return (bound.most - bound.used - OWN) // (launch.tasks + OVERHEAD)


def _kind(launch: Launch) -> str:
    return "build" if launch.writable else "bot"


def _promise(launch: Launch) -> str:
    return f"a {_kind(launch)} with {launch.memory_mb} MB of memory and {launch.tasks} tasks"


def _matches(number: int) -> str:
    return "1 match" if number == 1 else f"{number} matches"
