"""Where the results of a command go: a folder that is made before anything is spent on them.

Invariant: whoever is given a folder here has it empty and may write there; a default one is no
other command's. What is still empty at the end is gone again, with every folder made on the way.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from arena.model import UserError
from arena.store.folder import not_writable, see_empty

RESULTS = "arena-results"


@contextmanager
def claimed(out: Path | None, prefix: str = "") -> Iterator[Path]:
    """The folder that was asked for, or a new one of this moment: `arena-results/PREFIX-TIME`."""
    made: list[Path] = []
    try:
        yield _new(prefix, made) if out is None else _asked(out, made)
    finally:
        for path in reversed(made):
            with suppress(OSError):  # there is something in it
                path.rmdir()


def _new(prefix: str, made: list[Path]) -> Path:
    first = Path(RESULTS, time.strftime(f"{prefix}%Y%m%d-%H%M%S"))
    try:
        _make_all(first.parent, made)
        for number in count(1):
            folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
            with suppress(FileExistsError):  # of another command of this second
                folder.mkdir()
                made.append(folder)
                return folder
    except OSError as error:
        trouble = not_writable(first.parent, error)
        if isinstance(trouble, UserError):
            raise UserError(f"{trouble}; name another folder with --out") from None
        raise trouble from None
    raise AssertionError


def _asked(out: Path, made: list[Path]) -> Path:
    try:
        _make_all(out, made)
        see_empty(out)
        if out not in made:
            with tempfile.TemporaryFile(dir=out):
                pass
    except OSError as error:
        raise not_writable(out, error) from None
    return out


def _make_all(folder: Path, made: list[Path]) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(20, "a file is in its place", str(folder))
    for path in reversed(missing):
        with suppress(FileExistsError):  # another command has just made it
            path.mkdir()
            made.append(path)
