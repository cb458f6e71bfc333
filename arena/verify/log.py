"""Read the log in parts, by several processes.

Invariant: results are yielded in the order of the file, so the first difference doesn't depend on
the number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import tee
from pathlib import Path

from arena.executors.ordered_pool import map_ordered
from arena.store.files import open_regular
from arena.verify.event import VerifiedEvent
from arena.verify.findings import LOG
from arena.verify.lines import LogPart, PartReader, begin, decode_part, read_part

# Some hundred matches a part: half a second's work, and little to keep of each.
PART_BYTES = 1 << 20
# Starting a process takes as long as some hundred matches.
ALONE_BYTES = 1 << 20
_LOOK_BYTES = 1 << 16


def processes(case: VerifiedEvent, jobs: int) -> int:
    """How many of `jobs` processes are worth their start."""
    log = case.folder / LOG
    size = log.stat().st_size if log.is_file() else 0
    return max(1, min(jobs, size // ALONE_BYTES))


def read_log(case: VerifiedEvent, jobs: int) -> Iterator[tuple[int, LogPart]]:
    """Every part in the order of the file, each with the byte at which the next one begins."""
    ranges = parts(case.folder / LOG)
    if jobs == 1:
        reader = PartReader(case)
        for start, stop in ranges:
            yield stop, reader.read(start, stop)
        return
    starts, calls = tee(ranges)
    found = map_ordered(read_part, calls, jobs=jobs, begin=begin, about=case)
    yield from ((stop, decode_part(part)) for (_, stop), part in zip(starts, found, strict=True))


def parts(log: Path) -> Iterator[tuple[int, int]]:
    """Ranges of bytes that begin where lines begin, and cover the file."""
    try:
        file = open_regular(log)
    except FileNotFoundError:
        return
    with file:
        size = file.seek(0, 2)
        start = 0
        while start < size:
            file.seek(min(start + PART_BYTES, size))
            while (piece := file.readline(_LOOK_BYTES)) and not piece.endswith(b"\n"):
                pass
            stop = file.tell()
            yield start, stop
            start = stop
