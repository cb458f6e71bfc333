"""Find bots that do better beside one other: pairs at tables of three and more.

A bot's strokes less its table's mean follow from its skill, theirs, and chance. Skills are fitted
by least squares to all tables. The residual of two bots where they sit together, against that where
they don't, is their *lift*. What hurts or helps all others at a table alike is in the table's mean.

By chance alone a residual could as well have had the other sign: permutations draw signs, by cell.
A bot's own mean is taken out of each draw, too. Only what goes beyond TOLERATED is tested.

Invariant: bounded by 16 bytes a seat of each rated deal.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import product
from operator import sub

import msgspec

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_deals import RatedDeal
from arena.audit.report import Lift
from arena.ratings.outcomes import THOUSANDTHS, Pair

TOLERATED = 1.0  # strokes a match for each of the two, by which a pair may be better together
_STEPS = 200
_CLOSE = 1e-3  # what the fit's last step changes at most: thousandths of a stroke times seats


class _Table(msgspec.Struct):
    cells: array[int]
    strokes: array[int]  # deal by deal: as `RatedDeal.strokes`


class TableMates:
    def __init__(self, seats: int, cells: int) -> None:
        self._seats = seats
        self._cells = cells
        self._tables: dict[tuple[str, ...], _Table] = {}

    def add(self, rated: RatedDeal) -> None:
        strokes = rated.strokes()
        table = self._tables.setdefault(tuple(strokes), _Table(array("H"), array("q")))
        table.cells.append(cell_of(rated.pairing, rated.deal, self._cells))
        table.strokes.extend(strokes.values())

    def rows(self, seed: bytes) -> list[Lift]:
        """All pairs that also sat apart."""
        left = self._residuals()
        pairs = left.pairs()
        scale = THOUSANDTHS * self._seats * self._seats
        questions = [sign_flips(left.contrast(*pair, scale * TOLERATED)) for pair in pairs]
        return [
            Lift(
                bots=pair,
                events=sum(left.times[pair]),
                strokes=round(left.lift(*pair) / scale, 6) + 0.0,
                **answer,
            )
            for pair, answer in zip(pairs, permutation_test(questions, seed, ways=2), strict=True)
        ]

    def _residuals(self) -> _Residuals:
        left, skills = _Residuals(self._cells), self._skills()
        for table, kept in self._tables.items():
            mean = sum(skills[bot] for bot in table) / self._seats
            expected = [skills[bot] - mean for bot in table]
            for at, cell in enumerate(kept.cells):
                shown = kept.strokes[at * self._seats : (at + 1) * self._seats]
                found = dict(zip(table, map(sub, shown, expected), strict=True))
                for one, other in product(found, repeat=2):
                    left.times[one, other][cell] += 1
                    left.gains[one, other][cell] += found[one]
        return left

    def _skills(self) -> dict[str, float]:
        """By least squares: each bot's mean over its tables of what it shows above the others."""
        seats = range(self._seats)
        tables = [
            (table, len(kept.cells), [sum(kept.strokes[at :: self._seats]) for at in seats])
            for table, kept in self._tables.items()
        ]
        skills = dict.fromkeys(sorted(set[str]().union(*self._tables)), 0.0)
        for _ in range(_STEPS):  # pragma: no branch - it comes close before
            shown = dict.fromkeys(skills, 0.0)
            many = dict.fromkeys(skills, 0)
            for table, times, sums in tables:
                mean = sum(skills[bot] for bot in table) / self._seats
                for bot, sum_ in zip(table, sums, strict=True):
                    shown[bot] += sum_ + times * mean
                    many[bot] += times
            before, skills = skills, {bot: shown[bot] / many[bot] for bot in skills}
            if max((abs(skills[bot] - before[bot]) for bot in skills), default=0.0) < _CLOSE:
                break
        return skills


class _Residuals:
    """By cell and pair: of the first beside the second; of all its deals if both are one bot."""

    def __init__(self, cells: int) -> None:
        self.gains: dict[Pair, array[float]] = defaultdict(lambda: array("d", [0.0]) * cells)
        self.times: dict[Pair, array[int]] = defaultdict(lambda: array("l", [0]) * cells)
        """Rated deals that they shared."""

    def pairs(self) -> list[Pair]:
        """Those of which each has sat at a table without the other."""
        many = {pair: sum(times) for pair, times in self.times.items()}
        return [
            (one, other)
            for one, other in sorted(many)
            if one < other and many[one, other] < min(many[one, one], many[other, other])
        ]

    def contrast(self, one: str, other: str, tolerated: float) -> list[float]:
        """By cell, what the two gained together beyond their share of what they gain at all."""
        times = self.times[one, other]
        gains = [0.0] * len(times)
        for bot, beside in ((one, other), (other, one)):
            part = sum(times) / sum(self.times[bot, bot])
            both = zip(self.gains[bot, bot], self.gains[bot, beside], strict=True)
            for cell, (own, there) in enumerate(both):
                gains[cell] += part * own - there - (1 - part) * tolerated * times[cell]
        return gains

    def lift(self, one: str, other: str) -> float:
        """Mean of the two: what they had together less what they had apart."""
        times = sum(self.times[one, other])
        lift = 0.0
        for bot, beside in ((one, other), (other, one)):
            own, there = sum(self.gains[bot, bot]), sum(self.gains[bot, beside])
            lift += there / times - (own - there) / (sum(self.times[bot, bot]) - times)
        return lift / 2
