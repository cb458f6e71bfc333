"""Count an event incrementally, while it is played.

Theory of operation. Records come in any order and go into the archive. A walk along the schedule,
the *front*, stands at the first series that is not complete and moves on as soon as it is; all
before it is counted, once. At the end of the decided waves the schedule decides the next one from
the sums. So the cost of a match does not depend on how many there are.

A record of a series before the front (one that was in play when it became void; merged logs) can
change the count there: before the next result or round of playing, the front then starts
again from the first series. It reports no rated deal twice.

The sums of the front hold the results of bots that were annulled later; `so_far` has second sums
without them. Withdrawals are only known before the front, so a match that is skipped for one is not
missed later; if a late record changes that, the next round plays it.

Invariant: `counted` is what a walk along the whole schedule finds in the same set of records.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from arena.model import Block, MatchRecord, Series, Settings, UserError, Withdrawal
from arena.ratings.archive import Archive, pack_summary
from arena.ratings.counts import CountedSeries, EventCount, PlannedMatches, ScheduleWalk, count_in
from arena.ratings.outcomes import RatedOutcome, Report, Tally
from arena.schedule import NoResults, Schedule, ScheduleEnd, Wave, WaveResults, all_blocks


class Counting:
    """Count an event. `add` takes every record, whether it counts or not, in any order."""

    def __init__(
        self,
        schedule: Schedule,
        settings: Settings,
        *,
        judge: Callable[[Tally, Mapping[str, Withdrawal]], WaveResults] | None = None,
        rated: Report | None = None,
        decided: Callable[[Wave], None] | None = None,
        apart: bool = False,
    ) -> None:
        """`judge` makes what the schedule decides from. `rated` is called for each rated deal when
        all before it have been counted, `decided` for each wave. `apart`: it is a shard's schedule.
        """
        self._schedule = schedule
        self._settings = settings
        self._judge = judge
        self._rated = rated
        self._decided = decided
        self._apart = apart
        self._reported = self._reported_waves = 0
        self._archive = Archive()
        self._begin()

    def _begin(self) -> None:
        self._late = False
        self._rated_deals = 0
        self.plan = PlannedMatches()
        self._end: ScheduleEnd | None = None  # None: there may be more waves
        self._front = self._walk(rated=self._report if self._rated else None)
        self._annulled = frozenset[str]()  # bots whose results `_without` leaves out
        self._without = self._front.tally  # for `so_far`; the front's while no bot is annulled
        self._waves: list[Wave] = []
        self._blocks: Iterator[Block] = iter(())
        self._block: Block | None = None  # at the front; the first is made when it is asked for
        self._rest: deque[Series] = deque()  # its series from the front on
        self._decide()

    def _walk(
        self, gone: frozenset[str] = frozenset(), rated: Report | None = None
    ) -> ScheduleWalk:
        return ScheduleWalk(self.plan, self._settings, gone, rated=rated, apart=self._apart)

    @property
    def _next(self) -> Series | None:
        """The series at the front; None is the end."""
        while not self._rest and self._end is None:
            if block := next(self._blocks, None):
                self._block, self._rest = block, deque(block.series)
            else:
                self._decide()
        return self._rest[0] if self._rest else None

    def _decide(self) -> None:
        """Have the next wave decided, or the end."""
        results: WaveResults = NoResults()
        if self._judge:
            results = self._judge(self._front.tally, self._front.withdrawn)
        wave = self._schedule(self._waves, results)
        if isinstance(wave, ScheduleEnd):
            self._end = wave
            return
        self._waves.append(wave)
        self.plan.add(wave)
        self._blocks = iter(wave.blocks())
        if len(self._waves) > self._reported_waves:
            self._reported_waves = len(self._waves)
            if self._decided:
                self._decided(wave)

    def _advance(self) -> None:
        if self._block is None and not self._archive.open:
            return
        while (series := self._next) is not None:
            if not (chosen := self._front.take(series, self._archive.of(series.id))):
                return
            if self._annulled:
                count_in(self._without, chosen, self._annulled)
            self._archive.seal(series.id)
            self._rest.popleft()

    def _settle(self) -> None:
        """Restart the front if records came late, and move it on."""
        if self._late:
            self._archive.reopen()
            self._begin()
        self._advance()

    def _report(self, rated: RatedOutcome) -> None:
        self._rated_deals += 1
        if self._rated_deals > self._reported:
            self._reported = self._rated_deals
            assert self._rated is not None
            self._rated(rated)

    def add(self, record: MatchRecord) -> None:
        self.take_in(record.series, record.id, pack_summary(record), faulted=bool(record.faults))

    def take_in(self, series: str, match: str, playing: bytes, *, faulted: bool) -> None:
        self._late = self._late or self._archive.sealed(series)
        self._archive.add(series, playing)
        # A series is played in its order: it is complete with its last match, or when a fault
        # made one the last. After any other the front can't move.
        front = self._next
        if front and series == front.id and (faulted or match == front.matches[-1].id):
            self._advance()

    @property
    def left(self) -> int:
        """Matches that may have to be played, void ones too behind a gap; 0: the event is over."""
        ahead = self.ahead()
        left = self.plan.matches - self._front.taken
        behind_a_gap = self._archive.open
        while behind_a_gap and (block := next(ahead, None)):
            for series in block.series:
                if series.id in behind_a_gap:
                    behind_a_gap.discard(series.id)
                    if self.wanted(series) is None:
                        left -= len(series.matches)
        return left

    def ahead(self) -> Iterator[Block]:
        """The decided blocks that may have matches left to play, in order; see `wanted`."""
        self._settle()
        if self._end:
            return iter(())
        self._blocks, ahead = itertools.tee(self._blocks)
        return ahead if self._block is None else itertools.chain((self._block,), ahead)

    def wanted(self, series: Series) -> int | None:
        """The number of the next attempt at a series; None when it needs no playing. Behind a gap
        this can change with what fills it, so go through `ahead` again until it yields nothing.
        """
        at_front = self._next is not None and self._next.id == series.id
        if at_front:
            self._advance()
        if self._archive.sealed(series.id):
            return None
        playings = tuple(self._archive.of(series.id))
        if not at_front and self._front.settled(series, playings):
            return None
        return 1 + max((played.attempt for played in playings), default=-1)

    def so_far(self) -> EventCount:
        """A copy of the count before the front; another thread may read it. Only the first one
        after a bot was annulled counts all again, without it.
        """
        self._settle()
        if self._front.annulled != self._annulled:
            self._annulled = self._front.annulled
            walk = self._walk(self._annulled)
            self._without = walk.tally
            for chosen in self._again(walk, self._archive.series):
                if chosen is None:  # the front
                    break
        return replace(self._front.result(self._end), tally=self._without.copied())

    def counted(self) -> EventCount:
        """Count all records: the published table derives from this."""
        self._settle()
        annulled = self._front.annulled
        if self._next is None and not annulled:
            self._refuse(self._archive.open)
            return self._front.result(self._end)
        while True:
            strange = self._archive.series
            walk = self._walk(annulled)
            deque(self._again(walk, strange), maxlen=0)
            self._refuse(strange)
            if walk.annulled == annulled:
                return walk.result(self._end)
            annulled = walk.annulled

    def _again(self, walk: ScheduleWalk, ahead: set[str]) -> Iterator[CountedSeries | None]:
        """Take every series up to the last that can count; None for each gap. Behind the last
        record only withdrawn bots' matches count; `ahead` keeps series with records, not met yet.
        """
        for block in all_blocks(self._waves):
            for series in block.series:
                if not ahead and not walk.withdrawn:
                    return
                ahead.discard(series.id)
                if not (chosen := walk.take(series, self._archive.of(series.id))):
                    walk.skip(series)
                yield chosen

    @property
    def strange(self) -> set[str]:
        """Series that have records but are in no decided wave, and don't count: a gap was filled by
        bots that don't play the same again. Empty while there is a gap.
        """
        self._settle()
        return self._archive.open if self._next is None else set()

    def _refuse(self, strange: set[str]) -> None:
        if strange and self._judge is None:
            raise UserError(
                f"the log has matches of a series {min(strange)} that this event did not plan; "
                "it belongs to another event, or event.json was changed"
            )

    def chosen(self) -> Iterator[CountedSeries]:
        """The series that count, in the order of the schedule: of two bots that aren't annulled."""
        annulled = {out.entrant for out in self.counted().withdrawn if out.annulled}
        for chosen in self.complete():
            if len(set(chosen.series.entrants) - annulled) > 1:
                yield chosen

    def complete(self) -> Iterator[CountedSeries]:
        """All with a complete attempt, annulled bots' too, in the order of the schedule."""
        self._settle()
        every = self._again(self._walk(), self._archive.series)
        return (chosen for chosen in every if chosen is not None)
