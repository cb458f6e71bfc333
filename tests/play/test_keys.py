"""Keys at a desk, and the terminal that they come from."""

import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.model import MatchSpec, Settings
from arena.play.desk import Desk
from arena.referee import Referee
from arena.reports.cards import Style
from arena.terminal.seat_keys import Seat

PATIENCE_S = 90


class At:
    """A person's seat in front of a referee, and a bot that never knocks."""

    def __init__(self, game):
        spec = MatchSpec(
            id="p-000000-0", series="s", pairing="p", deal=0, rotation=0, seats=("a@1", "b@1")
        )
        self.referee = Referee(
            spec,
            game=registry.game(game),
            deals=Deals(secret_from_seed("keys")),
            settings=Settings(game=game, turn_cap=60),
        )
        self.desk = Desk(game, ["ann", "bob"], 0)
        self.seat = Seat(Style(lines=False))
        self.referee.begin()
        self.go_on()

    def go_on(self):
        """Until the person is asked."""
        while 0 not in self.referee.asked:
            for seat in self.referee.asked:
                self.answer(seat)
        self.desk.ask(self.referee.question(0, bank_ms=0))
        self.seat.wait_for("move", self.desk)

    def answer(self, seat):
        legal = self.referee.question(seat, bank_ms=0).legal
        self.referee.answer(seat, legal[-2 if legal[-1] == "knock" else -1])

    def press(self, *keys):
        """The move that they make."""
        for key in keys:
            self.seat.press(key)
        return self.seat.move

    def play(self, *keys):
        move = self.press(*keys)
        self.referee.answer(0, move)
        for seat in self.referee.asked:
            if seat:
                self.answer(seat)
        self.go_on()
        return move

    def screen(self):
        return "\n".join(self.seat.frame(79, 24))


def test_play_nine_by_keys():
    """Two numbers tee off; t, d, s, f, a bare number and what is typed are moves."""
    at = At("play-nine")
    assert "" == at.press("t", "x", "9", "3")
    assert "(the first: 3)" in at.screen()
    assert "" == at.press("3")
    assert "turn over two different cards" in at.screen()
    assert "tee 0 5" == at.play("5", "0")
    assert "" == at.press("s")
    assert "draw first" in at.screen()
    assert "" == at.press("7")
    assert "t 7 takes" in at.screen()
    assert "" == at.press("t", "escape", "k")
    assert "there is no knock" in at.screen()
    assert "take 3" == at.play("t", "3")
    assert "draw" == at.play("d")
    assert "You drew the" in at.screen()
    assert "" == at.press("t")
    assert "no way back" in at.screen()
    assert "" == at.press("x")
    assert "only with exactly one face down" in at.screen()
    assert "" == at.press("f", "5")
    assert "5 is face up already" in at.screen()
    assert "flip 6" == at.play("f", "6")
    assert "draw" == at.play("space")
    assert "swap 0" == at.play("0")
    assert "draw" == at.play(":", *"drax", "backspace", *"w", "enter")
    assert "swap 1" == at.play(":", *"swap", "space", "1", "enter")
    assert "" == at.press(":", *"fly", "enter")
    assert "there is no move fly" in at.screen()


def test_four_card_golf_by_keys():
    """X discards; knocking wants to be confirmed."""
    at = At("four-card-golf")
    assert "draw" == at.play("d")
    assert "" == at.press("f")
    assert "no card is turned over" in at.screen()
    assert "discard" == at.play("x")
    assert "" == at.press("k")
    assert "Enter does it" in at.screen()
    assert "" == at.press("j", "enter")
    assert "knock" == at.press("k", "enter")


def test_pages_and_leaving():
    """Any key puts a page away; leaving wants to be confirmed; a hole's end wants to be seen."""
    at = At("play-nine")
    at.press("?")
    assert "Eight cards face down" in at.screen()
    at.press("3", "c")
    assert at.screen().startswith("hole ")
    at.press("x", "q")
    assert "leave?" in at.screen()
    at.press("n")
    assert not at.seat.left
    at.press("q", "y")
    assert at.seat.left
    at.seat.wait_for("hole", at.desk)
    at.press("x")
    assert not at.seat.ready
    at.press("space")
    assert at.seat.ready
    for key, again in (("n", True), ("q", False)):
        at.seat.wait_for("over", at.desk)
        at.press("x", key)
        assert (True, again) == (at.seat.ready, at.seat.again)


# ------------------------------------------------------------------------------- a real terminal


class Terminal:
    """`arena play` on a terminal of its own."""

    def __init__(self, folder, *words):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", "play", *map(str, words)],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one thread
        )

    def until(self, wanted):
        """Wait until it has written what is wanted since the last time."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(wanted, self.text)):
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            assert ready, f"no {wanted!r}, exit code {self.process.poll()}: {self.text!r}"
            self.text += self.decoder.decode(os.read(self.master, 65_536))
        shown, self.text = self.text[: found.end()], self.text[found.end() :]
        return shown

    def type(self, keys):
        os.write(self.master, keys.encode())

    def left(self):
        """Its exit code, once it has put the terminal right."""
        self.until(r"\x1b\[\?25h\x1b\[\?1049l")
        code = self.process.wait(PATIENCE_S)
        assert self.before == termios.tcgetattr(self.slave)
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(tmp_path):
    """Sit down at one."""
    opened = []

    def sit(*words):
        opened.append(Terminal(tmp_path, *words))
        return opened[-1]

    yield sit
    for each in opened:
        each.close()


@pytest.mark.process
def test_a_match_at_a_terminal(terminal, bot_folder, tmp_path):
    """By keys to the end of nine holes; the terminal is put right, the match is kept."""
    sat = terminal(
        *(bot_folder(), "--game", "four-card-golf", "--delay", "0"),
        *("--seat", "1", "--turn-cap", "1", "--no-playoff", "--out", "kept"),
    )
    for _ in range(9):
        sat.until("Your turn")
        sat.type("d")
        sat.until("You drew the")
        sat.type("x")
        sat.until("space goes on")
        sat.type(" ")
    sat.until("The match is over")
    sat.until("arena replay kept")
    sat.type("q")
    assert 0 == sat.left()
    sat.until("kept in kept; look at it: arena replay kept")
    assert (tmp_path / "kept" / "event.json").is_file()


@pytest.mark.process
@pytest.mark.parametrize("how", ["q", "Ctrl-C", "SIGTERM"])
@pytest.mark.long("ways to leave a match")
def test_leaving_puts_the_terminal_right(terminal, bot_folder, tmp_path, how):
    """Whenever: nothing is kept of the match."""
    sat = terminal(bot_folder(), bot_folder(), "--out", "kept")
    sat.until("Your turn")
    assert not termios.tcgetattr(sat.slave)[3] & (termios.ECHO | termios.ICANON)
    if how == "q":
        sat.type("q")
        sat.until("leave\\?")
        sat.type("y")
    elif how == "Ctrl-C":
        sat.type("\x03")
    else:
        sat.process.send_signal(signal.SIGTERM)
    assert {"q": 0, "Ctrl-C": 130, "SIGTERM": -15}[how] == sat.left()
    assert not (tmp_path / "kept").exists()


@pytest.mark.process
def test_a_terminal_may_change_its_size_or_be_lost(terminal, bot_folder):
    """A new size is drawn; a terminal that has hung up ends the match."""
    sat = terminal(bot_folder())
    sat.until("Your turn")
    fcntl.ioctl(sat.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 60, 0, 0))
    sat.until(r"your turn +c score card  : type  \? help  q leave \x1b")
    sat.process.send_signal(signal.SIGHUP)
    assert -1 == sat.left()
