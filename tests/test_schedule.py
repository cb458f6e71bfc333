"""The words between schedules and counts."""

import math

import pytest

from arena.model import Block, MatchSpec, Series
from arena.schedule import (
    Lead,
    NoResults,
    ScheduleEnd,
    all_blocks,
    at_once,
    more_deals,
    step_down,
    wave_of,
    worth,
)


def block(name, *tables):
    """One series of these tables, a match each."""
    specs = tuple(
        MatchSpec(id=f"{name}{n}", series=name, pairing="p", deal=n, rotation=0, seats=tuple(table))
        for n, table in enumerate(tables)
    )
    return Block(id=name, series=(Series(id=name, matches=specs),))


def test_before_the_first_match_nothing_is_known():
    """Nobody is ahead, nobody is out, and no number of errors is enough."""
    nothing = NoResults()
    assert () == nothing.order() == nothing.withdrawn
    assert (0.0, math.inf, 0.0) == nothing.lead("a", "b")
    assert math.inf == nothing.separation(2, 1)
    assert (0, 0, 0, nothing.lead("a", "b")) == nothing.forfeits("a", "b")


def test_blocks_make_a_wave():
    """All matches, and those of each; the blocks are given anew each time."""
    blocks = [block("x", "ab", "ab"), block("y", "abc")]
    wave = wave_of(lambda: iter(blocks))
    assert 3 == wave.matches
    assert {"a": 3, "b": 3, "c": 1} == wave.by_entrant
    assert 0 == wave.more
    assert blocks == list(wave.blocks()) == list(wave.blocks())
    assert 2 * blocks == list(all_blocks([wave, wave]))


def test_what_is_known_from_the_beginning_is_one_wave():
    """After it there is no other, and nothing to say."""
    wave = wave_of(list)
    schedule = at_once(wave)
    assert wave == schedule((), NoResults())
    assert ScheduleEnd() == schedule((wave,), NoResults())


@pytest.mark.parametrize(
    ("strokes", "pairs", "errors"),
    [
        ((), 1, 1),
        ((0.5,), 1, 1),
        ((9.0,), 1, 1),
        ((9.0, 2.5, 0.5), 3, 1),
        ((0.5, 2.5, -9.0), 3, 1),
        ((9.0, 1.9, 0.5), 3, 2),
        ((9.0, 2.0, 0.5), 3, 2),
        ((2.9, 2.5, 1.9), 3, 3),
        ((9.0, 8.0), 5, 3),
        ((9.0, 8.0, 7.0, 6.0), 3, 1),
    ],
)
def test_who_is_surely_apart_is_no_burden_for_the_others(strokes, pairs, errors):
    """As many errors as pairs are left: the surest has to pass for all, the next for one less."""
    leads = [Lead(each, 1.0) for each in strokes]
    assert errors == step_down(leads, pairs, lambda pairs, _: float(pairs))


def test_a_lead_is_counted_in_errors():
    """Few strokes that are sure are more than many that are not."""
    assert 1 == step_down([Lead(9.0, 4.0), Lead(0.5, 0.1)], 3, lambda pairs, _: float(pairs))


def test_each_lead_has_its_own_bound():
    """One that is less sure may need more errors."""
    leads = [Lead(40.0, 10.0), Lead(3.5, 1.0)]
    assert 2 == step_down(leads, 2, lambda _, error: error)
    assert 1 == step_down(leads, 2, lambda _, error: 1 / error)


@pytest.mark.parametrize(
    ("strokes", "close", "expected"),
    [
        (1.5, 0.0, (60, False)),  # (3 / 1.5)² times 20 deals, less those that were played
        (-1.5, 0.0, (60, False)),  # whichever of the two is ahead
        (0.5, 0.0, (60, True)),  # less than its error: as many if it were 1.5
        (0.0, 3.0, (1, False)),  # just shown to be close
        (0.0, 1.5, (60, False)),
        (0.0, 0.0, (160, True)),
        (4.0, 0.0, (1, False)),  # told apart already
    ],
)
def test_more_deals_follow_from_a_lead_and_its_error(strokes, close, expected):
    """The error of 1 shrinks with the root of the deals, until the need is three of it."""
    found = more_deals(Lead(strokes, 1.0), 20, lambda error, times: 3.0, close=close)
    assert expected == found


def test_what_deals_with_others_are_worth():
    """Two that have met each other alone have just met; of six that all met 20 times each 100."""
    assert 20 == pytest.approx(worth(20, 20, 2))
    assert 60 == pytest.approx(worth(100, 100, 6))
    assert worth(100, 20, 6) < 60


def test_more_deals_are_counted_by_the_rule_of_that_time():
    """A bound that narrows: four errors up to twice the deals, and two from there on."""
    told = more_deals(Lead(2.0, 1.0), 1000, lambda error, times: 4.0 if times < 2 else 2.0)
    assert (1000, False) == told
    many, _ = more_deals(Lead(1.01, 1.0), 1234, lambda error, times: 2.0)
    assert 3600 == many, "in two digits"
    endless, _ = more_deals(Lead(1.5, 1.0), 10, lambda error, times: math.inf)
    assert endless > 10**9
