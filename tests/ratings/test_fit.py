"""Ratings from pair counts."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

from arena.model import RatingSettings
from arena.ratings import normal
from arena.ratings.fit import draw_margin, fit, tie
from arena.ratings.outcomes import PairCount

SETTINGS = RatingSettings()


def test_without_results_the_prior_stands():
    """Everybody has the prior, nobody is better."""
    found = fit("ab", {}, seats=2, settings=SETTINGS)
    assert found.mu == (25.0, 25.0)
    assert found.sigma(0) == pytest.approx(25 / 3)
    assert found.better(0, 1) == 0.5
    assert fit([], {}, seats=2, settings=SETTINGS).entrants == ()


def test_one_win_by_hand():
    """After one win the posterior is known in closed form: TrueSkill's own update."""
    found = fit("ab", {("a", "b"): PairCount(first=1)}, seats=2, settings=SETTINGS)
    c = math.sqrt(2 * SETTINGS.beta**2 + 2 * SETTINGS.sigma**2)
    x = -draw_margin(SETTINGS) / c
    v = normal.hazard(x)
    w = v * (v + x)
    sigma2 = SETTINGS.sigma**2
    assert found.mu[0] == pytest.approx(25 + sigma2 / c * v, abs=1e-3)
    assert found.mu[0] + found.mu[1] == pytest.approx(50)
    assert found.sigma(0) == pytest.approx(math.sqrt(sigma2 * (1 - sigma2 / c**2 * w)), abs=1e-3)
    apart = 2 * sigma2 * (1 - 2 * sigma2 / c**2 * w)
    assert found.better(0, 1) == pytest.approx(
        normal.cdf((found.mu[0] - found.mu[1]) / math.sqrt(apart)), abs=1e-4
    )


def integrated(log_likelihood, settings):
    """Mean and variance of the difference of two, by summing over it."""
    masses = {
        d: math.exp(log_likelihood(d) - 0.25 * d * d / settings.sigma**2)
        for d in (0.02 * n for n in range(-2000, 3000))
    }
    total = sum(masses.values())
    mean = sum(d * mass for d, mass in masses.items()) / total
    return mean, sum((d - mean) ** 2 * mass for d, mass in masses.items()) / total


def fitted_difference(pair, settings):
    """Mean and variance of the difference of two, as fitted."""
    found = fit("ab", {("a", "b"): pair}, seats=2, settings=settings)
    c = found.covariance
    return found.mu[0] - found.mu[1], c[0][0] + c[1][1] - 2 * c[0][1]


def test_a_lopsided_pair_against_integration():
    """Twenty wins of twenty: mean and variance are those of the exact posterior."""
    scale, margin = math.sqrt(2) * SETTINGS.beta, draw_margin(SETTINGS)
    exact = integrated(lambda d: 20 * normal.log_cdf((d - margin) / scale), SETTINGS)
    assert fitted_difference(PairCount(first=20), SETTINGS) == pytest.approx(exact, rel=0.01)


def test_ties_within_a_wide_margin_against_integration():
    """Where most events tie, the likelihood is flat with walls: still the exact moments."""
    settings = RatingSettings(draw_probability=0.9)
    scale, margin = math.sqrt(2) * settings.beta, draw_margin(settings)
    exact = integrated(
        lambda d: 30 * tie(d / scale, margin / scale)[0] + 2 * normal.log_cdf((d - margin) / scale),
        settings,
    )
    found = fitted_difference(PairCount(first=2, ties=30), settings)
    assert found == pytest.approx(exact, rel=0.01)


def test_nearly_certain_ties_have_finite_ratings():
    """A thousand ties where a tie is all but certain say little, and break nothing."""
    settings = RatingSettings(draw_probability=0.9999999, beta=0.5)
    mean, variance = fitted_difference(PairCount(ties=1000), settings)
    assert mean == pytest.approx(0)
    assert 0 < math.sqrt(variance) < draw_margin(settings)


def test_the_slope_and_curvature_of_a_tie():
    """Analytic derivatives agree with differences, with a wide, narrow and no margin."""
    for margin in (0.8, 0.0125, 1e-4):
        for d in (-9.0, -0.3, 0.0, 0.7, 30.0):
            high, low = tie(d + 1e-3, margin), tie(d - 1e-3, margin)
            height, slope, bend = tie(d, margin)
            assert slope == pytest.approx((high[0] - low[0]) / 2e-3, abs=1e-5, rel=1e-5)
            assert bend == pytest.approx((low[1] - high[1]) / 2e-3, abs=1e-5)
            assert height <= 0
    assert tie(0.7, 0.0) == pytest.approx((-0.245, -0.7, 1.0))


def test_a_tie_without_a_draw_margin_pulls_together():
    """A draw probability of 0 and a tie give no error and no inflated sigma."""
    settings = RatingSettings(draw_probability=0.0)
    found = fit("ab", {("a", "b"): PairCount(first=3, ties=2)}, seats=2, settings=settings)
    assert 25 < found.mu[0] < 30
    assert found.sigma(0) < settings.sigma


def test_long_runs_and_upsets_stay_finite():
    """An unbeaten bot, a hopeless one and an upset a million to one have ratings."""
    pairs = {
        ("a", "b"): PairCount(first=1_000_000),
        ("b", "c"): PairCount(first=1_000_000),
        ("a", "c"): PairCount(first=1_000_000, second=1),
    }
    found = fit("abcd", pairs, seats=2, settings=SETTINGS)
    assert found.mu[0] > found.mu[1] > found.mu[2]
    assert found.mu[3] == pytest.approx(25)
    assert all(math.isfinite(mu) for mu in found.mu)


def test_contradictions_are_averaged():
    """Results that no strengths explain have a rating: far apart by one way, tied by another."""
    pairs = {
        ("a", "b"): PairCount(ties=1000),
        ("a", "c"): PairCount(first=1000),
        ("b", "c"): PairCount(second=1000),
    }
    for probability in (0.01, 0.999):
        settings = RatingSettings(draw_probability=probability)
        found = fit("abc", pairs, seats=2, settings=settings)
        assert found.mu[0] > found.mu[2] > found.mu[1]
        assert found.mu[2] == pytest.approx(25)


def test_ties_within_a_wide_margin_bound_the_difference():
    """Where nearly everything ties, Newton's full step goes too far and a tie says: no further."""
    settings = RatingSettings(draw_probability=0.9999999)
    pairs = {("a", "b"): PairCount(first=1, ties=10**6, second=10)}
    found = fit("ab", pairs, seats=2, settings=settings)
    assert 0 < found.mu[1] - found.mu[0] < draw_margin(settings)


def test_the_order_of_pairs_and_entrants_changes_no_bit():
    """Sums run in the order of ids."""
    rng = random.Random(2)
    names = [f"bot{n}" for n in range(9)]
    pairs = {
        pair: PairCount(rng.randrange(20), rng.randrange(3), rng.randrange(20))
        for pair in combinations(names, 2)
    }
    shuffled = list(pairs.items())
    rng.shuffle(shuffled)
    one = fit(names, pairs, seats=2, settings=SETTINGS)
    two = fit(names[::-1], dict(shuffled), seats=2, settings=SETTINGS)
    assert one == two


def simulated(rng, skills, *, seats, rounds):
    """Pair counts of events in which performances decide, as the model says."""
    margin = draw_margin(SETTINGS)
    pairs = {pair: PairCount() for pair in combinations(skills, 2)}
    for table in combinations(skills, seats):
        for _ in range(rounds):
            shown = {name: rng.gauss(skills[name], SETTINGS.beta) for name in table}
            for one, two in combinations(table, 2):
                count = pairs[one, two]
                lead = shown[one] - shown[two]
                count.first += lead > margin
                count.second += lead < -margin
                count.ties += abs(lead) <= margin
    return pairs


@pytest.mark.parametrize(("seats", "rounds"), [(2, 8), (3, 4)], ids=["two seats", "three seats"])
@pytest.mark.long("calibration by simulation")
def test_intervals_of_differences_are_calibrated(seats, rounds):
    """With known strengths the 95 % intervals of differences cover about 95 %."""
    rng = random.Random(11)
    names = list("abcdef")
    hits = trials = 0
    for _ in range(500):
        skills = {name: rng.gauss(SETTINGS.mu, SETTINGS.sigma) for name in names}
        pairs = simulated(rng, skills, seats=seats, rounds=rounds)
        found = fit(names, pairs, seats=seats, settings=SETTINGS)
        for one, two in combinations(range(6), 2):
            variance = (
                found.covariance[one][one]
                + found.covariance[two][two]
                - 2 * found.covariance[one][two]
            )
            error = found.mu[one] - found.mu[two] - (skills[names[one]] - skills[names[two]])
            hits += abs(error) <= 1.96 * math.sqrt(variance)
            trials += 1
    assert 0.935 <= hits / trials <= 0.965
