"""Cycles: one beats another, who beats a third, who beats the first."""

import itertools
import random

import pytest

from arena.model import Duel
from arena.reports.cycles import cycles


@pytest.fixture
def made(tables):
    """Makes a table of these bots, the best first, from wins, ties and losses by pair."""

    def make(order, results):
        rows = [tables.row(number, name) for number, name in enumerate(order, 1)]
        duels = []
        for (one, two), (wins, ties, losses) in results.items():
            duels.append(Duel(row=one, column=two, wins=wins, ties=ties, losses=losses))
            duels.append(Duel(row=two, column=one, wins=losses, ties=ties, losses=wins))
        return tables.table(rows, duels=tuple(sorted(duels, key=lambda d: (d.row, d.column))))

    return make


CLEAR = (15, 2, 3)


def test_a_cycle_is_told_from_its_best_ranked(made):
    """Once, whatever the order."""
    results = {("a", "b"): CLEAR, ("b", "c"): CLEAR, ("a", "c"): CLEAR[::-1]}
    assert [("a", "b", "c")] == cycles(made("abc", results))
    assert [("c", "a", "b")] == cycles(made("cba", results))


def test_a_ranking_has_none(made):
    """Nor has one in which somebody didn't meet, or an unrated bot beats everybody."""
    ranked = {("a", "b"): CLEAR, ("b", "c"): CLEAR, ("a", "c"): CLEAR}
    assert [] == cycles(made("abc", ranked))
    assert [] == cycles(made("abc", {("a", "b"): CLEAR, ("b", "c"): CLEAR}))
    with_stranger = {("a", "b"): CLEAR, ("b", "x"): CLEAR, ("a", "x"): CLEAR[::-1]}
    assert [] == cycles(made("ab", with_stranger))


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ((2, 0, 0), False),
        ((5, 0, 0), False),
        ((6, 0, 0), True),
        ((6, 90, 0), True),
        ((15, 0, 5), True),
        ((14, 0, 6), False),
        ((0, 9, 0), False),
        ((600, 0, 500), True),
        ((500_990, 0, 499_010), True),
        ((500_970, 0, 499_030), False),
    ],
)
def test_each_has_to_have_won_more_than_chance_lets_an_equal(made, result, told):
    """By the sign test: two sweeps of two are nothing; ties say nothing; a million is easy."""
    results = {("a", "b"): CLEAR, ("b", "c"): CLEAR, ("a", "c"): result[::-1]}
    assert told == bool(cycles(made("abc", results)))


def test_of_many_triples_each_has_to_be_surer(made):
    """What is clear among twenty-four isn't among a hundred."""
    results = {("a", "b"): CLEAR, ("b", "c"): CLEAR, ("a", "c"): (5, 0, 15)}
    names = [f"x{number}" for number in range(21)]
    assert 1 == len(cycles(made("abc", results)))
    assert 1 == len(cycles(made([*"abc", *names], results)))
    names = [f"x{number}" for number in range(90)]
    assert [] == cycles(made([*"abc", *names], results))


def test_a_field_of_equals_has_hardly_any(made):
    """In one event of twenty at most."""
    draw, found = random.Random(1), 0
    for _ in range(60):
        names = [f"b{number:02d}" for number in range(12)]
        results = {}
        for pair in itertools.combinations(names, 2):
            wins = sum(draw.random() < 0.5 for _ in range(20))
            results[pair] = (wins, 0, 20 - wins)
        found += bool(cycles(made(names, results)))
    assert found <= 3


def test_in_a_large_field_none_are_looked_for(made):
    """A hundred are the most."""
    results = {("a", "b"): (99, 0, 0), ("b", "c"): (99, 0, 0), ("a", "c"): (0, 0, 99)}
    names = [f"x{number}" for number in range(97)]
    assert 1 == len(cycles(made([*"abc", *names], results)))
    assert [] == cycles(made([*"abcd", *names], results))
