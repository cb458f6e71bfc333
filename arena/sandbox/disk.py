"""Measure how much disk space a program uses in its folders, deleted open files included.

Theory of operation. A round walks the folders and then reads the open and mapped files of the
program's processes, in slices, so that the largest permitted tree doesn't delay other programs. The
program may be hostile: links are never followed, a folder is entered only if it is still the one
that was listed, and what is hidden on purpose counts as over the limit.

Invariants: only reads; a round's memory is bounded by the number of files that are allowed. What
can't be read for a reason that isn't the program's raises OSError.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Generator, Iterable, Iterator, Sequence

from arena.sandbox import kernel, memory
from arena.sandbox.meter import GONE, read

ROUND_S = 0.25  # between two rounds: what a disk takes meanwhile is little for a build
SLICE_S = 0.005  # how long a check may take: the spawner has other programs to serve
REST = 4  # a round is followed by a pause of so many times its length
UNSEEN_S = 1.0  # how long rounds may not see all: descriptors in flight are received at once
MOST_FILES = 1_000_000  # if no number is given
_ENTRIES = 64  # read between two looks at the clock

# In a process's maps: the range, the device and the inode of a file without a name.
_DELETED = re.compile(rb"^(\w+-\w+) \S+ \w+ (\w+):(\w+) ([1-9]\d*) .* \(deleted\)$", re.MULTILINE)
# In a process's limits, the hard one.
_LARGEST = re.compile(rb"^Max file size\s+\S+\s+(\d+)", re.MULTILINE)
_UNLIMITED = 1 << 62

_CHANGED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE})
"""A listed file has vanished or been replaced since."""

_BLOCK = 512  # what st_blocks counts, whatever the file system's blocks are


class Disk:
    def __init__(
        self, folders: Sequence[str], *, most_bytes: int, most_files: int, uid: int = 0
    ) -> None:
        """0: no limit. `uid`: the program's user; 0: our own."""
        self._folders = folders
        self._most_bytes = most_bytes
        self._most_files = most_files or MOST_FILES
        self._uid = uid
        self._devices: set[int] = set()
        self._round: Generator[None] | None = None
        self._next = 0.0
        self._spent = 0.0
        self._held = 0
        self._files = 0
        self._seen: set[tuple[int, int]] = set()
        """Device and inode of files that have several names, or none."""
        self._hidden = False  # the program hides a folder
        self._unseen = False  # descriptors are in flight, or a process is hidden
        self._unseen_since: float | None = None

    def check(self, now: float, pids: Iterable[int]) -> bool:
        """Do a slice of a round if one is due. True: the program is over its limit."""
        begun = time.perf_counter()
        if self._round is None:
            if now < self._next:
                return False
            self._held = self._files = 0
            self._hidden = self._unseen = False
            self._spent = 0.0
            self._seen.clear()
            self._round = self._all(list(pids))
        over = False
        for _ in self._round:
            over = self._over()
            if over or time.perf_counter() - begun > SLICE_S:
                break
        else:
            self._round = None
            self._next = now + max(ROUND_S, REST * self._spent)
            over = self._over() or self._unseen_too_long(now)
        self._spent += time.perf_counter() - begun
        return over

    def close(self) -> None:
        if self._round is not None:
            self._round.close()

    def _over(self) -> bool:
        too_many = self._files > self._most_files
        return self._hidden or too_many or 0 < self._most_bytes < self._held

    def _unseen_too_long(self, now: float) -> bool:
        if not self._unseen:
            self._unseen_since = None
        elif self._unseen_since is None:
            self._unseen_since = now
        return self._unseen_since is not None and now - self._unseen_since >= UNSEEN_S

    def _all(self, pids: Iterable[int]) -> Generator[None]:
        for folder in self._folders:
            yield from self._walk(folder)
        for pid in pids:
            # The walk is done as ourselves: the program's user may not reach a folder.
            with kernel.file_uid(self._uid):
                self._nameless(pid)
            yield

    def _walk(self, top: str) -> Iterator[None]:
        try:
            found = os.stat(top)  # noqa: PTH116 - no Path: speed
        except FileNotFoundError:
            return
        self._devices.add(found.st_dev)
        todo = [(top, found)]
        while todo:
            path, expected = todo.pop()
            try:
                folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError as error:
                self._refused(error, expected)
                continue
            with kernel.closing(folder):
                if os.path.samestat(os.fstat(folder), expected):
                    for name, inner in self._list(folder, expected):
                        if stat.S_ISDIR(inner.st_mode):
                            todo.append((f"{path}/{name}", inner))
                        if self._files % _ENTRIES == 0:
                            yield
            yield

    def _list(self, folder: int, itself: os.stat_result) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(folder) as entries:
            for entry in entries:
                self._files += 1
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError as error:
                    self._refused(error, itself)
                    continue
                self._count(found)
                yield entry.name, found

    def _refused(self, error: OSError, folder: os.stat_result) -> None:
        """A folder can't be entered: hidden on purpose, gone or a link by now, or an error."""
        if error.errno == errno.ENAMETOOLONG:
            self._hidden = True
        elif isinstance(error, PermissionError):
            # The program has closed a folder of its own; in those of others it can't write.
            self._hidden |= folder.st_uid == (self._uid or os.geteuid())
        elif error.errno not in _CHANGED:
            raise error

    def _count(self, found: os.stat_result) -> None:
        if found.st_nlink < 2 or stat.S_ISDIR(found.st_mode) or self._is_new(found):
            self._held += found.st_blocks * _BLOCK

    def _is_new(self, found: os.stat_result) -> bool:
        """Whether this file, which has several names or none, was not counted yet."""
        known = len(self._seen)
        self._seen.add((found.st_dev, found.st_ino))
        return len(self._seen) > known

    def _nameless(self, pid: int) -> None:
        """Count the files that a process has open or mapped and that have no name."""
        try:
            process = memory.usage(pid)
            if process is None or not process.size:
                return
            for path in memory.descriptors(process):
                try:
                    self._open(path, os.stat(path))  # noqa: PTH116 - no Path: speed
                except GONE:
                    continue
            for area, major, minor, inode in _DELETED.findall(read(f"{process.path}/maps")):
                device = os.makedev(int(major, 16), int(minor, 16))
                if device in self._devices and (device, int(inode)) not in self._seen:
                    self._seen.add((device, int(inode)))
                    self._files += 1
                    self._held += _mapped(process.path, area.decode())
        except GONE:
            return
        except PermissionError:
            self._unseen = True

    def _open(self, path: str, found: os.stat_result) -> None:
        if stat.S_ISSOCK(found.st_mode):
            self._unseen = self._unseen or _carries(path)
        elif found.st_nlink == 0 and found.st_dev in self._devices and self._is_new(found):
            self._files += 1
            self._held += found.st_blocks * _BLOCK


def _carries(path: str) -> bool:
    """Whether descriptors are in flight through a socket; of which files can't be found out."""
    folder, _, name = path.rpartition("/fd/")
    _, found, rest = read(f"{folder}/fdinfo/{name}").partition(b"scm_fds:")
    return bool(found) and rest.split(maxsplit=1)[:1] != [b"0"]


def _mapped(process: str, area: str) -> int:
    """The size of a file that is only mapped; the most it may be, if we may not look."""
    try:
        found = os.stat(f"{process}/map_files/{area}")  # noqa: PTH116 - no Path: speed
    except (*GONE, PermissionError):
        # Not by prlimit(2), which needs a capability.
        most = _LARGEST.search(read(f"{process}/limits"))
        return int(most[1]) if most else _UNLIMITED
    return found.st_blocks * _BLOCK
