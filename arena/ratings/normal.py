"""The normal distribution, exact far out in the tails, where rare upsets and long runs lie.

Below -6 the distribution function is φ(x) times Mills' ratio, from its continued fraction; the
plain formula would lose digits there and reach 0 at -38, which has no logarithm.
"""

import functools
import math

LOG_SQRT_2PI = 0.9189385332046728
_TAIL = -6.0
# Enough for double precision from 6 on: the fraction gains more than one bit a term there.
_TERMS = 60


def _mills(t: float) -> float:
    """Φ(-t) / φ(t) for t >= 6."""
    fraction = t
    for term in range(_TERMS, 0, -1):
        fraction = t + term / fraction
    return 1.0 / fraction


def cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def log_pdf(x: float) -> float:
    return -0.5 * x * x - LOG_SQRT_2PI


def log_cdf(x: float) -> float:
    if x < _TAIL:
        return log_pdf(x) + math.log(_mills(-x))
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    return math.log(cdf(x))


def hazard(x: float) -> float:
    """φ(x) / Φ(x): the slope of log Φ."""
    if x < _TAIL:
        return 1.0 / _mills(-x)
    return math.exp(log_pdf(x)) / cdf(x)


def log_between(low: float, high: float) -> float:
    """The logarithm of Φ(high) - Φ(low), for low < high."""
    if low + high > 0.0:
        low, high = -high, -low
    top = log_cdf(high)
    return top + math.log(-math.expm1(log_cdf(low) - top))


@functools.lru_cache(256)  # tables ask for few values, each many times
def quantile(p: float) -> float:
    """The x with Φ(x) = p, by bisection."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        if cdf(middle) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2
