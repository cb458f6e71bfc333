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


def test_a_change_that_makes_nothing_worse_passes(compare, bot, tmp_path):
    """By one line, an exit code, and Markdown appended to a file."""
    (summary := tmp_path / "summary.md").write_text("before\n")
    ask = ["--no-worse", "50", "--summary", summary]
    told = compare(bot("old"), bot("new", name="new"), *ask, code=0)
    assert told.startswith("new@1 against old@1: no worse (margin 50), ")
    trial = read_event(tmp_path / "out").settings.trial
    assert (50.0, True) == (trial.effect, trial.no_worse)
    lines = summary.read_text().splitlines()
    assert ["before", "### No worse", ""] == lines[:3]
    assert lines[3].startswith("`new@1` against `old@1`: no worse (margin 50), ")
    assert "<details><summary>Table</summary>" in lines


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--no-worse", "2", "--effect", "2"], "--no-worse MARGIN asks another question than"),
        (["--summary", "nowhere/summary.md"], "--summary nowhere/summary.md: No such file"),
    ],
)
def test_what_can_t_be_asked_is_said_before_play(arena, bot, words, told):
    """In one line."""
    done = arena("compare", bot("old"), bot("new", name="new"), *words, code=2)
    assert told in done.stderr
    assert 1 == done.stderr.count("\n")


def test_the_same_content_is_said_at_once(arena, bot, tmp_path):
    """Nothing is played, and no folder made: a change that touches no bot is no failure."""
    old = bot("old", name="same")
    new = shutil.copytree(old, tmp_path / "new")
    done = arena("compare", old, new, code=8)
    assert done.stdout == "same@1-new against same@1-old: the same content, nothing played\n"
    (line,) = arena(
        *("compare", old, new, "--json", "--summary", tmp_path / "said.md"), code=8
    ).stdout.splitlines()
    assert "### Same content\n\n`same@1-new` against" in (tmp_path / "said.md").read_text()
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
