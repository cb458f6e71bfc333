"""Open the files of a results folder, which may come from a stranger.

A path may lead to a pipe without a writer, to an endless device, through a link to a file of
the reader's own, or to more bytes than memory holds.

Invariant: only regular files are read; what is written lies in the folder itself.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from arena.model import UserError
from arena.system import files

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are not what they should be."""
_REASON = 200  # of a decoder's message, which may quote the bytes

MOST_CONTENT = 16 << 20  # an event of ten thousand bots has five megabytes
# Subfolders that we write: the bots' stderr, and bots that travel with an event.
_INNER = ("stderr", "bots")
_FILES = ("event.json", "private.json", "matches.jsonl", "matches.index", "lock")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading; UserError for anything else."""
    try:
        file = files.open_at_once(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UserError(f"{path}: not a regular file")
    return file


def read_small(path: Path) -> bytes:
    """All of a file that is never large; UserError if it is."""
    with open_regular(path) as file:
        data = file.read(MOST_CONTENT + 1)
    if len(data) > MOST_CONTENT:
        raise UserError(f"{path}: larger than {MOST_CONTENT >> 20} MB")
    return data


def reason(error: Exception) -> str:
    return str(error)[:_REASON]


def refuse_links(folder: Path) -> None:
    """UserError unless all in a folder is its own: through a link we would write another's file."""
    for path in (folder, *(folder / name for name in _INNER)):
        with suppress(FileNotFoundError), os.scandir(path) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in _FILES if is_folder else not entry.is_file(follow_symlinks=False):
                    raise UserError(
                        f"{entry.path}: not a regular file, so nothing is written there; "
                        "if you know what it is, put the file itself in its place"
                    )
