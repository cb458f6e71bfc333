"""Tell whether a full disk was the reason why a build or a package tool failed.

A compiler or pip meets the full disk, and its output may be the bot author's words; the files that
filled the disk are often gone by then. So a disk that is full now is proof enough; output counts
only where there is less room than the program was promised.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from arena.exhaustion import NO_QUOTA, NO_SPACE, ran_out, ran_out_in

LITTLE = 256 << 10  # a disk with less room than this is full
_FILES = 16  # or with fewer free files


def missing_room(folder: Path, promised: int, output: bytes, *others: Path) -> str:
    """What has run out (blocks, files or a quota): if the folder's disk is full, or if a program's
    output says so and its disk, or one of the `others`, lacks the promised bytes. Empty: nothing.
    """
    # Not the blocks kept for root: a build runs as another user.
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files and disk.f_favail < _FILES):
        return NO_SPACE
    if refused := _refused(folder, LITTLE):
        return refused
    what = ran_out_in(output.decode(errors="replace"))
    for each in (folder, *others):
        disk = os.statvfs(each)
        if what == NO_SPACE and disk.f_bavail * disk.f_frsize < promised:
            return what
        if what == NO_QUOTA and (refused := _refused(each, promised)):
            return refused
    return ""


def _refused(folder: Path, size: int) -> str:
    """Why a file of that size can't be made: only trying shows a quota."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as e:
        return ran_out(e)
    return ""
