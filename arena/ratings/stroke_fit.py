"""Fit skills to differences of strokes: TrueSkill's model, with performances that can be seen.

The model. As in `fit`, a skill has the prior N(mu, sigma²). But where `fit` sees only wins, this
sees by how many strokes a match one was ahead of the other over a rated deal: the difference of
their skills, in strokes, and noise of unknown width. The unit of skill is the same: a lead of
`event_sd` strokes, one standard deviation of a rated deal between equals as played, is worth
what makes one win it with the probability of one standard deviation.

The fit. Everything is Gaussian, so there is one solution and it is exact. The variance of a pair's
differences is estimated from its own rated deals; with few of them the median of other pairs'
counts as up to `borrowed` more. An estimate is not the truth, so it is widened by the square of
Student's 95 % quantile over the Gaussian one (bench/calibration.py). Where no pair has a second
rated deal, it is the variance of those as played.

Tables of k > 2. Of the k(k-1)/2 differences of a deal only k-1 are independent, so every pair
counts with the weight 2/k.

Invariant: entrants in the order of their ids, sums in that order.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from arena.model import RatingSettings
from arena.ratings.cholesky import add_difference, factor, inverse, prior, solve
from arena.ratings.fit import Fit
from arena.ratings.intervals import Z95, Moments, student95

THOUSANDTHS = 1000


def skill_of_a_stroke(settings: RatingSettings) -> float:
    return math.sqrt(2) * settings.beta / settings.event_sd


def fit_strokes(
    entrants: Sequence[str],
    gaps: Mapping[tuple[str, str], Moments],
    *,
    seats: int,
    settings: RatingSettings,
) -> Fit:
    """Rate the entrants. A pair's key holds the smaller id first, its moments are thousandths of
    strokes by which that was above the other, by rated deal.
    """
    names = sorted(entrants)
    if not names:
        return Fit((), (), ())
    index = {name: number for number, name in enumerate(names)}
    pairs = [(index[one], index[two], gap) for (one, two), gap in sorted(gaps.items())]
    unit = skill_of_a_stroke(settings) / THOUSANDTHS
    precision, shift = prior(len(names), settings.sigma)
    variances = _variances([gap for _, _, gap in pairs], settings)
    for (one, two, gap), variance in zip(pairs, variances, strict=True):
        sure = 2 / seats * gap.events / (variance * unit * unit)
        ahead = -unit * gap.value / gap.weight
        add_difference(precision, shift, (one, two), weight=sure, pull=sure * ahead)
    root = factor(precision)
    skills = solve(root, shift)
    mu = tuple(settings.mu + skill for skill in skills)
    return Fit(tuple(names), mu, tuple(map(tuple, inverse(root))))


def _variances(gaps: Sequence[Moments], settings: RatingSettings) -> Iterator[float]:
    """By pair, of a rated deal's difference: thousandths squared, widened for being estimates."""
    played = (THOUSANDTHS * settings.event_sd) ** 2
    whole = sum(gap.events - 1 for gap in gaps)
    found = sorted(_middle(gap) for gap in gaps if gap.events > 1)
    usual = found[len(found) // 2] if found else 0.0
    for gap in gaps:
        own = gap.events - 1
        borrowed = min(settings.borrowed, whole - own)
        freedom = own + borrowed
        if not freedom:
            yield played
            continue
        variance = (_spread(gap) + borrowed * usual) / freedom
        unknown = (student95(freedom) / Z95) ** 2
        yield unknown * max(variance, settings.least_spread**2 * played)


def _spread(gap: Moments) -> float:
    """The sum of squared distances of the deals' differences from their mean."""
    mean_weight = gap.weight / gap.events
    return gap.spread(gap.value, gap.weight) / mean_weight**2


def _middle(gap: Moments) -> float:
    """The variance of a pair's differences of which such a spread would be the median."""
    freedom = gap.events - 1
    return _spread(gap) / (freedom * (1 - 2 / (9 * freedom)) ** 3)
