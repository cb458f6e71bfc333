"""Write files that are to survive a crash, and open those of a stranger.

Files that are only read, in a folder without concurrent writers, are read by `pathlib`.
"""

import os
import shutil
from pathlib import Path
from typing import BinaryIO, cast


def open_file(path: Path, mode: str, *, buffering: int = -1) -> BinaryIO:
    return cast("BinaryIO", path.open(mode, buffering=buffering))


def open_new(path: Path, permissions: int) -> BinaryIO:
    """An empty file for writing, in the place of what was there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, permissions)
    return os.fdopen(descriptor, "wb")


def open_at_once(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a file for reading, without waiting: a pipe may never get a writer."""
    flags = getattr(os, "O_NONBLOCK", 0) | (0 if follow_links else os.O_NOFOLLOW)
    return open(path, "rb", opener=lambda name, given: os.open(name, given | flags))


def read_at(file: BinaryIO, start: int, end: int) -> bytes:
    return os.pread(file.fileno(), end - start, start)


def write_at(file: BinaryIO, data: bytes | bytearray, start: int) -> int:
    """How much of it was written."""
    return os.pwrite(file.fileno(), data, start)


def sync(file: BinaryIO) -> None:
    """Return when what was written is durable."""
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names of a folder's files durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(old: Path, new: Path) -> None:
    """A file takes the place of what was there."""
    old.replace(new)


def remove(path: Path) -> None:
    """If it is there."""
    path.unlink(missing_ok=True)


def remove_tree(folder: Path) -> None:
    shutil.rmtree(folder)


def make_folder(path: Path, *, parents: bool = False, exist_ok: bool = False) -> None:
    path.mkdir(parents=parents, exist_ok=exist_ok)
