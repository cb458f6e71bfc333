"""Recover a log before it is appended to: truncate what a crash damaged at its end.

Theory of operation. A killed writer leaves half a line, a power cut anything since the last sync.
So after the synced mark the log is truncated at its first damaged line; damaged lines at the very
end are truncated even if they were durable. What is truncated, except half a line, is kept beside
the log. A damaged line before durable whole ones is not the trace of a crash: reading reports it,
and `repair` runs only when it is asked for.

Invariant: no whole durable line is ever truncated. A damaged line may have any length, so damage is
read and moved a block at a time.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from arena.store.index import INDEX, Index
from arena.store.lines import LOG, LONGEST_LINE, read_lines, strip_checksum
from arena.system import files

DAMAGED = "matches.damaged"

_BLOCK = 65_536
_LF = b"\n"


def open_log(folder: Path) -> tuple[BinaryIO, str]:
    """The log, unbuffered, positioned after its last whole line; and what was wrong, in words."""
    path = folder / LOG
    new = not path.exists()
    file = files.open_file(path, "ab+", buffering=0)
    try:
        if new:
            files.sync_folder(folder)
            files.sync_folder(folder.parent)  # whatever made the folder may have failed to do so
        size = file.seek(0, os.SEEK_END)
        mark = Index.load(folder).mark
        if mark and files.read_at(file, mark - 1, mark) not in {b"", _LF}:
            mark = None  # nothing is read beyond the end
        note = ""
        if mark is not None and mark > size:
            note = f"{mark - size} bytes at the log's end are gone; what they held is played again"
            mark = None
        end = _whole_end(folder, file, size if mark is None else mark)
        if end < size:
            newlines = sum(block.count(_LF) for block in _blocks(file, end, size))
            if newlines:
                _keep_damaged(folder, file, [(end, size)])
                lines = newlines + (files.read_at(file, size - 1, size) != _LF)
                note = f"the log's end is damaged from byte {end} on: {_moved(lines)}"
            elif not note:
                note = (
                    f"half a line at the log's end (byte {end}) is cut off, as a killed writer "
                    "leaves it; its match is played again"
                )
            file.truncate(end)
        if (mark or 0) < end:
            _rewrite(path, file, mark or 0, end)  # all of it, if nobody knows what is durable
        files.sync(file)
        file.seek(0, os.SEEK_END)
    except BaseException:
        file.close()
        raise
    return file, note


def repair(folder: Path) -> str:
    """Move the damaged lines out of a log; what was moved. The caller holds the lock."""
    ranges, count = _damaged(folder)
    if not count:
        return ""
    path, fresh = folder / LOG, folder / f".{LOG}.new"
    with files.open_file(path, "rb") as log, files.open_file(fresh, "wb") as whole:
        size = log.seek(0, os.SEEK_END)
        at = 0
        for start, end in [*ranges, (size, size)]:
            for block in _blocks(log, at, start):
                whole.write(block)
            at = end
        _keep_damaged(folder, log, ranges)
        whole.flush()
        files.sync(whole)
    files.remove(folder / INDEX)
    files.rename(fresh, path)
    files.sync_folder(folder)
    return _moved(count)


def _damaged(folder: Path) -> tuple[list[tuple[int, int]], int]:
    """The ranges of damaged lines, adjacent ones joined; and how many lines they have."""
    ranges: list[tuple[int, int]] = []
    begun: int | None = None
    count = 0
    for line in read_lines(folder):
        if line.body is None:
            begun = line.start if begun is None else begun
            count += 1
        elif begun is not None:
            ranges.append((begun, line.start))
            begun = None
    if begun is not None:
        ranges.append((begun, (folder / LOG).stat().st_size))
    return ranges, count


def _moved(lines: int) -> str:
    some = f"{lines} damaged line{'' if lines == 1 else 's'}"
    return f"{some} moved to {DAMAGED}; what they held is played again"


def _whole_end(folder: Path, log: BinaryIO, mark: int) -> int:
    end = log.seek(0, os.SEEK_END)
    for line in read_lines(folder, mark):
        if line.body is None:
            end = line.start
            break
    while end:
        start = _line_start(log, end)
        last = files.read_at(log, start, end) if end - start <= LONGEST_LINE else b""
        if last.endswith(_LF) and strip_checksum(last[:-1]) is not None:
            break
        end = start
    return end


def _line_start(log: BinaryIO, end: int) -> int:
    at = end - 1  # its own newline, if it has one
    while at > 0:
        start = max(0, at - _BLOCK)
        newline = files.read_at(log, start, at).rfind(_LF)
        if newline >= 0:
            return start + newline + 1
        at = start
    return 0


def _blocks(log: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, _BLOCK):
        yield files.read_at(log, at, min(at + _BLOCK, end))


def _rewrite(path: Path, log: BinaryIO, start: int, end: int) -> None:
    """Rewrite a range: after a failed sync the kernel takes its pages for written."""
    # The log's own descriptor can only append.
    with files.open_file(path, "r+b", buffering=0) as file:
        for block in _blocks(log, start, end):
            files.write_at(file, block, start)
            start += len(block)
        files.sync(file)


def _keep_damaged(folder: Path, log: BinaryIO, ranges: Iterable[tuple[int, int]]) -> None:
    with files.open_file(folder / DAMAGED, "ab") as file:
        for start, end in ranges:
            for block in _blocks(log, start, end):
                file.write(block)
            if files.read_at(log, end - 1, end) != _LF:
                file.write(_LF)
        file.flush()
        files.sync(file)
