"""Folders that foreign programs have filled: walked through, measured, removed.

Touches only what lies in the folder that it is given. A build or a package may hold anything:
folders nested by the thousand, folders that their owner can't open, links to anywhere.

Invariant: no link is followed, at the top either, and nothing here recurses.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from arena.sandbox import mounts

MAX_DEPTH = 64
"""Folders within folders: bounds the recursion of whatever walks through them later."""
MAX_PATH = 2048
"""Bytes of a path within the folder: half of what kernels take, the rest is for the way to it."""


class ShapeError(Exception):
    """A tree that can't be kept, whoever made it: what of it is too much."""


def inside(folder: Path, most: int | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """What a folder holds, folders before what lies in them; ShapeError beyond the limits.

    Folders that their owner can't use are opened on the way. `most`: files and folders.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise ShapeError("something else in the place of its folder")
    count = 0
    waiting = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        here = folder / below
        with contextlib.suppress(OSError):  # another's: then reading it fails, and says why
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


def measure(folder: Path, most: int | None = None) -> tuple[int, int]:
    """How many files a folder holds, and how many bytes."""
    files = size = 0
    for _, info in inside(folder, most):
        if not stat.S_ISDIR(info.st_mode):
            files += 1
            size += info.st_size if stat.S_ISREG(info.st_mode) else 0
    return files, size


def remove(folder: Path) -> None:
    """Remove a folder, however deep or locked; of a link or a file only itself."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o700)
    mounts.remove(str(folder))
