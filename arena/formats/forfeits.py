"""Test whether a bot is ahead of another when forfeits are rare and expensive.

What counts is the mean lead in strokes a match, where a forfeited match is lost by the published
margin. Treated as noise such matches spoil a short test, which may not see a single one.

Theory of operation. Three unknowns: the lead x in matches without a forfeit, whose estimate is
Gaussian, and the shares q and r of the matches that the first and the second forfeit, whose counts
are binomial. The first is not ahead where

    x <= (margin + x) q - (margin - x) r

The evidence that it is ahead is the fall of the log-likelihood from its maximum to the likeliest
point of that region. In the products the estimate stands for x, which is on the safe side; then the
region is a half-space, and one multiplier is found by bisection.
"""

import math

from arena.schedule import Forfeits

_STEPS = 100


def evidence(shown: Forfeits, margin: float) -> float:
    """In nats: how much likelier the results are if the first is ahead than if it isn't."""
    lead, error, matches = shown.lead.strokes, shown.lead.error, shown.matches
    if not math.isfinite(error):  # there is no match without a forfeit
        return 0.0
    dear = margin + max(lead, 0.0)
    gained = max(margin - max(lead, 0.0), 0.0)

    def nearest(pull: float) -> tuple[float, float, float]:
        """Lead and shares where the likelihood falls with this slope."""
        return (
            lead - pull * error**2,
            _more(matches, shown.one, pull * dear),
            _fewer(matches, shown.two, pull * gained),
        )

    def ahead(pull: float) -> float:
        x, q, r = nearest(pull)
        return x - dear * q + gained * r

    if ahead(0.0) <= 0:
        return 0.0
    low, high = 0.0, 1.0
    while ahead(high) > 0:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if ahead(middle) > 0:
            low = middle
        else:
            high = middle
    x, q, r = nearest(high)
    luck = (lead - x) ** 2 / (2 * error**2)
    return luck + _fall(matches, shown.one, q) + _fall(matches, shown.two, r)


def _more(matches: int, count: int, slope: float) -> float:
    """The share above the observed one where the likelihood falls with this slope."""
    # slope q² + (matches - slope) q - count = 0, without cancellation
    free = matches - slope
    root = math.sqrt(free * free + 4 * slope * count)
    if free > 0:
        return 2 * count / (free + root)
    return (root - free) / (2 * slope)


def _fewer(matches: int, count: int, slope: float) -> float:
    """The share below the observed one where it does."""
    free = matches + slope
    return 2 * count / (free + math.sqrt(free * free - 4 * slope * count))


def _fall(matches: int, count: int, share: float) -> float:
    """The log-likelihood at the observed share, less that at this one."""
    fall = 0.0
    for part, at in ((count, share), (matches - count, 1 - share)):
        if part:
            fall += part * math.log(part / (matches * at))
    return fall
