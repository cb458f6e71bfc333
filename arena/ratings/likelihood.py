"""Likelihood of the results of every pair, given the skills: TrueSkill's model of an outcome.

Invariant: log-concave in the skills; slopes and curvatures are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from arena.model import RatingSettings
from arena.ratings import normal
from arena.ratings.cholesky import add_difference

# Below this share of the noise the margin's width only scales the probability of a tie.
_NARROW = 1e-7


class Pair(msgspec.Struct, frozen=True):
    """Weighted counts of the results of two entrants, by their numbers."""

    one: int
    two: int
    wins: float
    ties: float
    losses: float


def draw_margin(settings: RatingSettings) -> float:
    """The margin at which equals tie with the draw probability."""
    quantile = normal.quantile((1 + settings.draw_probability) / 2)
    return quantile * math.sqrt(2) * settings.beta


class Model:
    """The log-posterior of skills relative to the prior's mean."""

    def __init__(
        self, pairs: Sequence[Pair], size: int, scale: float, margin: float, sigma: float
    ) -> None:
        self.pairs = pairs
        self.size = size
        self._scale = scale
        self._margin = margin
        self._precision = 1 / sigma**2

    def prior(self) -> tuple[list[list[float]], list[float]]:
        """Precision and shift before any result."""
        precision = [[0.0] * self.size for _ in range(self.size)]
        for number in range(self.size):
            precision[number][number] = self._precision
        return precision, [0.0] * self.size

    def at(self, skills: Sequence[float]) -> tuple[float, list[float], list[list[float]]]:
        """Value, slope, and negated curvature."""
        value = -0.5 * self._precision * sum(skill * skill for skill in skills)
        curvature, slope = self.prior()
        for number, skill in enumerate(skills):
            slope[number] -= self._precision * skill
        for pair in self.pairs:
            height, tilt, bend = self.outcomes(pair, skills[pair.one] - skills[pair.two])
            value += height
            add_difference(curvature, slope, (pair.one, pair.two), weight=bend, pull=tilt)
        return value, slope, curvature

    def height(self, pair: Pair, difference: float) -> float:
        """Log-likelihood of a pair's counts."""
        x = difference / self._scale
        value = 0.0
        if pair.wins:
            value += pair.wins * normal.log_cdf(x - self._margin)
        if pair.losses:
            value += pair.losses * normal.log_cdf(-x - self._margin)
        if pair.ties:
            value += pair.ties * tie(x, self._margin)[0]
        return value

    def outcomes(self, pair: Pair, difference: float) -> tuple[float, float, float]:
        """Log-likelihood of a pair's counts, its slope and its negated curvature."""
        scale = self._scale
        value = tilt = bend = 0.0
        for count, x, sign in (
            (pair.wins, difference / scale - self._margin, 1),
            (pair.losses, -difference / scale - self._margin, -1),
        ):
            if count:
                v = normal.hazard(x)
                value += count * normal.log_cdf(x)
                tilt += sign * count * v
                bend += count * v * (v + x)
        if pair.ties:
            height, first, second = tie(difference / scale, self._margin)
            value += pair.ties * height
            tilt += pair.ties * first
            bend += pair.ties * second
        return value, tilt / scale, bend / scale**2


def tie(difference: float, margin: float) -> tuple[float, float, float]:
    """Log of P(|difference + N(0,1)| < margin), its slope and its negated curvature.

    With no margin a tie has no probability, but a density: the limit, less a constant.
    """
    if margin < _NARROW:
        return -0.5 * difference * difference, -difference, 1.0
    high = margin - difference
    low = -margin - difference
    log_mass = normal.log_between(low, high)
    at_high = math.exp(normal.log_pdf(high) - log_mass)
    at_low = math.exp(normal.log_pdf(low) - log_mass)
    slope = at_low - at_high
    return log_mass, slope, high * at_high - low * at_low + slope * slope
