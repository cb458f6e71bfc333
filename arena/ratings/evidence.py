"""Skills by what an event rates on, and the `WaveResults` that adaptive formats decide from.

An event rates on results as played, or on strokes less luck. The order, the ranges of ranks,
P(better) and when to stop all follow from that one fit.

Invariant: a function of the event's settings and of what was counted.
"""

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from arena.model import ADJUSTED, Event, RatingSettings, Withdrawal
from arena.ratings import normal
from arena.ratings.fit import Fit, fit
from arena.ratings.intervals import Moments
from arena.ratings.outcomes import ForfeitSums, Tally
from arena.ratings.stroke_fit import fit_strokes, skill_of_a_stroke
from arena.schedule import Forfeits, Lead

Sums = TypeVar("Sums")


def fitted(event: Event, tally: Tally, rate_on: str) -> Fit:
    entrants = [entrant.id for entrant in event.entrants]
    settings = event.settings
    if rate_on == ADJUSTED:
        return fit_strokes(entrants, tally.gaps, seats=settings.seats, settings=settings.rating)
    return fit(entrants, tally.pairs, seats=settings.seats, settings=settings.rating)


def separation(pairs: int, *, looks: int, error_rate: float) -> float:
    """How many standard errors apart two have to be, for the error rate of so many pairs together
    and of all looks at them (Bonferroni).
    """
    return normal.quantile(1 - error_rate / (2 * max(1, pairs) * looks))


def lead_of(found: Fit, one: int, two: int, settings: RatingSettings) -> Lead:
    ahead, error = found.ahead(one, two)
    stroke = skill_of_a_stroke(settings)
    return Lead(ahead / stroke, error / stroke)


class Evidence:
    """The `Results` that a format decides from: of pairs, as such formats have no larger tables.

    What pairs with an annulled entrant have shown is left out, as it will be in the table.
    """

    def __init__(self, event: Event, tally: Tally, withdrawn: Mapping[str, Withdrawal]) -> None:
        self.withdrawn = frozenset(withdrawn)
        self._event = event
        self._tally = tally
        annulled = {entrant for entrant, out in withdrawn.items() if out.annulled}
        if annulled:
            self._tally = Tally(margin=event.settings.rating.forfeit_margin)
            self._tally.pairs = _without(annulled, tally.pairs)
            self._tally.gaps = _without(annulled, tally.gaps)
            self._tally.forfeited = _without(annulled, tally.forfeited)

    @functools.cached_property
    def _fit(self) -> Fit:
        return fitted(self._event, self._tally, self._event.settings.rate_on)

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._fit.entrants)}

    def order(self) -> Sequence[str]:
        return self._fit.order()

    def lead(self, one: str, two: str) -> Lead:
        settings = self._event.settings
        lead = lead_of(self._fit, self._index[one], self._index[two], settings.rating)
        if settings.rate_on != ADJUSTED:
            return lead
        skew = self._tally.gaps.get((min(one, two), max(one, two)), Moments()).skewness()
        # Strokes above the other are strokes behind it.
        return lead._replace(skew=-skew if one < two else skew)

    def forfeits(self, one: str, two: str) -> Forfeits:
        pair = (min(one, two), max(one, two))
        gap = self._tally.gaps.get(pair, Moments())
        apart = self._tally.forfeited.get(pair, ForfeitSums())
        strokes = gap.plus(apart.whole, -1).plus(apart.rest)
        lead = Lead(0.0, math.inf)
        if strokes.events:
            settings = self._event.settings
            found = fit_strokes(
                pair, {pair: strokes}, seats=settings.seats, settings=settings.rating
            )
            lead = lead_of(found, pair.index(one), pair.index(two), settings.rating)
        counts = (apart.first, apart.second)
        return Forfeits(gap.weight, counts[pair.index(one)], counts[pair.index(two)], lead)

    def separation(self, pairs: int, looks: int) -> float:
        rate = self._event.settings.rating.error_rate
        return separation(pairs, looks=looks, error_rate=rate)


def _without(
    entrants: Collection[str], pairs: Mapping[tuple[str, str], Sums]
) -> dict[tuple[str, str], Sums]:
    return {pair: sums for pair, sums in pairs.items() if set(pair).isdisjoint(entrants)}
