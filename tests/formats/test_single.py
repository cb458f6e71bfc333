"""One match: who sits where, and that it is the only one."""

import pytest

from arena.formats.single import Single
from arena.model import Settings, UserError
from arena.schedule import NoResults, ScheduleEnd


def made(drawn, entrants, heroes=(), **settings):
    """A single match."""
    settings = {"game": "play-nine", "deals": 1, "heroes": heroes, **settings}
    return Single(Settings(**settings), entrants, drawn)


@pytest.mark.parametrize(("heroes", "seats"), [("", "abc"), ("cab", "cab"), ("b", "bac")])
def test_seats_are_those_that_were_chosen(drawn, entered, checked, heroes, seats):
    """The others follow by their ids; nothing comes after the match."""
    single = made(drawn, entered("bca"), tuple(heroes), seats=3)
    wave = single.wave((), NoResults())
    ((spec,),) = ((match for s in block.series for match in s.matches) for block in wave.blocks())
    assert tuple(seats) == spec.seats
    assert (1, {"a": 1, "b": 1, "c": 1}) == (wave.matches, wave.by_entrant)
    assert (0, spec) == single.find(spec.pairing, 0, 0)
    assert single.find(spec.pairing, 0, 1) is None
    assert ScheduleEnd() == single.wave([wave], NoResults())
    assert not single.adaptive


@pytest.mark.parametrize("settings", [{"seats": 2}, {"seats": 3, "deals": 2}, {"seats": 4}])
def test_what_is_not_one_match_is_refused(drawn, entered, settings):
    """Too many, too few, or more than one deal."""
    with pytest.raises(UserError, match=r"one match is|at least 4 bots"):
        made(drawn, entered("abc"), **settings)
