"""Comparing two bots from the command line, with processes."""

import json
import shutil

import pytest

from arena.formats.trial import FORFEITS, SKEW
from arena.model import ADJUSTED, RESULTS
from arena.store import read_event

pytestmark = pytest.mark.process

BRIEF = ["--game", "four-card-golf", "--turn-cap", "4", "--seed", "1"]


@pytest.fixture(scope="session")
def sandbox():
    """What is shown here doesn't depend on it."""
    return "none"


@pytest.fixture
def compare(arena, sandbox, tmp_path):
    """Compare two bots; the last line of what is printed."""

    def run(*words, code):
        words = ["compare", *words, *BRIEF, "--out", tmp_path / "out", "--sandbox", sandbox]
        return arena(*words, code=code).stdout.splitlines()[-1]

    return run


@pytest.mark.parametrize(("rate_on", "column"), [(ADJUSTED, "adjusted"), (RESULTS, "delta")])
@pytest.mark.long("comparisons", quick=("results-delta",))
def test_without_an_answer_it_ends_on_its_budget(arena, compare, bot, tmp_path, rate_on, column):
    """And tells the lead by what it rates on, which is the table's."""
    ask = ["--effect", "0.01", "--budget", "50", "--rate-on", rate_on]
    told = compare(bot("old"), bot("new", name="new"), *ask, code=7)
    settings = read_event(tmp_path / "out").settings
    assert rate_on == settings.rate_on
    assert (FORFEITS, SKEW) == (settings.trial.forfeits, settings.trial.skew)
    table = json.loads(arena("table", tmp_path / "out", "--format", "json").stdout)
    row = next(row for row in table["rows"] if row["entrant"] == "new@1")
    lead, error = row[column], row[f"{column}_ci"]
    assert row["delta"] < 0 < row["adjusted"]  # it was lucky
    where = "ahead" if lead < 0 else "behind"
    assert told == (
        f"new@1 against old@1: no decision, {where} by {abs(lead):.1f} ± {error:.1f} "
        "strokes a match in 40; forfeits: new 0, old 0 "
        "(at most 7.2 and 7.2 % of matches, at 95 %)"
    )


def test_the_same_content_is_said_at_once(arena, bot, tmp_path):
    """Nothing is played, and no folder made: a change that touches no bot is no failure."""
    old = bot("old", name="same")
    new = shutil.copytree(old, tmp_path / "new")
    done = arena("compare", old, new, code=8)
    assert done.stdout == "same@1-new against same@1-old: the same content, nothing played\n"
    (line,) = arena("compare", old, new, "--json", code=8).stdout.splitlines()
    told = json.loads(line)
    assert ("same", "same@1-old", "same@1-new") == (told["event"], told["old"], told["new"])
    assert not (tmp_path / "arena-results").exists()


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
@pytest.mark.long("comparisons", quick=("fine-crash-6-not better, since new@1 was withdrawn",))
def test_who_is_withdrawn_has_lost(compare, bot, old, new, code, told):
    """There is no lead to tell of: what it did counts for nothing."""
    found = compare(bot("old", old, 3), bot("new", new, 3, name="new"), code=code)
    assert f"new@1 against old@1: {told}" == found
