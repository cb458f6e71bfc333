"""Read a folder safely while its author may be changing it.

The kernel resolves a path again at every call, so a file that was checked need not be the one that
is opened. Here a submission's folder is opened once, and everything in it is opened from that
descriptor, name by name, never through a link. `find` resolves a link within the folder itself, so
that a link that appears later, or leads outside, is an error.

Invariants: no byte is read from outside the folder, whatever changes meanwhile; no call waits for
another process (pipes, devices and files under a lease are refused); a file that was exchanged
since it was found, or has grown, is an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.bots.plain_text import BotError, printable
from arena.exhaustion import ran_out
from arena.model import HostError

MAX_ENTRIES = 100_000  # names listed in all: five times the files that a bot may have
MAX_FOLLOWED = 1_000_000
"""Folders entered in all to follow links, a second's work: fifty for each file that a bot may have.
Links may lead up and down hundreds of folders, to links that do the same."""

_PATH = os.O_PATH | os.O_NOFOLLOW
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_CHUNK = 1 << 20
_LINKS = 40  # as many as the kernel follows


class SnapshotError(BotError):
    """A folder can't be a bot's content."""


class FolderEntry(NamedTuple):
    """A file or folder: its place in the folder, without links, and its lstat."""

    place: str
    info: os.stat_result

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.info.st_mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.info.st_mode)


class OpenPath(NamedTuple):
    """The end of a path: open descriptors of it and of its folder."""

    descriptor: int
    parent: int
    name: str
    info: os.stat_result
    passed: tuple[tuple[str, os.stat_result], ...]  # every folder and link on the way


def trusted_users() -> set[int]:
    """Uids of root and this user; in a container with few users also the overflow uid."""
    trusted = {0, os.geteuid()}
    with contextlib.suppress(OSError, ValueError):
        if int(Path("/proc/self/uid_map").read_text().split()[-1]) < 2**32 - 1:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    return trusted


@contextlib.contextmanager
def open_path(path: Path) -> Iterator[OpenPath]:
    """Follow an absolute path and its links; OSError as from `open`.

    Another user's link is followed only to that user's files: else a folder of links would make its
    reader, root above all, hand out files that the author of the links can't read.
    """
    strangers: set[int] = set()
    passed = []
    links = 0
    with contextlib.ExitStack() as stack:
        parent = here = _keep_open(stack, os.open("/", _PATH))
        shown, name = "/", "."
        waiting = list(reversed(path.parts[1:]))
        while waiting:
            name = waiting.pop()
            entry = _keep_open(stack, os.open(name, _PATH, dir_fd=here))
            info = os.fstat(entry)
            below = str(Path(shown, name))
            if not stat.S_ISLNK(info.st_mode):
                passed.append((shown, os.fstat(here)))
                parent, here, shown = here, entry, below
                continue
            passed += [(shown, os.fstat(here)), (below, info)]
            links += 1
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            strangers |= {info.st_uid} - trusted_users()
            target = Path(os.readlink("", dir_fd=entry))
            if target.is_absolute():
                here, shown = _keep_open(stack, os.open("/", _PATH)), "/"
            waiting += [part for part in reversed(target.parts) if part != "/"]
        info = os.fstat(here)
        if strangers - {info.st_uid}:
            raise PermissionError(
                errno.EPERM,
                "a link on the way belongs to another user, and its target does not; "
                "name the target itself",
            )
        yield OpenPath(here, parent, name, info, tuple(passed))


def _keep_open(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


@contextlib.contextmanager
def open_folder(path: Path) -> Iterator[Folder]:
    """Open a folder by its path; SnapshotError if that fails, or it is no folder."""
    with contextlib.ExitStack() as stack:
        with read_errors(path):
            reached = stack.enter_context(open_path(Path(os.path.abspath(path))))  # noqa: PTH100 - ..
            if not stat.S_ISDIR(reached.info.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        yield Folder(reached.descriptor)


@contextlib.contextmanager
def os_errors(text: str, error: type[Exception], remedy: str = "") -> Iterator[None]:
    """Turn OSError into `error`, or into HostError if the machine has run out of something."""
    try:
        yield
    except OSError as e:
        what = ran_out(e)
        raise (HostError if what else error)(f"{text}: {what or e.strerror}{remedy}") from e


def read_errors(shown: object) -> contextlib.AbstractContextManager[None]:
    return os_errors(f"can't read {printable(shown)}", SnapshotError)


class Folder:
    """A folder by its open descriptor, which its opener closes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._root = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        """Its path when it was opened: for messages, and for links that go out and back in."""
        self._followed = 0

    def names(self, place: str = "", most: int = MAX_ENTRIES) -> list[str]:
        """The names in a folder, in the order of their bytes; `place` has no links."""
        names: list[str] = []
        with (
            read_errors(place or self._root),
            self._opened(place or ".", _LIST) as descriptor,
            os.scandir(descriptor) as entries,
        ):
            for entry in entries:
                names.append(entry.name)
                if len(names) > most:
                    raise SnapshotError(
                        f"holds more than {MAX_ENTRIES} files and folders; leave out what it "
                        "doesn't need"
                    )
        return sorted(names, key=os.fsencode)

    def find(self, path: str) -> FolderEntry | None:
        """What is at a path within; SnapshotError for a link that leads nowhere, or outside."""
        found = self._lstat(path)
        if found is not None and not stat.S_ISLNK(found.info.st_mode):
            return found
        reached = self._resolve(path)
        if reached is None and found is not None:
            target = printable(self._readlink(path))
            raise SnapshotError(f"{printable(path)} links to {target}, which does not exist")
        return reached

    def _resolve(self, path: str) -> FolderEntry | None:
        place: list[str] = []
        waiting = path.split("/")[::-1]
        links = 0
        while waiting:
            name = waiting.pop()
            if name == ".." and not place:
                waiting = self._way_to(Path(self._root).parent.joinpath(*reversed(waiting)), path)
            elif name == "..":
                place.pop()
            elif name not in {"", "."}:
                self._count_entered(len(place) + 1)
                found = self._lstat("/".join([*place, name]))
                if found is None:
                    return None
                if not stat.S_ISLNK(found.info.st_mode):
                    place.append(name)
                    continue
                links += 1
                if links > _LINKS:
                    raise SnapshotError(f"can't read {printable(path)}: {os.strerror(errno.ELOOP)}")
                target = self._readlink(found.place)
                if target.startswith("/"):
                    place, waiting = [], self._way_to(Path(target), path)
                else:
                    waiting += target.split("/")[::-1]
        return self._lstat("/".join(place))

    def _way_to(self, target: Path, path: str) -> list[str]:
        """The way to `target` from this folder, last name first; SnapshotError: it lies outside."""
        own = os.fstat(self._descriptor)
        self._count_entered(len(target.parts) ** 2)
        for above in (target, *target.parents):
            with contextlib.suppress(OSError):
                if os.path.samestat(above.stat(), own):
                    return list(target.relative_to(above).parts[::-1])
        raise SnapshotError(
            f"{printable(path)} links to {printable(target)}, outside the bot's folder; copy it in"
        )

    def _count_entered(self, folders: int) -> None:
        self._followed += folders
        if self._followed > MAX_FOLLOWED:
            raise SnapshotError(
                "has links that lead through too many folders; copy in what they lead to"
            )

    def _lstat(self, place: str) -> FolderEntry | None:
        """The entry at a place, perhaps a link; None also if there is a link on the way."""
        with (
            read_errors(place),
            contextlib.suppress(FileNotFoundError, NotADirectoryError, ValueError),
            self._opened(place or ".", _PATH) as descriptor,
        ):
            return FolderEntry(place, os.fstat(descriptor))
        return None

    def _readlink(self, path: str) -> str:
        with read_errors(path), self._opened(path, _PATH) as descriptor:
            return os.readlink("", dir_fd=descriptor)

    @contextlib.contextmanager
    def subfolder(self, found: FolderEntry) -> Iterator[Folder]:
        """Open a found folder as a Folder of its own: links must stay within it."""
        with contextlib.ExitStack() as stack:
            with read_errors(found.place):
                descriptor = stack.enter_context(self._opened(found.place, _PATH | os.O_DIRECTORY))
            yield Folder(descriptor)

    def chunks(self, found: FolderEntry, shown: str = "") -> Iterator[bytes]:
        """The bytes of a found file; `shown`: its name in messages, if not its place."""
        shown = shown or found.place
        left = found.info.st_size
        with read_errors(shown), self._opened(found.place, _READ) as descriptor:
            info = os.fstat(descriptor)
            if (info.st_dev, info.st_ino) != (found.info.st_dev, found.info.st_ino):
                raise SnapshotError(
                    f"{printable(shown)} was exchanged while it was read; try again"
                )
            if not stat.S_ISREG(info.st_mode):
                raise SnapshotError(f"{printable(shown)} is neither a file nor a folder; remove it")
            while chunk := os.read(descriptor, min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise SnapshotError(f"{printable(shown)} grew while it was read; try again")
                yield chunk

    def read(self, found: FolderEntry, most: int) -> bytes:
        data = bytearray()
        for chunk in self.chunks(found):
            data += chunk
            if len(data) >= most:
                break
        return bytes(data[:most])

    @contextlib.contextmanager
    def _opened(self, place: str, flags: int) -> Iterator[int]:
        """Open a place without following any link, or going up."""
        *above, name = place.split("/")
        if ".." in (*above, name):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        descriptors = []
        try:
            here = self._descriptor
            for part in above:
                here = os.open(part, _PATH | os.O_DIRECTORY, dir_fd=here)
                descriptors.append(here)
            descriptors.append(os.open(name, flags, dir_fd=here))
            yield descriptors[-1]
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
