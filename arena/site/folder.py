"""The folder of a site, written so that a killed publisher leaves it usable; the key of aliases.

Theory of operation. `arena-site.json` marks a folder as a site; it is the first file written into
an empty folder. An event's folder is completed beside its place and renamed into it; so is each
single file. The index comes last, so a reader, or the publisher after a killed one, sees complete
events. The kernel locks the folder itself for one publisher, so a killed one leaves no lock.

Invariant: but for that key nothing outside the folder is written or removed, nor anything in a
folder that isn't a site of ours; a link in the place of a folder, which another user could plant,
is refused.
"""

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

import msgspec

from arena.model import UserError
from arena.site.state import FILE, FORMAT, SiteIndex, decode_index, encode_index

_NEW, _OLD = ".new", ".old"
_MOST = 256 << 20
_KEY_BYTES = 32
_FOLDERS = ("e", "assets", "assets/lang", "bots", "rules")
"""What a site has besides its own files."""


class SiteFolder:
    def __init__(self, path: Path) -> None:
        """UserError unless the folder is empty or a site of ours."""
        self.path = path
        self._held: int | None = None
        try:
            if path.is_dir():
                self._held = _locked(path)
            self.index = _read(path)
        except OSError as error:
            self.close()
            raise UserError(f"{path}: can't be read: {error.strerror}") from None
        except UserError:
            self.close()
            raise

    def close(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def begin(self, index: SiteIndex) -> None:
        """Mark the folder as a site, and repair what a killed publisher left."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self._held is None:
            self._held = _locked(self.path)
        if self.index is None:
            self.write(FILE, encode_index(index))
            self.index = index
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
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}{_NEW}")
        beside.unlink(missing_ok=True)  # whatever lies there, nothing is written through a link
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(path)

    def stage(self, slug: str) -> Path:
        path = self.path / "e" / f".{slug}{_NEW}"
        path.mkdir(parents=True)
        return path

    def place(self, slug: str) -> None:
        events = self.path / "e"
        place, old = events / slug, events / f".{slug}{_OLD}"
        if place.exists():
            place.rename(old)
        (events / f".{slug}{_NEW}").rename(place)
        if old.exists():
            shutil.rmtree(old)

    def keep_only(self, folder: str, names: Collection[str]) -> None:
        """Remove pages that nothing links to any more."""
        for path in (self.path / folder).glob("*.html"):
            if path.name not in names:
                path.unlink()


def _locked(path: Path) -> int:
    """Lock the folder, where its file system has locks."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(f"{path}: another arena is publishing there; wait for it") from None
    except OSError as error:
        if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
            os.close(descriptor)
            raise
    return descriptor


def _read(path: Path) -> SiteIndex | None:
    """The index of a site; None for a new site."""
    if not path.exists():
        return None
    if not path.is_dir():
        raise UserError(f"{path}: it is no folder")
    marker = path / FILE
    if not marker.is_file():
        # A killed publisher may have left this in an otherwise empty folder.
        if any(each.name != f".{FILE}{_NEW}" for each in path.iterdir()):
            raise UserError(
                f"{path}: it is neither empty nor a site that arena publish has made "
                f"(it has no {FILE}); name another folder"
            )
        return None
    _refuse_links(path)
    try:
        index = decode_index(marker.read_bytes()[:_MOST])
    except msgspec.DecodeError as error:
        mend = "remove the site, and publish its events again"
        raise UserError(f"{marker}: {error}; {mend}") from None
    if index.format != FORMAT:
        raise UserError(f"{marker}: format {index.format}, and this arena writes {FORMAT}")
    return index


def _refuse_links(path: Path) -> None:
    """UserError for a link where we write or remove: it would happen elsewhere."""
    events = path / "e"
    within = sorted(events.iterdir()) if events.is_dir() and not events.is_symlink() else []
    for place in (*(path / name for name in _FOLDERS), *within):
        if place.is_symlink():
            raise UserError(f"{place}: a link, and a site has none; remove it")


def read_or_make_key(named: Path | None, site: Path) -> bytes:
    """The user's key of aliases, from which each site's follows. It is never within a site: with
    the key and a list of names, all aliases could be looked up. What exists is never overwritten.
    """
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    path = named or Path(state) / "nine-arena" / "aliases.key"
    if path.absolute().resolve().is_relative_to(site.absolute().resolve()):
        raise UserError(f"{path}: the key of the aliases can't be within the site: name another")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_key(path)
    except OSError as error:
        raise UserError(f"{path}: can't be written: {error.strerror}") from None
    key = secrets.token_bytes(_KEY_BYTES)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{key.hex()}\n")
    return key


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: no key of aliases: {error}") from None
    if len(key) != _KEY_BYTES:
        raise UserError(f"{path}: no key of aliases: it has {len(key)} bytes, not {_KEY_BYTES}")
    return key
