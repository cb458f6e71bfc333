"""Online ratings for the progress display; the only module that imports `trueskill`.

They depend on the order of rated deals and are never published. Traps of the package:

- Its own erfc is good to 1e-7, and a big upset raises FloatingPointError: the truncation
  functions are replaced by exact ones that hold in the tails.
- With a draw probability of 0 a tie inflates sigma or fails: it is at least `TIE_FLOOR`.
- A `Rating()` made without an environment takes the global one, and ratings can't be keys.
- Tied entrants are rated in the order in which they are given: they are given by id.
- It takes 90 µs for two, which are nearly all there are: two are rated in closed form, in 3.
"""

import math
from typing import Any

import trueskill
from msgspec.structs import replace

from arena.model import RatingSettings
from arena.ratings import normal
from arena.ratings.fit import draw_margin, tie
from arena.ratings.outcomes import RatedOutcome

TIE_FLOOR = 1e-4


class _Environment(trueskill.TrueSkill):  # type: ignore[misc] # the package has no types
    def v_win(self, diff: float, draw_margin: float) -> float:
        return _win(diff - draw_margin)[0]

    def w_win(self, diff: float, draw_margin: float) -> float:
        return _win(diff - draw_margin)[1]

    def v_draw(self, diff: float, draw_margin: float) -> float:
        return tie(diff, draw_margin)[1]

    def w_draw(self, diff: float, draw_margin: float) -> float:
        return tie(diff, draw_margin)[2]


def _win(x: float) -> tuple[float, float]:
    v = normal.hazard(x)
    return v, v * (v + x)


def environment(settings: RatingSettings) -> Any:  # noqa: ANN401 - the package has no types
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


class OnlineRatings:
    def __init__(self, settings: RatingSettings) -> None:
        self._env = environment(settings)
        floor = max(settings.draw_probability, TIE_FLOOR)
        self._margin = draw_margin(replace(settings, draw_probability=floor))
        self._noise = 2 * settings.beta**2
        self._forgotten = settings.tau**2
        self._prior = (settings.mu, settings.sigma)
        self._ratings: dict[str, tuple[float, float]] = {}

    def update(self, outcome: RatedOutcome) -> None:
        if len(outcome.entrants) == 2:
            (one, two), (first, second) = outcome.entrants, outcome.places
            if first > second:
                one, two = two, one
            self._duel(one, two, tied=first == second)
            return
        order = sorted(zip(outcome.entrants, outcome.places, strict=True))
        groups = [(self._env.create_rating(*self.rating(entrant)),) for entrant, _ in order]
        rated = self._env.rate(groups, ranks=[place for _, place in order])
        for (entrant, _), (rating,) in zip(order, rated, strict=True):
            self._ratings[entrant] = (float(rating.mu), float(rating.sigma))

    def _duel(self, winner: str, loser: str, *, tied: bool) -> None:
        sides = [
            (entrant, mu, sigma**2 + self._forgotten)
            for entrant in (winner, loser)
            for mu, sigma in (self.rating(entrant),)
        ]
        scale2 = sum(variance for *_, variance in sides) + self._noise
        scale = math.sqrt(scale2)
        x, margin = (sides[0][1] - sides[1][1]) / scale, self._margin / scale
        v, w = tie(x, margin)[1:] if tied else _win(x - margin)
        for sign, (entrant, mu, variance) in zip((1, -1), sides, strict=True):
            sigma = math.sqrt(variance * (1 - variance / scale2 * w))
            self._ratings[entrant] = mu + sign * variance / scale * v, sigma

    def rating(self, entrant: str) -> tuple[float, float]:
        """The mu and sigma of an entrant; the prior's before its first deal."""
        return self._ratings.get(entrant, self._prior)

    def ranking(self) -> list[tuple[str, float, float]]:
        """(entrant, mu, sigma) of all entrants seen so far, best first."""
        found = ((entrant, *rating) for entrant, rating in self._ratings.items())
        return sorted(found, key=lambda row: (-row[1], row[0]))
