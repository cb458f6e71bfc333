"""Fit skills to wins, ties and losses: TrueSkill's model, over all rated deals at once.

The model. An entrant's skill s has the prior N(mu, sigma²), its performance in a rated deal is
N(s, beta²). Of two, the one whose performance is higher by more than the draw margin, which follows
from the draw probability between equals, wins; otherwise they tie. tau is 0.

The fit. Newton's method finds the peak of the posterior, which is log-concave. From there
expectation propagation goes on until every pair's marginal has the moments that its counts give
it. Of tables of k > 2 every pair counts with the weight 3/(k+1), since comparisons share
performances. docs/design/ratings.md has the reasons.

Invariant: sums run in the order of the entrants' ids, so the same counts give the same ratings to
the last bit on one build of Python; on another the last bits may differ, so what is published, and
the order of the table, go by rounded numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import mul

import msgspec

from arena.model import RatingSettings
from arena.ratings import normal
from arena.ratings.cholesky import Matrix, add_difference, factor, inverse, prior, solve
from arena.ratings.dependence import INDEPENDENT, of_pair
from arena.ratings.outcomes import Pair, PairCount

DECIMALS = 3  # of a rating, as it is published

_NARROW = 1e-7  # below this share of the noise the margin only scales the probability of a tie
_CLOSE = 1e-9
_LEVEL = 1e-12
_ITERATIONS = 100
# A thousandth is published; each sweep leaves less than a third of what was off before.
_SETTLED = 3e-4
_SWEEPS = 60
_DAMPING = 0.8
# The trapezoid rule, in steps: over a Gaussian it is exact to 1e-7 when a step is its deviation,
# and to 1e-5 while the deviation is not below the root of this.
_NODES = tuple(float(number) for number in range(-6, 7))
_RESOLVED = 0.64
_CLOSER = 0.7
_REFINEMENTS = 60


class Fit(msgspec.Struct, frozen=True):
    entrants: tuple[str, ...]
    mu: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def order(self) -> list[str]:
        """The best first, by the published decimals; equals by their ids."""
        ranked = zip(self.mu, self.entrants, strict=True)
        return [name for _, name in sorted((-round(mu, DECIMALS), name) for mu, name in ranked)]

    def sigma(self, index: int) -> float:
        return math.sqrt(self.covariance[index][index])

    def against(self, field: Sequence[int]) -> dict[int, float]:
        """The standard deviation of each skill less these ones' mean: results tell differences."""
        covariance, many = self.covariance, len(field)
        shared = {one: math.fsum(covariance[one][two] for two in field) / many for one in field}
        mean = math.fsum(shared.values()) / many if field else 0.0
        return {
            # Of one alone it is 0, and rounding may fall below that.
            one: math.sqrt(max(0.0, covariance[one][one] - 2 * shared[one] + mean))
            for one in field
        }

    def ahead(self, one: int, two: int) -> tuple[float, float]:
        """By how much the first is stronger than the second, and its standard error."""
        covariance = self.covariance
        variance = covariance[one][one] + covariance[two][two] - 2 * covariance[one][two]
        return self.mu[one] - self.mu[two], math.sqrt(variance)

    def better(self, one: int, two: int) -> float:
        lead, error = self.ahead(one, two)
        return normal.cdf(lead / error)


def fit(
    names: Iterable[str],
    pairs: Mapping[Pair, PairCount],
    *,
    seats: int,
    settings: RatingSettings,
    wider: Mapping[str, float] = INDEPENDENT,
) -> Fit:
    """Rate the entrants; a pair's key holds the smaller id first. `wider`: see `fit_strokes`."""
    names = sorted(names)
    index = {name: number for number, name in enumerate(names)}
    weight = 3 / (seats + 1)
    counts = [
        _Pair(
            (index[pair[0]], index[pair[1]]),
            *(weight / of_pair(wider, pair) * n for n in (met.first, met.ties, met.second)),
        )
        for pair, met in sorted(pairs.items())
    ]
    scale = math.sqrt(2) * settings.beta
    margin = max(0.0, draw_margin(settings) / scale)
    model = _Model(counts, len(names), settings.sigma, scale, margin)
    _find_peak(model)
    skills, covariance = _propagate(model)
    mu = tuple(settings.mu + skill for skill in skills)
    return Fit(tuple(names), mu, tuple(map(tuple, covariance)))


def _find_peak(model: _Model) -> None:
    """Newton's method to the maximum of the posterior, where the pairs' factors touch it."""
    skills = [0.0] * model.size
    value, slope, curvature = model.at(skills)
    for _ in range(_ITERATIONS):  # pragma: no branch - a bound, never met
        step = solve(factor(curvature), slope)
        length = 1.0
        while True:
            trial = [skill + length * change for skill, change in zip(skills, step, strict=True)]
            found = model.at(trial)
            # At the top rounding alone may turn a step down: it is as good as level.
            if found[0] >= value - _LEVEL * (1 + abs(value)) or length < _CLOSE:
                break
            length /= 2
        skills = trial
        value, slope, curvature = found
        if max(map(abs, step), default=0.0) < _CLOSE:
            break
    for pair in model.pairs:
        one, two = pair.ends
        difference = skills[one] - skills[two]
        _, tilt, pair.precision = model.outcomes(pair, difference)
        pair.shift = tilt + pair.precision * difference


def _propagate(model: _Model) -> tuple[list[float], Matrix]:
    """Expectation propagation: mean and covariance that agree with every pair's own."""
    skills: list[float] = []
    covariance: Matrix = []
    found: list[float] = []
    for _ in range(_SWEEPS):  # pragma: no branch - a bound, never met
        before = found
        precision, shift = prior(model.size, model.sigma)
        for pair in model.pairs:
            add_difference(precision, shift, pair.ends, weight=pair.precision, pull=pair.shift)
        root = factor(precision)
        skills = solve(root, shift)
        covariance = inverse(root)
        found = skills + [math.sqrt(covariance[n][n]) for n in range(model.size)]
        if before and max(abs(a - b) for a, b in zip(before, found, strict=True)) < _SETTLED:
            break
        for pair in model.pairs:
            one, two = pair.ends
            mean = skills[one] - skills[two]
            variance = covariance[one][one] + covariance[two][two] - 2 * covariance[one][two]
            _match(model, pair, mean, variance)
    return skills, covariance


def _match(model: _Model, pair: _Pair, mean: float, variance: float) -> None:
    """Move a factor so that the marginal has the moments that the pair's results give it."""
    middle, step = mean, math.sqrt(variance)
    for _ in range(_REFINEMENTS):  # pragma: no branch - a bound, never met
        points = [middle + step * node for node in _NODES]
        heights = [
            model.height(pair, point)
            - point * (pair.shift - 0.5 * pair.precision * point)
            - 0.5 * (point - mean) ** 2 / variance
            for point in points
        ]
        top = max(heights)
        masses = [math.exp(height - top) for height in heights]
        total = sum(masses)
        centre = sum(map(mul, masses, points)) / total
        spread = sum(m * (x - centre) ** 2 for m, x in zip(masses, points, strict=True)) / total
        if spread >= _RESOLVED * step * step:
            break
        # Narrower than the rule can see: look closer.
        middle, step = centre, _CLOSER * step
    # Results only ever add information; less than none is the quadrature's error.
    precision = max(0.0, pair.precision + 1 / spread - 1 / variance)
    shift = pair.shift + centre / spread - mean / variance
    pair.precision += _DAMPING * (precision - pair.precision)
    pair.shift += _DAMPING * (shift - pair.shift)


class _Pair(msgspec.Struct):
    """Weighted counts of the results of two entrants, by their numbers, and what they are as a
    Gaussian factor of the difference d of their skills: exp(shift·d - precision·d²/2).
    """

    ends: tuple[int, int]
    wins: float
    ties: float
    losses: float
    precision: float = 0.0
    shift: float = 0.0


def draw_margin(settings: RatingSettings) -> float:
    """The margin at which equals tie with the draw probability."""
    quantile = normal.quantile((1 + settings.draw_probability) / 2)
    return quantile * math.sqrt(2) * settings.beta


class _Model(msgspec.Struct, frozen=True):
    """The log-posterior of skills relative to the prior's mean."""

    pairs: Sequence[_Pair]
    size: int
    sigma: float
    scale: float
    margin: float

    def at(self, skills: Sequence[float]) -> tuple[float, list[float], Matrix]:
        """Value, slope, and negated curvature."""
        precision = 1 / self.sigma**2
        value = -0.5 * precision * sum(skill * skill for skill in skills)
        curvature, slope = prior(self.size, self.sigma)
        for number, skill in enumerate(skills):
            slope[number] -= precision * skill
        for pair in self.pairs:
            one, two = pair.ends
            height, tilt, bend = self.outcomes(pair, skills[one] - skills[two])
            value += height
            add_difference(curvature, slope, pair.ends, weight=bend, pull=tilt)
        return value, slope, curvature

    def height(self, pair: _Pair, difference: float) -> float:
        x, margin = difference / self.scale, self.margin
        value = 0.0
        if pair.wins:
            value += pair.wins * normal.log_cdf(x - margin)
        if pair.losses:
            value += pair.losses * normal.log_cdf(-x - margin)
        if pair.ties:
            value += pair.ties * tie(x, margin)[0]
        return value

    def outcomes(self, pair: _Pair, difference: float) -> tuple[float, float, float]:
        """Log-likelihood of a pair's counts, its slope and its negated curvature."""
        x, margin = difference / self.scale, self.margin
        value = tilt = bend = 0.0
        for count, sign in ((pair.wins, 1), (pair.losses, -1)):
            if count:
                y = sign * x - margin
                v = normal.hazard(y)
                value += count * normal.log_cdf(y)
                tilt += sign * count * v
                bend += count * v * (v + y)
        if pair.ties:
            height, first, second = tie(x, margin)
            value += pair.ties * height
            tilt += pair.ties * first
            bend += pair.ties * second
        return value, tilt / self.scale, bend / self.scale**2


def tie(difference: float, margin: float) -> tuple[float, float, float]:
    """Log of P(|difference + N(0,1)| < margin), its slope and its negated curvature."""
    if margin < _NARROW:  # the limit, less a constant: no probability is left, but a density
        return -0.5 * difference * difference, -difference, 1.0
    high = margin - difference
    low = -margin - difference
    log_mass = normal.log_between(low, high)
    at_high = math.exp(normal.log_pdf(high) - log_mass)
    at_low = math.exp(normal.log_pdf(low) - log_mass)
    slope = at_low - at_high
    return log_mass, slope, high * at_high - low * at_low + slope * slope
