"""Find bots whose results within a series are correlated, and those that get better or worse in it.

A block, the series that share deals, is up to 25 rated deals by the same processes: a bot that
carries something from match to match has more in common within a block than between blocks. What is
compared is a bot's strokes less its opponents' in a rated deal, within a pairing.

The statistic is that of the analysis of variance: how much a pairing's blocks differ, in units of
the variance of its rated deals, summed over a bot's pairings. A permutation rotates the deals at
each place of a block by a number of blocks: exact, as cheap as adding up, and what a place in the
series is worth stays there.

A trend is the slope of the strokes against that place, block by block. In a fair event the other
sign, a block played in reverse order, is as likely.

Invariants: sums of whole numbers, thousandths of strokes times the number of seats; bounded by
eight bytes a seat of each rated deal (of two seats one, the other's is its negative).
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise, zip_longest
from operator import mul, truediv
from typing import Any

from arena.audit import chance
from arena.audit.rated_deals import RatedDeal, centred, strokes
from arena.audit.report import Together, Trend
from arena.model import MatchRecord
from arena.ratings.dependence import BlockSpread, added
from arena.ratings.outcomes import THOUSANDTHS

FEWEST = 10  # blocks of a bot: reversing fewer can't show 1 of 1,000

Place = Callable[[MatchRecord], Any]
"""What the matches of a series are sorted by, as they were played."""


class Blocks:
    def __init__(self, seats: int) -> None:
        # Of two, one gains what the other loses: only the first is kept.
        self._kept = 1 if seats == 2 else seats
        self._pairings: dict[str, _Pairing] = {}
        self._last: tuple[str, str] | None = None

    def add(self, rated: RatedDeal) -> None:
        """Those of a block must come one after another."""
        strokes = rated.strokes()
        pairing = self._pairings.setdefault(rated.pairing, _Pairing(tuple(strokes), self._kept))
        if (rated.pairing, rated.block) != self._last:
            self._last = rated.pairing, rated.block
            pairing.sizes.append(0)
        pairing.sizes[-1] += 1
        for kept, own in zip(pairing.strokes, strokes.values(), strict=False):
            kept.append(own)

    @property
    def many(self) -> int:
        return sum(len(pairing.sizes) for pairing in self._pairings.values())

    @property
    def alone(self) -> int:
        """Pairings with a single block: there is nothing to compare it with."""
        return sum(len(pairing.sizes) == 1 for pairing in self._pairings.values())

    def rows(self, seed: bytes) -> list[Together]:
        bots: dict[str, list[_BlockStrokes]] = defaultdict(list)
        asked = []
        for pairing in self._pairings.values():
            if shown := pairing.shown():
                asked.append(shown)
                by_bot = shown * (len(pairing.table) // self._kept)
                for bot, own in zip(pairing.table, by_bot, strict=True):
                    if own.variance:
                        bots[bot].append(own)
        ranked = sorted(bots.items())
        answers = _answers(asked, [some for _, some in ranked], seed)
        return [_row(*bot, answer) for bot, answer in zip(ranked, answers, strict=True)]


class _Pairing:
    def __init__(self, table: tuple[str, ...], kept: int) -> None:
        self.table = table
        self.sizes = array("l")
        self.strokes = [array("q") for _ in range(kept)]

    def shown(self) -> list[_BlockStrokes]:
        """By bot; empty where there is nothing to compare."""
        if len(self.sizes) < 2 or max(self.sizes) < 2:
            return []
        ranges = list(pairwise(accumulate(self.sizes, initial=0)))
        return [_BlockStrokes([kept[first:end] for first, end in ranges]) for kept in self.strokes]


class _BlockStrokes:
    """The strokes of one bot in one pairing, as columns: the deals at one place of all blocks."""

    def __init__(self, blocks: Sequence[Sequence[int]]) -> None:
        ordered = sorted(blocks, key=len, reverse=True)
        self.sizes = list(map(len, ordered))
        self.events = sum(self.sizes)
        # So that squares stay small; what is left of the mean is taken off as a fraction.
        middle = round(sum(map(sum, blocks)) / self.events)
        columns = [
            [block[place] - middle for block in ordered if place < len(block)]
            for place in range(self.sizes[0])
        ]
        whole = sum(map(sum, columns))
        self._mean = whole * whole / self.events
        # The sum of squares around the mean.
        self.all = sum(more * more for column in columns for more in column) - self._mean
        # Twice in a row, so that a rotation is a slice.
        self._columns = [(len(column), column * 2) for column in columns]
        self.variance = self.all / (self.events - 1)
        self.places = len(columns)
        self.freedom = len(self.sizes) - 1
        self.observed = self.between([0] * self.places)
        self.squares = self.observed, self.all

    def between(self, turned: Sequence[int]) -> float:
        """The sum of squares between blocks, with the deals at each place rotated by so many."""
        columns = [
            twice[(by := number % many) : by + many]
            for (many, twice), number in zip(self._columns, turned, strict=True)
        ]
        sums = list(map(sum, zip_longest(*columns, fillvalue=0)))
        return math.fsum(map(truediv, map(mul, sums, sums), self.sizes)) - self._mean


def _answers(
    asked: Sequence[Sequence[_BlockStrokes]], bots: Sequence[Sequence[_BlockStrokes]], seed: bytes
) -> list[chance.PValues]:
    """By bot, how often chance makes its blocks differ as much. `asked`: by pairing."""
    freedoms = [sum(own.freedom for own in some) for some in bots]

    def scores(between: dict[_BlockStrokes, float]) -> list[float]:
        sums = (math.fsum(between[own] / own.variance for own in some) for some in bots)
        return list(map(_normal, sums, freedoms))

    def drawn() -> Iterator[list[float]]:
        places = [rows[0].places for rows in asked]
        values = sum(rows[0].events * len(rows) for rows in asked)
        for stream in chance.numbers(seed, tries=chance.tries_for(values), many=sum(places)):
            ends = pairwise(accumulate(places, initial=0))
            yield scores(
                {
                    own: own.between(stream[first:end])
                    for rows, (first, end) in zip(asked, ends, strict=True)
                    for own in rows
                }
            )

    observed = {own: own.observed for rows in asked for own in rows}
    return chance.p_values(scores(observed), drawn() if bots else ())


def _normal(sum_: float, freedom: int) -> float:
    """A sum of squares as a standard deviate (Wilson and Hilferty): few blocks, longer tails."""
    spread = 2 / (9 * freedom)
    return (math.cbrt(max(0.0, sum_ / freedom)) - 1 + spread) / math.sqrt(spread)


def _row(bot: str, some: Sequence[_BlockStrokes], answer: chance.PValues) -> Together:
    """A bot's pairings together, in strokes, as they make its error in the table."""
    found = added(
        BlockSpread(
            own.events,
            len(own.sizes),
            (squares := sum(map(mul, own.sizes, own.sizes))),
            squares / own.events,
            *own.squares,
        )
        for own in some
    )
    correlation = found.correlation()
    return Together(
        bot=bot,
        blocks=sum(len(own.sizes) for own in some),
        events=sum(own.events for own in some),
        correlation=round(correlation, 6) + 0.0,
        wider=round(math.sqrt(found.wider(correlation)), 6),
        **answer,
    )


class Trends:
    def __init__(self, seats: int, cells: int, place: Place) -> None:
        self._seats = seats
        self._cells = cells
        self._place = place
        self._slopes: dict[str, _Slope] = defaultdict(lambda: _Slope(cells))
        self._block = "", ""
        self._number = 0  # of the block among its pairing's
        self._series: dict[str, list[tuple[Any, dict[str, int]]]] = defaultdict(list)
        """Of the block: place and strokes by bot of each match."""

    def add(self, rated: RatedDeal) -> None:
        """Those of a block must come one after another."""
        if self._block != (rated.pairing, rated.block):
            self._close()
            self._number = self._number + 1 if self._block[0] == rated.pairing else 0
            self._block = rated.pairing, rated.block
        for record in rated.records:
            own = dict(zip(record.seats, centred(strokes(record)), strict=True))
            self._series[record.series].append((self._place(record), own))

    def _close(self) -> None:
        cell = chance.cell_of(self._block[0], self._number, self._cells)
        for matches in self._series.values():
            played = [own for _, own in sorted(matches, key=lambda match: match[0])]
            for bot in played[0]:
                self._slopes[bot].add(cell, [own[bot] for own in played])
        self._series.clear()

    def rows(self, seed: bytes) -> list[Trend]:
        self._close()
        least = FEWEST * self._seats
        bots = {bot: own for bot, own in sorted(self._slopes.items()) if own.series >= least}
        # Better and worse are two questions of each.
        questions = [
            chance.sign_flips(way * value for value in slope.cells)
            for way in (-1, 1)
            for slope in bots.values()
        ]
        answers = chance.permutation_test(questions, seed, ways=2)
        scale = THOUSANDTHS * (self._seats - 1)
        return [
            Trend(
                bot=bot,
                blocks=slope.series // self._seats,
                strokes=round(slope.whole(sum(slope.cells)) / scale, 6) + 0.0,
                error=round(slope.whole(math.hypot(*slope.cells)) / scale, 6),
                p_alone=(alone := min(1.0, 2 * min(better["p_alone"], worse["p_alone"]))),
                p=max(alone, min(better["p"], worse["p"])),
            )
            for (bot, slope), better, worse in zip(
                bots.items(), answers[: len(bots)], answers[len(bots) :], strict=True
            )
        ]


class _Slope:
    def __init__(self, cells: int) -> None:
        self.cells = array("d", [0.0]) * cells
        self.series = 0
        self._squares = 0
        self._longest = 0

    def add(self, cell: int, played: Sequence[int]) -> None:
        """Add a series: its strokes, weighted by twice the distance from its middle."""
        last = len(played) - 1
        if last:
            weights = range(-last, last + 1, 2)
            self.cells[cell] += sum(map(mul, weights, played))
            self.series += 1
            self._squares += sum(weight * weight for weight in weights)
            self._longest = max(self._longest, last)

    def whole(self, sum_: float) -> float:
        """From the first deal of the longest series to its last, along a line."""
        return 2 * sum_ / self._squares * self._longest
