"""Step through a match in a terminal, with keys.

Theory of operation. `Stepper` holds which moment is shown and how; `press` changes that by a key
and `frame` is the screen for it, so both are tested without a terminal. `step_through` reads keys
from a real one and writes each frame in one piece, so nothing flickers.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files

from arena.model import Fault
from arena.reports.cards import Style, picture
from arena.reports.layout import clip, wrap
from arena.terminal.keyboard import Keyboard, status_line
from arena.terminal.moments import Album

_PACES = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05)  # seconds a moment, when it plays by itself
_DIGITS = 4
_BLOCK = 6  # lines of a player: its name, two rows of cards and the rules between
_HELP = (files("arena.terminal") / "viewer_keys.txt").read_text("utf-8")
_KEYS = "space next  b back  ] hole  f fault  ? help  q quit "
_FEWER = "space next  b back  ? help  q quit "
_ARROWS = str.maketrans({"→": ">", "←": "<", "↑": "^", "↓": "v"})


class Stepper:
    """`tell`: a fault in lines."""

    def __init__(
        self,
        album: Album,
        tell: Callable[[Fault], Iterable[str]],
        style: Style,
        *,
        at: int = 0,
        watcher: int | None = None,
    ) -> None:
        self._album = album
        self._tell = tell
        self._style = style
        self._last = len(album.moments) - 1
        self.at = at
        self.done = False
        self.playing = False
        self._pace = 2
        self._watcher = watcher
        self._helping = False
        self._digits = ""
        self._said = ""
        self._scroll = 0
        self._follow = True  # scroll to the acting seat, until the person scrolls
        self._keys: Mapping[str, Callable[[], None]] = {
            key: action
            for names, action in (
                ("space right n l", self.advance),
                ("left p b backspace", lambda: self._go(self.at - 1)),
                ("] h pagedown", self._next_hole),
                ("[ H pageup", self._previous_hole),
                ("g home", lambda: self._go(0)),
                ("G end", lambda: self._go(self._last)),
                ("f", self._to_fault),
                ("a", self._play),
                ("+ =", lambda: self._faster(1)),
                ("- _", lambda: self._faster(-1)),
                ("v", self._watch),
                ("up k", lambda: self._scrolled(-1)),
                ("down j", lambda: self._scrolled(1)),
                ("?", lambda: setattr(self, "_helping", True)),
                ("q", lambda: setattr(self, "done", True)),
            )
            for key in names.split()
        }

    @property
    def pause(self) -> float | None:
        """Seconds until the next moment comes by itself."""
        return _PACES[self._pace] if self.playing else None

    def press(self, key: str) -> None:
        """Act on a key; an unknown one only ends help or a number."""
        self._said = ""
        if self._helping:
            self._helping = False
            self.done = key == "q"
            return
        digits, self._digits = self._digits, ""
        if key.isdecimal() and key.isascii():
            self._digits = (digits + key)[:_DIGITS]
        elif digits and key == "backspace":
            self._digits = digits[:-1]
        elif digits and key == "enter":
            self._to_hole(int(digits))
        elif key in self._keys:
            if key not in ("a", "+", "=", "-", "_", "v"):
                self.playing = False
            self._keys[key]()

    def advance(self) -> None:
        self._go(self.at + 1)

    def frame(self, columns: int, rows: int) -> list[str]:
        """The lines of the screen: at most `rows`, none wider than `columns`."""
        seen = max(1, rows - 1)
        body = self._body(columns, seen)
        latest = []
        if len(body) > seen > 2 and not self._helping and not self._album.moments[self.at].fault:
            # What has happened is below the edge, so it is said once more.
            *_, last = ["", *self._album.news(self.at, self._watcher)]
            latest = [clip(last.strip(), columns)]
            seen -= 1
        if self._follow:
            self._follow = False
            self._scroll = self._in_view(body, seen)
        self._scroll = max(0, min(self._scroll, len(body) - seen))
        lines = body[self._scroll : self._scroll + seen]
        more = len(body) > self._scroll + seen
        lines += [""] * (seen - len(lines))
        screen = [*lines, *latest, self._status(columns, more=more)][-rows:]
        return screen if self._style.lines else [line.replace("…", "~") for line in screen]

    def _in_view(self, body: list[str], seen: int) -> int:
        """How far to scroll to show the acting seat's cards, or a fault."""
        if self._album.moments[self.at].fault is not None:
            return len(body)
        mark = "▸ " if self._style.lines else "> "
        at = next((n for n, line in enumerate(body) if mark in line), 0)
        return max(0, at + _BLOCK - seen)

    def _body(self, columns: int, height: int) -> list[str]:
        style = self._style
        if self._helping:
            text = _HELP if style.lines else _HELP.translate(_ARROWS)
            return [clip(line, columns) for line in text.splitlines()]
        moment = self._album.moments[self.at]
        told = [
            style.red(part)
            for line in (self._tell(moment.fault) if moment.fault else ())
            for part in wrap(line.replace("    ", "  ", 1), columns, indent="    ")
        ]
        shown = self._album.picture(self.at, self._watcher)
        lines = picture(shown, style, room=columns, height=max(1, height - len(told) - 1))
        return [*lines, *([""] if told else []), *told]

    def _status(self, columns: int, *, more: bool) -> str:
        arrow = "↓" if self._style.lines else "v"
        parts = [self._album.where(self.at)]
        if self._watcher is not None:
            parts.append(f"as {self._album.names[self._watcher]}")
        if self.playing:
            parts.append(f"every {_PACES[self._pace]:g} s")
        if more:
            parts.append(f"{arrow} more")
        left = f" {', '.join(parts)} "
        if self._digits:
            left = f" to hole {self._digits}, then Enter "
        if self._said:
            left = f" {self._said} "
        return status_line(self._style, left, (_KEYS, _FEWER, "? help "), columns)

    def _go(self, at: int) -> None:
        self.at = max(0, min(at, self._last))
        self._follow = True
        if self.at == self._last:
            self.playing = False

    def _to_hole(self, hole: int) -> None:
        holes = len(self._album.match.holes)
        if 1 <= hole <= holes:
            self._go(self._album.first_of(hole))
        else:
            self._said = f"there are holes 1 to {holes}, no {hole}"

    def _next_hole(self) -> None:
        album, hole = self._album, self._album.moments[self.at].hole
        self._go(album.first_of(hole + 1) if hole < len(album.match.holes) else self._last)

    def _previous_hole(self) -> None:
        hole = self._album.moments[self.at].hole
        first = self._album.first_of(hole)
        if self.at == first and first:
            first = self._album.first_of(self._album.moments[first - 1].hole)
        self._go(first)

    def _to_fault(self) -> None:
        at = self._album.fault_after(self.at)
        if at is None:
            self._said = "no bot failed in this match"
        else:
            self._go(at)

    def _play(self) -> None:
        self.playing = not self.playing
        if self.playing and self.at == self._last:
            self.at = 0

    def _faster(self, by: int) -> None:
        self._pace = max(0, min(self._pace + by, len(_PACES) - 1))
        self._said = f"every {_PACES[self._pace]:g} s"

    def _watch(self) -> None:
        watchers = [None, *range(len(self._album.names))]
        self._watcher = watchers[(watchers.index(self._watcher) + 1) % len(watchers)]

    def _scrolled(self, by: int) -> None:
        self._scroll = max(0, self._scroll + by)


def step_through(stepper: Stepper, source: int, out: int, encoding: str) -> None:
    with Keyboard(source, out, encoding) as keyboard:
        while not stepper.done:
            keyboard.draw(stepper.frame)
            try:
                keys = keyboard.keys(stepper.pause)
            except EOFError:
                return
            for key in keys:
                stepper.press(key)
            if not keys and stepper.playing:
                stepper.advance()
