"""`arena table` on a screen: its footer, the first rows, one bot's row."""

import sys
from pathlib import Path

import pytest

from arena.cli import commands
from arena.event.results import table_of
from arena.model import UserError
from arena.terminal.table import part_of

FOLDERS = Path(__file__).parents[1] / "frozen/folders"
FAULTS = str(FOLDERS / "faults-nine-2")


@pytest.fixture
def shown(monkeypatch, capsys):
    """What a command prints on a screen of 80 columns, or into a pipe."""

    def run(*words, screen=True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: screen, raising=False)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("NO_COLOR", "1")
        commands.main(list(words), standalone_mode=False)
        return capsys.readouterr().out

    return run


def test_a_screen_has_a_footer_of_two_lines(shown):
    """--details, and whatever is no screen, have all of it."""
    brief = shown("table", FAULTS).splitlines()
    whole = shown("table", FAULTS, "--details").splitlines()
    assert whole == shown("table", FAULTS, screen=False).splitlines()
    assert brief[:-2] == whole[: len(brief) - 2]
    assert brief[-1].endswith("details: --details")
    assert all(len(line) <= 80 for line in brief)
    assert len(brief) < len(whole)


@pytest.mark.parametrize("report", ["md", "csv", "json"])
def test_other_reports_are_the_same_everywhere(shown, report):
    """Byte for byte."""
    words = ["table", FAULTS, "--format", report]
    assert shown(*words) == shown(*words, screen=False)


def test_the_first_rows_alone(shown):
    """In every report, and nobody who was not run."""
    lines = shown("table", FAULTS, "--top", "2", "--format", "csv").splitlines()
    assert ["ann@1", "bob@1"] == [line.split(",")[2] for line in lines[1:]]
    assert "broken" not in shown("table", FAULTS, "--top", "2")


def test_one_bot_s_row_and_how_it_did(shown):
    """By name or id; its rank is that in the whole table."""
    text = shown("table", FAULTS, "--bot", "bob", "--bot", "broken@1")
    assert " 1-6  bob@1" in text
    assert "broken@1" in text
    assert "ann@1  " not in text
    assert "rated events won by bob@1, %: against ann@1 0, cheats@1 100" in text


def test_a_part_of_the_bots_by_patterns(shown):
    """Rated without the others, in `arena table` as in `arena rate`; or their rows alone."""
    words = ["--without", "c*", "--only", "ann", "--only", "*b@1", "--only", "c*"]
    text = shown("table", FAULTS, *words)
    assert text == shown("rate", FAULTS, *words)
    assert "1-2  ann@1" in text
    assert "cheats@1" not in text
    assert "cheats@1" in shown("table", FAULTS, "--bot", "ch*")
    assert shown("table", FAULTS, "--latest").startswith(shown("table", FAULTS)[:200])


def test_a_bot_that_is_not_there_is_named_with_those_that_are():
    """Those near it first."""
    with pytest.raises(UserError, match="--bot stumble: no bot is called so; there are stumbles"):
        part_of(table_of(Path(FAULTS)), top=None, bots=["stumble"])
