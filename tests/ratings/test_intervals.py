"""Intervals by hand, and their coverage in simulation."""

from __future__ import annotations

import math
import random

import pytest

from arena.ratings.intervals import (
    Moments,
    average,
    half_width,
    most_likely_share,
    student95,
    win_interval,
)


def stratum(*events):
    """Moments of (value, weight) pairs."""
    found = Moments()
    for value, weight in events:
        found.add(value, weight)
    return found


def test_one_stratum_is_the_textbook_interval():
    """Mean and standard error of 1, 2, 3, 6 are 3 and sqrt(14/12)."""
    found = average([stratum((1, 1), (2, 1), (3, 1), (6, 1))])
    assert (found.mean, found.events, found.freedom) == (3.0, 4, 3)
    assert found.error == pytest.approx(math.sqrt(14 / 12))
    assert half_width(found, unknown=99) == pytest.approx(3.1824 * found.error)


def test_skewness_is_that_of_the_mean():
    """Of 0, 0, 0, 8: third moment 48, variance 12, over the root of four; without spread none."""
    found = stratum((0, 1), (0, 1), (0, 1), (8, 1))
    assert found.skewness() == pytest.approx(48 / 12**1.5 / 2)
    assert stratum((3, 1), (3, 1)).skewness() == stratum().skewness() == 0.0


def test_sums_are_added_and_taken_off():
    """Each of them."""
    one, two = stratum((1, 1), (5, 2)), stratum((-3, 2))
    assert stratum((1, 1), (5, 2), (-3, 2)) == one.plus(two)
    assert one == one.plus(two).plus(two, -1)


@pytest.mark.parametrize(
    ("count", "of", "share"),
    [
        (0, 1, 0.95),
        (0, 59, 0.0495),
        (0, 300, 0.00994),
        (1, 100, 0.0466),
        (3, 20, 0.3437),
        (4, 4, 1),
    ],
)
def test_the_largest_share_that_a_count_leaves_possible(count, of, share):
    """By the tables of Clopper and Pearson; of nothing everything is possible."""
    assert most_likely_share(count, of) == pytest.approx(share, abs=1e-4)
    assert most_likely_share(0, 0) == 1.0


def test_opponents_are_not_chance():
    """The spread between pairings is no part of the error."""
    apart = average([stratum((0, 1), (2, 1)), stratum((100, 1), (102, 1))])
    together = average([stratum((0, 1), (2, 1)), stratum((0, 1), (2, 1))])
    assert apart.mean == 51.0
    assert apart.error == together.error == pytest.approx(math.sqrt(8) / 4)


def test_single_events_are_compared_with_the_whole():
    """A pairing dealt once has no spread of its own: with nothing else it is the textbook's."""
    found = average([stratum((0, 1)), stratum((4, 1))])
    assert (found.mean, found.freedom) == (2.0, 1)
    assert found.error == pytest.approx(math.sqrt(8) / math.sqrt(2))
    mixed = average([stratum((0, 1)), stratum((3, 1), (5, 1), (4, 1))])
    assert (mixed.mean, mixed.freedom) == (2.0, 2)
    # Of the single one's variance a quarter is left, and of the mean of three another twelfth.
    assert mixed.error == pytest.approx(math.sqrt(4 / (1 / 4 + 1 / 12) + 1 / 3) / 2)


def test_everybody_counts_alike_however_often_they_have_met():
    """Whose pairing goes on in a race is no larger part of the field."""
    met = [stratum((-30, 1), (-32, 1)), stratum(*[(1, 1), (-1, 1)] * 50)]
    found = average(met)
    assert found.mean == -15.5
    assert found.error == pytest.approx(math.sqrt(2 / 2 + 100 / 99 / 100) / 2)
    assert found == average(met[::-1])
    halves = average([stratum(*[(4, 4)] * 30), stratum((0, 2), (2, 2))])
    assert halves.mean == 0.75


def test_one_event_says_nothing():
    """The published margin stands for what is not known; no event has no average."""
    found = average([stratum((7, 1))])
    assert half_width(found, unknown=123.0) == 123.0
    assert average([]) is None


def test_wilson_for_plain_wins():
    """With wins and losses alone it is Wilson's interval: 7 of 10 is 0.397 to 0.892."""
    found = average([stratum(*[(2, 2)] * 7, *[(0, 2)] * 3)])
    # n/(n-1) widens the textbook's 0.3968 a little.
    assert win_interval(found) == pytest.approx((0.3968, 0.8922), abs=0.015)


def test_of_one_deal_a_quarter_was_won():
    """It shows no spread of its own: Wilson's interval for a share of 1/4 of one."""
    assert win_interval(average([stratum((1, 4))])) == pytest.approx((0.0147, 0.8821), abs=1e-3)


def test_all_won_is_not_certain():
    """The interval keeps its width at the ends."""
    found = average([stratum(*[(2, 2)] * 20)])
    assert found.mean == 1.0
    assert win_interval(found) == pytest.approx((0.8389, 1.0), abs=0.001)
    assert win_interval(average([stratum((2, 2))]))[0] < 0.3


def test_student():
    """Known quantiles."""
    known = {1: 12.706, 4: 2.776, 5: 2.571, 10: 2.228, 30: 2.042, 1000: 1.962}
    for freedom, expected in known.items():
        assert student95(freedom) == pytest.approx(expected, abs=0.003)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("events", "means"),
    [
        ((5, 5, 5), (-30, 0, 200)),
        ((4, 40, 15), (-30, 0, 200)),
        ((1, 1), (7, 7)),
        ((1, 1, 1, 1), (7, 7, 7, 7)),
    ],
)
def test_stated_coverage(events, means):
    """In simulation the interval of strokes covers 95 % within the error of 2,000 trials."""
    rng = random.Random(5)
    hits = 0
    for _ in range(2000):
        strata = [
            stratum(*[(round(1000 * rng.gauss(mean, 40)), 1) for _ in range(number)])
            for number, mean in zip(events, means, strict=True)
        ]
        found = average(strata)
        truth = 1000 * sum(means) / len(means)
        hits += abs(found.mean - truth) <= half_width(found, unknown=0)
    assert 0.937 <= hits / 2000 <= 0.963
