"""The whole log, read in parts by as many processes as there are cores.

Invariant: parts are handed on in the order of the file, whoever has read them and when; so what
is found first doesn't depend on the number of processes.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from arena.model import HostError
from arena.store.files import open_regular
from arena.verify.event import VerifiedEvent
from arena.verify.findings import LOG
from arena.verify.lines import LogPart, Reader, begin, decode_part, read_part

# Some hundred matches a part: half a second's work, and little to keep of each.
PART_BYTES = 1 << 20
# Starting a process takes as long as some hundred matches.
ALONE_BYTES = 1 << 20
# Parts that are asked for before the first of them is needed, for each process.
AHEAD = 2
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
        reader = Reader(case)
        for start, stop in ranges:
            yield stop, reader.read(start, stop)
        return
    # Not forked: whoever called may have threads, and this works everywhere.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=begin, initargs=(case,))
    waiting: deque[tuple[int, Future[bytes]]] = deque()
    try:
        for start, stop in ranges:
            waiting.append((stop, pool.submit(read_part, start, stop)))
            if len(waiting) > jobs * AHEAD:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    except BrokenProcessPool:
        raise HostError(
            "a process that was reading the log has been killed; try again, with fewer --jobs if "
            "memory is short"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _first(waiting: deque[tuple[int, Future[bytes]]]) -> tuple[int, LogPart]:
    stop, future = waiting.popleft()
    return stop, decode_part(future.result())


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
