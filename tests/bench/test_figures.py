"""Medians, ratios within a round, goals, and what counts as moved."""

import pytest
from measures import UNIT, Row
from measures.figures import Figure, Published, Spread, compared, figure

COST = Row(key="ours.cpu", text="CPU", unit="µs", of="theirs.cpu", goal=3.5)
RATE = Row(key="event", text="matches", unit="/s", goal=450)
COUNT = Row(key="instructions", text="rings", unit="instructions")


def rounds(key, *values, unit=4.0, **others):
    """One round for each value."""
    return [{key: value, UNIT: unit, **others} for value in values]


def made(row, *values, **others):
    """The figure of a row from its rounds."""
    return figure(row, rounds(row.key, *values, **others))


def test_spread():
    """A spread is the median and the middle half, or everything where that is little."""
    assert Spread(2, 1, 3) == Spread.of([1, 3])
    assert Spread(3, 2, 4) == Spread.of([5, 1, 4, 2, 3])
    assert Spread(7, 7, 7) == Spread.of([7])


def test_ratio_is_taken_within_rounds():
    """A machine that halves its speed between rounds changes no ratio."""
    found = figure(
        COST,
        [
            {"ours.cpu": 6.0, "theirs.cpu": 2.0, UNIT: 4.0},
            {"ours.cpu": 12.0, "theirs.cpu": 4.0, UNIT: 8.0},
        ],
    )
    assert Spread(3, 3, 3) == found.ratio
    assert Spread(1.5, 1.5, 1.5) == found.relative
    assert found.met


@pytest.mark.parametrize(
    ("row", "value", "met"),
    [(COST, 7.0, True), (COST, 7.1, False), (RATE, 450, True), (RATE, 449, False)],
)
def test_goal(row, value, met):
    """A cost must not be above its goal, a rate not below it."""
    assert met is made(row, value, **{"theirs.cpu": 2.0}).met


def test_absent():
    """A row that no round has, or whose divisor is missing, has no figure."""
    assert figure(COST, rounds("event", 1)) is None
    assert figure(COST, rounds("ours.cpu", 1)) is None


def moves_between(row, old, new):
    """What has moved from one figure to another."""
    runs = [Published(machine={}, rounds=1, figures={row.key: each}) for each in (old, new)]
    return compared({row.key: row}, *runs)


def test_slower_machine_is_no_move():
    """A rate on a machine of half the speed is the same rate."""
    assert [] == moves_between(RATE, made(RATE, 400), made(RATE, 200, unit=8.0))


@pytest.mark.parametrize(("after", "better"), [(440, True), (360, False)])
def test_move(after, better):
    """A tenth more is a move, for the better if more is better."""
    (move,) = moves_between(RATE, made(RATE, 400, 400), made(RATE, after, after))
    assert (better, pytest.approx(0.03)) == (move.better, move.noise)


def test_noise_is_judged_by_the_spread():
    """What differs by less than both runs' own noise has not moved."""
    noisy = made(RATE, 300, 350, 400, 450, 500)
    assert [] == moves_between(RATE, noisy, made(RATE, 350, 400, 440, 480, 530))


def test_measured_once():
    """What was measured but once has moved only if it differs by more than a tenth."""
    old = made(RATE, 400, 400)
    assert [] == moves_between(RATE, old, made(RATE, 361))
    assert moves_between(RATE, old, made(RATE, 359))


def test_counts_are_compared_closely():
    """Two per cent more instructions are a move, half a per cent is none."""
    old = made(COUNT, 100_000)
    assert [] == moves_between(COUNT, old, made(COUNT, 100_500))
    (move,) = moves_between(COUNT, old, made(COUNT, 102_000))
    assert not move.better


def test_another_unit_is_not_compared():
    """A row that was redefined is left out, not called faster."""
    other = Figure(unit="ms", value=Spread(1, 1, 1), relative=Spread(1, 1, 1), rounds=1)
    assert [] == moves_between(RATE, other, made(RATE, 400))
