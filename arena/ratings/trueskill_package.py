"""The only module that imports `trueskill`: online ratings for the progress display.

They depend on the order of events and are never published; the published ones are `fit`'s,
and the two are checked against each other in the tests. Known traps of the package, and how
they are kept shut here:

- Its own erfc is good to 1e-7, and a big upset raises FloatingPointError: the truncation
  functions are replaced by exact ones that hold in the tails.
- With a draw probability of 0 a tie inflates sigma or fails: such a tie is rated with the
  narrow margin of `TIE_FLOOR`.
- A `Rating()` made without an environment takes the global one, and ratings can't be keys:
  they are made by this environment alone, and kept by entrant id.
- Tied entrants are rated in the order in which they are given: they are given by id.
"""

from __future__ import annotations

import math
from typing import Any

import trueskill

from arena.model import RatingSettings
from arena.ratings import normal
from arena.ratings.likelihood import tie
from arena.ratings.outcomes import Rated

TIE_FLOOR = 1e-4


class _Environment(trueskill.TrueSkill):  # type: ignore[misc] # the package has no types
    """TrueSkill with exact truncation functions."""

    def v_win(self, diff: float, draw_margin: float) -> float:
        return normal.hazard(diff - draw_margin)

    def w_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        v = normal.hazard(x)
        return v * (v + x)

    def v_draw(self, diff: float, draw_margin: float) -> float:
        return tie(diff, draw_margin)[1]

    def w_draw(self, diff: float, draw_margin: float) -> float:
        return tie(diff, draw_margin)[2]


def environment(settings: RatingSettings) -> Any:  # noqa: ANN401 - the package has no types
    """The package's environment for an event's settings."""
    return _Environment(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        tau=settings.tau,
        draw_probability=max(settings.draw_probability, TIE_FLOOR),
        backend=(
            lambda x, mu=0.0, sigma=1.0: normal.cdf((x - mu) / sigma),
            lambda x, mu=0.0, sigma=1.0: math.exp(normal.log_pdf((x - mu) / sigma)) / sigma,
            lambda p, mu=0.0, sigma=1.0: mu + sigma * normal.quantile(p),
        ),
    )


class Live:
    """Online ratings of a field, event by event."""

    def __init__(self, settings: RatingSettings) -> None:
        self._env = environment(settings)
        self._ratings: dict[str, Any] = {}

    def update(self, outcome: Rated) -> None:
        """Take in a rated event."""
        order = sorted(zip(outcome.entrants, outcome.places, strict=True))
        groups = [(self._rating(entrant),) for entrant, _ in order]
        rated = self._env.rate(groups, ranks=[place for _, place in order])
        for (entrant, _), (rating,) in zip(order, rated, strict=True):
            self._ratings[entrant] = rating

    def rating(self, entrant: str) -> tuple[float, float]:
        """The mu and sigma of an entrant; the prior's before its first event."""
        rating = self._rating(entrant)
        return float(rating.mu), float(rating.sigma)

    def ranking(self) -> list[tuple[str, float, float]]:
        """(entrant, mu, sigma) of everybody seen so far, best first."""
        found = [(entrant, *self.rating(entrant)) for entrant in self._ratings]
        return sorted(found, key=lambda row: (-row[1], row[0]))

    def _rating(self, entrant: str) -> Any:  # noqa: ANN401 - the package has no types
        return self._ratings.get(entrant) or self._env.create_rating()
