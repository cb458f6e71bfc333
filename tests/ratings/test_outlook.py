"""Neighbours that are not told apart, and how many more deals would do that."""

import pytest
from msgspec import UNSET

from arena.model import RaceSettings, TrialSettings
from arena.ratings.standings import table

# Strokes of a bot above the last, and by deal: nobody's noise is the same as another's.
SKILLS = {"a": -30, "b": -12, "c": -11, "d": 0}


@pytest.fixture
def played(lab):
    """The count of four bots, of which two are nearly equal, and its event."""

    def play(*, deals=8, only=None, fell="", **settings):
        blocks = lab.schedule(
            [(one, two) for one in SKILLS for two in SKILLS if one < two], deals=deals
        )
        specs = list(lab.specs(blocks))[:only]
        records = []
        for number, spec in enumerate(specs):
            noise = {name: (number * 7 + 13 * ord(name) * spec.deal) % 11 for name in spec.seats}
            totals = {name: 90 + SKILLS[name] + noise[name] for name in spec.seats}
            fallen = {fell: (3, 12)} if fell in spec.seats else {}
            records.append(lab.record(spec, totals, fell=fallen))
        counting = lab.count(blocks, records)
        return lab.event("abcd", deals=deals, **settings), counting.counted()

    return play


def pairs(event, counted):
    """Bots, deals, and whether they are a lower bound."""
    found = table(event, counted, ahead=True).open_pairs
    return {"".join(pair.bots): (pair.deals, pair.at_least) for pair in found}


def test_neighbours_that_share_ranks_are_named(played):
    """Those that are told apart are not; nobody is asked unless somebody asks."""
    event, counted = played()
    found = table(event, counted, ahead=True)
    assert found.open_pairs
    ranks = {row.entrant: (row.rank, row.rank_last) for row in found.rows}
    order = [row.entrant for row in found.rows]
    for pair in found.open_pairs:
        one, two = pair.bots
        assert order.index(one) + 1 == order.index(two)
        assert ranks[one][1] >= ranks[two][0]
        assert pair.deals >= 1
    assert table(event, counted).open_pairs is UNSET


def test_an_event_in_play_is_judged_by_the_bound_of_every_look(played):
    """With half of its matches played a pair needs more than one look at as many would take."""
    event, half = played(deals=8, only=48)
    assert half.missing
    over, whole = played(deals=4)
    assert not whole.missing
    open_, closed = pairs(event, half), pairs(over, whole)
    assert open_
    assert all(open_[pair][0] >= deals for pair, (deals, _) in closed.items() if pair in open_)


def test_a_race_counts_the_deals_of_the_two(played):
    """And a pair that is shown to be close needs no more."""
    event, counted = played(racing=RaceSettings(close=0.0, mixture=1.0))
    assert pairs(event, counted)
    near, counted = played(racing=RaceSettings(close=500.0, mixture=1.0))
    assert {} == pairs(near, counted)


def test_a_trial_has_a_question_of_its_own(lab):
    """Its notes say what is missing."""
    blocks = lab.round_robin("ab", deals=3)
    counting = lab.count(blocks, [lab.record(spec) for spec in lab.specs(blocks)])
    event = lab.event("ab", trial=TrialSettings(new="b"))
    assert () == table(event, counting.counted(), ahead=True).open_pairs


def test_a_bot_that_was_withdrawn_plays_no_more(played):
    """So nothing can tell it apart."""
    event, counted = played(fell="c")
    assert counted.withdrawn
    assert not any("c" in pair for pair in pairs(event, counted))
