"""A gauntlet: whom the heroes meet, and who doesn't meet."""

import pytest

from arena.formats.round_robin import Gauntlet
from arena.model import Settings, UserError
from arena.schedule import NoResults, ScheduleEnd


def made(drawn, entrants, heroes=("a",), **settings):
    """A gauntlet."""
    return Gauntlet(Settings(game="play-nine", heroes=heroes, **settings), entrants, drawn)


@pytest.mark.parametrize(
    ("heroes", "seats", "tables"),
    [
        ("c", 2, ["ac", "bc", "cd"]),
        ("cd", 2, ["ac", "ad", "bc", "bd", "cd"]),
        ("a", 3, ["abc", "abd", "acd"]),
    ],
)
def test_heroes_meet_all_others(drawn, entered, checked, heroes, seats, tables):
    """And the others only at a hero's table."""
    gauntlet = made(drawn, entered("abcd"), tuple(heroes), seats=seats, deals=3, series=2)
    assert tables == ["".join(table) for table in gauntlet.tables]
    wave = gauntlet.wave((), NoResults())
    checked(gauntlet, [wave], seats)
    assert len(tables) * 3 * seats == wave.matches
    assert ScheduleEnd() == gauntlet.wave([wave], NoResults())
    assert not gauntlet.adaptive


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"heroes": ()}, "--gauntlet BOT"),
        ({"heroes": ("a", "x")}, "x is to run the gauntlet, but is not among"),
        ({"tables": 2}, "--tables goes with a round robin"),
        ({"seats": 5}, "at least 5 bots"),
    ],
)
def test_a_gauntlet_that_can_t_be_run_is_refused(drawn, entered, settings, words):
    """One line that says what to do."""
    with pytest.raises(UserError, match=words):
        made(drawn, entered("abcd"), **settings)


def test_a_hero_whose_author_has_all_other_bots_meets_nobody(drawn, entered):
    """Bots that may not meet don't."""
    with pytest.raises(UserError, match="author"):
        made(drawn, entered("abc", "xxx"), same_author=False)
    apart = made(drawn, entered("abc", "xxy"), same_author=False)
    assert [("a", "c")] == apart.tables
