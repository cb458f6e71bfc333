"""Decide which matches count, and which bots are withdrawn.

Theory of operation. The schedule is walked in the order of the specs. A series *counts whole*: its
first complete attempt counts, by number; others are only compared, and a match that was played
twice with different digests marks the bots at its table as not reproducible. A bot with too many
faulted matches in a row, among its own in the order of the specs, is withdrawn after the last. A
match with a withdrawn bot is void from then on, whether it was played or not (an accident of
timing): it does not count, breaks no row of faults, and an attempt is complete without it. At
tables of more than two it is played for the others, by the bot or by the game's fallback, and
counts for them; the withdrawn bot has forfeited it whatever it did.

If the last of those faults comes early in a bot's planned matches, all its results are annulled:
they vanish from the sums of all opponents, and what these did against each other stays. Else the
rest of its matches are forfeits. Faults are counted in any case.

While an event is unfinished there are gaps: series without a complete attempt. A gap counts
for nothing and breaks a row. What is found before the first gap is final.

Invariant: a count is a pure function of the schedule and the set of records. The order of the
records, repeated records and records of void matches change nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from arena.model import MatchSpec, Series, Settings, UserError, Withdrawal
from arena.ratings.archive import MatchSummary
from arena.ratings.outcomes import Report, Tally
from arena.schedule import ScheduleEnd, Wave


class PlannedMatches(msgspec.Struct):
    matches: int = 0
    by_entrant: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, wave: Wave) -> None:
        self.matches += wave.matches
        self.by_entrant.update(wave.by_entrant)


class CountedSeries(msgspec.Struct, frozen=True):
    """An attempt at a series that counts: its matches, each with the entrants that were withdrawn
    before it and have forfeited it.
    """

    series: Series
    attempt: int
    matches: tuple[tuple[MatchSpec, MatchSummary, frozenset[str]], ...]
    void: tuple[tuple[MatchSpec, frozenset[str]], ...]


def count_in(tally: Tally, chosen: CountedSeries, gone: frozenset[str]) -> None:
    """Add a series to the sums; of entrants in `gone` nothing but their faults."""
    for spec, played, out in chosen.matches:
        for forfeit in played.forfeits:
            tally.fault(spec.seats[forfeit.seat], forfeit.kind)
        missing = gone.intersection(spec.seats)
        if len(missing) < len(spec.seats) - 1:
            tally.match(spec, played, out=out, gone=missing, whole=not chosen.void)
    for spec, out in chosen.void:
        if gone.isdisjoint(spec.seats):
            tally.void(spec, out)


class EventCount(msgspec.Struct, frozen=True):
    planned: int
    tally: Tally
    missing: int
    withdrawn: tuple[Withdrawal, ...]
    not_reproducible: frozenset[str]
    end: ScheduleEnd  # why nothing more is played, where that was decided by results


class ScheduleWalk:
    def __init__(
        self,
        plan: PlannedMatches,
        settings: Settings,
        annulled: frozenset[str] = frozenset(),
        *,
        rated: Report | None = None,
        apart: bool = False,
    ) -> None:
        """`annulled`: bots of which nothing is counted but their faults. `apart`: take each series
        by itself. In a shard no bot can be withdrawn, since it lacks the series between its own.
        """
        self.tally = Tally(margin=settings.rating.forfeit_margin, rated=rated)
        self.withdrawn: dict[str, Withdrawal] = {}
        self.not_reproducible: set[str] = set()
        self.taken = 0  # matches of complete series
        self._plan, self._settings = plan, settings
        self._annulled, self._apart = annulled, apart
        self._rows: defaultdict[str, int] = defaultdict(int)  # faulted matches in a row, by entrant
        self._passed: Counter[str] = Counter()

    def take(self, series: Series, playings: Iterable[MatchSummary]) -> CountedSeries | None:
        """Count a series; None, and no change, if no attempt is complete."""
        before = {entrant: self._rows[entrant] for entrant in series.entrants}
        attempts = self._attempts(series, playings, self.not_reproducible)
        for attempt in sorted(attempts.items()):
            if judged := self._judge(series, *attempt, before):
                chosen, rows, withdrawn = judged
                if not self._apart:
                    self._rows.update(rows)
                    self.withdrawn |= withdrawn
                self._pass_by(series)
                self.taken += len(series.matches)
                count_in(self.tally, chosen, self._annulled)
                return chosen
        return None

    def skip(self, series: Series) -> None:
        for entrant in series.entrants:
            self._rows[entrant] = 0
        self._pass_by(series)

    def settled(self, series: Series, playings: Iterable[MatchSummary]) -> bool:
        """Whether a series further ahead needs no more attempts, as far as is known here."""
        attempts = self._attempts(series, playings, set())
        # A bot with enough faults in a row in it is withdrawn, whatever comes before it.
        no_faults = dict.fromkeys(series.entrants, 0)
        return any(self._judge(series, *attempt, no_faults) for attempt in attempts.items())

    def result(self, end: ScheduleEnd | None) -> EventCount:
        return EventCount(
            planned=self._plan.matches,
            tally=self.tally,
            missing=self._plan.matches - self.taken,
            withdrawn=tuple(out for _, out in sorted(self.withdrawn.items())),
            not_reproducible=frozenset(self.not_reproducible),
            end=end or ScheduleEnd(),
        )

    @property
    def annulled(self) -> frozenset[str]:
        return frozenset(entrant for entrant, out in self.withdrawn.items() if out.annulled)

    def _pass_by(self, series: Series) -> None:
        for spec in series.matches:
            self._passed.update(spec.seats)

    @staticmethod
    def _attempts(
        series: Series, playings: Iterable[MatchSummary], unlike: set[str]
    ) -> dict[int, dict[str, MatchSummary]]:
        """Playings by attempt, one at least. Adds to `unlike` the bots of matches that differ."""
        specs = {spec.id: spec for spec in series.matches}
        attempts: dict[int, dict[str, MatchSummary]] = {}
        digests: dict[str, str] = {}
        for played in playings:
            spec = specs.get(played.id)
            if spec is None or len(spec.seats) != len(played.totals):
                raise UserError(
                    f"the log has a match {played.id} in series {series.id} that this event did "
                    "not plan; it belongs to another event, or event.json was changed"
                )
            if digests.setdefault(played.id, played.digest) != played.digest:
                unlike.update(spec.seats)
            matches = attempts.setdefault(played.attempt, {})
            # Two records of one attempt at one match: choose by content, not by order.
            known = matches.get(played.id)
            if known is None or _encoded(played) < _encoded(known):
                matches[played.id] = played
        return attempts or {0: {}}

    def _judge(
        self, series: Series, attempt: int, playings: dict[str, MatchSummary], rows: dict[str, int]
    ) -> tuple[CountedSeries, dict[str, int], dict[str, Withdrawal]] | None:
        """The effect of an attempt; None if not complete. `rows`: faults in a row before it."""
        rows, passed = rows.copy(), {entrant: self._passed[entrant] for entrant in rows}
        withdrawn: dict[str, Withdrawal] = {}
        matches: list[tuple[MatchSpec, MatchSummary, frozenset[str]]] = []
        void: list[tuple[MatchSpec, frozenset[str]]] = []
        for spec in series.matches:
            for entrant in spec.seats:
                passed[entrant] += 1
            out = frozenset(e for e in spec.seats if e in self.withdrawn or e in withdrawn)
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
                if rows[entrant] == self._settings.withdrawn_after and entrant not in out:
                    early = self._settings.annulled_below * self._plan.by_entrant[entrant]
                    withdrawn[entrant] = Withdrawal(
                        entrant=entrant, after=spec.id, annulled=passed[entrant] < early
                    )
        chosen = CountedSeries(series, attempt, tuple(matches), tuple(void))
        return chosen, rows, withdrawn


_encoded = msgspec.msgpack.Encoder().encode
