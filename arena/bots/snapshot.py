r"""A bot's content: listed, hashed, and copied to where edits no longer reach it.

Reads the bot's folder, writes the cache. Invariant: the hash that a snapshot is filed under
was computed from the snapshot's own bytes, so an edit during the copy can only lead to
another hash, never to a wrong one.

The content hash is the SHA-256 of the line `nine-arena bot 1\n` and then, for every file in
the order of its path's bytes: `x` or `-` (executable or not), a space, the hex SHA-256 of the
content, a space, the path within the folder, a zero byte. Times, owners and empty folders
don't count.

Left out, by name, wherever they lie: version control, caches of Python and its tools, desktop
litter, and virtual environments (they hold absolute paths and work only where they were made;
whoever runs the event may activate one). Beside a lock file what its tool makes is left out too
(see locks): it is made anew. Everything else belongs to the bot, `node_modules` and compiled
files too. Links are followed as long as they stay inside, and only there: see folder.py, which also
holds against an author who exchanges files meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.bots.cache import BOTS, discard, publish, scratch, there, writing
from arena.bots.folder import MAX_ENTRIES, Folder, Found, SnapshotError, opened
from arena.bots.plain_text import printable
from arena.bots.trees import MAX_DEPTH, MAX_PATH, inside

MAX_BYTES = 256 << 20
"""A bot with a neural network's weights fits; a data set or a disk image given by mistake
doesn't fill the disk."""
MAX_FILES = 20_000
"""Twice a large node_modules."""

IGNORED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".DS_Store",
        "Thumbs.db",
    }
)

HASH = re.compile(r"[0-9a-f]{64}")
READ_NS = 2_145_830_400 * 10**9
"""When all that lies in the cache was last read: in 2037. Where a kernel keeps that time at all, it
does so only if it is older than the last change, or older than a day (relatime)."""
HEADER = b"nine-arena bot 1\n"
_ELF = b"\x7fELF"
_ELF_TYPE = 16
_PROGRAMS = (b"\x02", b"\x03")  # at a fixed address, or at any


class File(NamedTuple):
    """One file of a bot: `path` within it, and where its bytes are to be had."""

    path: str
    folder: Folder
    found: Found
    executable: bool


class Snapshot(NamedTuple):
    """Content that no longer changes."""

    hash: str
    folder: Path


def listing(folder: Folder, left_out: frozenset[str] = frozenset()) -> list[File]:
    """All files of a folder, sorted by path; SnapshotError for what can't be snapshot.

    `left_out`: names right below it that don't count.
    """
    top = folder.find("")
    assert top is not None, "an open folder is there"
    files = []
    size = 0
    for file in _Walk(folder, top, left_out).files(top, "", ()):
        files.append(file)
        size += file.found.info.st_size
        if len(os.fsencode(file.path)) > MAX_PATH:
            raise SnapshotError(
                f"{printable(file.path)} has more than {MAX_PATH} bytes to its path"
            )
        if len(files) > MAX_FILES:
            raise SnapshotError(
                f"holds more than {MAX_FILES} files; leave out what it doesn't need"
            )
        if size > MAX_BYTES:
            raise SnapshotError(
                f"holds more than {MAX_BYTES >> 20} MB; leave out what it doesn't need"
            )
    return sorted(files, key=lambda file: os.fsencode(file.path))


class _Walk:
    """One way through a folder. Links may lead to the same folders again and again, so that what
    is walked through is counted, be it empty.
    """

    def __init__(self, folder: Folder, top: Found, left_out: frozenset[str]) -> None:
        self.folder = folder
        self.owner = top.info.st_uid
        self.left_out = left_out
        self.left = MAX_ENTRIES

    def files(self, at: Found, below: str, above: tuple[str, ...]) -> Iterator[File]:
        """Files of the folder found there, called `below`; `above`: the folders it lies in."""
        names = self.folder.names(at.place, self.left)
        self.left -= len(names)
        if below and "pyvenv.cfg" in names:
            return
        above = (*above, at.place)
        for name in names:
            if name in IGNORED or name.endswith(".pyc") or (not below and name in self.left_out):
                continue
            path = f"{below}/{name}" if below else name
            shown = printable(path)
            found = self.folder.find(f"{at.place}/{name}" if at.place else name)
            if found is None:
                raise SnapshotError(f"can't read {shown}: it vanished while it was read; try again")
            if found.is_folder:
                if found.place in above:
                    raise SnapshotError(f"{shown} links to a folder that it lies in itself")
                if len(above) >= MAX_DEPTH:
                    raise SnapshotError(f"{shown} lies more than {MAX_DEPTH} folders deep")
                yield from self.files(found, path, above)
            elif found.is_file:
                if self._is_strangers(found):
                    raise SnapshotError(
                        f"{shown} is a hard link to another user's file, which not everybody may "
                        "read; copy it in"
                    )
                yield File(path, self.folder, found, bool(found.info.st_mode & stat.S_IXUSR))
            else:
                raise SnapshotError(f"{shown} is neither a file nor a folder; remove it")

    def _is_strangers(self, found: Found) -> bool:
        """Whether the folder's owner may have linked what that user can't read: root can."""
        info = found.info
        return info.st_nlink > 1 and info.st_uid != self.owner and not info.st_mode & stat.S_IROTH


def content_hash(files: Iterable[File]) -> str:
    """The hash of sorted files, as the module's text defines it."""
    total = hashlib.sha256(HEADER)
    for file in files:
        content = hashlib.sha256()
        for chunk in file.folder.chunks(file.found, file.path):
            content.update(chunk)
        mark = "x" if file.executable else "-"
        total.update(f"{mark} {content.hexdigest()} ".encode())
        total.update(os.fsencode(file.path) + b"\0")
    return total.hexdigest()


def copy(files: Iterable[File], folder: Path, cache: Path) -> None:
    """Write the files below a folder of the cache, for their owner alone as yet."""
    for file in files:
        target = folder / file.path
        with writing(cache):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                for chunk in file.folder.chunks(file.found, file.path):
                    out.write(chunk)
                os.fchmod(out.fileno(), 0o700 if file.executable else 0o600)


def set_modes(folder: Path, *, folders: int, files: int) -> None:
    """Give every folder and file its mode and its times, without following links.

    An executable file gets the execute bits of `folders` on top.
    """
    for path, info in inside(folder):
        if stat.S_ISREG(info.st_mode):
            path.chmod(files | (folders & 0o111 if info.st_mode & stat.S_IXUSR else 0))
        elif stat.S_ISDIR(info.st_mode):
            path.chmod(folders)
    folder.chmod(folders)
    keep_times(folder)


def keep_times(folder: Path) -> None:
    """Have no reading of an entry change its times, by which a later bot could tell what an earlier
    one has read. An entry of an arena that didn't do so is brought up to date.
    """
    if folder.lstat().st_atime_ns == READ_NS:
        return
    with contextlib.suppress(PermissionError):  # another user's cache
        for path, info in inside(folder):
            os.utime(path, ns=(READ_NS, info.st_mtime_ns), follow_symlinks=False)
        os.utime(folder, ns=(READ_NS, folder.lstat().st_mtime_ns))


def mark_programs(made: Path) -> None:
    """Make executable what a linker has made: some sandboxes don't let it set modes itself."""
    for path, info in inside(made):
        if not stat.S_ISREG(info.st_mode) or info.st_mode & stat.S_IXUSR:
            continue
        if os.geteuid() == 0 or info.st_mode & stat.S_IRUSR:
            with path.open("rb") as file:
                header = file.read(_ELF_TYPE + 1)
            if header.startswith(_ELF) and header[_ELF_TYPE:] in _PROGRAMS:
                path.chmod(0o755)


def settle(made: Path) -> tuple[int, int]:
    """Make what foreign programs wrote fit for the cache: plain files of ours, read-only, no
    link followed; return how many files and bytes they are.
    """
    files = size = 0
    for path, info in inside(made):
        _own(path, info)
        if stat.S_ISREG(info.st_mode):
            files += 1
            size += info.st_size
        elif not stat.S_ISDIR(info.st_mode) and not stat.S_ISLNK(info.st_mode):
            path.unlink()
    _own(made, made.lstat())
    set_modes(made, folders=0o755, files=0o444)
    return files, size


def _own(path: Path, info: os.stat_result) -> None:
    """Take back what the sandbox gave to the builder's uid."""
    if os.geteuid() == 0 and info.st_uid != 0:
        os.chown(path, 0, 0, follow_symlinks=False)


def find(cache: Path, content: str) -> Snapshot | None:
    """An intact snapshot with that content hash. One that was damaged is thrown away."""
    folder = cache / BOTS / content
    # A stranger's event may state any text for a hash: `..` too, and that must not be thrown away.
    if not HASH.fullmatch(content) or not there(folder):
        return None
    with contextlib.suppress(SnapshotError), opened(folder) as intact:
        if content_hash(listing(intact)) == content:
            keep_times(folder)
            return Snapshot(content, folder)
    discard(folder)
    return None


def take(files: list[File], cache: Path) -> Snapshot:
    """Put the files into the cache, unless they are there already."""
    kept = find(cache, content_hash(files))
    if kept is not None:
        return kept
    with scratch(cache, BOTS) as folder:
        made = folder / "bot"
        with writing(cache):
            made.mkdir()
        copy(files, made, cache)
        with opened(made) as copied:
            content = content_hash(listing(copied))
        with writing(cache):
            set_modes(made, folders=0o755, files=0o444)
            publish(made, cache / BOTS / content)
    return Snapshot(content, cache / BOTS / content)
