"""Read process trees from /proc: their members, number of tasks, and CPU time used.

A tree is found from its root by the lists of children that each task has; orphans are inherited by
the root, which must be pid 1 of a pid namespace or a subreaper. A process that has vanished
meanwhile counts as nothing. So does one that /proc hides (hidepid): nothing is found below it, but
its parent lists it; `is_alive` tells the two apart.

Invariants: only reads, and needs no privilege; the result of `Meter.cpu` never falls.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterable

PROC = "/proc"
GONE = (FileNotFoundError, ProcessLookupError)  # it has vanished
_UNSEEN = (*GONE, PermissionError)  # or is hidden
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")  # the kernel rounds down to it what a process has reaped

# In a process's stat, counted from the state, which follows the name in its brackets.
_PARENT = 1
_REAPED_USER, _REAPED_SYSTEM = 13, 14
BORN = 19
_PAGE = 3000  # a longer file of /proc comes in several parts
_KEPT = 4  # processes whose files are kept open: three times as fast, but costs descriptors


class NoListsError(Exception):
    """The kernel was built without lists of children (CONFIG_PROC_CHILDREN)."""


def members(root: int, *, most: int = 0) -> list[int]:
    """`root` and all its descendants that haven't been reaped, parents first; empty if it is gone.
    `most`: stop above that number (0: never). Misses those that are orphaned meanwhile.
    """
    found = {root: None}
    todo = [root]
    try:
        while todo and not 0 < most < len(found):
            todo = [child for pid in todo for child in children(pid) if child not in found]
            found.update(dict.fromkeys(todo))
    except NoListsError:
        found.update(dict.fromkeys(sorted(descendants(root))))
    if len(found) == 1 and not os.path.exists(f"{PROC}/{root}"):  # noqa: PTH110 - no Path: speed
        return []
    return list(found)


def children(pid: int) -> list[int]:
    """The children of all tasks of a process, or NoListsError."""
    found: list[int] = []
    try:
        tasks_of_it = os.listdir(f"{PROC}/{pid}/task")  # noqa: PTH208 - no Path: speed
    except _UNSEEN:
        return found
    for task in tasks_of_it:
        folder = f"{PROC}/{pid}/task/{task}"
        try:
            found += map(int, read(f"{folder}/children").split())
        except FileNotFoundError:
            if os.path.exists(f"{folder}/stat"):  # noqa: PTH110 - no Path: speed
                raise NoListsError from None
        except (ProcessLookupError, PermissionError):
            continue
    return found


def descendants(*roots: int) -> set[int]:
    """All descendants of `roots` that haven't been reaped, but for hidden ones, in one pass over
    /proc: slower than `members`, but misses none because others end meanwhile.
    """
    by_parent: dict[int, list[int]] = {}
    for name in os.listdir(PROC):  # noqa: PTH208 - no Path: speed
        if name.isdigit():
            with contextlib.suppress(*_UNSEEN):
                parent = int(stat_fields(read(f"{PROC}/{name}/stat"))[_PARENT])
                by_parent.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    todo = list(roots)
    while todo:
        todo = [child for pid in todo for child in by_parent.get(pid, ()) if child not in found]
        found.update(todo)
    return found


def tasks(pids: Iterable[int]) -> int:
    """How many processes and threads, zombies too. PermissionError: one is alive and hides them."""
    count = 0
    for pid in pids:
        try:
            count += os.stat(f"{PROC}/{pid}/task").st_nlink - 2  # noqa: PTH116 - no Path: speed
        except _UNSEEN:
            if is_alive(pid):
                raise PermissionError(errno.EACCES, f"process {pid} is hidden") from None
    return count


def is_alive(pid: int) -> bool:
    """Whether there is such a process, shown in /proc or not."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


class Meter:
    """The CPU time of a tree over its life, without that of the root itself: the sandbox's.

    What a vanished member had used is by then in what its parent has reaped, unless that ignores
    its children: then it counts as last seen.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: dict[int, _Process] = {}
        self._ended = 0.0  # used by those that have ended
        self._early = 0.0  # part of it that the kernel, which rounds down, hasn't shown yet
        self._most = 0.0

    def cpu(self) -> float:
        """Seconds that the whole tree has used until now; never less than the last time."""
        missing = self._known
        found: dict[int, _Process] = {}
        todo = [self._root]
        while todo:
            pid = todo.pop()
            process = missing.get(pid)
            if process is not None and process.read():
                del missing[pid]
            else:
                process = _Process(pid, keep=len(found) < _KEPT)
                if not process.read():
                    process.close()
                    continue
            found[pid] = process
            todo += [child for child in process.children() if child not in found]
        self._settle(missing, found)
        self._known = found
        own = sum(process.own for pid, process in found.items() if pid != self._root)
        self._most = max(self._most, self._ended + own)
        return self._most

    def pids(self) -> list[int]:
        """The processes that existed at the last reading, without the root."""
        return [pid for pid in self._known if pid != self._root]

    def _settle(self, missing: dict[int, _Process], found: dict[int, _Process]) -> None:
        """Account for those that have vanished and for what was reaped since the last time."""
        seen = 0.0
        grown = 0.0
        for pid, process in missing.items():
            if pid not in found and process.read():
                found[pid] = process  # orphaned while we looked
                continue
            if pid != self._root:
                seen += process.own
            # What it had reaped has been accounted for, and is now reaped again by its parent.
            grown -= process.settled
            process.close()
        for process in found.values():
            grown += process.reaped - process.settled
            process.settled = process.reaped
        if grown < seen:
            self._early = min(self._early + seen - grown, 2 * _TICK_S)
            self._ended += seen
        else:
            late = min(self._early, grown - seen)
            self._early -= late
            self._ended += grown - late

    def close(self) -> None:
        while self._known:
            self._known.popitem()[1].close()


class _Process:
    """One process of a `Meter`. Open files stay with it if another process gets its number."""

    def __init__(self, pid: int, *, keep: bool) -> None:
        self.pid = pid
        self._path = f"{PROC}/{pid}/stat"
        self.own = 0.0
        self.reaped = 0.0
        self.settled = 0.0  # how much of `reaped` is accounted for
        self._born = b""
        self._files: list[int] = []
        if keep:
            try:
                for name in ("stat", f"task/{pid}/children", "task"):
                    flags = os.O_RDONLY | os.O_CLOEXEC
                    self._files.append(os.open(f"{PROC}/{pid}/{name}", flags))
            except OSError:  # no such file, no such process, hidden, or no descriptor to be had
                self.close()

    def read(self) -> bool:
        """Renew the figures; False: it is gone."""
        try:
            text = os.pread(self._files[0], 4096, 0) if self._files else read(self._path)
            stat = stat_fields(text)
            own = time.clock_gettime(~self.pid << 3 | 2)  # of all its tasks, ended ones too
        except OSError:
            return False
        if stat[BORN] != (self._born or stat[BORN]):
            return False
        self._born = stat[BORN]
        self.own = own
        self.reaped = (int(stat[_REAPED_USER]) + int(stat[_REAPED_SYSTEM])) * _TICK_S
        return True

    def children(self) -> list[int]:
        try:
            if self._files and os.fstat(self._files[2]).st_nlink == 3:  # it has a single task
                listed = os.pread(self._files[1], 4096, 0)
                if len(listed) < _PAGE:
                    return [int(child) for child in listed.split()]
            return children(self.pid)
        except GONE:
            return []
        except NoListsError:
            return list(descendants(self.pid))

    def close(self) -> None:
        while self._files:
            os.close(self._files.pop())


def read(path: str) -> bytes:
    """The whole of a file of /proc."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(file, 1 << 16)
        if len(text) > _PAGE:
            while more := os.read(file, 1 << 16):
                text += more
    finally:
        os.close(file)
    return text


def stat_fields(stat: bytes) -> list[bytes]:
    """Fields of a /proc `stat`, from the state on; the name before it may hold spaces and ")"."""
    return stat[stat.rindex(b")") + 2 :].split()
