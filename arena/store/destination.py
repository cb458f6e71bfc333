"""Create the folder that a command writes its results into, before anything is spent on them.

Invariant: a folder given out here is empty and writable; a default one belongs to no other command.
A folder that is still empty at the end is removed, with every parent that was created for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from arena.model import UserError
from arena.store.folder import not_writable, refuse_nonempty
from arena.system import clock, files

RESULTS = "arena-results"


@contextmanager
def claim_folder(out: Path | None, prefix: str = "") -> Iterator[Path]:
    """The folder `out`, or a new one named after the time: `arena-results/PREFIX-TIME`."""
    created: list[Path] = []
    try:
        yield _default(prefix, created) if out is None else _requested(out, created)
    finally:
        for path in reversed(created):
            with suppress(OSError):  # it isn't empty
                path.rmdir()


def _default(prefix: str, created: list[Path]) -> Path:
    first = Path(RESULTS, clock.local(f"{prefix}%Y%m%d-%H%M%S"))
    try:
        _make_all(first.parent, created)
        for number in count(1):
            folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
            with suppress(FileExistsError):  # another command started in the same second
                files.make_folder(folder)
                created.append(folder)
                return folder
    except OSError as error:
        trouble = not_writable(first.parent, error)
        if isinstance(trouble, UserError):
            raise UserError(f"{trouble}; name another folder with --out") from None
        raise trouble from None
    raise AssertionError


def _requested(out: Path, created: list[Path]) -> Path:
    try:
        _make_all(out, created)
        refuse_nonempty(out)
        if out not in created:
            with tempfile.TemporaryFile(dir=out):
                pass
    except OSError as error:
        raise not_writable(out, error) from None
    return out


def _make_all(folder: Path, created: list[Path]) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(20, "a file is in its place", str(folder))
    for path in reversed(missing):
        with suppress(FileExistsError):  # another command has just created it
            files.make_folder(path)
            created.append(path)
