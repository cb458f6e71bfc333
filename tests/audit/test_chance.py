"""Tails, permutations and corrections, against what is known of them."""

import itertools
import math
import random

import pytest

from arena.audit import chance
from arena.audit.chance import (
    both_tails,
    cell_of,
    draws,
    holm,
    hypergeometric_tail,
    permutation_test,
    sign_flips,
)
from arena.ratings.intervals import student95


@pytest.mark.parametrize("freedom", [4, 10, 59, 1000])
def test_the_tails_of_t_are_those_of_its_quantiles(freedom):
    """One in twenty is beyond the 97.5 % quantile on either side."""
    assert math.isclose(0.05, both_tails(student95(freedom), freedom), rel_tol=0.05)
    assert both_tails(-2.0, freedom) == both_tails(2.0, freedom)


def test_drawn_marks_are_counted_as_by_hand():
    """Of all draws of 3 from 7 of which 4 are marked, those with so many marks."""
    every = list(itertools.combinations([1, 1, 1, 1, 0, 0, 0], 3))
    for hits in range(5):
        share = sum(sum(draw) >= hits for draw in every) / len(every)
        assert math.isclose(
            share, hypergeometric_tail(hits, drawn=3, marked=4, all_=7), abs_tol=1e-12
        )


def test_holms_correction_by_hand():
    """The least counts three times, the next twice; nothing falls behind a lesser one."""
    corrected = [answer["p"] for answer in holm([0.01, 0.04, 0.03])]
    assert [0.03, 0.06, 0.06] == pytest.approx(corrected)
    assert [{"p_alone": 0.7, "p": 1.0}, {"p_alone": 0.9, "p": 1.0}] == holm([0.7, 0.9])


def test_a_permutation_draws_each_way_equally_often():
    """Every way of every cell; the same seed draws the same."""
    drawn = list(draws(b"seed", tries=900, cells=2, ways=3))
    assert drawn == list(draws(b"seed", tries=900, cells=2, ways=3))
    for cell in range(2):
        counts = [sum(one[cell] == 3 * cell + way for one in drawn) for way in range(3)]
        assert all(240 < count < 360 for count in counts)


def test_cells_share_the_rated_deals_evenly():
    """A thousand deals in eight cells."""
    counts = [0] * 8
    for deal in range(1000):
        counts[cell_of("pairing", deal, 8)] += 1
    assert all(90 < count < 160 for count in counts)


def test_what_all_cells_agree_on_is_unusual():
    """One question of which every cell says the same; others of which none does."""
    draw = random.Random(1)
    noise = [sign_flips([draw.gauss(0, 1) for _ in range(40)]) for _ in range(5)]
    first, *others = permutation_test(
        [sign_flips([1.0 + 0.1 * c for c in range(40)]), *noise], b"", ways=2
    )
    assert 1 / (1 + chance.TRIES) == first["p_alone"] == first["p"]
    assert all(answer["p"] >= answer["p_alone"] > 0.01 for answer in others)


def test_the_family_grows_what_is_alone_and_keeps_its_order():
    """The more questions, the more often one of them is as unusual as the first."""
    draw = random.Random(2)
    rows = [sign_flips([draw.gauss(0.2, 1) for _ in range(40)]) for _ in range(6)]
    answers = permutation_test(rows, b"x", ways=2)
    scores = [sum(row[::2]) / math.hypot(*row) for row in rows]
    ranked = sorted(range(6), key=lambda at: -scores[at])
    family = [answers[at]["p"] for at in ranked]
    assert family == sorted(family)
    (alone,) = permutation_test([rows[ranked[0]]], b"x", ways=2)
    assert alone["p_alone"] == alone["p"] == answers[ranked[0]]["p_alone"] <= family[0]


def test_nothing_to_ask_and_nothing_to_see():
    """No question, no answer; a question of nothing but zeros is never unusual."""
    assert [] == permutation_test([], b"", ways=2)
    (answer,) = permutation_test([sign_flips([0.0, 0.0])], b"", ways=2)
    assert 1.0 == answer["p_alone"] == answer["p"]
