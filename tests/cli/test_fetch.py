"""`arena fetch` from the command line; what it gets is tested with the roster."""

import json

import pytest
from click.testing import CliRunner

from arena.cli import commands

pytestmark = pytest.mark.process

LOCK = {"lockfileVersion": 3, "packages": {"": {}, "node_modules/a": {"version": "1.0.0"}}}


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    """Run the command with tools of the test's own; its outputs, and what it raised."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    tools = tmp_path / "tools" / "bin"
    tools.mkdir(parents=True)
    for name, script in {
        "node": "echo v20.0.0",
        "npm": "[ ! -e fails ] && mkdir -p node_modules/a && echo 1 > node_modules/a/index.js",
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")

    def fetch(*words):
        return CliRunner().invoke(commands, ["fetch", *map(str, words)])

    return fetch


@pytest.fixture
def bot(tmp_path):
    """Make a node bot; with a lock file unless told otherwise."""

    def bot(name):
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        (folder / "bot.js").write_text("")
        (folder / "bot.toml").write_text('version = "1"\nlock = "package-lock.json"\n')
        (folder / "package.json").write_text("{}")
        (folder / "package-lock.json").write_text(json.dumps(LOCK))
        return folder

    return bot


def the_error(result):
    """What the command line would tell, with exit 2."""
    assert result.exit_code == 2
    return result.stderr


def test_a_line_for_each_bot(fetch, bot):
    """Fetched, already here, or nothing to fetch."""
    plain = bot("plain")
    (plain / "bot.toml").write_text('version = "1"\n')
    done = fetch(bot("ann"), bot("bob"), plain)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "ann@1: fetching what package-lock.json names",
        "ann@1: fetched, 0.0 MB in 1 file",
        "bob@1: already here",
        "plain@1: names no lock file in bot.toml, nothing to fetch",
    ]


def test_all_problems_are_told_together_and_the_rest_is_fetched(fetch, bot, tmp_path):
    """Exit 2; one line says what is wrong with each."""
    old = bot("old")
    (old / "package-lock.json").write_text('{"lockfileVersion": 1}')
    gone = bot("gone")
    (gone / "package-lock.json").unlink()
    good = bot("good")
    told = the_error(fetch(old, gone, good, "missing")).splitlines()
    assert [line.split(": ")[1].rpartition("/")[2] for line in told] == ["old", "gone", "missing"]
    assert "lockfileVersion must be 2 or 3" in told[0]
    assert "package-lock.json is not in the bot's folder" in told[1]
    assert "already here" in fetch(good).stdout


def test_a_tool_s_failure_shows_its_last_lines(fetch, bot, tmp_path):
    """The author of the tool's message knows best."""
    (tmp_path / "tools" / "bin" / "npm").write_text("#!/bin/sh\necho npm error 404 >&2\nexit 1\n")
    told = the_error(fetch(bot("ann")))
    assert "npm could not get its packages (exit 1)" in told
    assert "| npm error 404" in told


def test_no_bots_named(fetch):
    """The way to name them is shown."""
    assert "arena fetch bots/*" in the_error(fetch())
