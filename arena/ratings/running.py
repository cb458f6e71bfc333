"""A count of an event that goes on while the event is played.

Theory of operation. Records come in any order and go into the archive. A walk along the
schedule, the *front*, stands at the first series that is not complete and moves on as soon as
it is; behind it everything is counted, once. So what a match costs does not depend on how many
there are, and when the front has reached the end its sums are the result. Nothing else walks:
`ahead` gives the blocks from the front on, made once for both.

A record of a series behind the front (one that was in play when it became void; merged logs) can
change what is found there: before the next result or round of playing, the front then starts
again from the first series. What it has told of rated events it does not tell again.

Who is withdrawn is known only behind the front, so what is skipped on that word is not missed
later; and if a late record should change that, the next round plays it.

Invariant: `counted` is what `arena.ratings.counting.count` finds in the whole schedule with the
same set of records.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from arena.model import Block, MatchRecord, RatingSettings, Series, UserError
from arena.ratings.counting import Chosen, Counted, Plan, Schedule, Walk, count
from arena.ratings.outcomes import Rated, Tally
from arena.ratings.played import Archive, Played


class Counting:
    """Count an event while it is being played, and afterwards.

    Feed it every record, counted or not, in any order, with `add`.
    """

    def __init__(
        self,
        schedule: Schedule,
        *,
        plan: Plan | None = None,
        rating: RatingSettings,
        rated: Callable[[Rated], None] | None = None,
    ) -> None:
        """`rated` is told of each rated event as soon as all before it have been counted."""
        self.plan = plan or Plan.of(schedule())
        self._schedule = schedule
        self._rating = rating
        self._rated = rated
        self._told = 0
        self._archive = Archive()
        self._begin()

    def _begin(self) -> None:
        """Put the front at the first series."""
        self._late = False
        self._heard = 0
        self._tally = Tally(
            margin=self._rating.forfeit_margin, rated=self._tell if self._rated else None
        )
        self._front = Walk(self.plan, self._tally)
        self._blocks: Iterator[Block] = iter(self._schedule())
        self._block: Block | None = None
        self._ahead: Iterator[Series] = iter(())
        self._step()

    def _step(self) -> None:
        """Put the front at the next series; None is the end."""
        self._next = next(self._ahead, None)
        while self._next is None:
            self._block = next(self._blocks, None)
            if self._block is None:
                return
            self._ahead = iter(self._block.series)
            self._next = next(self._ahead, None)

    def _advance(self) -> None:
        """Move the front on as far as all is complete."""
        while self._next is not None:
            if self._front.take(self._next, self._archive.of(self._next.id)) is None:
                return
            self._archive.seal(self._next.id)
            self._step()

    def _settle(self) -> None:
        """Have the front where it belongs."""
        if self._late:
            self._archive.reopen()
            self._begin()
        self._advance()

    def _tell(self, rated: Rated) -> None:
        self._heard += 1
        if self._heard > self._told:
            self._told = self._heard
            assert self._rated is not None
            self._rated(rated)

    def add(self, record: MatchRecord) -> None:
        """Take in a finished match."""
        self._late = self._late or self._archive.sealed(record.series)
        kept = self._archive.add(record)
        # A series can be complete when all its matches are there, or when one was the last
        # because of a fault: don't look in vain after each of the others.
        if (
            self._next is not None
            and record.series == self._next.id
            and (kept >= len(self._next.matches) or record.faults)
        ):
            self._advance()

    @property
    def left(self) -> int:
        """Matches that may still have to be played; 0 when, and only when, the event is over.

        Void matches are among them until all before them have been counted.
        """
        self._settle()
        left = self.plan.matches - self._front.passed
        behind_a_gap = self._archive.open
        for block in self.ahead():
            if not behind_a_gap:
                break
            for series in block.series:
                if series.id in behind_a_gap:
                    behind_a_gap.discard(series.id)
                    if self.wanted(series) is None:
                        left -= len(series.matches)
        return left

    def ahead(self) -> Iterator[Block]:
        """The blocks that may have something left to play, in order; `wanted` tells what."""
        self._settle()
        if self._block is None:
            return iter(())
        self._blocks, ahead = itertools.tee(self._blocks)
        return itertools.chain((self._block,), ahead)

    def wanted(self, series: Series) -> int | None:
        """The number of the next attempt at a series; None when it needs no playing.

        For a series behind a gap that is as far as is known: a gap that is filled can show that
        more is wanted (a row of faults that began earlier ends earlier). So go through `ahead`
        again while it gives something.
        """
        if self._next is not None and self._next.id == series.id:
            self._advance()
        if self._archive.sealed(series.id):
            return None
        playings = tuple(self._archive.of(series.id))
        at_front = self._next is not None and self._next.id == series.id
        if not at_front and self._front.settled(series, playings):
            return None
        return 1 + max((played.attempt for played in playings), default=-1)

    def counted(self) -> Counted:
        """Count everything that has been added: what the published table derives from."""
        self._settle()
        if self._next is None:
            self._refuse(self._archive.open)
            annulled = self._front.annulled
            if not annulled:
                return self._front.result(self._tally)
            return self._count(self._archive.of, annulled)
        strange = self._archive.series

        def lookup(series: str) -> Iterable[Played]:
            strange.discard(series)
            return self._archive.of(series)

        counted = self._count(lookup, self._front.annulled)
        self._refuse(strange)
        return counted

    def _count(
        self, lookup: Callable[[str], Iterable[Played]], annulled: frozenset[str]
    ) -> Counted:
        return count(self._schedule, lookup, plan=self.plan, rating=self._rating, annulled=annulled)

    def _refuse(self, strange: set[str]) -> None:
        if strange:
            raise UserError(
                f"the log has matches of a series {min(strange)} that this event did not plan; "
                "it belongs to another event, or event.json was changed"
            )

    def chosen(self) -> Iterator[Chosen]:
        """What counts, series by series, in the order of the schedule; less annulled matches.

        A match counts while two of its table are left who are not annulled.
        """
        annulled = {out.entrant for out in self.counted().withdrawn if out.annulled}
        walk = Walk(self.plan, Tally(margin=self._rating.forfeit_margin))
        for block in self._schedule():
            for series in block.series:
                chosen = walk.take(series, self._archive.of(series.id))
                if chosen is None:
                    walk.skip(series)
                elif len(annulled.intersection(series.entrants)) < len(series.entrants) - 1:
                    yield chosen
