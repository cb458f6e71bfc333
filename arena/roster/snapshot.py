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
name the interpreter of one that lies outside in `run` instead). Beside a lock file what its
tool makes is left out too (see locks.py): it is made anew. Everything else belongs to the bot,
`node_modules` and compiled files too. Links are followed as long as they stay inside.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.roster.cache import BOTS, discard, publish, scratch, writing
from arena.roster.plain import printable
from arena.roster.trees import MAX_DEPTH, MAX_PATH, inside

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
HEADER = b"nine-arena bot 1\n"
_CHUNK = 1 << 20
_ELF = b"\x7fELF"
_ELF_TYPE = 16
_PROGRAMS = (b"\x02", b"\x03")  # at a fixed address, or at any


class SnapshotError(Exception):
    """Why a folder can't be a bot's content: one line."""


class File(NamedTuple):
    """One file of a bot: `path` within the folder, `place` where its bytes are now."""

    path: str
    place: str
    executable: bool
    size: int


class Snapshot(NamedTuple):
    """Content that no longer changes."""

    hash: str
    folder: Path


def listing(folder: Path, left_out: frozenset[str] = frozenset()) -> list[File]:
    """All files of a folder, sorted by path; SnapshotError for what can't be snapshot.

    `left_out`: names right below it that don't count.
    """
    root = os.path.realpath(folder)
    files = []
    size = 0
    for file in _walk(root, "", (root,), left_out):
        files.append(file)
        size += file.size
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


def _walk(
    root: str, below: str, above: tuple[str, ...], left_out: frozenset[str] = frozenset()
) -> Iterator[File]:
    """Files under root/below. `above` holds the real folders on the way, to find loops."""
    here = Path(root, below)
    try:
        with os.scandir(here) as found:
            entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    except OSError as e:
        raise SnapshotError(f"can't read {printable(below or here)}: {e.strerror}") from e
    if below and any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name in IGNORED or entry.name in left_out or entry.name.endswith(".pyc"):
            continue
        path = f"{below}/{entry.name}" if below else entry.name
        shown = printable(path)
        real = _follow(root, entry, shown)
        try:
            info = Path(real).lstat()
        except OSError as e:
            raise SnapshotError(f"can't read {shown}: {e.strerror}") from e
        if stat.S_ISDIR(info.st_mode):
            if real in above:
                raise SnapshotError(f"{shown} links to a folder that it lies in itself")
            if len(above) >= MAX_DEPTH:
                raise SnapshotError(f"{shown} lies more than {MAX_DEPTH} folders deep")
            yield from _walk(root, path, (*above, real))
        elif stat.S_ISREG(info.st_mode):
            yield File(path, real, bool(info.st_mode & stat.S_IXUSR), info.st_size)
        else:
            raise SnapshotError(f"{shown} is neither a file nor a folder; remove it")


def _follow(root: str, entry: os.DirEntry[str], shown: str) -> str:
    """Where the bytes of an entry really are; an error if that is outside the bot."""
    if not entry.is_symlink():
        return entry.path
    real = os.path.realpath(entry.path)
    if not (real == root or real.startswith(root + os.sep)):
        raise SnapshotError(
            f"{shown} links to {printable(real)}, outside the bot's folder; copy it in"
        )
    if not os.path.lexists(real):
        raise SnapshotError(
            f"{shown} links to {printable(Path(entry.path).readlink())}, which is not there"
        )
    return real


def _chunks(file: File) -> Iterator[bytes]:
    """The content, at most a byte more than the cap: a file may grow while it is read."""
    left = MAX_BYTES + 1
    try:
        with Path(file.place).open("rb", buffering=0) as stream:
            while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
                left -= len(chunk)
                yield chunk
    except OSError as e:
        raise SnapshotError(f"can't read {printable(file.path)}: {e.strerror}") from e


def content_hash(files: Iterable[File]) -> str:
    """The hash of sorted files, as the module's text defines it."""
    total = hashlib.sha256(HEADER)
    for file in files:
        content = hashlib.sha256()
        for chunk in _chunks(file):
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
                for chunk in _chunks(file):
                    out.write(chunk)
                os.fchmod(out.fileno(), 0o700 if file.executable else 0o600)


def set_modes(folder: Path, *, folders: int, files: int) -> None:
    """Give every folder and file its mode, without following links.

    An executable file gets the execute bits of `folders` on top.
    """
    for path, info in inside(folder):
        if stat.S_ISREG(info.st_mode):
            path.chmod(files | (folders & 0o111 if info.st_mode & stat.S_IXUSR else 0))
        elif stat.S_ISDIR(info.st_mode):
            path.chmod(folders)
    folder.chmod(folders)


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
    if not HASH.fullmatch(content) or not folder.is_dir():
        return None
    try:
        if content_hash(listing(folder)) == content:
            return Snapshot(content, folder)
    except SnapshotError:
        pass
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
        content = content_hash(listing(made))
        with writing(cache):
            set_modes(made, folders=0o755, files=0o444)
            publish(made, cache / BOTS / content)
    return Snapshot(content, cache / BOTS / content)
