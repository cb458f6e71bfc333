"""Walk, measure, copy and remove folders that foreign programs have filled.

A build or a package may hold anything: folders nested by the thousand, folders that their owner
can't open, links to anywhere. Invariant: no link is followed, not even the top folder, nothing
recurses, and only what lies in the given folder is changed.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from arena.sandbox import removal

MAX_DEPTH = 64  # nested folders; it bounds the recursion of tools that walk the tree later
MAX_PATH = 2048  # bytes of a path within the folder: half of the kernel's limit


class ShapeError(Exception):
    """What of a tree exceeds its limit."""


def inside(folder: Path, most: int | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """Every file and folder within (at `most`), parents first; locked folders are opened up."""
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise ShapeError("something else in the place of its folder")
    count = 0
    waiting = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        here = folder / below
        with contextlib.suppress(OSError):  # another user's: reading it fails and says why
            if (mode := stat.S_IMODE(here.lstat().st_mode)) & 0o700 != 0o700:
                here.chmod(mode | 0o700)
        with os.scandir(here) as found:
            for entry in found:
                count += 1
                if most is not None and count > most:
                    raise ShapeError(f"more than {most} files and folders")
                path = f"{below}/{entry.name}" if below else entry.name
                if len(os.fsencode(path)) > MAX_PATH:
                    raise ShapeError(f"paths of more than {MAX_PATH} bytes")
                info = entry.stat(follow_symlinks=False)
                yield folder / path, info
                if stat.S_ISDIR(info.st_mode):
                    if depth == MAX_DEPTH:
                        raise ShapeError(f"folders more than {MAX_DEPTH} deep")
                    waiting.append((path, depth + 1))


def whole(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder itself, and what is `inside`."""
    yield folder, folder.lstat()
    yield from inside(folder)


def measure(folder: Path, most: int | None = None) -> tuple[int, int]:
    """The number of files in a folder, and of bytes."""
    files = size = 0
    for _, info in inside(folder, most):
        if not stat.S_ISDIR(info.st_mode):
            files += 1
            size += info.st_size if stat.S_ISREG(info.st_mode) else 0
    return files, size


def remove(folder: Path) -> None:
    """Remove a folder, however deep or locked; a link or a file itself."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    removal.remove(str(folder))


def copy_into(folder: Path, target: Path) -> None:
    """Copy files, folders and links into a folder that may hold others, writable by their owner."""
    for path, info in inside(folder):
        place = target / path.relative_to(folder)
        if stat.S_ISDIR(info.st_mode):
            place.mkdir(exist_ok=True)
        elif stat.S_ISLNK(info.st_mode):
            place.symlink_to(path.readlink())
        else:
            shutil.copyfile(path, place)
            place.chmod(0o700 if info.st_mode & stat.S_IXUSR else 0o600)
