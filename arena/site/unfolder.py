"""Segments of matches made by as many processes as are given: unfolding is most of the work.

Invariant: the same segments in the same order, whatever the number of processes; no more than a few
of them are held at a time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

import msgspec

from arena import registry
from arena.model import Event, Frozen, HostError, MatchRecord, UntrueError
from arena.replay.steps import unfold
from arena.site import segments
from arena.site.clearance import Clearing

AHEAD = 2
"""Segments that are asked for before the first of them is needed, for each process."""


class Case(Frozen, frozen=True, kw_only=True):
    """What a process needs to know besides the records."""

    event: Event
    secret: bytes
    names: Mapping[str, int]
    """From entrants' own ids to their places."""
    clearing: Clearing


class Made(NamedTuple):
    """A segment."""

    first: str
    """The id of its first match."""
    data: bytes
    shown: int
    """Matches in it that can be looked at; the rest the deals and the rules don't make."""
    matches: int


def segment(case: Case, name: str, records: Iterable[MatchRecord]) -> Made:
    """One segment."""
    game = registry.game(case.event.settings.game)
    found = []
    shown = 0
    for record in records:
        try:
            steps = unfold(record, case.event, game=game, secret=case.secret)
        except UntrueError:
            found.append(segments.unshown(record, case.clearing))
            continue
        found.append(segments.match(steps, case.names, case.clearing))
        shown += 1
    return Made(found[0]["id"], segments.script(name, found), shown, len(found))


def made(case: Case, wanted: Iterable[tuple[str, list[MatchRecord]]], jobs: int) -> Iterator[Made]:
    """Segments by their names, in that order."""
    if jobs == 1:
        for name, records in wanted:
            yield segment(case, name, records)
        return
    # Not forked: whoever called may have threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(case,))
    waiting: deque[Future[Made]] = deque()
    try:
        for name, records in wanted:
            waiting.append(pool.submit(_segment, name, msgspec.msgpack.encode(records)))
            if len(waiting) > jobs * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise HostError(
            "a process that was reading matches has been killed; try again, with fewer --jobs if "
            "memory is short"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


# ---------------------------------------------------------------------- in another process

_cases: list[Case] = []
"""This process's own, if it is one of those that make segments."""
_decode = msgspec.msgpack.Decoder(list[MatchRecord]).decode


def _begin(case: Case) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _cases.append(case)


def _end_with_parent() -> None:
    """A parent that was killed shuts no pool down, and its processes would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _segment(name: str, records: bytes) -> Made:
    return segment(_cases[0], name, _decode(records))
