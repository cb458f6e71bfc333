"""Find bots that do better beside one other: pairs at tables of three and more.

A bot's strokes less its table's mean follow from its skill, theirs, and chance. Skills are fitted
by least squares to all tables. The residual of two bots where they sit together, against that where
they don't, is their *lift*. What hurts or helps all others at a table alike is in the table's mean
and lifts no bot.

By chance alone the residual of a rated event could as well have had the other sign: the
permutations draw signs, by cell. A bot's own mean is taken out of each draw as it is out of what
was observed. Styles that suit each other have a small lift too: only what goes beyond TOLERATED is
tested.

Invariant: bounded by 16 bytes a seat of each rated event.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import combinations

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_events import RatedEvent, strokes
from arena.audit.report import Lift
from arena.ratings.outcomes import THOUSANDTHS

TOLERATED = 1.0
"""Strokes a match for each of the two, by which a pair may be better together."""
_STEPS = 200
_CLOSE = 1e-3
"""The fit has converged when no step changes more than this: in thousandths of a stroke times the
number of seats."""

Circle = tuple[str, ...]


class TableMates:
    def __init__(self, seats: int, cells: int) -> None:
        self._seats = seats
        self._cells = cells
        self._tables: dict[Circle, int] = {}
        self._table = array("l")
        """By event."""
        self._cell = array("H")
        self._strokes = array("q")
        """By event and, in its table's order, bot: thousandths of all rotations, times seats."""

    def add(self, event: RatedEvent) -> None:
        sums = event.sums(strokes)
        table = tuple(sums)
        self._table.append(self._tables.setdefault(table, len(self._tables)))
        self._cell.append(cell_of(event.pairing, event.deal, self._cells))
        mean = sum(sums.values())
        self._strokes.extend(self._seats * own - mean for own in sums.values())

    def rows(self, seed: bytes) -> list[Lift]:
        """All pairs that also sat apart; `p` is corrected for all of them."""
        left = _Residuals(self._cells)
        tables = list(self._tables)
        skills = self._skills(tables)
        expected = [_expected(table, skills) for table in tables]
        for at, (number, cell) in enumerate(zip(self._table, self._cell, strict=True)):
            shown = self._strokes[at * self._seats : (at + 1) * self._seats]
            left.add(
                tables[number],
                cell,
                [one - other for one, other in zip(shown, expected[number], strict=True)],
            )
        pairs = left.pairs()
        scale = THOUSANDTHS * self._seats * self._seats
        rows = [sign_flips(left.contrast(*pair, tolerated=scale * TOLERATED)) for pair in pairs]
        answers = permutation_test(rows, seed, ways=2)
        return [
            Lift(
                bots=pair,
                events=left.together(*pair),
                strokes=round(left.lift(*pair) / scale, 6) + 0.0,
                p_alone=answer.alone,
                p=answer.family,
            )
            for pair, answer in zip(pairs, answers, strict=True)
        ]

    def _skills(self, tables: Sequence[Circle]) -> dict[str, float]:
        """By least squares: each bot's mean over its tables of what it shows above the others."""
        sums = [[0] * self._seats for _ in tables]
        events = [0] * len(tables)
        for at, number in enumerate(self._table):
            events[number] += 1
            for place in range(self._seats):
                sums[number][place] += self._strokes[at * self._seats + place]
        skills = dict.fromkeys(sorted({bot for table in tables for bot in table}), 0.0)
        for _ in range(_STEPS):  # pragma: no branch - it comes close before
            shown = dict.fromkeys(skills, 0.0)
            many = dict.fromkeys(skills, 0)
            for table, some, times in zip(tables, sums, events, strict=True):
                mean = sum(skills[bot] for bot in table) / len(table)
                for bot, sum_ in zip(table, some, strict=True):
                    shown[bot] += sum_ + times * mean
                    many[bot] += times
            new = {bot: shown[bot] / many[bot] for bot in skills}
            change = max(abs(new[bot] - skills[bot]) for bot in skills)
            skills = new
            if change < _CLOSE:
                break
        return skills


def _expected(table: Circle, skills: dict[str, float]) -> list[float]:
    mean = sum(skills[bot] for bot in table) / len(table)
    return [skills[bot] - mean for bot in table]


class _Residuals:
    """The residuals of the fit of skills, by cell: of each bot, and of each beside each other."""

    def __init__(self, cells: int) -> None:
        self._empty = array("d", [0.0]) * cells
        self._none = array("l", [0]) * cells
        self._own: dict[str, array[float]] = {}
        self._beside: dict[tuple[str, str], array[float]] = {}
        self._events: dict[str, int] = {}
        self._together: dict[tuple[str, str], array[int]] = {}
        """Rated events that they shared, by cell."""

    def add(self, table: Circle, cell: int, left: Sequence[float]) -> None:
        for bot, more in zip(table, left, strict=True):
            self._events[bot] = self._events.get(bot, 0) + 1
            self._own.setdefault(bot, self._empty[:])[cell] += more
        for (one, more), (other, too) in combinations(zip(table, left, strict=True), 2):
            self._together.setdefault((one, other), self._none[:])[cell] += 1
            self._beside.setdefault((one, other), self._empty[:])[cell] += more
            self._beside.setdefault((other, one), self._empty[:])[cell] += too

    def pairs(self) -> list[tuple[str, str]]:
        """Those of which each has sat at a table without the other."""
        return [
            (one, other)
            for (one, other), times in sorted(self._together.items())
            if sum(times) < min(self._events[one], self._events[other])
        ]

    def together(self, one: str, other: str) -> int:
        return sum(self._together[one, other])

    def contrast(self, one: str, other: str, *, tolerated: float) -> array[float]:
        """By cell, what the two gained together beyond their share of what they gain at all."""
        gains = self._empty[:]
        times = self._together[one, other]
        for bot, beside in ((one, other), (other, one)):
            part = sum(times) / self._events[bot]
            for cell, (own, there) in enumerate(
                zip(self._own[bot], self._beside[bot, beside], strict=True)
            ):
                gains[cell] += part * own - there - (1 - part) * tolerated * times[cell]
        return gains

    def lift(self, one: str, other: str) -> float:
        """Mean of the two: what they had together less what they had apart."""
        times = self.together(one, other)
        lift = 0.0
        for bot, beside in ((one, other), (other, one)):
            own, there = sum(self._own[bot]), sum(self._beside[bot, beside])
            lift += there / times - (own - there) / (self._events[bot] - times)
        return lift / 2
