"""`arena fetch` from the command line; what it gets is tested with the roster."""

import json
import os
import select
import signal
import subprocess
import sys

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
    (tools.parent / "include/node").mkdir(parents=True)  # marks an installation of node
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


def test_no_fetch_begins_without_its_tool(fetch, bot, tmp_path, monkeypatch):
    """The one line says that it is missing."""
    monkeypatch.setenv("PATH", f"{tmp_path}/tools/bin")
    ann = bot("ann")
    (ann / "bot.toml").write_text('version = "1"\nlock = "Cargo.lock"\n')
    for name in ("Cargo.lock", "Cargo.toml"):
        (ann / name).write_text("")
    done = fetch(ann)
    assert "needs 'cargo', which is not on PATH" in the_error(done)
    assert done.stdout == ""


def test_no_bots_named(fetch):
    """The way to name them is shown."""
    assert "arena fetch bots/*" in the_error(fetch())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_tool_ends_with_the_arena(fetch, bot, tmp_path, number):
    """With what it has started, in another session too; the next fetch removes what was left."""
    fifo = tmp_path / "told"
    os.mkfifo(fifo)
    told = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    npm = tmp_path / "tools" / "bin" / "npm"
    works = npm.read_text()
    npm.write_text(f"#!/bin/sh\nsetsid sleep 100 & echo $$ $! > {fifo}; wait\n")
    ann = bot("ann")
    arena = subprocess.Popen(
        [sys.executable, "-m", "arena", "fetch", str(ann)], stdout=subprocess.DEVNULL
    )
    try:
        assert select.select([told], [], [], 30)[0]
        handles = [os.pidfd_open(int(pid)) for pid in os.read(told, 100).split()]
        assert len(handles) == 2
    finally:
        arena.send_signal(number)
        arena.wait()
        os.close(told)
    for handle in handles:
        assert select.select([handle], [], [], 10)[0], "it lives on"
        os.close(handle)
    packages = tmp_path / "cache/nine-arena/packages"
    assert len(list(packages.iterdir())) == 1
    npm.write_text(works)
    assert fetch(ann).exit_code == 0
    assert not list(packages.glob("tmp-*"))
