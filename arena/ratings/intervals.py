"""Averages over rated deals, and their 95 % intervals.

The unit is the rated deal, never the match: a value out of a weight (half points of those at stake,
strokes of so many comparisons). A pairing's average is the sum of values over that of weights, and
the average of all is the mean of the pairings', so every opponent counts alike. The variance is
taken within each pairing around its own average (stratified); a single rated deal has none and is
held against the overall average, which is wider on average.

- Strokes: value ± t · se, with Student's t for the degrees of freedom that were left.
- Wins: Wilson's score interval with n·p·(1-p) replaced by what the rated deals show. It keeps its
  width at 0 and 100 %, and is not symmetric.

Invariant: from whole-number sums to floats in one fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

Z95 = 1.959963984540054


class Moments(msgspec.Struct):
    """Sums over the rated deals of one entrant in one pairing; all whole numbers."""

    events: int = 0
    weight: int = 0
    value: int = 0
    weight2: int = 0
    value2: int = 0
    cross: int = 0
    value3: int = 0

    def add(self, value: int, weight: int) -> None:
        self.events += 1
        self.weight += weight
        self.value += value
        self.weight2 += weight * weight
        self.value2 += value * value
        self.cross += value * weight
        self.value3 += value * value * value

    def plus(self, other: Moments, sign: int = 1) -> Moments:
        """With the sums of another, or without them."""
        fields = self.__struct_fields__
        return Moments(*(getattr(self, f) + sign * getattr(other, f) for f in fields))

    def spread(self, value: int, weight: int) -> float:
        """The sum of squared distances from the ratio value/weight, exact until the end."""
        return (
            weight * weight * self.value2
            - 2 * value * weight * self.cross
            + value * value * self.weight2
        ) / (weight * weight)

    def skewness(self) -> float:
        """Of the mean, for deals of equal weight."""
        n = self.events
        spread = n * self.value2 - self.value**2
        if not spread:
            return 0.0
        third = n * n * self.value3 - 3 * n * self.value * self.value2 + 2 * self.value**3
        return third / (spread * math.sqrt(spread) * math.sqrt(n))


class Average(msgspec.Struct, frozen=True):
    mean: float
    error: float
    events: int
    freedom: int


def average(strata: Iterable[Moments]) -> Average | None:
    """The mean over all, and its error from within the strata; None without any."""
    strata = [stratum for stratum in strata if stratum.weight]
    if not strata:
        return None
    many = len(strata)
    common = math.lcm(*(stratum.weight for stratum in strata))
    value = sum(stratum.value * (common // stratum.weight) for stratum in strata)
    weight = common * many
    # What a single deal keeps of its variance when it is held against an average that it is in.
    kept = 1 - 2 / many + math.fsum(1 / stratum.events for stratum in strata) / many**2
    variance = 0.0
    for stratum in strata:
        n = stratum.events
        if n > 1:
            spread = stratum.spread(stratum.value, stratum.weight) * n / (n - 1)
        else:
            spread = stratum.spread(value, weight) / kept if many > 1 else 0.0
        variance += spread / stratum.weight**2
    events = sum(stratum.events for stratum in strata)
    return Average(value / weight, math.sqrt(variance) / many, events, _freedom(strata))


def _freedom(strata: Sequence[Moments]) -> int:
    """Satterthwaite's degrees of freedom, as if all events varied alike."""
    if all(stratum.events == 1 for stratum in strata):
        return len(strata) - 1
    unsure = math.fsum(1 / stratum.events for stratum in strata)
    parts = math.fsum(1 / (n * n * max(1, n - 1)) for n in (stratum.events for stratum in strata))
    return max(1, round(unsure * unsure / parts))


def half_width(found: Average, *, unknown: float) -> float:
    """Half of the 95 % interval of a mean; `unknown` when one rated deal is all there is."""
    return unknown if found.freedom < 1 else student95(found.freedom) * found.error


def win_interval(found: Average) -> tuple[float, float]:
    n = found.events
    # One rated deal alone shows no spread; at a share of p it can't have more than this.
    variance = n * found.error**2 if found.freedom else found.mean * (1 - found.mean)
    return wilson(found.mean, n, variance)


def wilson(share: float, n: float, variance: float) -> tuple[float, float]:
    """Wilson's score interval of a share of n with this variance each."""
    z2 = Z95 * Z95
    centre = (n * share + z2 / 2) / (n + z2)
    half = Z95 / (n + z2) * math.sqrt(n * variance + z2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def most_likely_share(count: int, of: int) -> float:
    """The exact one-sided 95 % bound of Clopper and Pearson on a share."""
    if count >= of:
        return 1.0
    ways = [log_ways(of, n) for n in range(count + 1)]
    low, high = count / of, 1.0
    for _ in range(60):
        share = (low + high) / 2
        odds, none = math.log(share / (1 - share)), of * math.log1p(-share)
        at_most = math.fsum(math.exp(some + none + n * odds) for n, some in enumerate(ways))
        low, high = (share, high) if at_most > _RARE else (low, share)
    return high


def log_ways(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


_RARE = 0.05
# Student's t at 97.5 %, for the few degrees of freedom where the expansion below is off.
_T975 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469)


def student95(freedom: int) -> float:
    """The 97.5 % quantile of Student's t (Cornish-Fisher; off by less than 0.001)."""
    if freedom <= len(_T975):
        return _T975[freedom - 1]
    z = Z95
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
