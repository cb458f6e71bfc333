"""One writer: the lock on a results folder.

It is the kernel's (`flock`), so a killed writer's lock is gone with it. The file holds the writer's
process id, for `arena stop`.

Invariant: nothing in a folder is written by who doesn't hold its lock.
"""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import BinaryIO

from arena.model import UserError
from arena.store.files import content, opened, refuse_links

# Who only asks whether somebody writes holds the lock for a moment.
_TRIES = 5
_BETWEEN_S = 0.01


def lock(folder: Path) -> BinaryIO:
    """Take the lock; UserError if somebody has it. Closing the file lets it go."""
    import fcntl  # noqa: PLC0415 - reading a folder works where this module is missing

    refuse_links(folder)
    file = (folder / "lock").open("ab+", buffering=0)
    try:
        for _ in range(_TRIES - 1):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_BETWEEN_S)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
            raise UserError(
                f"{folder}: its file system has no locks ({error.strerror}), and without one two "
                "arenas could write there at once; choose a folder on another one"
            ) from None
        raise UserError(
            f"{folder}: another arena (process {_holder(folder)}) is writing there; "
            f"wait for it, or stop it: arena stop {folder}"
        ) from None
    try:
        file.truncate(0)
        file.write(b"%d\n" % os.getpid())
    except OSError:
        file.close()
        raise
    return file


def _holder(folder: Path) -> int:
    try:
        return int(content(folder / "lock") or b"0")
    except (OSError, ValueError):
        return 0


def writer(folder: Path) -> int | None:
    """The process id of whoever is writing, or None."""
    import fcntl  # noqa: PLC0415 - as above

    try:
        with opened(folder / "lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _holder(folder)
    except OSError:
        return None
    return None


def await_writer(folder: Path) -> None:
    """Return when nobody writes any more."""
    import fcntl  # noqa: PLC0415 - as above

    with opened(folder / "lock") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
