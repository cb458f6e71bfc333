r"""A bot's content: list it, hash it, copy it to where edits no longer reach it.

Invariant: the hash that names a snapshot was computed from the snapshot's own bytes, so an edit
during the copy can only lead to another hash, never to a wrong one.

The content hash is the SHA-256 of the line `nine-arena bot 1\n` and then, for every file in the
order of its path's bytes: `x` or `-` (executable or not), a space, the hex SHA-256 of the content,
a space, the path within the folder, a zero byte. Times, owners and empty folders don't count.

Left out, by name, in every folder: version control, caches of Python and its tools, desktop litter,
and virtual environments (they hold absolute paths; the organiser may activate one). Beside
a lock file the output of its tool is left out too (see locks). Everything else belongs to the bot,
`node_modules` and compiled files too. Links are followed only within the folder (see folder.py).

A results folder keeps its bots' snapshots (see kept.py); one taken from there goes through the
cache like any other.
"""

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.bots.cache import BOTS, cache_errors, discard, in_cache, publish, scratch
from arena.bots.folder import (
    MAX_ENTRIES,
    Folder,
    FolderEntry,
    SnapshotError,
    open_folder,
)
from arena.bots.plain_text import printable
from arena.bots.trees import MAX_DEPTH, MAX_PATH, inside, whole
from arena.tables import table

MAX_BYTES = 256 << 20
"""Room for a neural network's weights; a data set or a disk image given by mistake is refused."""
MAX_FILES = 20_000  # twice a large node_modules

IGNORED = frozenset(table("bots/files")["ignored"])

HASH = re.compile(r"[0-9a-f]{64}")
READ_NS = 2_145_830_400 * 10**9
"""The access time of everything in the cache, in 2037: kernels update that time only if it is older
than the last change, or than a day (relatime)."""
_ELF, _ELF_TYPE = b"\x7fELF", 16
_PROGRAMS = (b"\x02", b"\x03")  # at a fixed address, or at any


class File(NamedTuple):
    """One file of a bot: `path` within it, and where its bytes are."""

    path: str
    folder: Folder
    found: FolderEntry
    executable: bool


def listing(folder: Folder, left_out: frozenset[str] = frozenset()) -> list[File]:
    """All files of a folder, sorted by path, without the names `left_out` directly in it."""
    top = folder.find("")
    assert top is not None, "an open folder is there"
    owner, left = top.info.st_uid, MAX_ENTRIES

    def walk(at: FolderEntry, below: str, above: tuple[str, ...]) -> Iterator[File]:
        """The files of one folder; `below`: its path, `above`: the folders it lies in."""
        nonlocal left  # links may lead to the same folders many times, so every name is counted
        names = folder.names(at.place, left)
        left -= len(names)
        if below and "pyvenv.cfg" in names:
            return
        above = (*above, at.place)
        for name in names:
            if name in IGNORED or name.endswith(".pyc") or (not below and name in left_out):
                continue
            path = f"{below}/{name}" if below else name
            shown = printable(path)
            found = folder.find(f"{at.place}/{name}" if at.place else name)
            if found and found.is_folder:
                if found.place in above:
                    raise SnapshotError(f"{shown} links to a folder that it lies in itself")
                if len(above) >= MAX_DEPTH:
                    raise SnapshotError(f"{shown} lies more than {MAX_DEPTH} folders deep")
                yield from walk(found, path, above)
            else:
                yield _file(path, folder, found, owner)

    files = []
    size = 0
    for file in walk(top, "", ()):
        files.append(file)
        size += file.found.info.st_size
        if len(files) > MAX_FILES or size > MAX_BYTES:
            most = f"{MAX_FILES} files" if len(files) > MAX_FILES else f"{MAX_BYTES >> 20} MB"
            raise SnapshotError(f"holds more than {most}; leave out what it doesn't need")
    return sorted(files, key=lambda file: os.fsencode(file.path))


def _file(path: str, folder: Folder, found: FolderEntry | None, owner: int) -> File:
    shown = printable(path)
    if found is None:
        raise SnapshotError(f"can't read {shown}: it vanished while it was read; try again")
    if len(os.fsencode(path)) > MAX_PATH:
        raise SnapshotError(f"{shown} has more than {MAX_PATH} bytes in its path")
    info = found.info
    if not found.is_file:
        raise SnapshotError(f"{shown} is neither a file nor a folder; remove it")
    # The folder's owner may have linked a file that only root can read.
    if info.st_nlink > 1 and info.st_uid != owner and not info.st_mode & stat.S_IROTH:
        raise SnapshotError(
            f"{shown} is a hard link to another user's file, which not everybody may read; copy it "
            "in"
        )
    return File(path, folder, found, bool(info.st_mode & stat.S_IXUSR))


def content_hash(files: Iterable[File]) -> str:
    """The hash of sorted files, as defined at the top of the module."""

    def lines() -> Iterator[tuple[str, str, bytes]]:
        for file in files:
            content = hashlib.sha256()
            for chunk in file.folder.chunks(file.found, file.path):
                content.update(chunk)
            kind = "x" if file.executable else "-"
            yield kind, content.hexdigest(), os.fsencode(file.path)

    return digest(lines())


def digest(lines: Iterable[tuple[str, str, bytes]]) -> str:
    """The hash of lines: kind, the content's hash, path."""
    total = hashlib.sha256(b"nine-arena bot 1\n")
    for kind, content, path in lines:
        total.update(f"{kind} {content} ".encode() + path + b"\0")
    return total.hexdigest()


def copy(files: Iterable[File], folder: Path, cache: Path) -> None:
    """Write the files below a folder of the cache, readable by their owner alone."""
    for file in files:
        target = folder / file.path
        with cache_errors(cache):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                for chunk in file.folder.chunks(file.found, file.path):
                    out.write(chunk)
                os.fchmod(out.fileno(), 0o700 if file.executable else 0o600)


def set_modes(folder: Path, *, folders: int, files: int) -> None:
    """Set modes and times within, follow no link; a program gets the execute bits of `folders`."""
    for path, info in whole(folder):
        if stat.S_ISREG(info.st_mode):
            path.chmod(files | (folders & 0o111 if info.st_mode & stat.S_IXUSR else 0))
        elif stat.S_ISDIR(info.st_mode):
            path.chmod(folders)
    freeze_times(folder)


def freeze_times(folder: Path) -> None:
    """Set access times that no read changes: a later bot could tell from them what an earlier one
    has read. Entries of older versions are brought up to date.
    """
    if folder.lstat().st_atime_ns == READ_NS:
        return
    with contextlib.suppress(PermissionError):  # another user's cache
        for path, info in inside(folder):
            os.utime(path, ns=(READ_NS, info.st_mtime_ns), follow_symlinks=False)
        os.utime(folder, ns=(READ_NS, folder.lstat().st_mtime_ns))


def mark_programs(made: Path) -> None:
    """Make linked programs executable: some sandboxes don't let a linker set modes."""
    for path, info in inside(made):
        if not stat.S_ISREG(info.st_mode) or info.st_mode & stat.S_IXUSR:
            continue
        if os.geteuid() == 0 or info.st_mode & stat.S_IRUSR:
            with path.open("rb") as file:
                header = file.read(_ELF_TYPE + 1)
            if header.startswith(_ELF) and header[_ELF_TYPE:] in _PROGRAMS:
                path.chmod(0o755)


def make_plain(made: Path) -> tuple[int, int]:
    """Make foreign output fit for the cache: our own plain files, read-only; count and bytes."""
    files = size = 0
    for path, info in whole(made):
        if os.geteuid() == 0 and info.st_uid != 0:  # the builder's
            os.chown(path, 0, 0, follow_symlinks=False)
        if stat.S_ISREG(info.st_mode):
            files += 1
            size += info.st_size
        elif not stat.S_ISDIR(info.st_mode) and not stat.S_ISLNK(info.st_mode):
            path.unlink()
    set_modes(made, folders=0o755, files=0o444)
    return files, size


def find(cache: Path, content: str) -> Path | None:
    """The snapshot with that content hash, if it is intact; a damaged one is discarded."""
    folder = cache / BOTS / content
    # A stranger's event may state any text as a hash: `..` too, which must not be discarded.
    if not HASH.fullmatch(content) or not in_cache(folder):
        return None
    with contextlib.suppress(SnapshotError), open_folder(folder) as intact:
        if content_hash(listing(intact)) == content:
            freeze_times(folder)
            return folder
    discard(folder)
    return None


def take(files: list[File], cache: Path) -> Path:
    """Copy the files into the cache, unless they are there; the folder is named by their hash."""
    if kept := find(cache, content_hash(files)):
        return kept
    with scratch(cache, BOTS) as folder:
        made = folder / "bot"
        with cache_errors(cache):
            made.mkdir()
        copy(files, made, cache)
        with open_folder(made) as copied:
            content = content_hash(listing(copied))
        with cache_errors(cache):
            set_modes(made, folders=0o755, files=0o444)
            publish(made, cache / BOTS / content)
    return cache / BOTS / content
