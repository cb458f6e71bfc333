"""How many standard errors tell two apart: at one look, at so many, at whatever looks there are.

Theory of operation. A normal mixture (Robbins) bounds a mean at all times at once: one may look and
stop at any time, and errs as seldom as the error rate says. With a lead of standard error e, and
V = v · (t / e)², the bound is sqrt((1 + 1/V) · (ln(1 + V) - 2 ln(rate))) standard errors. It is the
narrowest at V = v, so at e = t, which is chosen before the first match, and little wider near it.
Where e is many times t it is far wider, so two that differ by far more than t are told apart late.
A ladder has such bots, so it takes several bounds together, each with a share of the error rate:
all of them hold but with that rate, so the narrowest does. Variances are estimated:
`python bench/calibration.py looks` tells from how many deals it holds.
"""

import functools
import math

from arena.model import Settings
from arena.ratings import normal


def separation(settings: Settings, pairs: int, error: float) -> float:
    """How many standard errors tell so many pairs apart, at a lead with this error in strokes."""
    rate = settings.rating.error_rate / max(1, pairs)
    if settings.ladder:
        return at_any_scale(rate, error / settings.ladder.mixture)
    if settings.mixture:
        return always(rate, error / settings.mixture)
    return normal.quantile(1 - rate / (2 * settings.looks))


def always(rate: float, error: float) -> float:
    """At every look; `error` in those at which the bound is the narrowest."""
    volume = _narrowest(rate) / error**2
    if not volume:
        return math.inf
    return math.sqrt((1 + 1 / volume) * (math.log1p(volume) - 2 * math.log(rate)))


_SCALES = ((1.0, 0.85), (4.0, 0.05), (16.0, 0.05), (64.0, 0.05))
"""By how much wider errors are than t where a bound is the narrowest, and its share of the rate.
The first bound is hardly wider for sharing: 1 % where the rate is a thousandth."""


def at_any_scale(rate: float, error: float) -> float:
    """The same for leads of all sizes; `error` in the smallest for which it is made."""
    return min(always(rate * share, error / scale) for scale, share in _SCALES)


@functools.cache
def _narrowest(rate: float) -> float:
    """v: where V = ln(1 + V) - 2 ln(rate)."""
    volume = 1.0
    for _ in range(100):
        volume = math.log1p(volume) - 2 * math.log(rate)
    return volume
