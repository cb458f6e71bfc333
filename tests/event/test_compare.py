"""Comparing two bots from the command line, with processes."""

import json

import pytest

from arena.model import ADJUSTED, RESULTS
from arena.store import read_event

pytestmark = pytest.mark.process

BRIEF = ["--game", "four-card-golf", "--turn-cap", "4", "--seed", "1"]


@pytest.fixture
def compare(arena, sandbox, tmp_path):
    """Compare two bots; the last line of what is printed."""

    def run(*words, code):
        words = ["compare", *words, *BRIEF, "--out", tmp_path / "out", "--sandbox", sandbox]
        return arena(*words, code=code).stdout.splitlines()[-1]

    return run


@pytest.mark.parametrize(("rate_on", "column"), [(ADJUSTED, "adjusted"), (RESULTS, "delta")])
def test_without_an_answer_it_ends_on_its_budget(arena, compare, bot, tmp_path, rate_on, column):
    """And tells the lead by what it rates on, which is the table's."""
    ask = ["--effect", "0.01", "--budget", "50", "--rate-on", rate_on]
    told = compare(bot("old"), bot("new", name="new"), *ask, code=7)
    assert rate_on == read_event(tmp_path / "out").settings.rate_on
    table = json.loads(arena("table", tmp_path / "out", "--format", "json").stdout)
    row = next(row for row in table["rows"] if row["entrant"] == "new@1")
    lead, error = row[column], row[f"{column}_ci"]
    assert row["delta"] < 0 < row["adjusted"]  # it was lucky
    where = "ahead" if lead < 0 else "behind"
    assert told == (
        f"new@1 against old@1: no decision, {where} by {abs(lead):.1f} ± {error:.1f} "
        "strokes a match in 40"
    )


def test_a_bot_that_can_t_start_is_named(arena, bot, sandbox):
    """There is no going on without one of two."""
    done = arena("compare", bot("old"), bot("bad", "no-start"), "--sandbox", sandbox, code=3)
    assert "bad@1: can't start" in done.stderr
    assert done.stderr.endswith("a comparison needs both\n")


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("crash", "fine", 0, "better, since old@1 was withdrawn"),
        ("fine", "crash", 6, "not better, since new@1 was withdrawn"),
    ],
)
def test_who_is_withdrawn_has_lost(compare, bot, old, new, code, told):
    """There is no lead to tell of: what it did counts for nothing."""
    found = compare(bot("old", old, 3), bot("new", new, 3, name="new"), code=code)
    assert f"new@1 against old@1: {told}" == found
