"""Measure what sitting first and playing first is worth, and how often there is a tie.

The unit is the rated deal: in it each bot has each seat once, so skill cancels and what is left
is the seat's. Sums are of whole numbers: strokes times the number of seats.
"""

from collections import defaultdict
from collections.abc import Iterable
from operator import mul

from arena.audit.rated_deals import RatedDeal, centred, full_holes
from arena.audit.report import Effect, Proportion
from arena.model import MatchRecord
from arena.ratings.intervals import Moments, average, half_width, wilson


class Seats:
    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._by_seat = [Moments() for _ in range(seats)]
        self._by_place = [Moments() for _ in range(seats)]
        self.tied_matches = Moments()
        self.tied_deals = Moments()
        self._sat: dict[str, list[int]] = defaultdict(lambda: [0] * seats)

    def add_seating(self, record: MatchRecord) -> None:
        """Add a match that counts, whether its rated deal is whole or not."""
        for seat, entrant in enumerate(record.seats):
            self._sat[entrant][seat] += 1

    def add(self, rated: RatedDeal) -> None:
        by_seat, by_place = [0] * self._seats, [0] * self._seats
        holes = ties = 0
        for record in rated.records:
            ties += _tied(record.totals)
            for seat, more in enumerate(centred(record.totals)):
                by_seat[seat] += more
            for hole in full_holes(record):
                holes += 1
                for place, more in enumerate(centred([hole.scores[s] for s in hole.order])):
                    by_place[place] += more
        for moments, value in zip(self._by_seat, by_seat, strict=True):
            moments.add(value, self._seats * len(rated.records))
        if holes:
            for moments, value in zip(self._by_place, by_place, strict=True):
                moments.add(value, self._seats * holes)
        self.tied_matches.add(ties, len(rated.records))
        self.tied_deals.add(_tied(rated.sums(lambda record: record.totals).values()), 1)

    def effects(self) -> tuple[Effect, ...]:
        return tuple(map(_effect, self._by_seat))

    def places(self) -> tuple[Effect, ...]:
        return tuple(map(_effect, self._by_place))

    def rotation_bias(self) -> float:
        """What the seats are worth, strokes a match, to the bot that they favour most."""
        worth = [effect.strokes for effect in self.effects()]
        means = [sum(map(mul, worth, sat)) / sum(sat) for sat in self._sat.values()]
        # Sums of what was rounded leave some thousandths of thousandths.
        return round(max(map(abs, means), default=0.0), 4)


def _tied(strokes: Iterable[int]) -> int:
    first, second, *_ = sorted(strokes)
    return int(first == second)


def _effect(moments: Moments) -> Effect:
    found = average([moments])
    if found is None or not found.freedom:
        return Effect(strokes=round(found.mean, 6) if found else 0.0, low=None, high=None)
    low, high = (round(found.mean + sign * half_width(found, unknown=0.0), 6) for sign in (-1, 1))
    return Effect(strokes=round(found.mean, 6), low=low, high=high)


def proportion(moments: Moments) -> Proportion:
    """With its interval, of as many as the spread of rated deals is worth; of all if it is 0."""
    found = average([moments])
    if found is None:
        return Proportion(count=0, of=0, share=0.0, low=0.0, high=1.0)
    spread, many = found.mean * (1 - found.mean), float(found.events)
    if found.error:
        many = min(float(moments.weight), spread / found.error**2)
    low, high = wilson(found.mean, many, spread)
    return Proportion(
        count=moments.value,
        of=moments.weight,
        share=round(found.mean, 6),
        low=round(low, 6),
        high=round(high, 6),
    )
