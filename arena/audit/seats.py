"""Measure what sitting first and playing first is worth, and how often there is a tie.

The unit is the rated event: in it each bot has each seat once, so skill cancels and what is left
is the seat's. Sums are of whole numbers: strokes times the number of seats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from arena.audit.rated_events import RatedEvent, full_holes
from arena.audit.report import Effect, Proportion
from arena.model import MatchRecord
from arena.ratings.intervals import Z95, Average, Moments, average, half_width


def centred(strokes: Iterable[int]) -> list[int]:
    """Each less the mean of all, times their number."""
    some = list(strokes)
    return [len(some) * one - sum(some) for one in some]


class Seats:
    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._by_seat = [Moments() for _ in range(seats)]
        self._by_place = [Moments() for _ in range(seats)]
        self._tied_matches = Moments()
        self._tied_events = Moments()
        self._sat: dict[str, list[int]] = {}

    def add_seating(self, record: MatchRecord) -> None:
        """Add a match that counts, whether its rated event is whole or not."""
        for seat, entrant in enumerate(record.seats):
            self._sat.setdefault(entrant, [0] * self._seats)[seat] += 1

    def add(self, event: RatedEvent) -> None:
        by_seat, by_place = [0] * self._seats, [0] * self._seats
        holes = ties = 0
        for record in event.records:
            ties += _tied(record.totals)
            for seat, more in enumerate(centred(record.totals)):
                by_seat[seat] += more
            for hole in full_holes(record):
                holes += 1
                for place, more in enumerate(centred(hole.scores[s] for s in hole.order)):
                    by_place[place] += more
        for moments, value in zip(self._by_seat, by_seat, strict=True):
            moments.add(value, self._seats * len(event.records))
        if holes:
            for moments, value in zip(self._by_place, by_place, strict=True):
                moments.add(value, self._seats * holes)
        self._tied_matches.add(ties, len(event.records))
        self._tied_events.add(_tied(event.sums(lambda record: record.totals).values()), 1)

    def effects(self) -> tuple[Effect, ...]:
        """By seat, strokes a match."""
        return tuple(map(_effect, self._by_seat))

    def places(self) -> tuple[Effect, ...]:
        """By place in the order of play, strokes a hole."""
        return tuple(map(_effect, self._by_place))

    def ties(self) -> tuple[Proportion, Proportion]:
        return proportion(self._tied_matches), proportion(self._tied_events)

    def rotation_bias(self) -> float:
        """What the seats are worth, strokes a match, to the bot that they favour most."""
        worth = [effect.strokes for effect in self.effects()]
        means = [
            sum(map(float.__mul__, worth, map(float, sat))) / sum(sat) for sat in self._sat.values()
        ]
        # Sums of what was rounded leave some thousandths of thousandths.
        return round(max(map(abs, means), default=0.0), 4) + 0.0


def _tied(strokes: Iterable[int]) -> int:
    first, second, *_ = sorted(strokes)
    return int(first == second)


def _effect(moments: Moments) -> Effect:
    found = average([moments])
    if found is None:
        return Effect(strokes=0.0, low=None, high=None)
    if not found.freedom:
        return Effect(strokes=round(found.mean, 6), low=None, high=None)
    half = half_width(found, unknown=0.0)
    return Effect(
        strokes=round(found.mean, 6),
        low=round(found.mean - half, 6),
        high=round(found.mean + half, 6),
    )


def proportion(moments: Moments) -> Proportion:
    """A share with its 95 % interval by rated event."""
    found = average([moments])
    if found is None:
        return Proportion(count=0, of=0, share=0.0, low=0.0, high=1.0)
    low, high = _wilson(found.mean, moments.weight, found)
    return Proportion(
        count=moments.value,
        of=moments.weight,
        share=round(found.mean, 6),
        low=round(low, 6),
        high=round(high, 6),
    )


def _wilson(p: float, weight: int, found: Average) -> tuple[float, float]:
    """Wilson's interval for as many independent ones as the spread between events is worth.

    Where there is no spread it is as many as there are events, which is cautious.
    """
    n = min(float(weight), p * (1 - p) / found.error**2) if found.error else float(found.events)
    z2 = Z95 * Z95
    centre = (n * p + z2 / 2) / (n + z2)
    half = Z95 / (n + z2) * math.sqrt(n * p * (1 - p) + z2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)
