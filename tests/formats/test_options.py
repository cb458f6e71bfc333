"""Options of a format's own: named on the command line, stated in the settings, read from there."""

import msgspec
import pytest
from msgspec import UNSET

from arena import registry
from arena.formats import options_of, settings_members
from arena.formats.round_robin import RoundRobin
from arena.model import Frozen, RaceSettings, Settings, TrialSettings, UserError
from arena.model.event import FORMAT


class EveryOptions(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    every: int = 1
    share: float = 0.5
    hero: str = ""


class Every(RoundRobin):
    Options = EveryOptions


def test_texts_become_values_that_the_settings_hold_and_give_back():
    """With every default stated, so that later defaults change nothing."""
    members = settings_members(Every, "every", {"every": "3", "share": "1"})
    assert members == {"options": {"every": 3, "share": 1.0, "hero": ""}}
    settings = Settings(game="play-nine", **members)
    again = msgspec.json.decode(msgspec.json.encode(settings), type=Settings)
    assert EveryOptions(every=3, share=1.0) == options_of(again, EveryOptions)
    assert EveryOptions() == options_of(Settings(game="play-nine"), EveryOptions)


def test_older_formats_keep_their_own_member_of_the_settings():
    """So that event.json stays what it was."""
    kind = registry.format_class("racing")
    raced = RaceSettings(close=1.5, mixture=0.5, spread=10)
    assert {"racing": raced} == settings_members(kind, "racing", {"close": "1.5"})
    assert settings_members(kind, "racing", {"close": 0, "mixture": 3})["racing"].mixture == 3
    trial = registry.format_class("trial")
    compared = settings_members(trial, "trial", {"new": "b", "effect": 5})["trial"]
    assert (compared.mixture, compared.skew, compared.forfeits) == (2.0, 3.0, 0.6)
    assert settings_members(RoundRobin, "round-robin", {}) == {}
    assert Settings(game="play-nine").options is UNSET


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (RoundRobin, {"close": "1"}, "has no option 'close', and no other"),
        (Every, {"evry": "1"}, "has no option 'evry'; it has: every, share, hero"),
        (Every, {"every": "often"}, "schedule mine: every=often: expected a whole number"),
        (registry.format_class("racing"), {"budget": "x"}, "budget=x: expected a whole number"),
        (registry.format_class("racing"), {"growth": 0}, "growth=0: expected a number >= 0.05"),
        (registry.format_class("trial"), {"new": "b", "effect": 0}, "effect=0: expected a number"),
        (registry.format_class("trial"), {}, "Object missing required field `new`"),
    ],
)
def test_wrong_options_are_one_line(kind, given, message):
    """What is wrong, and what there is."""
    with pytest.raises(UserError) as error:
        settings_members(kind, "mine", given)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_options_of_a_foreign_event_are_checked_when_they_are_read():
    """A folder may come from a stranger."""
    settings = Settings(game="play-nine", format="every", options={"every": "often"})
    with pytest.raises(UserError, match="options of the schedule every"):
        options_of(settings, EveryOptions)


@pytest.mark.parametrize(
    ("options", "looks"), [({"looks": 7}, 7), ({"looks": "x"}, 1), ({"looks": -3}, 1), ({}, 1)]
)
def test_looks_of_a_format_of_ones_own_count(options, looks):
    """Ranks of an event that looked several times are told apart more carefully."""
    assert looks == Settings(game="play-nine", options=options).looks


@pytest.mark.parametrize(
    ("settings", "looks"),
    [
        ({}, 1),
        ({"trial": TrialSettings(new="x", looks=7)}, 7),
        ({"racing": RaceSettings(looks=5)}, 5),
        ({"racing": RaceSettings()}, 10),
        ({"options": {"looks": 4}}, 4),
        ({"options": {"looks": 1}}, 1),
        ({"options": {"looks": 2.5}}, 1),
        ({"options": {"other": 3}}, 1),
    ],
)
def test_how_often_a_format_looks_is_in_its_settings(settings, looks):
    """Of any format; one look if they don't say."""
    assert looks == Settings(game="play-nine", **settings).looks


def test_what_the_first_events_did_not_state_is_as_it_was():
    """Defaults that older folders are read by."""
    settings = Settings(game="play-nine")
    assert (3, 0.5, 1) == (settings.withdrawn_after, settings.annulled_below, settings.rule)
    assert 1 == FORMAT
