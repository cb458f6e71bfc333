"""Skills by what an event rates on, and the `WaveResults` that adaptive formats decide from.

The order, the ranges of ranks, P(better) and when to stop all follow from one fit.
Invariant: a function of the event's settings and of what was counted.
"""

import functools
import math
from collections.abc import Mapping, Sequence

from arena.model import ADJUSTED, Event, RateOn, RatingSettings, Settings, Withdrawal
from arena.ratings.dependence import variances
from arena.ratings.fit import Fit, fit
from arena.ratings.intervals import Moments
from arena.ratings.outcomes import ForfeitSums, Tally
from arena.ratings.separation import separation
from arena.ratings.stroke_fit import fit_strokes, skill_of_a_stroke
from arena.schedule import Forfeits, Lead


def wider(settings: Settings, tally: Tally, rate_on: RateOn, *, over: bool) -> dict[str, float]:
    """By bot, how many times the variance by deals is that of a mean. `over`: whether a planned
    event has been played to its end; otherwise few blocks prove little, so a guess is mixed in.
    """
    return variances(tally.blocks[rate_on], over=over) if settings.units else {}


def fitted(event: Event, tally: Tally, rate_on: RateOn, *, over: bool = False) -> Fit:
    entrants = [entrant.id for entrant in event.entrants]
    settings = event.settings
    wide = wider(settings, tally, rate_on, over=over)
    seats, rating = settings.seats, settings.rating
    if rate_on == ADJUSTED:
        ladder = settings.ladder or None
        return fit_strokes(
            entrants, tally.gaps, seats=seats, settings=rating, wider=wide, ladder=ladder
        )
    return fit(entrants, tally.pairs, seats=seats, settings=rating, wider=wide)


def lead_of(found: Fit, one: int, two: int, settings: RatingSettings) -> Lead:
    ahead, error = found.ahead(one, two)
    stroke = skill_of_a_stroke(settings)
    return Lead(ahead / stroke, error / stroke)


class Evidence:
    """What a format decides from: pairs, without those of annulled entrants, as in the table."""

    def __init__(self, event: Event, tally: Tally, withdrawn: Mapping[str, Withdrawal]) -> None:
        self.withdrawn = frozenset(withdrawn)
        self._event = event
        self._settings = event.settings
        self._tally = tally
        annulled = {entrant for entrant, out in withdrawn.items() if out.annulled}
        if annulled:
            self._tally = Tally(margin=self._settings.rating.forfeit_margin)
            for name in ("pairs", "gaps", "forfeited"):
                pairs = getattr(tally, name).items()
                kept = {pair: sums for pair, sums in pairs if annulled.isdisjoint(pair)}
                setattr(self._tally, name, kept)
            for rate_on, sums in tally.blocks.items():
                self._tally.blocks[rate_on].update(
                    {table: own for table, own in sums.items() if annulled.isdisjoint(table)}
                )

    @functools.cached_property
    def _fit(self) -> Fit:
        return fitted(self._event, self._tally, self._settings.rate_on)

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._fit.entrants)}

    @functools.cached_property
    def _wider(self) -> Mapping[str, float]:
        return wider(self._settings, self._tally, ADJUSTED, over=False)

    def order(self) -> Sequence[str]:
        return self._fit.order()

    def lead(self, one: str, two: str) -> Lead:
        lead = lead_of(self._fit, self._index[one], self._index[two], self._settings.rating)
        if self._settings.rate_on != ADJUSTED:
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
            rating = self._settings.rating
            seats, wide = self._settings.seats, self._wider
            found = fit_strokes(pair, {pair: strokes}, seats=seats, settings=rating, wider=wide)
            lead = lead_of(found, pair.index(one), pair.index(two), rating)
        counts = dict(zip(pair, (apart.first, apart.second), strict=True))
        return Forfeits(gap.weight, counts[one], counts[two], lead)

    def separation(self, pairs: int, error: float) -> float:
        return separation(self._settings, pairs, error)
