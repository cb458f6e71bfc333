"""Which matches count, and who is withdrawn.

Theory of operation. The schedule is walked in the order of the specs, series by series. A
series *counts whole*: its first complete attempt counts, by number; others are only compared,
and a match that was played twice with different digests marks the bots at its table as not
reproducible. A bot with three faulted matches in a row, among its own in the order of the
specs, is withdrawn after the third. A match with a withdrawn bot is void from then on, whether
it was played or not (which is an accident of timing): it counts for nobody, breaks nobody's
row of faults, and an attempt is complete without it. Not so at tables of more than two: the
others need the match, so it is played, by the bot or by the game's fallback, and it counts for
them; the withdrawn bot has forfeited it whatever it did.

What becomes of a withdrawn bot is a question of how far it had come in its schedule: if that
match is in the first half of its planned ones, all its results are annulled: they vanish from
everybody's. What the others at its tables did against each other stays. Else the rest of its
matches are forfeits. Faults are counted in any case.

While an event is unfinished there are gaps: series without a complete attempt. A gap counts
for nothing and breaks a row. What is found before the first gap is final; `withdrawn` tells
no more than that, so a match skipped on its word can never be missed later.

Invariant: `counted` is a pure function of the schedule and the set of records. The order of
`add` calls, repeated records and records of void matches change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from arena.model import (
    Block,
    MatchRecord,
    MatchSpec,
    RatingSettings,
    Series,
    UserError,
    Withdrawal,
)
from arena.ratings.outcomes import Rated, Tally
from arena.ratings.played import Archive, Played

FAULTS_IN_A_ROW = 3

Schedule = Callable[[], Iterable[Block]]
"""Gives the blocks of the event from the first, each time it is called."""

Lookup = Callable[[str], Iterable[Played]]
"""Gives every playing of the matches of a series, in any order."""


class Plan(msgspec.Struct, frozen=True):
    """How many matches there are to be, in all and for each entrant."""

    matches: int
    by_entrant: Mapping[str, int]

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Plan:
        """Count a schedule."""
        matches = 0
        by_entrant: Counter[str] = Counter()
        for block in blocks:
            for series in block.series:
                for spec in series.matches:
                    matches += 1
                    by_entrant.update(spec.seats)
        return cls(matches, dict(by_entrant))


class Chosen(msgspec.Struct, frozen=True):
    """The matches of a series that count: one attempt, less the void ones."""

    series: Series
    attempt: int
    matches: tuple[tuple[MatchSpec, Played, frozenset[str]], ...]
    """With the entrants that had been withdrawn before: they have forfeited."""
    void: tuple[tuple[MatchSpec, frozenset[str]], ...]
    """Void matches, with the entrants that had been withdrawn before."""


class Counted(msgspec.Struct, frozen=True):
    """The result of a count."""

    plan: Plan
    tally: Tally
    missing: int
    """Matches that are still to be played."""
    withdrawn: tuple[Withdrawal, ...]
    not_reproducible: frozenset[str]


class Walk:
    """One walk along the schedule, with `take` for each series in its order."""

    def __init__(self, plan: Plan, tally: Tally, annulled: frozenset[str] = frozenset()) -> None:
        self.withdrawn: dict[str, Withdrawal] = {}
        self.not_reproducible: set[str] = set()
        self.missing = 0
        self._plan = plan
        self._tally = tally
        self._annulled = annulled
        self._rows: Counter[str] = Counter()
        """Faulted matches in a row, by entrant."""
        self._passed: Counter[str] = Counter()
        """Matches of an entrant that lie behind, by the schedule."""

    def take(self, series: Series, playings: Iterable[Played]) -> Chosen | None:
        """Count a series; None, and no change, if no attempt is complete."""
        attempts = self._attempts(series, playings)
        for number in sorted(attempts) or [0]:
            judged = self._judge(series, number, attempts.get(number, {}))
            if judged is not None:
                chosen, rows, withdrawn = judged
                for entrant, row in rows.items():
                    self._rows[entrant] = row
                self.withdrawn.update(withdrawn)
                self._pass_by(series)
                self._count(chosen)
                return chosen
        return None

    def skip(self, series: Series) -> None:
        """Leave a gap."""
        for entrant in series.entrants:
            self._rows[entrant] = 0
        self._pass_by(series)
        self.missing += len(series.matches)

    def _pass_by(self, series: Series) -> None:
        for spec in series.matches:
            self._passed.update(spec.seats)

    def _attempts(self, series: Series, playings: Iterable[Played]) -> dict[int, dict[str, Played]]:
        """Sort the playings by attempt, and compare those of the same match."""
        specs = {spec.id: spec for spec in series.matches}
        attempts: dict[int, dict[str, Played]] = {}
        digests: dict[str, str] = {}
        for played in playings:
            spec = specs.get(played.id)
            if spec is None or len(spec.seats) != len(played.totals):
                raise UserError(
                    f"the log has a match {played.id} in series {series.id} that this event did "
                    "not plan; it belongs to another event, or event.json was changed"
                )
            if digests.setdefault(played.id, played.digest) != played.digest:
                self.not_reproducible.update(spec.seats)
            matches = attempts.setdefault(played.attempt, {})
            # One attempt, one match, two records: which one counts must not be an accident.
            known = matches.get(played.id)
            if known is None or _encoded(played) < _encoded(known):
                matches[played.id] = played
        return attempts

    def _judge(
        self, series: Series, attempt: int, playings: Mapping[str, Played]
    ) -> tuple[Chosen, dict[str, int], dict[str, Withdrawal]] | None:
        """What an attempt would change; None if it is not complete."""
        rows = {entrant: self._rows[entrant] for entrant in series.entrants}
        passed = {entrant: self._passed[entrant] for entrant in series.entrants}
        withdrawn: dict[str, Withdrawal] = {}
        matches: list[tuple[MatchSpec, Played, frozenset[str]]] = []
        void: list[tuple[MatchSpec, frozenset[str]]] = []
        for spec in series.matches:
            for entrant in spec.seats:
                passed[entrant] += 1
            out = frozenset(
                entrant
                for entrant in spec.seats
                if entrant in self.withdrawn or entrant in withdrawn
            )
            if out and len(spec.seats) == 2:
                void.append((spec, out))
                continue
            played = playings.get(spec.id)
            if played is None:
                return None
            matches.append((spec, played, out))
            fell = {spec.seats[forfeit.seat] for forfeit in played.forfeits}
            for entrant in spec.seats:
                rows[entrant] = rows[entrant] + 1 if entrant in fell else 0
                if rows[entrant] == FAULTS_IN_A_ROW and entrant not in out:
                    planned = self._plan.by_entrant.get(entrant, 0)
                    annulled = 2 * passed[entrant] < planned
                    withdrawn[entrant] = Withdrawal(
                        entrant=entrant, after=spec.id, annulled=annulled
                    )
        chosen = Chosen(series, attempt, tuple(matches), tuple(void))
        return chosen, rows, withdrawn

    def _count(self, chosen: Chosen) -> None:
        for spec, played, out in chosen.matches:
            for forfeit in played.forfeits:
                self._tally.fault(spec.seats[forfeit.seat], forfeit.kind)
            gone = self._annulled.intersection(spec.seats)
            if len(gone) < len(spec.seats) - 1:
                self._tally.match(spec, played, out=out, gone=gone)
        for spec, out in chosen.void:
            if self._annulled.isdisjoint(spec.seats):
                self._tally.void(spec, out)


_encoded = msgspec.msgpack.Encoder().encode


def count(
    schedule: Schedule,
    lookup: Lookup,
    *,
    plan: Plan | None = None,
    rating: RatingSettings,
) -> Counted:
    """Count an event. Holds the sums and one series at a time, however long the log is.

    Walks twice only when somebody is annulled.
    """
    plan = plan or Plan.of(schedule())
    annulled: frozenset[str] = frozenset()
    while True:
        tally = Tally(margin=rating.forfeit_margin)
        walk = Walk(plan, tally, annulled)
        for block in schedule():
            for series in block.series:
                chosen = walk.take(series, lookup(series.id))
                if chosen is None:
                    walk.skip(series)
        found = _annulled(walk)
        if found == annulled:
            return _result(plan, tally, walk)
        annulled = found


def _annulled(walk: Walk) -> frozenset[str]:
    return frozenset(entrant for entrant, out in walk.withdrawn.items() if out.annulled)


def _result(plan: Plan, tally: Tally, walk: Walk) -> Counted:
    return Counted(
        plan=plan,
        tally=tally,
        missing=walk.missing,
        withdrawn=tuple(out for _, out in sorted(walk.withdrawn.items())),
        not_reproducible=frozenset(walk.not_reproducible),
    )


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
        self._archive = Archive()
        self._front_tally = Tally(margin=rating.forfeit_margin, rated=rated)
        self._front = Walk(self.plan, self._front_tally)
        self._ahead = (series for block in schedule() for series in block.series)
        self._next: Series | None = next(self._ahead, None)

    def add(self, record: MatchRecord) -> None:
        """Take in a finished match."""
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
    def withdrawn(self) -> Mapping[str, Withdrawal]:
        """Who is withdrawn for good, as far as all series before it have been counted."""
        return MappingProxyType(self._front.withdrawn)

    def counted(self) -> Counted:
        """Count everything that has been added: what the published table derives from."""
        planned: set[str] = set()

        def lookup(series: str) -> Iterable[Played]:
            planned.add(series)
            return self._archive.of(series)

        counted = count(self._schedule, lookup, plan=self.plan, rating=self._rating)
        strange = sorted(self._archive.series - planned)
        if strange:
            raise UserError(
                f"the log has matches of a series {strange[0]} that this event did not plan; "
                "it belongs to another event, or event.json was changed"
            )
        return counted

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

    def unsettled(self) -> Iterator[tuple[Block, Series, int]]:
        """The series still to be played, in order, each with the number of its next attempt.

        Call it again when they have been played: a gap that is filled can show that more is
        wanted (a row of faults that began earlier ends earlier). Nothing left means finished.
        """
        walk = Walk(self.plan, Tally(margin=self._rating.forfeit_margin))
        for block in self._schedule():
            for series in block.series:
                playings = tuple(self._archive.of(series.id))
                if walk.take(series, playings) is None:
                    walk.skip(series)
                    attempt = 1 + max((played.attempt for played in playings), default=-1)
                    yield block, series, attempt

    def _advance(self) -> None:
        while self._next is not None:
            chosen = self._front.take(self._next, self._archive.of(self._next.id))
            if chosen is None:
                return
            self._next = next(self._ahead, None)
