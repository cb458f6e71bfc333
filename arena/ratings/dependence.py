"""Estimate how much rated deals of a block depend on each other, and how much that widens errors.

A block is played by the same processes: a bot that carries something from match to match has more
in common within a block than between blocks. What is compared is a bot's strokes above its
opponents' in a rated deal, within a table, by the analysis of variance; the audit tests the same.
With the correlation r of a block's deals, a mean has 1 + (m - 1) r times the variance that the
deals alone say, where m is the mean size of a block, over deals.

Invariants: whole numbers, so sums go in any order of the tables; never less than 1, so an error is
the larger one of those by deals and by blocks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from arena.ratings.intervals import Z95, student95

INDEPENDENT: Mapping[str, float] = {}
TableOfBot = tuple[str, ...]
"""A bot, then the others at its table. Of a table of two one stands for both."""


class BlockSums(msgspec.Struct):
    """Sums over the rated deals of a bot at a table."""

    deals: int = 0
    blocks: int = 0
    squares: int = 0  # of the sizes of the blocks
    value: int = 0
    value2: int = 0
    between: int = 0  # of each block its squared sum by its size, rounded down
    block: str = ""  # the last one
    size: int = 0
    sum: int = 0

    def add(self, block: str, value: int) -> None:
        """Those of a block must come one after another."""
        if block != self.block:
            self.block, self.size, self.sum = block, 0, 0
            self.blocks += 1
        self.deals += 1
        self.value += value
        self.value2 += value * value
        self.squares += 2 * self.size + 1
        if self.size:
            self.between -= self.sum * self.sum // self.size
        self.size += 1
        self.sum += value
        self.between += self.sum * self.sum // self.size

    def spread(self) -> Spread:
        mean = self.value * self.value / self.deals
        return Spread(
            self.deals, self.blocks, self.squares, self.between - mean, self.value2 - mean
        )


class Spread(NamedTuple):
    """A bot's rated deals at a table, and the sums of squares around their mean."""

    deals: int
    blocks: int
    squares: int
    between: float  # of blocks
    whole: float


class Dependence(NamedTuple):
    correlation: float = 0.0
    variance: float = 1.0
    """How many times that of a mean by deals."""


def dependence(tables: Sequence[Spread], *, over: bool = True) -> Dependence:
    """Of one bot, over its tables. Of an event that isn't `over` errors are looked at again and
    again: the estimate is widened for being one, and without a second block each is one deal.
    """
    deals, blocks = sum(own.deals for own in tables), sum(own.blocks for own in tables)
    larger = sum(own.squares for own in tables) / deals
    freedom = blocks - len(tables)
    if not freedom or blocks == deals:
        return Dependence(variance=1.0 if over else larger)
    between = math.fsum(own.between for own in tables)
    within = max(0.0, math.fsum(own.whole for own in tables) - between) / (deals - blocks)
    between /= freedom
    size = (deals - math.fsum(own.squares / own.deals for own in tables)) / freedom
    whole = between + (size - 1) * within
    correlation = max(-1.0, (between - within) / whole) if whole > 0 else 0.0
    variance = 1 + (larger - 1) * correlation
    if not over:
        variance = min(larger, variance * (student95(freedom) / Z95) ** 2)
    return Dependence(correlation, max(1.0, variance))


def variances(sums: Mapping[TableOfBot, BlockSums], *, over: bool = True) -> dict[str, float]:
    """By bot, how many times the variance by deals is that of a mean."""
    tables: dict[str, list[Spread]] = defaultdict(list)
    for table, own in sorted(sums.items(), key=itemgetter(0)):
        for bot in table if len(table) == 2 else table[:1]:
            tables[bot].append(own.spread())
    return {bot: dependence(some, over=over).variance for bot, some in tables.items()}


def of_pair(found: Mapping[str, float], pair: Iterable[str]) -> float:
    return max(found.get(bot, 1.0) for bot in pair)
