"""Skills from strokes, against what can be worked out by hand."""

import math
import random

import pytest
from msgspec.structs import replace

from arena.model import RatingSettings
from arena.ratings.intervals import Z95, Moments, student95
from arena.ratings.stroke_fit import fit_strokes, skill_of_a_stroke

SETTINGS = RatingSettings(event_sd=20.0)
STROKE = skill_of_a_stroke(SETTINGS)


def gap(*strokes, weight=2):
    """Rated deals by the strokes a match by which the first was above the second."""
    moments = Moments()
    for value in strokes:
        moments.add(round(1000 * weight * value), weight)
    return moments


def lead(gaps, names="ab", one=0, two=1, seats=2, settings=SETTINGS):
    """In strokes: by how much the one is ahead, and the error, the prior's share taken off."""
    found = fit_strokes(names, gaps, seats=seats, settings=settings)
    ahead, error = found.ahead(one, two)
    prior = 2 * SETTINGS.sigma**2
    alone = 1 / (1 / error**2 - 1 / prior)
    return ahead / error**2 * alone / STROKE, math.sqrt(alone) / STROKE


def unknown(freedom):
    """What an estimated variance counts for."""
    return (student95(freedom) / Z95) ** 2


def test_a_stroke_s_worth_makes_a_lead_of_a_deviation_win_as_often():
    """By TrueSkill's model, and by strokes."""
    assert SETTINGS.event_sd * STROKE == pytest.approx(math.sqrt(2) * SETTINGS.beta)


def test_without_events_the_prior_stands():
    """Everybody has it; nobody at all is nobody."""
    found = fit_strokes("ba", {}, seats=2, settings=SETTINGS)
    assert ("a", "b") == found.entrants
    assert (25.0, 25.0) == found.mu
    assert found.sigma(0) == pytest.approx(SETTINGS.sigma)
    assert () == fit_strokes((), {}, seats=2, settings=SETTINGS).entrants


@pytest.mark.parametrize("weight", [2, 4])
def test_a_pair_by_hand(weight):
    """The mean, and its standard error with Student's allowance; fewer strokes are better."""
    values = (-3.0, -1.0, -8.0, 2.0, -5.0)
    mean = sum(values) / 5
    variance = sum((value - mean) ** 2 for value in values) / 4
    ahead, error = lead({("a", "b"): gap(*values, weight=weight)})
    assert ahead == pytest.approx(-mean)
    assert error == pytest.approx(math.sqrt(unknown(4) * variance / 5))


def test_a_single_event_counts_as_one_that_was_played():
    """There is no spread to be seen, in no pair."""
    gaps = {("a", "b"): gap(-7.0)}
    assert lead(gaps) == (pytest.approx(7.0), pytest.approx(SETTINGS.event_sd))


@pytest.mark.parametrize("least", [0.01, 0.5])
def test_who_always_ties_is_not_known_for_ever(least):
    """A spread of nothing is a hundredth of a deviation, or what the event says."""
    settings = replace(SETTINGS, least_spread=least)
    ahead, error = lead({("a", "b"): gap(*[0.0] * 9)}, settings=settings)
    assert 0 == ahead
    assert error == pytest.approx(least * SETTINGS.event_sd * math.sqrt(unknown(8) / 9))


@pytest.mark.parametrize("borrowed", [4, 2, 0])
def test_a_pair_of_few_events_has_the_spread_of_others_too(borrowed):
    """The middle pair's, as of so many events; those at an end are left alone by each other."""
    values = [float(value) for value in (-2, 2, -2, 2, -2, 2)]
    alone = {("a", "b"): gap(*values)}
    many = {("c", "d"): gap(*values), ("e", "f"): gap(*values)}
    freedom = 5
    own = sum(value**2 for value in values)
    usual = own / (freedom * (1 - 2 / (9 * freedom)) ** 3)
    variance = (own + borrowed * usual) / (freedom + borrowed)
    expected = math.sqrt(unknown(freedom + borrowed) * variance / 6)
    settings = replace(SETTINGS, borrowed=borrowed)
    assert lead({**alone, **many}, "abcdef", settings=settings)[1] == pytest.approx(expected)
    one = {("a", "b"): gap(3.0), ("c", "d"): gap(1.0, 5.0)}
    # Only one degree of freedom is there to be lent; where none is, what was played counts.
    variance = 8 / (1 - 2 / 9) ** 3 if borrowed else SETTINGS.event_sd**2
    expected = math.sqrt((unknown(1) if borrowed else 1) * variance)
    assert lead(one, "abcd", settings=settings)[1] == pytest.approx(expected)


def test_who_met_the_same_are_compared_through_them():
    """Without having met."""
    values = [1.0, -1.0] * 500
    gaps = {
        ("a", "c"): gap(*(value - 6 for value in values)),
        ("b", "c"): gap(*(value - 2 for value in values)),
    }
    ahead, _ = lead(gaps, "abc")
    assert ahead == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("seats", [3, 5])
def test_a_larger_table_is_as_sure_as_its_entrants_own_luck(seats):
    """Each differs from the next by both their luck; what two make the third adds nothing."""
    names = "abcde"[:seats]
    rng = random.Random(3)
    shown = [[rng.gauss(0, 5) for _ in names] for _ in range(400)]
    gaps = {
        (names[one], names[two]): gap(*(event[one] - event[two] for event in shown), weight=seats)
        for one in range(seats)
        for two in range(one + 1, seats)
    }
    _, error = lead(gaps, names, seats=seats)
    assert error == pytest.approx(math.sqrt(2 * 25 / 400), rel=0.06)


def test_the_order_of_pairs_and_entrants_changes_no_bit():
    """Sums run in the order of ids."""
    rng = random.Random(4)
    names = "abcdef"
    gaps = {
        (one, two): gap(*(rng.gauss(0, 9) for _ in range(7)))
        for one in names
        for two in names
        if one < two
    }
    found = fit_strokes(names, gaps, seats=2, settings=SETTINGS)
    for _ in range(5):
        shuffled = dict(rng.sample(sorted(gaps.items()), len(gaps)))
        mixed = rng.sample(names, len(names))
        assert found == fit_strokes(mixed, shuffled, seats=2, settings=SETTINGS)


@pytest.mark.parametrize(("deals", "spread"), [(3, 1.0), (10, 1.0), (10, 3.0)])
def test_intervals_of_differences_are_calibrated(deals, spread):
    """With known strengths the 95 % intervals of differences cover 94 to 98 %, as variances are
    known or not, alike or not; bench/calibration.py has more of it.
    """
    rng, names, hits, trials = random.Random(7), "abcdef", 0, 0
    for _ in range(150):
        skills = {name: rng.gauss(0, 15) for name in names}
        gaps = {}
        for one in names:
            for two in names[names.index(one) + 1 :]:
                sd = 8 * spread ** rng.uniform(-1, 1)
                ahead = skills[one] - skills[two]
                gaps[one, two] = gap(*(rng.gauss(-ahead, sd) for _ in range(deals)))
        found = fit_strokes(names, gaps, seats=2, settings=SETTINGS)
        for one in range(6):
            for two in range(one):
                ahead, error = found.ahead(one, two)
                true = STROKE * (skills[names[one]] - skills[names[two]])
                hits += abs(ahead - true) <= Z95 * error
                trials += 1
    assert 0.94 <= hits / trials <= 0.985
