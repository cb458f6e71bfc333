"""A round of a ladder: where it spends its matches."""

import pytest

from arena.formats.ladder import LadderRound, is_open
from arena.model import LadderSettings, Settings, UserError
from arena.registry import game
from arena.schedule import Lead, ScheduleEnd, Wave


@pytest.fixture
def ladder_round(drawn, entered):
    """Makes a round."""

    def make(names="abcd", deals=5, **options):
        options = {"round": 1, "head": "0" * 64, "budget": 1000, **options}
        settings = Settings(
            game="play-nine",
            format="ladder",
            deals=deals,
            rating=game("play-nine").about.rating,
            ladder=LadderSettings(**options),
        )
        return LadderRound(settings, entered(names), drawn)

    return make


def met(wave):
    return {"".join(sorted(block.series[0].matches[0].seats)) for block in wave.blocks()}


def times(wave, names):
    return {name: sum(name in pair for pair in met(wave)) for name in names}


def test_a_newcomer_is_placed_first(ladder_round, shown):
    """What is unsure is played before neighbours whose order is open."""
    known = {name: -float(place) for place, name in enumerate("abcdefgh")}
    results = shown(known, error=0.8)
    results.errors = {frozenset(("h", name)): 9.0 for name in "abcdefg"}
    wave = ladder_round("abcdefgh", budget=640, spread=4, waves=16).wave((), results)
    assert 40 == wave.matches
    assert {"h": 4} == times(wave, "h")


def test_then_neighbours_whose_order_is_open(ladder_round, shown):
    """Pairs that are told apart, or shown to be close, are not played again."""
    results = shown({"a": 9.0, "b": 8.4, "c": 0.1, "d": 0.0}, error=1.0)
    results.errors = {frozenset("cd"): 0.1}
    made = ladder_round()
    wave = made.wave((), results)
    assert {"ab"} == met(wave)
    assert "1 pair open" == wave.note
    assert range(5) == next(iter(wave.deals.values()))
    (deals,) = made.wave([wave], results).deals.values()
    assert range(5, 10) == deals


def test_a_wave_is_spread_and_within_the_budget(ladder_round, shown, checked):
    names = "abcdefgh"
    results = shown(dict.fromkeys(names, 0.0), error=9.0)
    made = ladder_round(names, budget=210, spread=3, waves=4)
    waves = []
    while isinstance(wave := made.wave(waves, results), Wave):
        assert max(times(wave, names).values()) <= 3
        assert wave.matches <= 50
        assert "28 pairs open" == wave.note
        waves.append(wave)
    assert 210 == sum(wave.matches for wave in waves)
    assert 0 == waves[-1].more
    assert wave.note == "the budget of 210 matches, with 28 pairs open"
    checked(made, waves)


def test_it_ends_when_all_is_known(ladder_round, shown):
    end = ladder_round().wave((), shown({"a": 90.0, "b": 60.0, "c": 30.0, "d": 0.0}))
    assert ScheduleEnd("all told apart or shown to be close") == end


def test_the_withdrawn_play_no_more(ladder_round, shown):
    results = shown({"a": 0.0, "b": 0.0, "c": 0.0}, error=5.0, withdrawn=("c",))
    assert {"ab"} == met(ladder_round("abc").wave((), results))


def test_a_pair_has_an_end(ladder_round, shown, monkeypatch):
    monkeypatch.setattr("arena.formats.ladder.MOST_DEALS", 5)
    results = shown({"a": 0.0, "b": 0.0}, error=5.0)
    made = ladder_round("ab")
    first = made.wave((), results)
    assert isinstance(made.wave([first], results), ScheduleEnd)


@pytest.mark.parametrize(
    ("lead", "error", "close", "found"),
    [
        (10.0, 1.0, 2.0, False),
        (2.0, 1.0, 2.0, True),
        (0.5, 0.4, 2.0, False),
        (0.5, 0.4, 0.0, True),
    ],
)
def test_open_is_neither_apart_nor_close(lead, error, close, found):
    assert found is is_open(Lead(lead, error), 3.0, close)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seats": 3}, "between pairs"),
        ({"ladder": None}, "arena ladder round"),
        ({"same_author": False}, "none of these bots may meet"),
    ],
)
def test_what_is_no_round(drawn, entered, changes, words):
    options = LadderSettings(round=1, head="0" * 64, budget=10)
    settings = {"game": "play-nine", "format": "ladder", "ladder": options, **changes}
    if settings["ladder"] is None:
        del settings["ladder"]
    with pytest.raises(UserError, match=words):
        LadderRound(Settings(**settings), entered("abc", authors="xxx"), drawn)
