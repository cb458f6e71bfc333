"""Find bots that do better where the deal had been played before.

Which rotation of a deal was played first was drawn by lot and should change nothing. That makes an
exact test: a bot's strokes, less its opponents' and what its seat is worth, where the deal had been
played before, less those where it had not; against another rotation's coming first.

Invariant: sums of whole numbers: thousandths of strokes times the number of seats.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import mul

import msgspec

from arena.audit.chance import cell_of, permutation_test
from arena.audit.rated_deals import RatedDeal, centred, strokes
from arena.audit.report import Later
from arena.ratings.outcomes import THOUSANDTHS

Order = Callable[[str, int], Sequence[int]]
"""(pairing, deal) -> which rotation was played first, second, …"""


class _Bot(msgspec.Struct):
    deals: int
    strokes: list[list[int]]  # by cell and place in the order of playing
    sat: list[list[list[int]]]  # how often, by cell, place in the order of playing, and seat


class Rotations:
    def __init__(self, seats: int, order: Order, cells: int) -> None:
        self._seats = seats
        self._order = order
        self._cells = cells
        none = [0] * seats
        self._bots: dict[str, _Bot] = defaultdict(
            lambda: _Bot(
                deals=0,
                strokes=[none[:] for _ in range(cells)],
                sat=[[none[:] for _ in none] for _ in range(cells)],
            )
        )
        self._worth = [0] * seats
        self._deals = 0

    def add(self, rated: RatedDeal) -> None:
        cell = cell_of(rated.pairing, rated.deal, self._cells)
        self._deals += 1
        for place, rotation in enumerate(self._order(rated.pairing, rated.deal)):
            record = rated.records[rotation]
            for seat, more in enumerate(centred(strokes(record))):
                bot = self._bots[record.seats[seat]]
                bot.deals += not place
                bot.strokes[cell][place] += more
                bot.sat[cell][place][seat] += 1
                self._worth[seat] += more

    def rows(self, seed: bytes) -> list[Later]:
        bots = dict(sorted(self._bots.items()))
        gains = [self._gains(bot) for bot in bots.values()]
        answers = permutation_test(gains, seed, ways=self._seats)
        return [
            Later(
                bot=name,
                deals=bot.deals,
                strokes=round(-sum(gain[:: self._seats]) / bot.deals, 6) + 0.0,
                error=round(math.sqrt(sum(map(mul, gain, gain)) / self._seats) / bot.deals, 6),
                **answer,
            )
            for (name, bot), gain, answer in zip(bots.items(), gains, answers, strict=True)
        ]

    def _gains(self, bot: _Bot) -> array[float]:
        """By cell, strokes gained on all others if each place had been the first."""
        n = self._seats
        # Strokes less the mean of all, times n, become strokes less the opponents' mean.
        scale = 1 / (n - 1) / THOUSANDTHS
        worth = [one / self._deals / n for one in self._worth]
        row = array("d")
        for sums, sat in zip(bot.strokes, bot.sat, strict=True):
            own = [
                scale * (strokes - sum(map(mul, worth, times)))
                for strokes, times in zip(sums, sat, strict=True)
            ]
            whole = sum(own)
            row.extend((n * first - whole) / (n - 1) for first in own)
        return row
