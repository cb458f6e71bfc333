"""Opening the files of a folder that may come from a stranger.

In the place of a file there may be a pipe that nobody writes to, a device without an end, a link
to a file of the reader's, or far more bytes than memory.

Invariant: what is read is a regular file; what is written lies in the folder itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from arena.model import UserError

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are not what they should be."""
# Of what is wrong with them: it may quote them.
_REASON = 200

# An event of ten thousand bots has five megabytes.
MOST_CONTENT = 16 << 20
# Folders of ours within a results folder: the bots' stderr, and bots that travel with an event.
_INNER = ("stderr", "bots")
_FILES = ("event.json", "private.json", "matches.jsonl", "matches.index", "lock")


def opened(path: Path) -> BinaryIO:
    """A regular file, or a link to one, for reading; UserError if it is something else."""
    try:
        file = open(path, "rb", opener=_at_once)  # noqa: SIM115 - a path's own has no opener
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UserError(f"{path}: not a regular file")
    return file


def content(path: Path) -> bytes:
    """All of a file that can't be large."""
    with opened(path) as file:
        data = file.read(MOST_CONTENT + 1)
    if len(data) > MOST_CONTENT:
        raise UserError(f"{path}: larger than {MOST_CONTENT >> 20} MB")
    return data


def reason(error: Exception) -> str:
    """What is wrong with undecodable bytes, in one short line."""
    return str(error)[:_REASON]


def refuse_links(folder: Path) -> None:
    """See that whatever is written into a folder stays in it.

    A link in the place of a log or a lock would have us write into, or cut off, another file.
    """
    inner = [entry for name in _INNER for entry in _entries(folder / name)]
    for entry in (*_entries(folder), *inner):
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name in _FILES if is_folder else not entry.is_file(follow_symlinks=False):
            raise UserError(
                f"{entry.path}: not a regular file, so nothing is written there; "
                "if you know what it is, put the file itself in its place"
            )


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except FileNotFoundError:
        return


def _at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe has no writer, perhaps for ever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
