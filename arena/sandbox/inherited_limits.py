"""Check the rlimits and control groups of this process against what each bot is promised.

Whatever a shell, a container or a batch system has set for the arena holds for every bot as well:
one that stays within its own limits would fail by a limit that it doesn't know of. A memory limit
of a control group above us is no lack as long as one bot has its share: few bots use all of it, and
one that the kernel kills for it is not blamed.

Invariant: only `raise_open_files` changes anything; what can't be read limits nothing.
"""

import contextlib
import os
import resource
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.sandbox import Launch, meter
from arena.sandbox.cgroupfs import MEMORY, PIDS, PROC, NoGroupsError, membership
from arena.sandbox.environment import has_spare_uids, rlimits

UNTOUCHED_MB = 4096  # addresses that are never touched, on top of memory: node 736 MB, a JVM 4 GB
OVERHEAD = 4  # processes that come with a bot: the sandbox's two, a spawner, its part of a worker
OWN = 6  # the arena's own processes and threads, besides
_NO_LIMIT = 1 << 60  # groups of version 1 write the largest number of pages for that
_MB = 1 << 20
ULIMIT_U = "ulimit -u"  # where it counts all that a user runs


class _Kind(NamedTuple):
    what: str
    flag: str  # of `ulimit`
    unit: int = 1  # divides values in messages
    step: int = 1  # in which `ulimit` counts; 0: only "unlimited" is sure to do
    lower: str = ""  # the arena's flag that promises less of it


_KINDS = {
    "AS": _Kind("MB of addresses", "-v", _MB, 0),
    "DATA": _Kind("MB of data", "-d", _MB, 0, "--memory"),
    "NPROC": _Kind("processes and threads", "-u", lower="--tasks"),
    "NOFILE": _Kind("file descriptors", "-n"),
    "FSIZE": _Kind("KB to a file", "-f", 1 << 10, 512, "--scratch"),
    "SIGPENDING": _Kind("pending signals", "-i"),
    "CPU": _Kind("seconds of CPU", "-t", step=0),
}


class SharedLimit(NamedTuple):
    where: str  # the file, or the command, that sets it
    most: int
    used: int = 0


class InheritedLimits(NamedTuple):
    rlimits: Mapping[str, int] = {}  # hard ones, by their names in `resource`
    tasks: tuple[SharedLimit, ...] = ()  # on processes and threads of bots and us together
    memory: tuple[SharedLimit, ...] = ()  # the same of memory, in bytes


def raise_open_files() -> None:
    """Raise this process's soft limit of descriptors, which is only a default, to the hard one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def read_limits(proc: Path = PROC, *, spare_uids: bool | None = None) -> InheritedLimits:
    """Read this process's limits. `spare_uids`: whether each bot runs as a user of its own."""
    apart = has_spare_uids() if spare_uids is None else spare_uids
    hard = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in _KINDS}
    rlimits = {name: most for name, most in hard.items() if most != resource.RLIM_INFINITY}
    tasks = tuple(_group_limits(proc, PIDS, ["pids.max"], "pids.current"))
    if not apart and "NPROC" in rlimits:
        tasks = (SharedLimit(ULIMIT_U, rlimits.pop("NPROC"), users_tasks()), *tasks)
    memory = _group_limits(proc, MEMORY, ["memory.max", "memory.limit_in_bytes"])
    return InheritedLimits(rlimits, tasks, tuple(memory))


def users_tasks() -> int:
    """How many processes and threads our user has now, as far as /proc shows them."""
    own, count = os.geteuid(), 0
    for entry in os.scandir(meter.PROC):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if entry.stat().st_uid == own:
                    count += len(os.listdir(f"{entry.path}/task"))  # noqa: PTH208 - cheaper
    return count


def _group_limits(
    proc: Path, controller: str, names: Sequence[str], current: str = ""
) -> Iterator[SharedLimit]:
    """Those of our control group and the ones above, as far as they can be read."""
    with contextlib.suppress(NoGroupsError):
        for folder in membership(proc, controller).upwards():
            # No limit at this place: "max", or a root, which has no such file.
            with contextlib.suppress(OSError, ValueError):
                path = next(filter(Path.exists, map(folder.joinpath, names)), folder / names[0])
                used = int((folder / current).read_text()) if current else 0
                if (most := int(path.read_text())) < _NO_LIMIT:
                    yield SharedLimit(str(path), most, used)


def needs(launch: Launch) -> dict[str, int]:
    """The resource limits under which a program has all that its launch promises."""
    asked = rlimits(launch) | {"NPROC": launch.tasks + OVERHEAD}
    if launch.memory_mb:
        asked["AS"] = launch.memory_mb + UNTOUCHED_MB << 20
    return {name: value for name, value in asked.items() if value and name in _KINDS}


class Capacity(NamedTuple):
    tables: int  # how many can be played at a time
    lack: str = ""  # the first promise that can't be kept, and what to do; empty: all can
    notes: tuple[str, ...] = ()  # worth a line of output; none stops the event


def check_capacity(
    inherited: InheritedLimits,
    launch: Launch,
    *,
    seats: int,
    tables: int,
    fixed: bool,
    flags: Collection[str] = (),
) -> Capacity:
    """Whether so many tables of bots can be alive at a time, each with what its launch promises;
    unless `fixed`, fewer will do. `flags`: the arena's flags by which the user could promise less.
    """
    if short := lack(inherited, launch, at_once=seats, flags=flags):
        return Capacity(0, short)
    notes = []
    room = min(tables, *(_room(limit, launch) // seats for limit in inherited.tasks), tables)
    if room < tables:
        short = lack(inherited, launch, at_once=seats * tables, flags=flags)
        if fixed:
            return Capacity(0, f"{short}, or --jobs to {room}")
        notes.append(f"{_matches(room)} at a time, not {tables}: {short}")
    for limit in inherited.memory:
        if limit.most < (wanted := seats * room * launch.memory_mb) << 20:
            notes.append(
                f"{_matches(room)} at a time may use {wanted} MB of memory, but only "
                f"{limit.most >> 20} MB are available ({limit.where}); matches that are running "
                "when that runs out are played again"
            )
            break
    return Capacity(room, notes=tuple(notes))


def lack(
    inherited: InheritedLimits, launch: Launch, *, at_once: int = 1, flags: Collection[str] = ()
) -> str:
    """Why so many such programs can't have what they are promised, and what to do about it."""
    for what, command, lower in _shortages(inherited, launch, at_once):
        by = f" (`{command}`)" if command else ""
        or_lower = f", or lower {lower}" if lower in flags else ""
        return f"{what}; raise the limit where the arena is started{by}{or_lower}"
    return ""


def _shortages(
    inherited: InheritedLimits, launch: Launch, at_once: int
) -> Iterator[tuple[str, str, str]]:
    """The limit that is too low; the command that raises it, if it is a process's own; our flag."""
    for name, needed in needs(launch).items():
        most = inherited.rlimits.get(name, needed)
        if most < needed:
            kind = _KINDS[name]
            wanted = str(needed // kind.step) if kind.step else "unlimited"
            what = (
                f"a process may have only {most // kind.unit} {kind.what} here "
                f"(ulimit {kind.flag}), but {_promise(launch)} needs {-(-needed // kind.unit)}"
            )
            yield what, f"ulimit {kind.flag} {wanted}", kind.lower
    for limit in inherited.memory:
        if limit.most < launch.memory_mb << 20:
            what = (
                f"only {limit.most >> 20} MB of memory are available ({limit.where}), "
                f"but {_promise(launch)} needs {launch.memory_mb}"
            )
            yield what, "", "--memory"
    for limit in inherited.tasks if launch.tasks else ():
        if _room(limit, launch) < at_once:
            needed = OWN + at_once * (launch.tasks + OVERHEAD)
            who = f"{at_once} bots" if at_once > 1 else f"a {_kind(launch)}"
            need = "need" if at_once > 1 else "needs"
            what = (
                f"only {limit.most} processes and threads may run here ({limit.where}) and "
                f"{limit.used} do, but {who} with {launch.tasks} tasks {need} {needed} more"
            )
            own = limit.where == ULIMIT_U
            yield what, f"{ULIMIT_U} {limit.used + needed}" if own else "", "--tasks"


def _room(limit: SharedLimit, launch: Launch) -> int:
    """How many such programs can have their tasks at a time."""
    return (limit.most - limit.used - OWN) // (launch.tasks + OVERHEAD)


def _kind(launch: Launch) -> str:
    return "build" if launch.writable else "bot"


def _promise(launch: Launch) -> str:
    return f"a {_kind(launch)} with {launch.memory_mb} MB of memory and {launch.tasks} tasks"


def _matches(number: int) -> str:
    return "1 match" if number == 1 else f"{number} matches"
