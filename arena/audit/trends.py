"""Find bots that get better or worse within a series.

The slope of strokes less the opponents' against the place in the series, block by block. Played in
reverse order a block would have had the other sign, and in a fair event that is as likely, whether
its series play the deals by number or each in an order that was drawn for it.

Invariant: sums of whole numbers, thousandths of strokes times the number of seats; besides these
only one block is kept at a time.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from operator import mul
from typing import Any

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_deals import RatedDeal, centred, strokes
from arena.audit.report import Trend
from arena.model import MatchRecord
from arena.ratings.outcomes import THOUSANDTHS

FEWEST = 10
"""Blocks of a bot: reversing fewer can't show 1 of 1,000."""

Place = Callable[[MatchRecord], Any]
"""What the matches of a series are sorted by, as they were played."""


class Trends:
    def __init__(self, seats: int, cells: int, place: Place) -> None:
        self._seats = seats
        self._cells = cells
        self._place = place
        self._slopes: dict[str, _Slope] = {}
        self._block = "", ""
        self._number = 0
        """Of the block among its pairing's."""
        self._series: dict[str, list[tuple[Any, dict[str, int]]]] = {}
        """Of the block: place and strokes by bot of each match."""

    def add(self, rated: RatedDeal) -> None:
        """Those of a block must come one after another."""
        if self._block != (rated.pairing, rated.block):
            self._close()
            self._number = self._number + 1 if self._block[0] == rated.pairing else 0
            self._block = rated.pairing, rated.block
        for record in rated.records:
            own = dict(zip(record.seats, centred(strokes(record)), strict=True))
            self._series.setdefault(record.series, []).append((self._place(record), own))

    def _close(self) -> None:
        cell = cell_of(self._block[0], self._number, self._cells)
        for matches in self._series.values():
            played = [own for _, own in sorted(matches, key=lambda match: match[0])]
            for bot in played[0]:
                slope = self._slopes.setdefault(bot, _Slope(self._cells))
                slope.add(cell, [own[bot] for own in played])
        self._series = {}

    def rows(self, seed: bytes) -> list[Trend]:
        """All bots with enough blocks of more than one deal."""
        self._close()
        bots = {
            bot: slope
            for bot, slope in sorted(self._slopes.items())
            if slope.series >= FEWEST * self._seats
        }
        # Better and worse are two questions of each.
        questions = [
            sign_flips(way * value for value in slope.cells)
            for way in (-1, 1)
            for slope in bots.values()
        ]
        answers = permutation_test(questions, seed, ways=2)
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
        """With more than one deal."""
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
