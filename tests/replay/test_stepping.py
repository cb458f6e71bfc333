"""Keys and the screens that they lead to, without a terminal and with one."""

import codecs
import fcntl
import os
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path

import pytest

from arena import registry
from arena.replay.steps import unfold
from arena.reports.cards import Style
from arena.reports.faults import whole_fault
from arena.reports.layout import width
from arena.store import read_event, read_records
from arena.terminal.keyboard import keys_of
from arena.terminal.moments import Album
from arena.terminal.viewer import Stepper

PATIENCE_S = 90
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("data", "keys", "rest"),
    [
        ("n q", ["n", "space", "q"], ""),
        ("\x1b[C\x1b[D\x1bOC", ["right", "left", "right"], ""),
        ("\x1b[5~\x1b[6~\x1b[1~\x1bOF", ["pageup", "pagedown", "home", "end"], ""),
        ("\x1b[1;5C", [""], ""),
        ("\x1b[200~", [""], ""),
        ("\x1bq", ["escape", "q"], ""),
        ("\x1b\x1b[A", ["escape", "up"], ""),
        ("1\r\x7f\n", ["1", "enter", "backspace", "enter"], ""),
        ("a\x1b", ["a"], "\x1b"),
        ("\x1b[", [], "\x1b["),
        ("\x1b[1", [], "\x1b[1"),
        ("é→", ["é", "→"], ""),
    ],
)
def test_bytes_are_keys(data, keys, rest):
    """What terminals send for a key is one key, an unfinished piece waits for its rest."""
    assert (keys, rest) == keys_of(data)


@pytest.fixture
def stepper(events):
    """Step through an event's first match."""

    def make(event, *, style=None, at=0, watcher=None, **how):
        record = events.play(event, next(events.specs(event)), **how)
        match = unfold(record, event, game=registry.game(event.settings.game), secret=events.secret)
        faults = partial(whole_fault, record, folder="friday", limits=event.settings.limits)
        return Stepper(Album(match), faults, style or Style(), at=at, watcher=watcher)

    return make


def status(shown, columns=79):
    """The last line of the screen."""
    return shown.frame(columns, 24)[-1]


def press(shown, *keys):
    """Some keys."""
    for key in keys:
        shown.press(key)


def test_keys_go_where_they_say(events, stepper):
    """Moves and holes, forwards and back, and never beyond the ends."""
    shown = stepper(events.event_of())
    assert "hole 1 of 9, move 0 of " in status(shown)
    press(shown, "b", "left")
    assert 0 == shown.at
    press(shown, "space", "right", "n", "p")
    assert "hole 1 of 9, move 2 of " in status(shown)
    press(shown, "]", "h", "pagedown")
    assert "hole 4 of 9, move 0 of " in status(shown)
    press(shown, "[")
    assert "hole 3 of 9, move 0 of " in status(shown)
    press(shown, "n", "H")
    assert "hole 3 of 9, move 0 of " in status(shown)
    press(shown, "G", "n", "n")
    assert re.search(r"hole 9 of 9, move (\d+) of \1 ", status(shown))
    assert "The match is over: 1. " in "\n".join(shown.frame(79, 60))
    press(shown, "g", "pageup")
    assert 0 == shown.at
    press(shown, *"]" * 12)
    assert re.search(r"hole 9 of 9, move (\d+) of \1 ", status(shown))


def test_digits_and_enter_go_to_a_hole(events, stepper):
    """What is typed is shown; another key forgets it, one that isn't there is told."""
    shown = stepper(events.event_of())
    press(shown, "1", "2")
    assert "to hole 12, then Enter" in status(shown)
    press(shown, "enter")
    assert "there are holes 1 to 9, no 12" in status(shown)
    press(shown, "1", "7", "backspace", "backspace", "backspace", "7", "enter")
    assert "hole 7 of 9, move 0" in status(shown)
    press(shown, "3", "escape", "enter")
    assert "hole 7 of 9, move 0" in status(shown)


def test_playing_by_itself(events, stepper):
    """It has a pace that + and - change, stops at the end and by any step, and begins anew."""
    shown = stepper(events.event_of())
    assert shown.pause is None
    press(shown, "a")
    assert 0.5 == shown.pause
    press(shown, "+")
    assert "every 0.25 s" in status(shown)
    press(shown, *"-" * 9)
    assert 2 == shown.pause
    press(shown, "n")
    assert shown.pause is None
    press(shown, "G", "a")
    assert (0, True) == (shown.at, shown.playing)
    while shown.playing:
        shown.advance()
    assert re.search(r"hole 9 of 9, move (\d+) of \1 ", status(shown))


def test_a_fault_is_found_and_shown_whole(events, stepper):
    """With its line, what it wrote, how it ended, the host and the command that repeats it."""
    shown = stepper(events.event_of(seats=3), fails=events.failing("bob@1", 20))
    press(shown, "f")
    text = "\n".join(shown.frame(79, 40))
    assert "bob@1: crash in " in text
    assert "(signal SIGSEGV)" in text
    assert '  its line: {"turn":"0' in text
    assert r"  stderr: \x1b[2Jlooking for my brain" in text
    assert "  host: " in text
    assert "  again: arena feed bob@1 friday --match " in text
    at = shown.at
    press(shown, "f")
    assert at == shown.at
    calm = stepper(events.event_of())
    press(calm, "f")
    assert "no bot failed in this match" in status(calm)


def test_help_and_other_seats(events, stepper):
    """The next key only puts help away; v goes around the table."""
    shown = stepper(events.event_of())
    press(shown, "?")
    assert shown.frame(79, 24)[0].startswith("space → n      next move")
    press(shown, "n")
    assert 0 == shown.at
    assert "hole 1" in shown.frame(79, 24)[0]
    press(shown, "v")
    assert "as " in status(shown)
    press(shown, "v", "v")
    assert "as " not in status(shown)
    press(shown, "?", "q")
    assert shown.done


@pytest.mark.no_cover
@pytest.mark.parametrize(("columns", "rows"), [(39, 24), (79, 24), (39, 10), (24, 3), (150, 50)])
@pytest.mark.parametrize(("game", "seats"), [("play-nine", 6), ("four-card-golf", 8)])
def test_every_screen_fits(events, stepper, game, seats, columns, rows):
    """No more lines than there are, none wider, whatever is shown; who is to act is in view."""
    fails = events.failing("bob@1", 9)
    shown = stepper(events.event_of(game, seats=seats), style=Style(lines=False), fails=fails)
    for key in (*["n"] * 20, "f", "n", "v", "?", "x", "down", "up", "5", "enter", "G"):
        shown.press(key)
        frame = shown.frame(columns, rows)
        assert rows == len(frame)
        assert all(width(line) <= columns for line in frame)
        assert all(line.isascii() for line in frame)
        if rows >= 10 and key == "n":
            acting = shown._album.picture(shown.at).acting
            assert bool(acting) == any("> " in line for line in frame[:-1])


def test_the_pages_screen_is_one():
    """The reference event's first match after nine moves, on a terminal of 18 rows."""
    folder = REPOSITORY / "results" / "play-nine"
    event, record = read_event(folder), next(read_records(folder))
    match = unfold(
        record, event, game=registry.game("play-nine"), secret=bytes.fromhex(event.secret)
    )
    faults = partial(whole_fault, record, folder="friday", limits=event.settings.limits)
    shown = Stepper(Album(match), faults, Style(), at=9)
    screen = "\n".join(line.rstrip() for line in shown.frame(79, 18))
    assert f"```\n{screen}\n```" in (REPOSITORY / "docs" / "table.md").read_text(encoding="utf-8")


def test_what_does_not_fit_is_scrolled(events, stepper):
    """Down to the last line and back; the status says that there is more."""
    shown = stepper(events.event_of("four-card-golf", seats=8))
    top = shown.frame(39, 20)
    assert "more" in top[-1]
    press(shown, *["down"] * 60)
    bottom = shown.frame(39, 20)
    assert "more" not in bottom[-1]
    assert top != bottom
    press(shown, *["up"] * 60)
    assert top == shown.frame(39, 20)


# ------------------------------------------------------------------------------- a real terminal


class Seen:
    """A process on a terminal of its own; what it has written so far."""

    def __init__(self, program, size=(24, 80), **env):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            program,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm", "LANG": "C.UTF-8", **env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one thread
        )

    def until(self, wanted):
        """Wait until it has written what is wanted since the last time."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(wanted, self.text)):
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            assert ready, self.text
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
def seen(events, folder):
    """Step through the only match of a small event that has a fault."""
    path = folder(events.event_of(seats=3), lambda spec: {"fails": events.failing("bob@1", 20)})
    matches = []

    def start(*words, shell="", **options):
        found = ["replay", str(path), "--limit", "1", "--sort", "best", *words]
        program = [sys.executable, "-P", "-m", "arena", *found]
        if shell:
            program = ["bash", "-mc", f"{shlex.join(program)}; {shell}"]
        matches.append(Seen(program, **options))
        return matches[-1]

    yield start
    for match in matches:
        match.close()


@pytest.mark.process
def test_a_terminal_steps_and_is_put_right(seen):
    """Keys come at once, also in pieces; a new size is drawn; q leaves everything as it was."""
    shown = seen()
    shown.until(r"hole 1 of 9, move 0 of \d+")
    assert not termios.tcgetattr(shown.slave)[3] & (termios.ECHO | termios.ICANON)
    shown.type("n ")
    shown.until(r"hole 1 of 9, move 2 of \d+")
    shown.type("\x1b[")
    shown.type("D")
    shown.until(r"hole 1 of 9, move 1 of \d+")
    shown.type("4\r")
    shown.until(r"hole 4 of 9, move 0 of \d+")
    shown.type("f")
    shown.until(r"bob@1: crash in ")
    fcntl.ioctl(shown.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 40, 0, 0))
    assert all(width(line) < 40 for line in shown.until(r"\? help").splitlines()[-20:])
    shown.type("q")
    assert 0 == shown.left()


@pytest.mark.no_cover
@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_a_signal_puts_the_terminal_right(seen, number, code):
    """Ctrl-C, a polite kill and a lost session."""
    shown = seen()
    shown.until(r"hole 1 of 9, move 0")
    if number is signal.SIGINT:
        shown.type("\x03")
    else:
        shown.process.send_signal(number)
    assert code == shown.left()


@pytest.mark.process
def test_it_can_be_stopped_and_goes_on(seen):
    """Ctrl-Z gives the terminal back to the shell, fg takes it again where it was."""
    shown = seen("--hole", "2", shell="echo was $?; stty -a; fg; echo left $?")
    shown.until(r"hole 2 of 9, move 0")
    shown.type("\x1a")
    shown.until(r"\x1b\[\?25h\x1b\[\?1049l")
    shown.until(f"was {128 + signal.SIGTSTP}")
    assert {"icanon", "echo"} <= set(shown.until(r"echoke").split())
    shown.until(r"\x1b\[\?1049h")
    shown.until(r"hole 2 of 9, move 0")
    shown.type("nq")
    shown.until(r"\x1b\[\?25h\x1b\[\?1049l")
    shown.until(r"left 0")


@pytest.mark.process
def test_without_a_shell_it_can_t_be_stopped(seen):
    """There is nobody to come back to: the cards stay."""
    shown = seen()
    shown.until(r"hole 1 of 9, move 0")
    shown.type("\x1a")
    shown.until(r"\x1b\[\?1049h")
    shown.until(r"hole 1 of 9, move 0")
    shown.type("q")
    assert 0 == shown.left()


@pytest.mark.process
def test_a_terminal_that_can_t_move_its_cursor_gets_text(seen):
    """So does --print; without colour where none is wanted."""
    for words, env in (((), {"TERM": "dumb"}), (("--print",), {"NO_COLOR": "1"})):
        shown = seen(*words, **env)
        text = shown.until(r"(?s)bob@1: crash.*again: arena feed [^\r]*") + shown.text
        assert "\x1b" not in text
        assert "Hole 1: " in text
        shown.process.kill()
