"""`arena play` line by line: whole matches by a script, wrong input, and what is kept."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.store import read_event, read_records

ARENA = (sys.executable, "-P", "-m", "arena")


class Table:
    """A process that asks, and a script that answers by what it reads."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen(
            [*ARENA, "play", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        self.text = ""

    def until(self, *ends):
        """What it has written until one of the ends; all if it has left."""
        start = len(self.text)
        while not self.text[start:].endswith(ends):
            data = self.process.stdout.read1(65_536).decode()
            if not data:
                break
            self.text += data
        return self.text[start:]

    def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def play(self):
        """To the end, as whatever is offered says; the last words."""
        while (asked := self.until("> ", "[y/N] ")).endswith("> "):
            lines = asked.splitlines()
            offered = [line.split()[0] for line in lines if line.startswith("  ")]
            if "tee" in offered:
                self.say("tee 7 0")
            elif "take" in offered:
                self.say("draw")
            elif "flip" in offered:
                (flip,) = [line for line in lines if line.startswith("  flip N")]
                self.say("flip " + re.search(r": (\d)", flip)[1])
            else:
                self.say("discard")
        self.say("n")
        self.process.stdin.close()
        self.until("never")
        return self.process.wait(60)

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


@pytest.fixture
def table(tmp_path):
    """Sit down in a folder of its own."""
    tables = []

    def sit(*words):
        tables.append(Table(tmp_path, *words))
        return tables[-1]

    yield sit
    for each in tables:
        each.close()


@pytest.mark.process
@pytest.mark.parametrize(("game", "bots"), [("play-nine", 1), ("four-card-golf", 3)])
@pytest.mark.long("tables of every size", quick=("play-nine-1",))
def test_a_whole_match_by_a_script(table, bot_folder, tmp_path, monkeypatch, game, bots):
    """Nine holes; the table and the strokes are shown; the folder is shown and proven."""
    sat = table(*[bot_folder()] * bots, "--game", game, "--turn-cap", "5", "--out", "kept")
    assert 0 == sat.play()
    assert "hole 9 of 9" in sat.text
    assert re.search(r"^hole +1 +2 +3 +4 +5 +6 +7 +8 +9 .*total$", sat.text, re.MULTILINE)
    assert "look at it: arena replay kept" in sat.text
    commitment = re.search(r"commitment ([0-9a-f]{64})", sat.text)[1]
    monkeypatch.chdir(tmp_path)
    for words, code, said in (
        (["verify", "kept", "--commitment", commitment], 0, "verified: kept"),
        (["replay", "kept", "--hole", "9", "--print"], 0, "you@person"),
        (["table", "kept"], 0, "one match, which rates nobody"),
        (["replay", "kept", "--export", "steps.json"], 0, ""),
        (
            ["verify", "kept", "--rerun", "1"],
            2,
            "you@person: a person, whose matches can't be played again",
        ),
        (["run", "--into", "kept", bot_folder()], 2, "kept: one match, to which no bot can come"),
    ):
        done = CliRunner().invoke(commands, [str(word) for word in words])
        assert code == done.exit_code
        assert said in done.output
    assert json.loads((tmp_path / "steps.json").read_text())["seats"][0]["version"] == "person"
    assert not list((tmp_path / "kept").glob("private*"))


@pytest.mark.process
def test_what_is_wrong_is_answered_and_changes_nothing(table, bot_folder, tmp_path):
    """A reason each, the rules, the score card; leaving keeps nothing."""
    sat = table(bot_folder(), "--seed", "x")
    sat.until("> ")
    for line, said in (
        ("take 3", "first turn over two of your cards"),
        ("tee 1", "two different cards"),
        ("?", "Eight cards face down"),
        ("score", "total"),
        ("", "tee A B"),
        ("fl\x1b[2Jy", "no such move|there is no move"),
    ):
        sat.say(line)
        assert re.search(said, sat.until("> "))
    assert "\x1b" not in sat.text
    sat.say("tee 0 1")
    assert "you turned 0 and 1" in sat.until("> ")
    sat.say("quit")
    sat.until("never")
    assert sat.text.endswith("left: the match isn't counted, and nothing of it is kept\n")
    assert 0 == sat.process.wait(60)
    assert [] == list(tmp_path.rglob("event.json"))


@pytest.mark.process
def test_ctrl_c_leaves(table, bot_folder, tmp_path):
    """While a line is waited for; exit 130, nothing kept."""
    sat = table(bot_folder())
    sat.until("> ")
    sat.process.send_signal(signal.SIGINT)
    sat.until("never")
    assert 130 == sat.process.wait(60)
    assert sat.text.endswith("left: the match isn't counted, and nothing of it is kept\n")
    assert not (tmp_path / "arena-results").exists()


@pytest.mark.process
def test_another_one_has_other_cards_and_a_folder_of_its_own(table, bot_folder, tmp_path):
    """After a match one may go on; a seed gives the same cards each session."""
    sat = table(
        *(bot_folder(), "--game", "four-card-golf", "--turn-cap", "1"),
        *("--out", "kept", "--seed", "s", "--name", "Zoë"),
    )
    while (asked := sat.until("> ", "[y/N] ")).endswith("> "):
        sat.say("draw" if "take N" in asked else "discard")
    sat.say("y")
    assert 0 == sat.play()
    events = [read_event(tmp_path / name) for name in ("kept", "kept-2")]
    (one,), (two,) = (list(read_records(tmp_path / name)) for name in ("kept", "kept-2"))
    assert all(event.finished and event.predictable for event in events)
    assert events[0].secret != events[1].secret
    assert one.deck != two.deck
    assert "Zoë@person" in one.seats


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the bots to play against"),
        (["nowhere"], "nowhere"),
        (["bot"] * 6, "6 bots and you: play-nine is for 2 to 6 players"),
        (["bot", "--seat", "2"], "--seat 2: with 2 at the table seats are 0 to 1"),
        (["bot", "--name", "a b"], "--name a b: it may have letters"),
        (["bot", "--out", "full"], "full"),
        (["bot", "--browser", "--lines"], "two ways to play"),
    ],
)
def test_what_can_t_be_played_is_told(monkeypatch, bot_folder, tmp_path, words, said):
    """In a line that says what to do, before anything is written."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    monkeypatch.chdir(tmp_path)
    named = [str(bot_folder()) if word == "bot" else word for word in words]
    done = CliRunner().invoke(commands, ["play", *named])
    assert 2 == done.exit_code
    told = done.output.splitlines()
    assert told[0].startswith("arena: ")
    assert said in told[0]
    assert [] == list(tmp_path.rglob("event.json"))


@pytest.mark.process
def test_without_anybody_it_says_how_to_play(bot_folder, tmp_path):
    """An input that is at its end before the first line."""
    done = subprocess.run(
        [*ARENA, "play", bot_folder()],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert 2 == done.returncode
    assert "arena: no person can play: standard input is at its end" in done.stderr


@pytest.mark.process
def test_bots_that_can_t_start_are_told_before_the_first_card(tmp_path):
    """As in an event; exit 3."""
    (tmp_path / "bot.py").write_text("raise SystemExit('no brain')")
    done = subprocess.run(
        [*ARENA, "play", "bot.py"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert 3 == done.returncode
    assert "can't start" in done.stderr
    assert "no brain" in done.stderr
