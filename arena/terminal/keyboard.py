"""Read single keys from a terminal, on its alternate screen; restore it at every end.

Theory of operation. Within `with`, the terminal doesn't echo, keys arrive one by one, and the
alternate screen is shown. A return, an exception, SIGTERM, SIGHUP or Ctrl-Z restores the terminal
first; SIGCONT takes it again. Signals write to a pipe that is polled together with the keys, so
none is missed between checking and waiting.

Invariant: after us the terminal is as it was before us.
"""

import os
import re
import select
import signal
import termios
import tty
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Self

from arena.reports.cards import Style
from arena.reports.layout import clip, width

_SHOWN = b"\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"  # the alternate screen, without a cursor
_RESTORED = b"\x1b[0m\x1b[?25h\x1b[?1049l"
_ESCAPE_S = 0.05  # the bytes of one key arrive nearly at once: a lone Esc is a key too
_INPUT = 1024

_SEQUENCES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    **dict.fromkeys(("[H", "[1~", "[7~"), "home"),
    **dict.fromkeys(("[F", "[4~", "[8~"), "end"),
    "[5~": "pageup",
    "[6~": "pagedown",
}
_NAMED = {"\r": "enter", "\n": "enter", "\x1b": "escape", " ": "space"}
_NAMED |= dict.fromkeys("\x7f\x08", "backspace")
_KEY = re.compile(r"\x1b[\[O][0-9;]*[^0-9;]|(?P<begun>\x1b([\[O][0-9;]*)?\Z)|.", re.DOTALL)
"""A sequence, the beginning of one, or a single key."""


def keys_of(data: str) -> tuple[list[str], str]:
    """Decode input into names of keys; the second value may be the beginning of another."""
    keys: list[str] = []
    for found in _KEY.finditer(data):
        if found["begun"]:
            return keys, found["begun"]
        key, sequence = found[0], found[0][1:].replace("O", "[", 1)
        keys.append(_SEQUENCES.get(sequence, "") if sequence else _NAMED.get(key, key))
    return keys, ""


class Keyboard:
    def __init__(self, source: int, out: int, encoding: str) -> None:
        self._source = source
        self._out = out
        self._encoding = encoding
        self._attributes = termios.tcgetattr(source)
        self._before: dict[signal.Signals, object] = {}
        self._woken, self._wake = os.pipe()
        self._rest = ""
        self.woken = False
        """Whether a signal ended the last wait: the screen may have to be drawn again."""

    def __enter__(self) -> Self:
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        self._wakeup = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number, handler in (
            (signal.SIGTERM, self._killed),
            (signal.SIGHUP, self._killed),
            (signal.SIGTSTP, self._stopped),
            (signal.SIGCONT, lambda *_: self._take()),
            (signal.SIGWINCH, lambda *_: None),  # the pipe has ended the wait for keys
        ):
            self._before[number] = signal.signal(number, handler)
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # as signal gave it
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._woken)
        os.close(self._wake)

    @property
    def waited_at(self) -> tuple[int, int]:
        """Descriptors to poll for the next keys together with others; then call `keys(0)`."""
        return self._source, self._woken

    def keys(self, seconds: float | None) -> list[str]:
        """The next keys; none after so many seconds or a signal. EOFError: no terminal."""
        if self._rest:
            seconds = _ESCAPE_S
        ready, _, _ = select.select([self._source, self._woken], [], [], seconds)
        self.woken = self._woken in ready
        if self.woken:
            os.read(self._woken, _INPUT)
        if self._source not in ready:
            rest, self._rest = self._rest, ""
            return ["escape"] if rest and not ready else []
        data = b""
        with suppress(OSError):
            data = os.read(self._source, _INPUT)
        if not data:
            raise EOFError
        keys, self._rest = keys_of(self._rest + data.decode("utf-8", "replace"))
        return keys

    def draw(self, frame: Callable[[int, int], Sequence[str]]) -> None:
        """Show a frame, made for the columns and rows that the terminal has, in one write."""
        columns, rows = os.get_terminal_size(self._out)
        # A terminal may break a line that fills it.
        lines = frame(max(1, columns - 1), max(1, rows))
        self.write("\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J")

    def write(self, text: str) -> None:
        """Write all of it; that a terminal has hung up is noticed at the next key."""
        data = text.encode(self._encoding, "backslashreplace")
        with suppress(OSError):
            while data:
                data = data[os.write(self._out, data) :]

    def _take(self) -> None:
        with suppress(termios.error):
            # Ctrl-C and Ctrl-Z stay what they are.
            tty.setcbreak(self._source, termios.TCSADRAIN)
        self.write(_SHOWN.decode())

    def _leave(self) -> None:
        self.write(_RESTORED.decode())
        with suppress(termios.error):
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._attributes)

    def _killed(self, number: int, _: object) -> None:
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    def _stopped(self, number: int, _: object) -> None:
        self._killed(number, _)
        # Execution continues here after `fg`, or at once where no shell has job control.
        signal.signal(number, self._stopped)
        self._take()


def status_line(style: Style, left: str, rights: Iterable[str], columns: int) -> str:
    """The last line of a screen, reversed; to the right the first text that there is room for."""
    right = next((text for text in rights if width(text) <= columns - width(left)), "")
    text = clip(left, columns)
    return style.reversed(text + " " * (columns - width(text + right)) + right)
