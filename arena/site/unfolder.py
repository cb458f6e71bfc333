"""Unfold matches into segments in several processes: most of the work of publishing.

Invariant: the same segments in the same order, whatever the number of processes; only a few are
held at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from arena import registry
from arena.executors.ordered_pool import map_ordered
from arena.model import Event, Frozen, MatchRecord, UntrueError
from arena.replay.steps import unfold
from arena.site import segments
from arena.site.clearance import Clearance


class SegmentContext(Frozen, frozen=True, kw_only=True):
    """What unfolding needs besides the records."""

    event: Event
    secret: bytes
    names: Mapping[str, int]
    """Entrants' own ids -> their places."""
    clearing: Clearance


class Segment(NamedTuple):
    """An encoded segment."""

    first: str
    """The id of its first match."""
    data: bytes
    shown: int
    """Matches in it that were unfolded; the replay of the others makes another record."""
    matches: int


def make_segment(context: SegmentContext, name: str, records: Iterable[MatchRecord]) -> Segment:
    game = registry.game(context.event.settings.game)
    found = []
    shown = 0
    for record in records:
        try:
            steps = unfold(record, context.event, game=game, secret=context.secret)
        except UntrueError:
            found.append(segments.unshown(record, context.clearing))
            continue
        found.append(segments.match(steps, context.names, context.clearing))
        shown += 1
    return Segment(found[0]["id"], segments.script(name, found), shown, len(found))


def make_segments(
    context: SegmentContext, batches: Iterable[tuple[str, list[MatchRecord]]], jobs: int
) -> Iterator[Segment]:
    """A segment a batch, (its name, its records), in their order."""
    if jobs == 1:
        return (make_segment(context, name, records) for name, records in batches)
    calls = ((name, msgspec.msgpack.encode(records)) for name, records in batches)
    return map_ordered(_in_process, calls, jobs=jobs, begin=_begin, about=context)


_contexts: list[SegmentContext] = []
"""In a process of the pool: its context."""
_decode = msgspec.msgpack.Decoder(list[MatchRecord]).decode


def _begin(context: SegmentContext) -> None:
    _contexts.append(context)


def _in_process(name: str, records: bytes) -> Segment:
    return make_segment(_contexts[0], name, _decode(records))
