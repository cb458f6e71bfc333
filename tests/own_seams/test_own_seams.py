"""A format with options of its own and a report: one file and one line each, for every command.

They are added to a copy of the package, whose commands run as real processes.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

import arena

HERE = Path(__file__).parent
LINES = {
    '    "single": "arena.formats.single:Single",\n': ('    "king": "arena.formats.king:King",\n'),
    '    "csv": "arena.reports.csv_table:REPORT",\n': (
        '    "podium": "arena.reports.podium:REPORT",\n'
    ),
}
BOTS = HERE.parents[1] / "example_bots"

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def extended(tmp_path_factory, warm_copy):
    """Runs commands of the extended arena."""
    folder = tmp_path_factory.mktemp("extended")
    package = folder / "arena"
    shutil.copytree(Path(arena.__file__).parent, package)
    shutil.copy(HERE / "king.py", package / "formats")
    shutil.copy(HERE / "podium.py", package / "reports")
    registry = package / "registry.py"
    text = registry.read_text("utf-8")
    for before, line in LINES.items():
        assert text.count(before) == 1
        text = text.replace(before, before + line)
    registry.write_text(text, "utf-8")
    warm = warm_copy(folder)
    places = {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "80"}

    def run(*words, code=0):
        done = warm(*words, cwd=folder, env={**os.environ, **places})
        assert code == done.returncode, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    run.folder = folder
    return run


FIELD = [BOTS / "greedy", BOTS / "random", BOTS / "matcher"]
QUICK = ["--deals", "1", "--sandbox", "none", "--seed", "own"]


@pytest.fixture(scope="module")
def event(extended):
    """An event of that format."""
    king = ["--schedule", "king", "--option", "king=random", "--option", "share=1"]
    extended("run", *FIELD, *QUICK, *king, "--out", "event")
    return extended.folder / "event"


def test_the_options_stand_in_the_settings(event):
    """Every one of them, also those that were left to their defaults."""
    settings = json.loads((event / "event.json").read_text())["settings"]
    assert ("king", {"king": "random", "share": 1.0}) == (settings["format"], settings["options"])
    assert "king random, share 1.0" in (event / "table.md").read_text().replace("&#46;", ".")


def test_it_is_planned_again_from_the_settings(event, extended):
    """Two tables of three, by every command that reads the folder; the file beside it is true."""
    assert len((event / "matches.jsonl").read_text().splitlines()) == 4
    assert "verified: " in extended("verify", event)
    assert "4 of 4 counted" in extended("table", event)
    assert "random" in extended("audit", event)
    (event / "table.podium").write_text("1. nobody\n")
    assert "table.podium" in extended("verify", event, code=5)
    (event / "table.podium").write_text(extended("table", event, "--format", "podium"))


def test_every_command_with_formats_offers_the_report(event, extended):
    """As the ranking in the table says."""
    best = json.loads((event / "table.json").read_text())["rows"][0]["entrant"]
    text = (event / "table.podium").read_text()
    assert text.startswith(f"1. {best}\n")
    assert text == extended("table", event, "--format", "podium")
    assert text == extended("rate", event, "--format", "podium")
    extended("publish", event, "--to", "site")
    (published,) = (extended.folder / "site").rglob("table.podium")
    assert 'href="table.podium"' in (published.parent / "index.html").read_text("utf-8")


def test_prepare_and_event_files_take_them_too(extended):
    """In the file, as on the line; the prepared event is played and goes on as planned."""
    bots = json.dumps([str(bot) for bot in FIELD])
    (extended.folder / "event.toml").write_text(
        f'bots = {bots}\nschedule = "king"\ndeals = 1\noption = ["king=greedy", "share=0.5"]\n'
    )
    extended("prepare", "--event", "event.toml", "--out", "later", "--sandbox", "none")
    extended("run", "later", "--sandbox", "none")
    assert "verified: " in extended("verify", "later")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--schedule", "king"], "missing required field `king`"),
        (["--schedule", "king", "--option", "king"], "write it like NAME=VALUE"),
        (["--schedule", "king", "--option", "kin=a"], "has no option 'kin'; it has: king, share"),
        (["--schedule", "king", "--option", "king=ann"], "the king ann is not among the bots"),
        (["--option", "close=1"], "the schedule round-robin has no option 'close', and no other"),
        (["--schedule", "king", "--until-resolved"], "are two ways to run an event; choose one"),
        (["--schedule", "racing", "--option", "growth=0"], "options of the schedule racing"),
    ],
)
def test_a_wrong_option_is_a_line(extended, words, message):
    """Before anything is played."""
    said = extended("run", *FIELD, *QUICK, *words, "--out", "never", code=2)
    assert message in " ".join(said.split())
    assert not (extended.folder / "never").exists()


@pytest.mark.long("every schedule with options")
def test_older_schedules_have_options_too(extended):
    """A race by its name, as by its flags; a comparison."""
    race = ["--schedule", "racing", "--option", "close=50", "--option", "budget=12"]
    race += ["--option", "spread=1"]
    extended("run", *FIELD[:2], *QUICK, *race, "--out", "race")
    racing = json.loads((extended.folder / "race" / "event.json").read_text())["settings"]["racing"]
    assert (50.0, 12) == (racing["close"], racing["budget"])
    step = ["--option", "first=2", "--option", "step=2", "--budget", "20"]
    done = ["compare", FIELD[1], FIELD[0], *step, "--sandbox", "none", "--effect", "20"]
    extended(*done, "--out", "trial", "--seed", "own")
    trial = json.loads((extended.folder / "trial" / "event.json").read_text())["settings"]["trial"]
    assert (2, 2, 20) == (trial["first"], trial["step"], trial["budget"])


@pytest.mark.long("every schedule with options")
def test_an_epoch_of_it_is_a_gauntlet(event, extended):
    """With none of the options that were the format's own."""
    whole = shutil.copytree(event, extended.folder / "grown")
    extended("run", "--into", whole, BOTS / "choosy", "--sandbox", "none", "--seed", "epoch")
    settings = json.loads((whole / "epoch-1" / "event.json").read_text())["settings"]
    assert "gauntlet" == settings["format"]
    assert "options" not in settings
    assert "verified: " in extended("verify", whole)
    assert "choosy" in extended("table", whole)
