"""A site's folder: what may be written to, and how so that it stays usable whenever that is killed.

Theory of operation. A folder is a site of ours if `arena-site.json` says so, and that is the first
file to be written into an empty one. An event's folder is made whole beside its place and put there
by renaming; single files are written beside their places and renamed. The index comes last, so a
reader, or a publisher that comes after a killed one, sees events that are whole. One publisher at a
time: the folder itself is locked, by the kernel, so a killed one holds nothing.

Whoever else can write to a site can put a link there: one in the place of a folder is refused.

Invariant: nothing outside the folder is written or removed, and nothing in one that isn't ours.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

import msgspec

from arena.model import HostError, UserError
from arena.site.state import FILE, FORMAT, SiteIndex, decode, encoded

_NEW, _OLD = ".new", ".old"
_MOST = 256 << 20
_FOLDERS = ("e", "assets", "assets/lang", "bots", "rules")
"""What a site has besides its own files."""


class SiteFolder:
    """See the module's theory of operation."""

    def __init__(self, path: Path) -> None:
        """UserError if it is neither empty nor a site of ours."""
        self.path = path
        self._held: int | None = None
        try:
            if path.is_dir():
                self._held = _locked(path)
            self.index = _read(path)
            self.begun = (path / FILE).is_file()
        except OSError as error:
            self.close()
            raise UserError(f"{path}: can't be read: {error.strerror}") from None
        except UserError:
            self.close()
            raise

    def close(self) -> None:
        """Whoever comes next may write."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def begin(self, index: SiteIndex) -> None:
        """Mark it as ours, and put right what a killed publisher has left."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self._held is None:
            self._held = _locked(self.path)
        self.index = index
        if not self.begun:
            self.write(FILE, encoded(index))
            self.begun = True
        events = self.path / "e"
        events.mkdir(exist_ok=True)
        for left in sorted(events.glob(f".*{_OLD}")):
            place = events / left.name[1 : -len(_OLD)]
            if place.exists():
                shutil.rmtree(left)
            else:
                left.rename(place)
        for left in events.glob(f".*{_NEW}"):
            shutil.rmtree(left)

    def write(self, name: str, content: bytes | str) -> None:
        """A file, whole or not at all."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}{_NEW}")
        beside.unlink(missing_ok=True)  # whatever lies there, nothing is written through a link
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(path)

    def started(self, slug: str) -> Path:
        """A folder for an event's files, which is nowhere to be seen yet."""
        path = self.path / "e" / f".{slug}{_NEW}"
        path.mkdir(parents=True)
        return path

    def put(self, slug: str) -> None:
        """The event's folder, made whole, goes into its place."""
        events = self.path / "e"
        place, old = events / slug, events / f".{slug}{_OLD}"
        if place.exists():
            place.rename(old)
        (events / f".{slug}{_NEW}").rename(place)
        if old.exists():
            shutil.rmtree(old)

    def keep_only(self, folder: str, names: Collection[str]) -> None:
        """Remove pages that nothing leads to any more."""
        for path in (self.path / folder).glob("*.html"):
            if path.name not in names:
                path.unlink()

    def conclude(self, index: SiteIndex) -> None:
        """The index, last of all."""
        self.index = index
        self.write(FILE, encoded(index))


def _locked(path: Path) -> int:
    """Nobody else writes there until this is closed; where the file system has no locks, nobody
    knows.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
            os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise UserError(f"{path}: another arena is publishing there; wait for it") from None
        if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
            raise
    return descriptor


def new_index(*, title: str, anonymous: bool) -> SiteIndex:
    """Of a site that is about to be made."""
    return SiteIndex(title=title, anonymous=anonymous, id=secrets.token_hex(8))


def _read(path: Path) -> SiteIndex | None:
    """The index of a site; None of one that has still to be made."""
    try:
        if not path.exists():
            return None
        if not path.is_dir():
            raise UserError(f"{path}: it is no folder")
        marker = path / FILE
        if not marker.is_file():
            if any(not _ours(name) for name in (each.name for each in path.iterdir())):
                raise UserError(
                    f"{path}: it is neither empty nor a site that arena publish has made "
                    f"(it has no {FILE}); name another folder"
                )
            return None
        _refuse_links(path)
        data = marker.read_bytes()[:_MOST]
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    try:
        index = decode(data)
    except msgspec.DecodeError as error:
        raise UserError(
            f"{marker}: {error}; remove the site, and publish its events again"
        ) from None
    if index.format != FORMAT:
        raise UserError(f"{marker}: format {index.format}, and this arena writes {FORMAT}")
    return index


def _refuse_links(path: Path) -> None:
    """What is written or removed within a link would be somewhere else."""
    events = path / "e"
    within = sorted(events.iterdir()) if events.is_dir() and not events.is_symlink() else []
    for place in (*(path / name for name in _FOLDERS), *within):
        if place.is_symlink():
            raise UserError(f"{place}: a link, and a site has none; remove it")


def _ours(name: str) -> bool:
    """What a publisher that was killed at once has left."""
    return name == f".{FILE}{_NEW}"


def failed(path: Path, error: OSError) -> HostError:
    """What to say when a site can't be written."""
    return HostError(f"{path}: can't be written: {error.strerror}")
