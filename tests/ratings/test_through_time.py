"""The fit to results against another implementation of the model: TrueSkill Through Time.

With gamma = 0 nobody's skill changes, and its messages go back and forth until the order of events
makes no difference. They go along loops as soon as two have met twice: the means are right then,
but the deviations are too small (all of a field may be better than is thought, together), so
those are compared where there is no loop.
"""

import itertools
import random

import pytest
from trueskillthroughtime import History

from arena.model import RatingSettings
from arena.ratings.fit import fit
from arena.ratings.outcomes import PairCount


def drawn(names, skills, events, settings, draw):
    """Events of two, as (one, two, the half points of the first); the margin is a beta's tenth."""
    for _ in range(events):
        one, two = sorted(draw.sample(names, 2))
        ahead = draw.gauss(skills[one] - skills[two], 2**0.5 * settings.beta)
        yield one, two, 1 + (ahead > settings.beta / 10) - (ahead < -settings.beta / 10)


def theirs(events, settings):
    """Mean and deviation of each by the package."""
    history = History(
        composition=[[[one], [two]] for one, two, _ in events],
        results=[[points, 2 - points] for _, _, points in events],
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        gamma=0.0,
        p_draw=settings.draw_probability,
    )
    history.convergence(epsilon=1e-4, iterations=100, verbose=False)
    return {
        name: (curve[-1][1].mu, curve[-1][1].sigma)
        for name, curve in history.learning_curves().items()
    }


@pytest.mark.parametrize(("events", "probability"), [(15, 0.05), (150, 0.05), (150, 0.3)])
@pytest.mark.long("ratings against other packages")
def test_skills_are_those_of_the_package(events, probability):
    """Each difference within a twentieth of its own standard error."""
    settings = RatingSettings(draw_probability=probability)
    draw = random.Random(events)
    names = "abcde"
    skills = {name: draw.gauss(25, 6) for name in names}
    played = list(drawn(names, skills, events, settings, draw))
    pairs = {pair: PairCount() for pair in itertools.combinations(names, 2)}
    for one, two, points in played:
        count = pairs[one, two]
        count.first += points == 2
        count.ties += points == 1
        count.second += points == 0
    found = fit(names, pairs, seats=2, settings=settings)
    package = theirs(played, settings)
    for one, two in itertools.combinations(range(len(names)), 2):
        ahead, error = found.ahead(one, two)
        expected = package[names[one]][0] - package[names[two]][0]
        assert ahead == pytest.approx(expected, abs=0.05 * error)


@pytest.mark.parametrize("points", [2, 1])
def test_a_chain_of_events_is_rated_as_the_package_rates_it(points):
    """Without a loop both are the same: means and deviations to a thousandth."""
    settings = RatingSettings(draw_probability=0.1)
    played = [("a", "b", points), ("b", "c", 2), ("c", "d", 2)]
    pairs = {
        (one, two): PairCount(first=result == 2, ties=result == 1) for one, two, result in played
    }
    found = fit("abcd", pairs, seats=2, settings=settings)
    package = theirs(played, settings)
    for index, name in enumerate(found.entrants):
        mu, sigma = package[name]
        assert found.mu[index] == pytest.approx(mu, abs=0.001)
        assert found.sigma(index) == pytest.approx(sigma, abs=0.001)
