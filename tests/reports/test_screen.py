"""The table on a screen: two lines instead of the facts below it."""

import msgspec
import pytest

from arena.registry import render
from arena.reports.layout import width


def test_a_screen_has_two_lines_below_the_matrix(tables):
    """What was counted, how to read it, and where the rest is; files have everything."""
    table = tables.plain()
    whole, brief = render(table, "text"), render(table, "text", more="--details")
    ranking = brief.rpartition("\n\n")[0]
    assert whole.startswith(f"{ranking}\n\n")
    counted, how = brief.removeprefix(f"{ranking}\n\n").splitlines()
    assert counted.startswith(f"{table.event.settings.game}, 2 seats")
    assert how.endswith("; details: --details")


@pytest.mark.parametrize(("finished", "predictable"), [(True, False), (False, True)])
def test_what_makes_a_table_doubtful_is_in_them(tables, finished, predictable):
    """An event that isn't over, and deals that could be known."""
    table = tables.plain()
    event = msgspec.structs.replace(table.event, finished=finished, predictable=predictable)
    for planned in (0, 12):
        changed = msgspec.structs.replace(table, event=event, planned=planned)
        counted = render(changed, "text", more="x").splitlines()[-2]
        assert (not finished) == ("NOT FINISHED" in counted)
        assert predictable == ("PREDICTABLE" in counted)
        assert ("/12 matches" in counted) == bool(planned)


def test_they_fit_and_the_command_is_never_cut(tables):
    """At 60 columns, with a command for copying that is longer than the room beside the words."""
    command = "arena table arena-results/20260102-150405 --details"
    counted, how = render(tables.plain(), "text", width=60, more=command).splitlines()[-2:]
    assert width(counted) <= 60
    assert f"details: {command}" == how


def test_several_events_are_counted(tables):
    """Instead of the format that one has; whether one of them is over is not theirs."""
    counted = render(tables.pooled(), "text", more="x").splitlines()[-2]
    assert "play-nine, 2 seats, 2 events: 300/300 matches" == counted
