"""Seeded events come to what they came to when they were written down: README.md says why."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import commands

from ..frozen.digests import digest, tables  # noqa: TID252 - one place says what is compared

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
TODAY = json.loads((HERE / "today.json").read_text())
# Exit codes of an event that is over; 6 and 7 are a trial's.
OVER = (0, 6, 7)

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A cache of these tests' own."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "80"}


@pytest.fixture
def arena(warm, environment, tmp_path):
    """Run a command that plays, as a process of its own."""

    def run(*words, codes=(0,)):
        done = warm(*words, cwd=tmp_path, env=environment)
        assert done.returncode in codes, (done.returncode, done.stdout, done.stderr)

    return run


def told(*words):
    """What a command says that plays nothing, run in this process."""
    done = CliRunner().invoke(commands, [str(word) for word in words])
    assert not done.exit_code, (done.output, done.exception)
    return done.stdout_bytes


@pytest.fixture
def prepared(tmp_path):
    """Put a prepared folder together: the event as it was entered, and the bots that it names."""

    def make(name, to=None):
        folder = shutil.copytree(HERE / "events" / name, tmp_path / (to or name))
        for entrant in json.loads((folder / "event.json").read_text())["entrants"]:
            shutil.copytree(HERE / "bots" / entrant["hash"], folder / "bots" / entrant["hash"])
        return folder

    return make


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.long("every seeded event", quick=("golf-3-playoff", "nine-2-race"))
def test_an_event_comes_to_what_it_came_to(name, arena, prepared, tmp_path):
    """The canonical log and the tables, to the byte, by the settings that it was entered with."""
    out = tmp_path / name
    if name.endswith("shards"):
        shards = [prepared(name, f"shard-{number}") for number in (1, 2)]
        for number, shard in enumerate(shards, 1):
            arena("run", shard, "--sandbox", "none", "--quiet", "--shard", f"{number}/2")
        told("merge", *shards, "--out", out)
    else:
        arena("run", prepared(name), "--sandbox", "none", "--quiet", codes=OVER)
    expected = EXPECTED[name]
    assert expected["log"] == digest(told("log", out, "--canonical"))
    assert expected["tables"] == tables(out)


@pytest.mark.parametrize("name", sorted(TODAY))
@pytest.mark.long("every seeded event", quick=("golf-3-playoff",))
def test_the_same_event_entered_today(name, arena, tmp_path):
    """What it comes to with today's defaults stands in today.json, changed on purpose alone."""
    words = [
        HERE.parent / "frozen" / word if word.startswith("bots/") else word
        for word in EXPECTED[name]["words"]
    ]
    command = "compare" if EXPECTED[name]["command"] == "compare" else "run"
    flags = ("--sandbox", "none", "--quiet", "--out", tmp_path / name)
    arena(command, *words, *flags, codes=OVER)
    assert TODAY[name] == digest(told("log", tmp_path / name, "--canonical"))
