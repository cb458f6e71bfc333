"""Make temporary folders that get removed even if their process is killed.

A process locks its folder as long as it lives. A process that makes another folder with the same
prefix first removes those that aren't locked.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.sandbox import kernel, removal


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder and remove it; those of killed processes, too."""
    place = Path(tempfile.gettempdir())
    sweep(place, prefix)
    with locked_folder(place, prefix) as folder:
        yield folder


@contextmanager
def locked_folder(place: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that no `sweep` removes while we live, and remove it."""
    lock = -1
    while lock < 0:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # some network file systems: then `sweep` can't lock, either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():  # it was swept before it was locked
                os.close(lock)
                lock = -1
    try:
        yield folder
    finally:
        with suppress(OSError):  # the next sweep tries again
            removal.remove(str(folder))
        os.close(lock)


def sweep(place: Path, prefix: str) -> None:
    """Remove the folders that killed processes have left."""
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError):  # it is gone, another user's, or held
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            with kernel.closing(opened) as lock:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    removal.remove(str(folder))
