"""The trainer's numbers that remember what they were made of, under the arena's own walk."""

import sys
from pathlib import Path

import pytest

from arena.luck import read
from arena.luck.walk import UNIT, LuckKind

from .conftest import early, low

# bench/ is no package: its programs find their modules beside them, and so do these tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "train_luck"))

COURSES = {"play-nine": "nine:NINE", "four-card-golf": "four:FOUR"}
OTHERS = {"play-nine": {LuckKind.OUT}, "four-card-golf": {LuckKind.OUT, LuckKind.FIRST}}
"""Kinds whose luck is weighed, and no linear form of the tables."""


@pytest.mark.parametrize("name", list(COURSES))
def test_the_traced_luck_is_the_luck(play, name):
    """The trainer's walk and the ledger's agree, and the luck is what its parts come to."""
    from fits import tracing
    from linear import Linear

    module, _, course_name = COURSES[name].partition(":")
    course = getattr(__import__(module), course_name)
    frozen, _ = read(course.name)
    values = [value for row in frozen.rows for value in row]
    leaves = [Linear(value, (), {at: 1.0}) for at, value in enumerate(values)]
    tables = course.tables(course.rows(leaves), {weight: weight for weight in course.weights})
    traced = tracing(course.walk)
    traced.fitted = course.linear
    for seed in range(8):
        played = play(name, 2, (low, early), seed)
        walk = traced(
            played.start(played.deck), seats=2, order=(0, 1), deck=played.deck, tables=tables
        )
        assert played.scores == walk.walk(played.moves)
        for seat in range(2):
            noted = [entry for entry in played.noted() if entry[2] == seat]
            luck = sum(entry[3] for entry in noted if entry[1] not in OTHERS[name]) / UNIT
            assert abs(luck - walk.luck[seat]) < 1e-9
            if name == "play-nine":
                # But for the bonus of several columns, and means that are rounded. In the other
                # game the luck after a knock comes from the points alone.
                parts = sum(part * values[at] for at, part in walk.own[seat].items()) / 100
                assert abs(luck - parts) < 0.5
