"""How many standard errors tell two apart: at stated looks, and at any."""

import math
import random
from types import SimpleNamespace

import pytest

from arena.model import LadderSettings, RaceSettings, RatingSettings, TrialSettings
from arena.ratings import normal, standings
from arena.ratings.separation import _SCALES, always, at_any_scale, separation


def test_pairs_are_told_apart_at_the_stated_rate(lab):
    """All of them together, at all looks; one alone has no neighbour."""
    settings = lab.event("ab").settings
    assert normal.cdf(-separation(settings, 1, 9.0)) == pytest.approx(0.025)
    assert separation(settings, 0, 9.0) == separation(settings, 1, 9.0)
    raced = lab.event(
        "ab", racing=RaceSettings(looks=3), rating=RatingSettings(error_rate=0.02)
    ).settings
    assert normal.cdf(-separation(raced, 4, 9.0)) == pytest.approx(0.01 / 12)


def test_a_table_of_an_event_that_is_still_played_holds_at_every_look(lab):
    """Its bounds are the narrowest at the end: with a quarter played, at half of today's error."""
    event = lab.event("abc")
    counted = SimpleNamespace(withdrawn=(), missing=75, tally=SimpleNamespace(matches=25))
    assert standings._errors(event, counted, None, 3)(9.0) == always(0.05 / 3, 2.0)
    counted.missing = 0
    assert standings._errors(event, counted, None, 3)(9.0) == separation(event.settings, 3, 9.0)


def test_an_event_says_for_which_error_its_bounds_are_made(lab):
    settings = lab.event("ab", racing=RaceSettings(mixture=0.5)).settings
    assert always(0.05, 4.0) == separation(settings, 1, 2.0)
    assert always(0.01, 1.0) == separation(settings, 5, 0.5)
    trial = lab.event("ab", trial=TrialSettings(new="b", mixture=2.0)).settings
    assert always(0.05, 0.5) == separation(trial, 1, 1.0)


def test_a_ladder_s_bounds_are_made_for_leads_of_all_sizes(lab):
    """Hardly wider than one bound where that is made for, and far narrower where leads are large.
    All of them together fail as seldom as the rate says.
    """
    assert math.fsum(share for _, share in _SCALES) == pytest.approx(1.0)
    for rate in (0.05, 1e-3, 1e-6):
        assert always(rate, 1.0) < at_any_scale(rate, 1.0) < 1.03 * always(rate, 1.0)
        assert at_any_scale(rate, 30.0) < 0.35 * always(rate, 30.0)
        for error in (0.2, 1.0, 5.0, 20.0, 60.0):
            assert at_any_scale(rate, error) > normal.quantile(1 - rate / 2)
    ladder = LadderSettings(round=1, head="0" * 64, budget=9, mixture=0.5)
    settings = lab.event("ab", ladder=ladder).settings
    assert at_any_scale(0.01, 4.0) == separation(settings, 5, 2.0)


def test_a_ladder_s_bounds_hold_at_every_look():
    """A mean of nothing is taken for something as seldom as the rate says, at any look."""
    draw, wrong, runs, rate = random.Random(7), 0, 400, 0.2
    for _ in range(runs):
        total = 0.0
        for deals in range(1, 400):
            total += draw.gauss(0.0, 8.0)
            error = 8.0 / math.sqrt(deals)
            if abs(total / deals) > at_any_scale(rate, error) * error:
                wrong += 1
                break
    assert wrong <= rate * runs


def test_bounds_are_the_narrowest_where_they_are_made_for():
    for rate in (0.05, 0.005, 1e-6):
        best = always(rate, 1.0)
        assert normal.quantile(1 - rate / 2) < best
        assert best < always(rate, 0.97) < always(rate, 0.5)
        assert best < always(rate, 1.03) < always(rate, 2.0) < 1.2 * best
    assert math.inf == always(0.05, math.inf)


@pytest.mark.parametrize("rate", [0.05, 0.05 / 66, 1e-6])
def test_bounds_are_those_of_another_package(rate):
    """In ville a bound is on the sum of 1 / error² deals of deviation 1."""
    boundaries = pytest.importorskip("ville._boundaries")
    for error in (0.05, 0.4, 1.0, 1.7, 6.0):
        deals = error**-2
        bound = boundaries.normal_mixture(deals, rate, boundaries.best_rho(1.0, rate))
        assert always(rate, error) == pytest.approx(float(bound) / math.sqrt(deals), rel=1e-6)


def test_bounds_are_those_of_a_normal_mixture():
    """The oracle: the likelihood ratio of the mixture, summed, is 1 / rate where the bound is."""
    rate, volume = 0.05, 3.0
    errors = math.sqrt((1 + 1 / volume) * (math.log1p(volume) - 2 * math.log(rate)))
    narrowest = max(range(1, 4000), key=lambda v: -always_at(rate, v / 200)) / 200
    assert always(rate, math.sqrt(narrowest / volume)) == pytest.approx(errors, rel=1e-3)
    steps, spread = 20_000, math.sqrt(volume)
    width = 16 * spread / steps
    ratio = width * math.fsum(
        math.exp(normal.log_pdf(mu / spread) + mu * errors - mu * mu / 2) / spread
        for mu in (width * (number - steps / 2) for number in range(steps))
    )
    assert ratio == pytest.approx(1 / rate, rel=1e-6)


def always_at(rate, volume):
    return math.sqrt((1 + 1 / volume) * (math.log1p(volume) - 2 * math.log(rate)))


@pytest.mark.no_cover
@pytest.mark.parametrize("tails", [1, 3])
def test_looks_after_every_deal_err_as_seldom_as_stated(tails):
    """Of 600 walks without drift at most 5 % ever leave the bounds in 400 deals: any excursion."""
    draw = random.Random(f"walks {tails}")
    left = 0
    for _ in range(600):
        total = squares = 0.0
        for deals in range(1, 401):
            step = math.fsum(draw.choice((-1, 1)) * draw.random() ** tails for _ in range(2))
            total, squares = total + step, squares + step * step
            mean = total / deals
            variance = (squares - deals * mean * mean) / max(1, deals - 1)
            error = math.sqrt(variance / deals)
            if deals >= 20 and abs(mean) > error * always(0.05, error / 0.08):
                left += 1
                break
    assert 0 < left <= 0.05 * 600
