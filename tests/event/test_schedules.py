"""Choosing a schedule by its name, with options of its own."""

import pytest

from arena.cli import commands
from arena.event.options import EventOptions
from arena.model import UserError
from arena.registry import COMMAND_OF, FORMATS


def choices(name):
    """What the flag offers."""
    (flag,) = (option for option in commands.commands["run"].params if option.name == name)
    return set(flag.type.choices)


def test_every_registered_schedule_is_offered():
    """But for those that a command of their own plays."""
    assert FORMATS.keys() - COMMAND_OF.keys() == choices("schedule")
    assert COMMAND_OF.keys() < FORMATS.keys()


@pytest.mark.parametrize(
    ("named", "flags"),
    [
        ({"schedule": "round-robin"}, {}),
        ({"schedule": "racing"}, {"until_resolved": True}),
        (
            {"schedule": "racing", "schedule_options": {"budget": "90", "close": "3.5"}},
            {"until_resolved": True, "budget": 90, "close": 3.5},
        ),
        ({"schedule": "gauntlet", "gauntlet": ("a",)}, {"gauntlet": ("a",)}),
        ({"schedule": "racing", "until_resolved": True}, {"until_resolved": True}),
    ],
)
def test_a_schedule_by_name_is_the_one_that_flags_ask_for(named, flags):
    """The same settings, so the same event."""
    assert EventOptions(**named).settings() == EventOptions(**flags).settings()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"schedule": "racing", "gauntlet": ("a",)}, "--gauntlet and --schedule racing are two"),
        ({"gauntlet": ("a",), "until_resolved": True}, "--gauntlet and --until-resolved are two"),
        ({"schedule": "round-robin", "budget": 9}, "--budget is a race's"),
        ({"schedule": "trial"}, "that is what arena compare plays"),
        ({"schedule_options": {"x": "1"}}, "the schedule round-robin has no option 'x'"),
        ({"schedule": "racing", "schedule_options": {"x": "1"}}, "has no option 'x'; it has: "),
        ({"schedule": "racing", "schedule_options": {"budget": "many"}}, "options of the schedule"),
        ({"schedule": "nobody"}, "there is no format called 'nobody'"),
    ],
)
def test_what_does_not_fit_together_is_one_line(options, said):
    """With what would."""
    with pytest.raises(UserError, match=said) as error:
        EventOptions(**options).settings()
    assert 1 == len(str(error.value).splitlines())


def test_an_event_file_names_it_too(tmp_path, monkeypatch):
    """As `schedule` and `option`; a mistake has its line."""
    import click

    from arena.cli.run import run

    file = tmp_path / "event.toml"
    file.write_text('schedule = "racing"\noption = ["close=3", "budget=400"]\n')
    with run.make_context("run", ["--event", str(file), "a"]) as context:
        assert "racing" == context.params["schedule"]
        assert (("close", "3"), ("budget", "400")) == context.params["schedule_options"]
    file.write_text('schedule = "racing"\noption = ["close"]\n')
    with pytest.raises(click.BadParameter, match=r"event.toml:2: option: 'close' is no option"):
        run.make_context("run", ["--event", str(file), "a"])
