"""The files of an event's matches: lists and segments, and the statistics of its bots.

Theory of operation. One pass over the records. Unfolding them is most of the work of publishing,
so several processes do it, a segment each; only a few segments are held at a time.

Invariant: the same files whatever the number of processes; cards of an event that is not over are
never unfolded. `Statistics` keeps sums, a histogram of strokes and the first faults of each bot,
the same amount for ten matches as for a million; the order of the records decides only which of
several equal matches is called the best or the worst: the first.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena import registry
from arena.executors.ordered_pool import map_ordered
from arena.model import Event, MatchRecord, UntrueError
from arena.referee import HOLES
from arena.replay.steps import unfold
from arena.site import segments
from arena.site.clearance import Clearance
from arena.site.source import SiteSource, SourceLog
from arena.site.state import Published
from arena.site.view import BotView, EventView, Notable, Spread
from arena.store import read_at

MOST_FAULTS = 50  # of a bot's faults on its page; the log has all of them
ALONE = 200  # matches below which one process is as fast as several are with their start


class MatchFiles:
    """`kept`: as published before of the same records: lists and segments are not made again."""

    def __init__(
        self,
        source: SiteSource,
        clearing: Clearance,
        slug: str,
        folder: Path,
        *,
        kept: Published | None,
    ) -> None:
        self._source = source
        self._clearing = clearing
        self._slug = slug
        self._folder = folder
        self._kept = kept
        events = (source.table.event, *(part.event for part in source.parts))
        ids = clearing.ids(entrant for event in events for entrant in event.entrants)
        self._names = sorted(set(ids.values()))
        places = {shown: place for place, shown in enumerate(self._names)}
        self._places = {own: places[shown] for own, shown in ids.items()}
        self._statistics = Statistics(ids, source.event.settings.seats, clearing)
        self._lists = segments.Lists(slug, len(self._names))
        self._listed = 0
        self._segment = 0  # the number of the next one
        self._replays = kept.replays if kept else 0
        self._unshown = 0
        guessable = any(part.event.predictable for part in source.parts)
        self._shows = not (clearing.anonymous and guessable)
        """Under aliases no cards whose deals can be guessed: a pairing's reveal its names."""

    def write(self, jobs: int) -> Iterator[int]:
        """Yields how many matches are done."""
        if not self._kept:
            (self._folder / "m").mkdir()
        parts = []
        for part in self._source.parts:
            firsts: list[str] = []
            parts.append(firsts)
            noted = self._noted(part)
            if not self._kept and part.over and self._shows:
                yield from self._segments(part, noted, firsts, jobs)
                continue
            for _ in noted:
                if self._listed % segments.A_SEGMENT == 0:
                    yield self._listed
        if self._kept:
            return
        self._write(self._lists.rest())
        # Of each log of the event, the first match of each of its segments.
        index = {"names": self._names, "files": self._lists.files, "parts": parts}
        self._write([("m/index.js", segments.script(f"e/{self._slug}/m/index", index))])

    def _noted(self, part: SourceLog) -> Iterator[MatchRecord]:
        """The records that count, or would if none were annulled, sorted by their published ids."""
        clearing, annulled = self._clearing, part.counts.annulled
        places = zip(map(clearing.match, part.ids), part.starts, strict=True)
        for record in read_at(part.folder, places, part.event):
            counts = self._statistics.add(record, over=part.over, annulled=annulled)
            self._listed += 1
            if not self._kept:
                told = segments.line(record, self._places, clearing, counts=counts)
                self._write(self._lists.add(told))
            yield record

    def _segments(
        self, part: SourceLog, noted: Iterator[MatchRecord], firsts: list[str], jobs: int
    ) -> Iterator[int]:
        secret = bytes.fromhex(part.event.secret)
        context = SegmentContext(part.event, secret, self._places, self._clearing)
        packs = enumerate(iter(lambda: list(islice(noted, segments.A_SEGMENT)), []), self._segment)
        wanted = ((f"e/{self._slug}/m/s{number}", batch) for number, batch in packs)
        jobs = jobs if self._source.table.matches > ALONE else 1
        for each in _made(context, wanted, jobs):
            self._write([(f"m/s{self._segment}.js", each.data)])
            self._segment += 1
            firsts.append(each.first)
            self._replays += each.shown
            self._unshown += each.matches - each.shown
            yield self._replays + self._unshown

    def _write(self, files: Iterable[tuple[str, bytes]]) -> None:
        for name, data in files:
            (self._folder / name).write_bytes(data)

    def view(self, name: str) -> EventView:
        source, clearing = self._source, self._clearing
        missing = list(source.missing)
        if not self._shows and source.event.finished:
            missing.append("missing_guessable")
        if self._unshown or (self._kept and "missing_unshown" in self._kept.missing):
            missing.append("missing_unshown")
        table, bots = clearing.table(source.table), self._statistics.bots
        for own, shown in clearing.ids(source.table.event.entrants).items():
            bots[shown].history = source.history.get(own, ())
        rows = {row.entrant for row in table.rows}
        return EventView(
            slug=self._slug,
            name=name,
            table=table,
            bots={bot: bots[bot] for bot in bots if bot in rows} if source.parts else {},
            names=tuple(self._names),
            replays=self._replays,
            listed=self._listed,
            ended=self._statistics.ended,
            missing=tuple(missing),
            anonymous=clearing.anonymous,
        )


class SegmentContext(NamedTuple):
    event: Event
    secret: bytes
    names: Mapping[str, int]  # entrants' own ids -> their places
    clearing: Clearance


class Segment(NamedTuple):
    first: str  # the id of its first match
    data: bytes
    shown: int
    """Matches in it that were unfolded; the replay of the others makes another record."""
    matches: int


def _segment(context: SegmentContext, name: str, records: Iterable[MatchRecord]) -> Segment:
    game = registry.game(context.event.settings.game)
    found: list[dict[str, Any]] = []
    shown = 0
    for record in records:
        try:
            steps = unfold(record, context.event, game=game, secret=context.secret)
        except UntrueError:
            found.append({"id": context.clearing.match(record.id), "unshown": True})
            continue
        found.append(segments.match(steps, context.names, context.clearing))
        shown += 1
    return Segment(found[0]["id"], segments.script(name, found), shown, len(found))


def _made(
    context: SegmentContext, batches: Iterable[tuple[str, list[MatchRecord]]], jobs: int
) -> Iterator[Segment]:
    """A segment a batch, (its name, its records), in their order."""
    if jobs == 1:
        return (_segment(context, name, records) for name, records in batches)
    calls = ((name, msgspec.msgpack.encode(records)) for name, records in batches)
    return map_ordered(_in_process, calls, jobs=jobs, begin=_begin, about=context)


_contexts: list[SegmentContext] = []  # in a process of the pool: its context
_decode = msgspec.msgpack.Decoder(list[MatchRecord]).decode


def _begin(context: SegmentContext) -> None:
    _contexts.append(context)


def _in_process(name: str, records: bytes) -> Segment:
    return _segment(_contexts[0], name, _decode(records))


class Statistics:
    def __init__(self, ids: Mapping[str, str], seats: int, clearing: Clearance) -> None:
        """`ids`: entrants' own ids -> published ids."""
        self._ids = ids
        self._clearing = clearing
        self.bots = {
            shown: BotView(
                seats=[Spread() for _ in range(seats)], holes=[Spread() for _ in range(HOLES)]
            )
            for shown in sorted(set(ids.values()))
        }
        """By published id."""
        self.ended = 0.0  # when the last match ended

    def add(self, record: MatchRecord, *, over: bool, annulled: Collection[str] = ()) -> bool:
        """Add a match, and say whether it counts. Of `annulled` bots only faults do."""
        self.ended = max(self.ended, record.ended)
        bots = [self.bots[self._ids[seat]] for seat in record.seats]
        gone = [entrant in annulled for entrant in record.seats]
        counts = gone.count(False) > 1
        # From the hole on which it failed, the game's fallback plays for it.
        fallen = {fault.seat: fault.hole for fault in record.faults}
        for seat, bot in enumerate(bots):
            if gone[seat]:
                bot.annulled += 1
            elif counts:
                _play(bot, record, seat, fallen.get(seat, HOLES + 1))
        for fault in record.faults:
            bot = bots[fault.seat]
            bot.failed += 1
            if len(bot.faults) < MOST_FAULTS:
                bot.faults.append(self._clearing.failing(record.id, fault, over=over))
        if not record.faults and not any(gone):
            for seat, bot in enumerate(bots):
                self._compare(bot, record, record.totals[seat])
        return counts

    def _compare(self, bot: BotView, record: MatchRecord, own: int) -> None:
        lead = (sum(record.totals) - own) / (len(record.totals) - 1) - own
        if bot.best and bot.worst and bot.worst.lead <= lead <= bot.best.lead:
            return
        found = Notable(match=self._clearing.match(record.id), strokes=own, lead=lead)
        if bot.best is None or lead > bot.best.lead:
            bot.best = found
        if bot.worst is None or lead < bot.worst.lead:
            bot.worst = found


def _play(bot: BotView, record: MatchRecord, seat: int, until: int) -> None:
    """Add the strokes before a hole, and the time of all of them."""
    for number, hole in enumerate(record.holes[: max(0, until - 1)][:HOLES]):
        if hole.scores:
            score = hole.scores[seat]
            bot.strokes[score] += 1
            for spread in (bot.seats[seat], bot.holes[number]):
                spread.count += 1
                spread.strokes += score
    for use in record.use[seat : seat + 1]:  # an older record may have none
        bot.decisions += use.decisions
        bot.think_ms += use.think_ms
        bot.max_ms = max(bot.max_ms, use.max_ms)
        bot.waited_ms += use.waited_ms
