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
from collections.abc import Iterable, Mapping
from operator import itemgetter, sub
from typing import NamedTuple

import msgspec

INDEPENDENT: Mapping[str, float] = {}
TableOfBot = tuple[str, ...]
"""A bot, then the others at its table. Of a table of two one stands for both."""

# With four blocks a race of two with moods errs in 4 % (bench/calibration.py moods), with two in 6.
_BORROWED = 4
_GUESS = 0.2  # of a bot whose moods have half the deviation of its deals


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

    def spread(self) -> BlockSpread:
        mean = self.value * self.value / self.deals
        between, whole = self.between - mean, self.value2 - mean
        return BlockSpread(
            self.deals, self.blocks, self.squares, self.squares / self.deals, between, whole
        )


class BlockSpread(NamedTuple):
    """Of tables of a bot: numbers, sizes, and sums of squares around each table's mean."""

    deals: float
    blocks: float
    squares: float
    unequal: float  # squares by deals
    between: float  # blocks
    whole: float
    tables: float = 1

    @property
    def freedom(self) -> float:
        """Blocks that tell something; 0 where there is nothing to compare."""
        return self.blocks - self.tables if self.blocks < self.deals else 0

    def correlation(self) -> float:
        """Of the deals of a block."""
        if not self.freedom:
            return 0.0
        within = max(0.0, self.whole - self.between) / (self.deals - self.blocks)
        between = self.between / self.freedom
        size = (self.deals - self.unequal) / self.freedom
        whole = between + (size - 1) * within
        return max(-1.0, (between - within) / whole) if whole > 0 else 0.0

    def wider(self, correlation: float) -> float:
        """How many times the variance by deals is that of a mean."""
        return 1 + (self.squares / self.deals - 1) * max(0.0, correlation)


def added(spreads: Iterable[BlockSpread]) -> BlockSpread:
    return BlockSpread(*(math.fsum(column) for column in zip(*spreads, strict=True)))


def variances(sums: Mapping[TableOfBot, BlockSums], *, over: bool = True) -> dict[str, float]:
    """By bot, how many times the variance by deals is that of a mean. Of an event that isn't `over`
    errors are looked at again and again, and what few blocks show is unsure: then the other bots'
    blocks count as some more and, for want of those, a guess.
    """
    spreads = {table: own.spread() for table, own in sorted(sums.items(), key=itemgetter(0))}
    tables: dict[str, list[BlockSpread]] = defaultdict(list)
    for table, spread in spreads.items():
        for bot in table if len(table) == 2 else table[:1]:
            tables[bot].append(spread)
    every = added(spreads.values()) if spreads else ()
    found = {}
    for bot, some in tables.items():
        own = added(some)
        correlation = own.correlation()
        if not over:
            others = BlockSpread(*map(sub, every, own))
            guess = _borrowing(others.freedom, others.correlation(), _GUESS)
            correlation = _borrowing(own.freedom, correlation, guess)
        found[bot] = own.wider(correlation)
    return found


def _borrowing(freedom: float, correlation: float, guess: float) -> float:
    return (freedom * correlation + _BORROWED * guess) / (freedom + _BORROWED)


def of_pair(found: Mapping[str, float], pair: Iterable[str]) -> float:
    return max(found.get(bot, 1.0) for bot in pair)
