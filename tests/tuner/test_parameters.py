import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from arena.model import Entrant, Event, Parameter, Settings, UserError
from arena.model.parameters import setting_version, settled, shown, variables
from arena.validate import event_fault

RISK = Parameter(name="risk", low=0.5, high=3.0, default=1.3)
DEPTH = Parameter(name="depth", low=1, high=8, default=4, whole=True)
STEP = Parameter(name="step", low=0.001, high=1.0, default=0.01, log=True)
ALL = (RISK, DEPTH, STEP)
BOT = Entrant(id="x@1", name="x", version="1", hash="a" * 64)


def test_values_have_one_spelling():
    """However a user writes a number, the process and the event get the same text."""
    assert [RISK.read(text) for text in ("2", "2.0", "02e0", "2.50")] == ["2", "2", "2", "2.5"]
    assert DEPTH.read("5.0") == "5"
    assert STEP.read("1e-2") == "0.01"
    assert Parameter(name="x", low=-1, high=1, default=0).read("-0.0") == "0"


@pytest.mark.parametrize(
    ("parameter", "text", "what"),
    [
        (RISK, "a", "'a' is not a number"),
        (RISK, "4", "4 is not between 0.5 and 3"),
        (RISK, "nan", "nan is not between"),
        (DEPTH, "2.5", "2.5 is not a whole number"),
        (DEPTH, "inf", "inf is not between 1 and 8"),
        (DEPTH, "nan", "nan is not a whole number"),
    ],
)
def test_wrong_values_are_named(parameter, text, what):
    """A value that a parameter can't have is refused with its range."""
    with pytest.raises(ValueError, match=what):
        parameter.read(text)


@given(st.sampled_from(ALL), st.floats(-1, 2))
def test_places_and_values_agree(parameter, place):
    """Every place gives a value of the range, and its place the same value again."""
    text = parameter.at(place)
    assert parameter.read(text) == text
    assert parameter.at(parameter.place(text)) == text
    assert abs(parameter.place(text) - min(1, max(0, place))) <= (0.08 if parameter.whole else 0.01)


def test_values_have_three_digits_or_so():
    """What a range tells apart, of the value itself where the scale is logarithmic; a version of a
    setting, and so its entrant, is the same in every arena.
    """
    wide = Parameter(name="x", low=-5, high=5, default=0)
    assert (RISK.at(0.51), DEPTH.at(0.6), STEP.at(0.5)) == ("1.775", "5", "0.0316")
    assert (wide.at(0.45678), wide.at(0.5)) == ("-0.43", "0")


def test_ends_are_reached_exactly():
    """Rounding leads to no value outside of a range whose ends have many digits."""
    odd = Parameter(name="x", low=0.1234, high=0.98765, default=0.5)
    assert (odd.at(0), odd.at(1)) == ("0.1234", "0.98765")
    assert odd.ends == ("0.1234", "0.98765")


def test_defaults_are_no_setting():
    """What equals a default is left out, so the entrant is the same as without it."""
    assert settled(ALL, {"risk": "1.30", "depth": "5"}) == {"depth": "5"}
    assert BOT.with_setting(settled(ALL, {"risk": "1.3"})) == BOT


def test_unknown_names_are_refused():
    """A name that the bot doesn't have is answered with those it has."""
    with pytest.raises(UserError, match="no such parameter; it has: risk, depth, step"):
        settled(ALL, {"rsik": "1"})
    with pytest.raises(UserError, match="names no parameters"):
        settled((), {"risk": "1"})
    with pytest.raises(UserError, match="risk: 9 is not between"):
        settled(ALL, {"risk": "9"})


def test_a_process_gets_all_parameters():
    """Defaults, too, so that bot.toml is what is played."""
    found = dict(variables(ALL, {"depth": "5"}))
    assert found == {
        "ARENA_PARAM_risk": "1.3",
        "ARENA_PARAM_depth": "5",
        "ARENA_PARAM_step": "0.01",
    }


def test_a_setting_is_an_entrant_of_its_own():
    """Other parameters, another hash and another version; the content is known."""
    one, other = (BOT.with_setting({"risk": value}) for value in ("2", "2.5"))
    assert (one.id, one.version, one.content, one.snapshot) == (
        *("x@1-risk_2", "1-risk_2", BOT.hash, BOT.hash),
    )
    assert len({BOT.hash, one.hash, other.hash}) == 3
    assert (BOT.setting, one.setting) == ({}, {"risk": "2"})
    assert shown({"b": "1", "a": "2"}) == "a=2,b=1"


def test_long_settings_are_shortened():
    """A version is no longer than a name may be; different settings stay different."""
    values = [{f"parameter_{n}": str(m) for n in range(9)} for m in (1, 2)]
    one, two = (setting_version("1" * 40, each, 40) for each in values)
    assert one != two
    assert len(one) == len(two) == 40
    assert one == "1" * 31 + "-9f949c1a"
    assert setting_version("1", {"w": "1e+06"}, 8) == "1-w_1e06"


def event_of(entrant):
    return Event(settings=Settings(game="play-nine"), entrants=(entrant,), commitment="a")


def test_forged_settings_are_found():
    """The hash, which the commitment covers, follows from content and parameters."""
    entrant = BOT.with_setting({"risk": "2"})
    assert event_fault(event_of(entrant)) == ""
    for changed, what in (
        ({"params": {"risk": "3"}}, "not that of its content"),
        ({"content": "b" * 64}, "not that of its content"),
        ({"params": UNSET}, "one alone"),
        ({"content": UNSET}, "one alone"),
        ({"params": {}}, "one alone"),
        ({"content": "?"}, "one alone"),
        ({"params": {"LD PRELOAD": "2"}}, "not names with numbers"),
        ({"params": {"risk": "x"}}, "not names with numbers"),
    ):
        assert what in event_fault(event_of(replace(entrant, **changed)))
