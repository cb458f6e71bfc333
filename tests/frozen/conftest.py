"""Copies of the frozen folders, to work on; and the arena on them."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import commands

from .digests import digest, tables

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
KEPT = ("event.json", "matches.jsonl", "table.csv", "table.json", "table.md", "table.txt")


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """A cache of these tests' own."""
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1", "COLUMNS": "80"}


@pytest.fixture
def frozen(tmp_path):
    """Copy a frozen folder, since a reader may write an index beside a log."""

    def copy(name, to=None):
        return shutil.copytree(HERE / "folders" / name, tmp_path / (to or name))

    return copy


@pytest.fixture
def told(environment, tmp_path, monkeypatch):
    """What a command says, run in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        done = CliRunner(env=environment).invoke(commands, [str(word) for word in words])
        assert code == done.exit_code, (done.exit_code, done.output, done.exception)
        return done.stdout_bytes

    return run


@pytest.fixture
def arena(warm, environment, tmp_path):
    """Run a command that plays, as a process of its own."""

    def run(*words, codes=(0,)):
        done = warm(*words, cwd=tmp_path, env=environment)
        assert done.returncode in codes, (done.returncode, done.stdout, done.stderr)
        return done

    return run


@pytest.fixture
def outcome(told):
    """What an event has come to, as `freeze.py` wrote it down."""

    def read(folder):
        return {"log": digest(told("log", folder, "--canonical")), "tables": tables(folder)}

    return read


def contents(folder):
    """The bytes of what no reader may change, epochs included."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name in KEPT
    }
