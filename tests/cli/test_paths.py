"""Paths on the command line: those that can't be named in a line are refused in one."""

import sys

import pytest

from arena.cli import main

COMMANDS = (
    "check",
    "feed",
    "fetch",
    "log",
    "match",
    "new",
    "play",
    "prepare",
    "replay",
    "resume",
    "run",
)
OPTIONS = (
    "run --out",
    "run --event",
    "prepare --out",
    "match --record",
    "play --out",
    "replay x y --export",
)


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """What a command says that it refuses; it is in a folder with something in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text("")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["arena", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert 2 == stopped.value.code
        out, told = capsys.readouterr()
        assert not out
        assert 1 == told.count("\n")
        return told

    return run


@pytest.mark.parametrize(
    "command", [*COMMANDS, "audit", "stop", "table", "twins", "verify", *OPTIONS]
)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "the path is empty"),
        ("no\x1b[31m\nx", r"'no\x1b[31m\x0ax' has control characters in it"),
        ("\x9b2J", r"'\x9b2J' has control characters in it"),
    ],
)
def test_a_path_is_neither_empty_nor_does_it_act(refused, command, path, said):
    """Nothing is taken for the current folder, and the path that is shown is the one given."""
    words = command.split()
    ahead = ["python"] if command == "new" else []
    behind = ["x"] if command == "feed" else []
    assert said in refused(*words, *ahead, path, *behind)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('bots = ["bots/*", ""]', "event.toml:1: bots: the path is empty"),
        ('bots = ["a\\u001bb"]', r"event.toml:1: bots: 'a\x1bb' has control characters in it"),
        ('out = ""', "event.toml:1: out: the path is empty"),
    ],
)
def test_nor_does_one_in_an_event_file(refused, tmp_path, line, said):
    """Relative to the file an empty one would be its folder."""
    (tmp_path / "event.toml").write_text(f"{line}\n")
    assert said in refused("run", "--event", "event.toml")
