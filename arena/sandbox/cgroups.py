"""Control groups: let the kernel count and limit the memory (and tasks) of a program's tree.

One `Hierarchy` for each spawner, one `Group` for each program:

    <place>/arena-<pid namespace>-<pid>-<start time>/<name of the group>

cgroupfs.py lists the possible places. One is used if it really works. Controllers that were turned
on in a place that is ours alone are turned off again; elsewhere others may rely on them by then.

Invariants: a group has its limits before a process can enter it; only what we or a dead spawner
made is removed or switched off; removing never fails because processes are still dying.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from pathlib import Path

from arena.sandbox import meter
from arena.sandbox.cgroupfs import (
    ASK_BOOT,
    ASK_CONTAINER,
    ASK_ROOT,
    ASK_SYSTEMD,
    CALLS,
    MEMORY,
    PIDS,
    PROC,
    PROCS,
    SUBTREE,
    Calls,
    GroupPlace,
    Membership,
    NoGroupsError,
    membership,
    places,
)

CLOSE_S = 1.0  # the killed are gone in milliseconds; what still hangs, the next spawner sweeps
_RETRY_S = 0.005

_TRIAL_MB, _TRIAL_TASKS = 64, 16
_TRIAL_BYTES = 2 << 20  # far above the batches in which the kernel counts
_UNCOUNTED = 200  # exit status of a trial in a group that doesn't count; no errno is as high
CHARGE_BYTES = 1 << 20  # the kernel never kills for a larger charge than this; huge pages just fail
_FOLDER = re.compile(r"arena-(\d+)-(\d+)-(\d+)")


class Group:
    """One program's tree, from its first instruction to the end of its last process: version 1."""

    entrance = "tasks"
    """Moves one thread in 0.08 ms. `cgroup.procs` moves a whole process, for which the kernel waits
    until no CPU is within a fork: 7 ms (measured)."""
    events = "memory.oom_control"
    peak = "memory.max_usage_in_bytes"
    usage = "memory.usage_in_bytes"

    def __init__(self, hierarchy: Hierarchy, path: Path) -> None:
        self._hierarchy = hierarchy
        self._calls = hierarchy.calls
        self.path = path
        self.entrance_file = str(path / self.entrance)
        """The child writes "0" into this file to enter, while it still has our uid and before it
        has a second thread."""

    def limit(self, memory: int, tasks: int) -> None:  # noqa: ARG002 - version 2's
        if memory:
            self._calls.write(self.path / "memory.limit_in_bytes", str(memory))
            # Memory and swap together: it can't be less than the first.
            self._write_if_present("memory.memsw.limit_in_bytes", str(memory))

    def kills(self) -> int:
        """How many of its tasks the kernel has OOM-killed: one in version 1, all in version 2."""
        return _counted(self._read(self.events), "oom_kill") or 0

    def at_limit(self) -> bool:
        """Whether it has come to its own limit; else the kernel has killed for another's."""
        # By the peak: current kernels don't count failed charges of memory and swap together.
        peaks = (self.peak, "memory.memsw.max_usage_in_bytes")
        peak = max(int(self._read(name) or 0) for name in peaks)
        return peak + CHARGE_BYTES >= int(self._read("memory.limit_in_bytes") or 0)

    def peak_mb(self) -> float:
        """The most memory that it used; 0.0 if the kernel doesn't count that."""
        return int(self._read(self.peak) or 0) / (1 << 20)

    def kill(self) -> None:
        """Kill all that is in it, if the kernel can: version 2, since Linux 5.14."""

    def remove(self) -> None:
        """Remove it: now, or at a later sweep if something in it is still dying."""
        self._hierarchy.drop(self)

    def _read(self, name: str) -> str:
        """One of its files; empty if the kernel or the group doesn't have it."""
        try:
            return self._calls.read(self.path / name)
        except OSError:
            return ""

    def _write_if_present(self, name: str, text: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._calls.write(self.path / name, text)


class Group2(Group):
    """The same in version 2."""

    entrance = PROCS
    events = "memory.events"
    peak = "memory.peak"
    usage = "memory.current"

    def limit(self, memory: int, tasks: int) -> None:
        if memory:
            self._calls.write(self.path / "memory.max", str(memory))
            self._write_if_present("memory.swap.max", "0")
            self._write_if_present("memory.oom.group", "1")
        if tasks and self._hierarchy.counts_tasks:
            self._calls.write(self.path / "pids.max", str(tasks))

    def at_limit(self) -> bool:
        return bool(_counted(self._read(self.events), "oom"))

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._calls.write(self.path / "cgroup.kill", "1")


class Hierarchy:
    """A spawner's groups, in version 1."""

    name = "cgroup v1"
    kind = Group
    counts_tasks = False  # whether a group limits the number of tasks, too

    def __init__(self, calls: Calls, place: GroupPlace, folder: Path) -> None:
        self.folder = folder
        self.calls = calls
        self._place = place
        self._groups: set[Group] = set()
        self._dying: list[Path] = []

    def group(self, name: str, *, memory_mb: int, tasks: int) -> Group:
        """Make a group with its limits, 0 for none. OSError: the machine can't."""
        self.sweep()
        group = self.kind(self, self.folder / name)
        self.calls.make(group.path)
        self._groups.add(group)
        try:
            group.limit(memory_mb << 20, tasks)
        except OSError:
            group.remove()
            raise
        return group

    def drop(self, group: Group) -> None:
        if group in self._groups:
            self._groups.remove(group)
            self._dying.append(group.path)
            self.sweep()

    def sweep(self) -> None:
        """Remove groups that could not be removed before."""
        self._dying = [path for path in self._dying if not _removed(self.calls, path)]

    def close(self) -> None:
        """Remove everything, and kill what is left in it if the kernel can."""
        for group in list(self._groups):
            group.kill()
            group.remove()
        deadline = time.monotonic() + CLOSE_S
        while self._dying and time.monotonic() < deadline:
            time.sleep(_RETRY_S)
            self.sweep()
        if not self._dying:  # else limits are still needed
            with contextlib.suppress(OSError):
                self._leave()

    def enter(self) -> None:
        """Prepare our folder; its groups inherit these settings."""
        # Old kernels let what is below a group escape its limit unless told otherwise, and count
        # swap apart; an administrator may have switched the killing off, and bots would hang.
        for name, value in (("use_hierarchy", "1"), ("swappiness", "0"), ("oom_control", "0")):
            with contextlib.suppress(OSError):  # a limit is useful even without these
                self.calls.write(self.folder / f"memory.{name}", value)

    def _leave(self) -> None:
        self.calls.remove(self.folder)


class Hierarchy2(Hierarchy):
    """The same in version 2, where controllers are turned on from group to group."""

    name = "cgroup v2"
    kind = Group2

    def __init__(self, calls: Calls, place: GroupPlace, folder: Path) -> None:
        super().__init__(calls, place, folder)
        offered = calls.read(place.folder / ("cgroup.controllers" if place.turn_on else SUBTREE))
        self._wanted = [name for name in (MEMORY, PIDS) if name in offered.split()]
        self._turned_on: list[str] = []
        self._own = folder / "spawner"
        self.counts_tasks = PIDS in self._wanted

    def enter(self) -> None:
        """Step down if we have to, and turn the controllers on."""
        place = self._place.folder
        if MEMORY not in self._wanted:
            raise NoGroupsError(f"the memory controller is not passed down to {place}", ASK_BOOT)
        if self._place.step_down:
            if others := set(self.calls.read(place / PROCS).split()) - {str(os.getpid())}:
                raise NoGroupsError(f"{place} holds {len(others)} other processes", ASK_SYSTEMD)
            self.calls.make(self._own)
            self.calls.write(self._own / PROCS, "0")
        present = self.calls.read(place / SUBTREE).split()
        self._turned_on = [name for name in self._wanted if name not in present]
        self._switch(place, "+", self._turned_on)
        self._switch(self.folder, "+", self._wanted)

    def _leave(self) -> None:
        if self._place.step_down and self._own in self.calls.below(self.folder):
            # Upwards: a group can't lose a controller that it still passes on.
            self._switch(self.folder, "-", self._wanted)
            self._switch(self._place.folder, "-", self._turned_on)
            self.calls.write(self._place.folder / PROCS, "0")
            self.calls.remove(self._own)
        super()._leave()

    def _switch(self, folder: Path, sign: str, names: list[str]) -> None:
        if names:
            self.calls.write(folder / SUBTREE, " ".join(sign + name for name in names))


class OomKills:
    """The kernel's OOM kills in our own control group, or on the machine; 0 where none are counted.

    Of a program without a group of its own such a kill looks like a crash, but isn't its fault.
    """

    def __init__(self, proc: Path = PROC, machine: Path = Path("/proc/vmstat")) -> None:
        self._places = [machine]
        with contextlib.suppress(NoGroupsError):
            ours = membership(proc)
            name = "memory.oom_control" if ours.version == 1 else "memory.events"
            self._places.insert(0, ours.own / name)

    def count(self) -> int:
        for place in self._places:
            with contextlib.suppress(OSError):
                if (count := _counted(place.read_text(), "oom_kill")) is not None:
                    return count
        return 0


def _counted(text: str, event: str) -> int | None:
    """How often something has happened; the kernel counts `oom_kill` since Linux 4.13."""
    found = re.search(rf"^{event} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def find(calls: Calls = CALLS) -> tuple[Hierarchy | None, str]:
    """A hierarchy in the first place that works, else why and what to do. Forks, may move us."""
    reasons = []
    try:
        ours = membership(calls.proc)
        for place in places(ours, calls):
            try:
                return _opened(ours, place, calls), ""
            except OSError as error:
                reasons.append(_reason(error, ours, place))
            except NoGroupsError as error:
                reasons.append(str(error))
    except (OSError, NoGroupsError) as error:
        reasons.append(str(error))
    return None, reasons[0]  # that of the best place


def sweep(calls: Calls = CALLS) -> None:
    """Remove what killed spawners have left, in all places where ours could be."""
    with contextlib.suppress(OSError, NoGroupsError):
        for place in places(membership(calls.proc), calls):
            _sweep_stale(calls, place.folder)


def _opened(ours: Membership, place: GroupPlace, calls: Calls) -> Hierarchy:
    _sweep_stale(calls, place.folder)
    name = f"arena-{_pid_namespace()}-{os.getpid()}-{_start_time(os.getpid())}"
    folder = place.folder / name
    hierarchy = (Hierarchy if ours.version == 1 else Hierarchy2)(calls, place, folder)
    calls.make(folder)
    try:
        hierarchy.enter()
        _try(hierarchy, calls)
    except BaseException:
        hierarchy.close()
        raise
    return hierarchy


def _try(hierarchy: Hierarchy, calls: Calls) -> None:
    """Check that a child can enter a group, and that its memory is counted there."""
    group = hierarchy.group("trial", memory_mb=_TRIAL_MB, tasks=_TRIAL_TASKS)
    child = os.fork()
    if child == 0:
        status = _UNCOUNTED
        try:
            calls.write(Path(group.entrance_file), "0")
            held = b"\1" * _TRIAL_BYTES
            if int(calls.read(group.path / group.usage)) >= len(held):
                status = 0
        except OSError as error:
            status = error.errno or _UNCOUNTED
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    group.remove()
    if status == _UNCOUNTED:
        raise NoGroupsError(f"{group.path} does not count memory", ASK_CONTAINER)
    if status:
        raise OSError(status, os.strerror(status), group.entrance_file)


def _reason(error: OSError, ours: Membership, place: GroupPlace) -> str:
    reason = f"{error.filename or place.folder}: {error.strerror}"
    if error.errno == errno.EROFS:
        return str(NoGroupsError(reason, ASK_CONTAINER))
    if error.errno in {errno.EACCES, errno.EPERM}:
        reason = f"{place.folder} is not delegated to us ({error.strerror})"
    return str(NoGroupsError(reason, ASK_ROOT if ours.version == 1 else ASK_SYSTEMD))


def _removed(calls: Calls, folder: Path) -> bool:
    """Try to remove a group and all below it, which an unconfined program may have made."""
    try:
        for inner in calls.below(folder):
            _removed(calls, inner)
        calls.remove(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def _pid_namespace() -> int:
    """A pid is unique only within it, and containers may share the hierarchy."""
    return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - a Path is no shorter


def _start_time(pid: int) -> str:
    """In ticks since boot; empty if no such process lives."""
    try:
        fields = meter.stat_fields(meter.read(f"/proc/{pid}/stat"))
    except OSError:
        return ""
    return "" if fields[0] in b"ZX" else fields[meter.BORN].decode()


def _sweep_stale(calls: Calls, place: Path) -> None:
    """Remove what killed spawners have left; what is still dying goes with a later sweep.

    That can be a bwrap's pid 1, which waits for ever if bwrap is killed before its first steps.
    """
    for folder in calls.below(place):
        found = _FOLDER.fullmatch(folder.name)
        if found and int(found[1]) == _pid_namespace() and _start_time(int(found[2])) != found[3]:
            _kill_all(calls, folder)
            _removed(calls, folder)


def _kill_all(calls: Calls, folder: Path) -> None:
    with contextlib.suppress(OSError):
        for inner in calls.below(folder):
            _kill_all(calls, inner)
        for pid in calls.read(folder / PROCS).split():
            calls.kill(int(pid), folder)
