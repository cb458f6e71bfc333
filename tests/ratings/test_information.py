"""What is known of skills: bots that play no more hold the scale together."""

import random

import pytest
from msgspec.structs import replace

from arena.model import LadderSettings, RatingSettings
from arena.ratings.fit import Fit
from arena.ratings.intervals import Moments
from arena.ratings.stroke_fit import fit_strokes, skills_of

SETTINGS = RatingSettings(event_sd=20.0)


def gaps_of(names, seed, share=0.6):
    """Rated deals of some pairs, with what their strengths and chance make of them."""
    draw = random.Random(seed)
    gaps = {}
    for at, one in enumerate(names):
        for other in range(at + 1, len(names)):
            if draw.random() < share:
                moments = Moments()
                for _ in range(draw.randint(2, 12)):
                    moments.add(round(1000 * 2 * draw.gauss(at - other, 6)), 2)
                gaps[one, names[other]] = moments
    return gaps


def only(found, names):
    """The marginal of some."""
    at = [found.entrants.index(name) for name in names]
    covariance = tuple(tuple(found.covariance[one][two] for two in at) for one in at)
    return Fit(tuple(names), tuple(found.mu[one] for one in at), covariance)


def alike(one, two):
    assert one.entrants == two.entrants
    assert one.mu == pytest.approx(two.mu, abs=1e-9)
    for row, other in zip(one.covariance, two.covariance, strict=True):
        assert row == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("left", ["", "c", "afgh", "abcdefgh"])
def test_who_is_left_out_is_known_all_the_same(seed, left):
    """The fit of some is the marginal of the fit of all, whoever met whom."""
    gaps = gaps_of("abcdefgh", seed)
    names = [name for name in "abcdefgh" if name not in left]
    whole = fit_strokes("abcdefgh", gaps, seats=2, settings=SETTINGS)
    alike(only(whole, names), fit_strokes(names, gaps, seats=2, settings=SETTINGS))


@pytest.mark.parametrize("seed", range(3))
def test_a_round_goes_on_from_what_is_stated(seed):
    """In rounds, or all at once: the same, where the variances are."""
    steady = replace(SETTINGS, borrowed=0, least_spread=1.0)  # no spread but the least counts
    names = "abcdef"
    first, second = gaps_of(names, seed), gaps_of(names, seed + 100)
    both = {pair: first.get(pair, Moments()).plus(second.get(pair, Moments())) for pair in first}
    both |= {pair: gap for pair, gap in second.items() if pair not in first}
    stated = skills_of(names, first, seats=2, settings=steady).stated()
    ladder = LadderSettings(round=2, head="0" * 64, budget=10, **stated)
    assert 21 == len(ladder.precision)
    later = fit_strokes(names, {}, seats=2, settings=steady, ladder=ladder)
    before = fit_strokes(names, first, seats=2, settings=steady)
    assert later.mu == pytest.approx(before.mu, abs=1e-5)
    on = fit_strokes(names, second, seats=2, settings=steady, ladder=ladder)
    assert on.sigma(0) < later.sigma(0)


def test_an_empty_ladder_knows_nothing():
    """Without earlier rounds a round begins with the prior."""
    first = LadderSettings(round=1, head="0" * 64, budget=10)
    plain = fit_strokes("ab", {}, seats=2, settings=SETTINGS)
    alike(plain, fit_strokes("ab", {}, seats=2, settings=SETTINGS, ladder=first))
