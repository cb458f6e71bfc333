"""Whose results within a series hang together.

The table's intervals take rated events to be independent. A block, the series that share deals, is
up to 25 of them by the same processes: a bot that carries something from match to match (it learns,
it wears out, it drew a mood when it was started) has more in common within a block than between
blocks, and its intervals are too narrow. What is compared are a bot's strokes less its opponents'
in a rated event, within a pairing, where nothing but the block differs.

The statistic is the analysis of variance's: how much the blocks of a pairing differ, in units of
the variance of its rated events, summed over a bot's pairings. In a fair event each deal of a
pairing could as well have been in another of its blocks. What is drawn is, for each place in a
block, by how many blocks the deals there are turned on: still exact, since it is a part of the
equally likely draws; as cheap as adding up; and what a place in the series is worth stays where it
is, so a bot that gets better in every series alike is a matter of `trends`. Where each series plays
the deals in an order of its own, what the places are worth adds up to the same in all blocks: they
differ less than when turned, and nobody is called unusual for it.

At a table all are measured by each other: whoever meets a bot whose results hang together has a
part of it in its own.

Invariants: sums of whole numbers, thousandths of strokes times the number of seats; bounded by
eight bytes a seat of each rated event (of two seats one, the other's is its negative).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise, zip_longest
from operator import mul, truediv

from arena.audit.chance import PValues, answered, numbers, tries_for
from arena.audit.groups import RatedEvent, strokes
from arena.audit.report import Together


class Blocks:
    """Strokes by pairing, block and bot."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._pairings: dict[str, _Pairing] = {}
        self._last: tuple[str, str] | None = None

    def add(self, event: RatedEvent) -> None:
        """Take up a whole event; those of a block come one after another."""
        table = tuple(sorted(event.circle))
        sums = dict.fromkeys(table, 0)
        for record in event.records:
            for entrant, more in zip(record.seats, strokes(record), strict=True):
                sums[entrant] += more
        if event.pairing not in self._pairings:
            self._pairings[event.pairing] = _Pairing(table)
        pairing = self._pairings[event.pairing]
        if (event.pairing, event.block) != self._last:
            self._last = event.pairing, event.block
            pairing.sizes.append(0)
        pairing.sizes[-1] += 1
        mean = sum(sums.values())
        for kept, own in zip(pairing.strokes, sums.values(), strict=False):
            kept.append(self._seats * own - mean)

    @property
    def many(self) -> int:
        """Blocks."""
        return sum(len(pairing.sizes) for pairing in self._pairings.values())

    @property
    def alone(self) -> int:
        """Pairings with a single block, which nothing can be held against."""
        return sum(len(pairing.sizes) == 1 for pairing in self._pairings.values())

    def together(self, seed: bytes) -> list[Together]:
        """All bots with a pairing that can tell. `p` is the family's."""
        bots: dict[str, list[_Shown]] = {}
        asked = []
        for pairing in self._pairings.values():
            if shown := pairing.shown():
                asked.append(shown)
                for bot, own in zip(pairing.table, shown * (1 + pairing.mirrored), strict=True):
                    if own.variance:
                        bots.setdefault(bot, []).append(own)
        bots = dict(sorted(bots.items()))
        return [
            _row(bot, some, answer)
            for (bot, some), answer in zip(
                bots.items(), _answers(asked, list(bots.values()), seed), strict=True
            )
        ]


class _Pairing:
    """What is kept of a pairing: a row of strokes by bot, in the order of deals."""

    def __init__(self, table: tuple[str, ...]) -> None:
        self.table = table
        self.mirrored = len(table) == 2
        """Whether what one gains is what the other loses, so that one is kept."""
        self.sizes = array("l")
        """Rated events by block."""
        self.strokes = [array("q") for _ in (table[:1] if self.mirrored else table)]

    def _blocks(self, kept: Sequence[int]) -> Iterator[Sequence[int]]:
        """A bot's strokes, block by block."""
        for first, end in pairwise(accumulate(self.sizes, initial=0)):
            yield kept[first:end]

    def shown(self) -> list[_Shown]:
        """Of each row what its blocks show; nothing where there is nothing to compare."""
        if len(self.sizes) < 2 or max(self.sizes) < 2:
            return []
        return [_Shown(list(self._blocks(kept))) for kept in self.strokes]


class _Shown:
    """The strokes of one bot in one pairing, as columns: the deals at one place of all blocks."""

    def __init__(self, blocks: Sequence[Sequence[int]]) -> None:
        self.sizes = sorted(map(len, blocks), reverse=True)
        self.events = sum(self.sizes)
        # So that squares stay small; what is left of the mean is taken off as a fraction.
        middle = round(sum(map(sum, blocks)) / self.events)
        ordered = sorted(blocks, key=len, reverse=True)
        columns = [
            [block[place] - middle for block in ordered if place < len(block)]
            for place in range(self.sizes[0])
        ]
        whole = sum(map(sum, columns))
        self._mean = whole * whole / self.events
        self.all = sum(more * more for column in columns for more in column) - self._mean
        """The sum of squares around the mean."""
        # Twice in a row, so that turning one on is a slice of it.
        self._columns = [(len(column), column * 2) for column in columns]
        self.variance = self.all / (self.events - 1)

    @property
    def places(self) -> int:
        """Deals of the longest block."""
        return len(self._columns)

    @property
    def freedom(self) -> int:
        """Blocks but for one."""
        return len(self.sizes) - 1

    @cached_property
    def observed(self) -> float:
        """The sum of squares between blocks."""
        return self.between([0] * self.places)

    def between(self, turned: Sequence[int]) -> float:
        """That with the deals at each place turned on by so many blocks."""
        columns = [
            twice[(by := number % many) : by + many]
            for (many, twice), number in zip(self._columns, turned, strict=True)
        ]
        sums = list(map(sum, zip_longest(*columns, fillvalue=0)))
        return math.fsum(map(truediv, map(mul, sums, sums), self.sizes)) - self._mean


def _answers(
    asked: Sequence[Sequence[_Shown]], bots: Sequence[Sequence[_Shown]], seed: bytes
) -> list[PValues]:
    """How often chance has a bot's blocks differ as much; `asked` has each pairing's rows."""
    freedoms = [sum(own.freedom for own in some) for some in bots]

    def scores(between: dict[_Shown, float]) -> list[float]:
        return [
            _normal(math.fsum(between[own] / own.variance for own in some), freedom)
            for some, freedom in zip(bots, freedoms, strict=True)
        ]

    def drawn() -> Iterator[list[float]]:
        places = [rows[0].places for rows in asked]
        values = sum(rows[0].events * len(rows) for rows in asked)
        for stream in numbers(seed, tries=tries_for(values), many=sum(places)):
            ends = pairwise(accumulate(places, initial=0))
            yield scores(
                {
                    own: own.between(stream[first:end])
                    for rows, (first, end) in zip(asked, ends, strict=True)
                    for own in rows
                }
            )

    observed = {own: own.observed for rows in asked for own in rows}
    return answered(scores(observed), drawn() if bots else ())


def _normal(sum_: float, freedom: int) -> float:
    """A sum of squares as a standard deviate (Wilson and Hilferty).

    So that bots with few blocks, whose sums have the longer tails, don't hide those with many.
    """
    spread = 2 / (9 * freedom)
    return (math.cbrt(max(0.0, sum_ / freedom)) - 1 + spread) / math.sqrt(spread)


def _row(bot: str, some: Sequence[_Shown], answer: PValues) -> Together:
    """What a bot's pairings show together, in strokes, as they make its error in the table."""
    blocks, events = sum(len(own.sizes) for own in some), sum(own.events for own in some)
    squares = sum(size * size for own in some for size in own.sizes)
    freedom = blocks - len(some)
    between = math.fsum(own.observed for own in some)
    within = max(0.0, math.fsum(own.all for own in some) - between) / (events - blocks)
    between /= freedom
    size = (
        events - math.fsum(sum(map(mul, own.sizes, own.sizes)) / own.events for own in some)
    ) / freedom
    correlation = max(-1.0, (between - within) / (between + (size - 1) * within))
    return Together(
        bot=bot,
        blocks=blocks,
        events=events,
        correlation=round(correlation, 6) + 0.0,
        wider=round(math.sqrt(1 + (squares / events - 1) * max(0.0, correlation)), 6),
        p_alone=answer.alone,
        p=answer.family,
    )
