"""Fit skills to differences of strokes: TrueSkill's model, with performances that can be seen.

The model. A skill's prior and unit are those of `fit`. But where that sees only wins, this sees by
how many strokes a match one was ahead of the other over a rated deal: the difference of their
skills and noise of unknown width. A lead of `event_sd` strokes, one standard deviation of a rated
deal between equals as played, makes one win it with the probability of one standard deviation.

The fit. Everything is Gaussian, so the solution is exact. The variance of a pair's differences is
estimated from its own rated deals; with few of them the median of other pairs' counts as up to
`borrowed` more. The estimate is widened by the square of Student's 95 % quantile over the Gaussian
one (bench/calibration.py). Where no pair has a second rated deal, it is that of deals as played.

Tables of k > 2. Of the k(k-1)/2 differences of a deal only k-1 are independent, so every pair
counts with the weight 2/k.

Invariant: entrants in the order of their ids, sums in that order.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.model import LadderSettings, RatingSettings
from arena.ratings.cholesky import factor, inverse, solve
from arena.ratings.dependence import INDEPENDENT, of_pair
from arena.ratings.fit import Fit
from arena.ratings.information import Information, SkillGap, begin, inform
from arena.ratings.intervals import Z95, Moments, student95
from arena.ratings.outcomes import THOUSANDTHS, Pair


def skill_of_a_stroke(settings: RatingSettings) -> float:
    return math.sqrt(2) * settings.beta / settings.event_sd


def fit_strokes(
    names: Iterable[str],
    gaps: Mapping[Pair, Moments],
    *,
    seats: int,
    settings: RatingSettings,
    wider: Mapping[str, float] = INDEPENDENT,
    ladder: LadderSettings | None = None,
) -> Fit:
    """Rate the entrants. Moments: thousandths of strokes of a pair's smaller id above the other.
    `wider`: how many times the variance by deals is that of a mean, by entrant. `ladder`: has what
    is known from earlier rounds. Bots that aren't among the names hold the scale together.
    """
    names = sorted(names)
    known = skills_of(names, gaps, seats=seats, settings=settings, wider=wider, ladder=ladder)
    root = factor(known.precision)
    mu = tuple(settings.mu + skill for skill in solve(root, known.shift))
    return Fit(tuple(names), mu, tuple(map(tuple, inverse(root))))


def skills_of(
    names: Sequence[str],
    gaps: Mapping[Pair, Moments],
    *,
    seats: int,
    settings: RatingSettings,
    wider: Mapping[str, float] = INDEPENDENT,
    ladder: LadderSettings | None = None,
) -> Information:
    """The same as a precision and what it draws to; the names are sorted."""
    pairs = sorted(gaps.items())
    unit = skill_of_a_stroke(settings) / THOUSANDTHS
    variances = _variances([gap for _, gap in pairs], settings)

    def found() -> Iterator[SkillGap]:
        for ((one, two), gap), variance in zip(pairs, variances, strict=True):
            sure = 2 / seats * gap.events / (of_pair(wider, (one, two)) * variance * unit * unit)
            ahead = -unit * gap.value / gap.weight
            yield SkillGap(one, two, sure, sure * ahead)

    return inform(begin(len(names), settings, ladder), names, found(), settings.sigma)


def _variances(gaps: Sequence[Moments], settings: RatingSettings) -> Iterator[float]:
    """By pair, of a rated deal's difference: thousandths squared, widened for being estimates."""
    played = (THOUSANDTHS * settings.event_sd) ** 2
    whole = sum(gap.events - 1 for gap in gaps)
    found = sorted(_middle(gap) for gap in gaps if gap.events > 1)
    usual = found[len(found) // 2] if found else 0.0
    for gap in gaps:
        own = gap.events - 1
        borrowed = min(settings.borrowed, whole - own)
        if freedom := own + borrowed:
            variance = (_spread(gap) + borrowed * usual) / freedom
            unknown = (student95(freedom) / Z95) ** 2
            yield unknown * max(variance, settings.least_spread**2 * played)
        else:
            yield played


def _spread(gap: Moments) -> float:
    """The sum of squared distances of the deals' differences from their mean."""
    mean_weight = gap.weight / gap.events
    return gap.spread(gap.value, gap.weight) / mean_weight**2


def _middle(gap: Moments) -> float:
    """The variance of a pair's differences of which such a spread would be the median."""
    freedom = gap.events - 1
    return _spread(gap) / (freedom * (1 - 2 / (9 * freedom)) ** 3)
