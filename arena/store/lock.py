"""The lock on a results folder: one writer at a time.

It is the kernel's (`flock`), so it vanishes with a killed writer. The file holds the writer's
process id, for `arena stop`.

Invariant: only the holder of a folder's lock writes into the folder.
"""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from arena.model import UserError
from arena.store.files import open_regular, read_small, refuse_links
from arena.system import clock, files

# A process that only asks for the writer's id holds the lock for a moment.
_TRIES = 5
_BETWEEN_S = 0.01


def lock(folder: Path) -> BinaryIO:
    """Take the lock; UserError if another process holds it. Closing the file releases it."""
    refuse_links(folder)
    with ExitStack() as opened:
        file = opened.enter_context(files.open_file(folder / "lock", "ab+", buffering=0))
        for left in reversed(range(_TRIES)):
            try:
                _flock(file, "LOCK_EX", "LOCK_NB")
                break
            except (BlockingIOError, PermissionError):
                if not left:
                    what = f"another arena (process {_holder(folder)}) is writing there"
                    stop = f"wait for it, or stop it: arena stop {folder}"
                    raise UserError(f"{folder}: {what}; {stop}") from None
                clock.sleep(_BETWEEN_S)
            except OSError as error:
                raise UserError(
                    f"{folder}: its file system has no locks ({error.strerror}), and without one "
                    "two arenas could write there at once; choose a folder on another one"
                ) from None
        file.truncate(0)
        file.write(b"%d\n" % os.getpid())
        opened.pop_all()
    return file


def _holder(folder: Path) -> int:
    try:
        return int(read_small(folder / "lock") or b"0")
    except (OSError, ValueError):
        return 0


def writer(folder: Path) -> int | None:
    try:
        with open_regular(folder / "lock") as file:
            _flock(file, "LOCK_SH", "LOCK_NB")
    except BlockingIOError:
        return _holder(folder)
    except OSError:
        pass
    return None


def await_writer(folder: Path) -> None:
    with open_regular(folder / "lock") as file:
        _flock(file, "LOCK_SH")


def _flock(file: BinaryIO, *flags: str) -> None:
    import fcntl  # noqa: PLC0415 - reading a folder works where this module is missing

    fcntl.flock(file, sum(getattr(fcntl, flag) for flag in flags))
