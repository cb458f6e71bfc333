"""Room on a disk: whether a program that has failed, or says that it hasn't, was given what it was
promised.

Who meets a full disk is a compiler or pip. What they say is told in words that a bot's author may
have written, and what they had written is often removed by then. So a disk that is full now is
proof enough; words count only where there is less room than the program was promised.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from arena.exhaustion import NO_QUOTA, NO_SPACE, ran_out, ran_out_in

LITTLE = 256 << 10
"""With less than this nothing can be built: a disk is full."""
_FILES = 16
"""And with fewer files that can be made."""


def full(folder: Path) -> str:
    """What has run out where a folder lies, if nothing more can be written there."""
    # As root a build is another user's, to whom the blocks that are kept for root aren't given.
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files and disk.f_favail < _FILES):
        return NO_SPACE
    return _refused(folder, LITTLE)


def short(folders: Iterable[Path], promised: int, said: bytes) -> str:
    """What has run out by a program's words, if one of these places can't give so many bytes."""
    what = ran_out_in(said.decode(errors="replace"))
    for folder in folders:
        disk = os.statvfs(folder)
        if what == NO_SPACE and disk.f_bavail * disk.f_frsize < promised:
            return what
        if what == NO_QUOTA and (refused := _refused(folder, promised)):
            return refused
    return ""


def _refused(folder: Path, size: int) -> str:
    """What stands in the way of a file of that size: a quota is seen only by trying."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as e:
        return ran_out(e)
    return ""
