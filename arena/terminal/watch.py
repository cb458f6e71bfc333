"""Watch a match as it is played: a picture of the table after each move, and the news in words.

Theory of operation. A display is entered for as long as the match lasts; `show` takes the table as
it is after a move, `rest` lets time pass until the next one: as long as the delay says, or until a
key ends a pause. Meanwhile `look` serves the pipes to the bots, and no bot's clock runs.
`PictureDisplay` uses a terminal's alternate screen with `Keyboard`, and leaves the last picture
behind. Without keys (stdin is no terminal) it draws each picture over the last one.
"""

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Self, TextIO

import msgspec

from arena import registry
from arena.event.single_match import Watch
from arena.games.descriptor import Descriptor
from arena.games.observer import ObservedGame, ObservedMove
from arena.referee import HOLES
from arena.replay.steps import table_state
from arena.reports.cards import Picture, Style, picture
from arena.reports.escape import plain, sentence
from arena.terminal.keyboard import Keyboard, status_line
from arena.terminal.moments import Moment, strokes_line, strokes_of, table_picture, words
from arena.terminal.screen import can_draw, style

Look = Callable[[float], object]
"""Moves bytes between the bots and us for at most so many seconds."""

TOLD = 12  # moves that are kept in words: more than a screen has room for beside the cards
DELAY_S = 0.5
# Bounds of the delay that keys can set; below the least there is none.
_LEAST_S, _MOST_S = 0.05, 8.0
_KEYS_S = 0.05  # how soon a key is noticed
_HELP = "space pause  n next move  + - speed  q leave "
_PAUSED = "space go on  n next move  q leave "
_FEWER = "space, n, q "
_RESTORED = "\x1b[0m\x1b[?25h"  # default colours, and a cursor


class LineDisplay:
    """A line a move, for a pipe or a file."""

    def __init__(self, out: TextIO, delay: float = 0.0) -> None:
        self._out = out
        self._delay = delay
        self._hole = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, shown: Picture, news: Sequence[str]) -> None:
        if shown.title != self._hole:
            self._hole = shown.title
            self._out.write(f"{sentence(shown.title)}\n")
        for line in news:
            self._out.write(f"  {sentence(line)}\n")
        self._out.flush()

    def rest(self, look: Look) -> None:
        _pass(self._delay, look)


class Speed:
    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.paused = False
        self._one = False  # one move more, although it is paused

    def press(self, key: str) -> None:
        """Take a key; KeyboardInterrupt for the one that leaves."""
        match key:
            case "space" | "p":
                self.paused = not self.paused
            case "n" | "right" | "enter" | "l":
                self.paused = self._one = True
            case "+" | "=":
                self.delay = self.delay / 2 if self.delay > _LEAST_S else 0.0
            case "-" | "_":
                self.delay = min(max(2 * self.delay, _LEAST_S), _MOST_S)
            case "q":
                raise KeyboardInterrupt

    def is_due(self, rested: float) -> bool:
        if self._one:
            self._one = False
            return True
        return not self.paused and rested >= self.delay

    def describe(self) -> str:
        if self.paused:
            return "paused"
        return f"a move every {self.delay:g} s" if self.delay else "as fast as they play"


class PictureDisplay:
    """Pictures on a terminal: each in one write, so nothing flickers."""

    def __init__(self, out: TextIOWrapper, style: Style, delay: float, *, keys: bool) -> None:
        self._out = out
        self._style = style
        self._speed = Speed(delay)
        self._keyboard = Keyboard(sys.stdin.fileno(), out.fileno(), out.encoding) if keys else None
        self._shown: Picture | None = None
        self._drawn = 0
        self._columns = 0

    def __enter__(self) -> Self:
        if self._keyboard is None:
            self._before = signal.signal(signal.SIGTERM, self._killed)
        else:
            self._keyboard.__enter__()
        return self

    def __exit__(self, *why: object) -> None:
        """Leave the last picture, and the terminal as it was."""
        if self._keyboard is not None:
            self._keyboard.__exit__(*why)
            lines = self._lines(*os.get_terminal_size(self._out.fileno()))
            self._out.write("".join(f"{line}\n" for line in lines))
        else:
            signal.signal(signal.SIGTERM, self._before)
            self._out.write(_RESTORED)
        self._out.write("\n")
        self._out.flush()

    def show(self, shown: Picture, news: Sequence[str]) -> None:  # noqa: ARG002 - in the picture
        self._shown = shown
        self._draw()

    def rest(self, look: Look) -> None:
        if self._keyboard is None:
            _pass(self._speed.delay, look)
            return
        begun, pressed = time.monotonic(), True
        while True:
            try:
                for key in self._keyboard.keys(0):
                    self._speed.press(key)
                    pressed = True
            except EOFError:  # the terminal is gone, and its user with it
                raise KeyboardInterrupt from None
            rested = time.monotonic() - begun
            if self._speed.is_due(rested):
                return
            if pressed or self._keyboard.woken:
                self._draw()
                pressed = False
            left = _KEYS_S if self._speed.paused else self._speed.delay - rested
            look(max(0.0, min(_KEYS_S, left)))

    def _draw(self) -> None:
        if self._keyboard is not None:
            self._keyboard.draw(self._frame)
            return
        columns, rows = os.get_terminal_size(self._out.fileno())
        lines = self._lines(columns, rows)
        start = ""
        if self._drawn and columns == self._columns:
            start = f"\r\x1b[{self._drawn}A"
        elif self._drawn:
            start = "\x1b[H\x1b[2J"  # at another width lines break elsewhere
        body = "".join(f"{line}\x1b[K\n" for line in lines)
        self._out.write(f"\x1b[?25l{start}{body}\x1b[J")
        self._out.flush()
        self._drawn, self._columns = len(lines), columns

    def _frame(self, columns: int, rows: int) -> list[str]:
        lines = self._lines(columns + 1, rows)
        lines += [""] * (rows - 1 - len(lines))
        keys = (_PAUSED if self._speed.paused else _HELP, _FEWER)
        text = f" {self._speed.describe()} "
        return [*lines, status_line(self._style, text, keys, max(20, columns))]

    def _lines(self, columns: int, rows: int) -> list[str]:
        """The picture, with a line to spare; what has scrolled away can't be drawn over."""
        if self._shown is None:
            return []
        height = max(1, rows - 1)
        # A terminal may break a line that fills it.
        return picture(self._shown, self._style, room=max(20, columns - 1), height=height)[:height]

    def _killed(self, number: int, _: object) -> None:
        os.write(self._out.fileno(), _RESTORED.encode())
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def _pass(seconds: float, look: Look) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        look(left)


class WatchedMatch:
    """An `Observer` that shows everything, hidden cards too; `rest` follows each move."""

    def __init__(
        self,
        title: str,
        about: Descriptor,
        names: Sequence[str],
        display: PictureDisplay | LineDisplay,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._title = title
        self._about = about
        self._names = [plain(name) for name in names]
        self._display = display
        self._rest = rest
        self._game: ObservedGame | None = None
        self._told: deque[str] = deque(maxlen=TOLD)
        self._news: list[str] = []
        self._scores: list[tuple[int | None, ...]] = []
        self._totals = [0] * len(names)
        self._fallen: frozenset[int] = frozenset()

    def moved(self, game: ObservedGame, move: ObservedMove) -> None:
        self._game = game
        self._tell(words(self._about, self._names[move.seat], move))
        assert game.hole is not None
        if not game.hole.to_act():
            scores = game.hole.scores()
            strokes = strokes_of(game.order, scores)
            self._scores.append(strokes)
            if game.holes <= HOLES:
                self._totals = [a + b for a, b in zip(self._totals, scores, strict=True)]
            self._tell(f"hole {game.holes} is over: {strokes_line(self._names, strokes)}")
        self._show(game)
        self._rest()

    def fallen(self, seat: int) -> None:
        self._fallen |= {seat}
        game = self._game
        players = range(len(self._names)) if game is None else game.order
        goes_on = len(set(players) - self._fallen) > 1
        self._tell(f"{self._names[seat]} has failed{', and is played on for' if goes_on else ''}")
        if game is not None:
            self._show(game)

    def _tell(self, text: str) -> None:
        self._told.append(text)
        self._news.append(text)

    def _show(self, game: ObservedGame) -> None:
        news, self._news = self._news, []
        self._display.show(self._picture(game), news)

    def _picture(self, game: ObservedGame) -> Picture:
        assert game.hole is not None
        acting = game.hole.to_act()
        moment = Moment(
            hole=game.holes,
            drawn=game.hole.drawn(acting[0]) if len(acting) == 1 else None,
            fallen=self._fallen,
            **msgspec.structs.asdict(table_state(game)),
        )
        return table_picture(
            moment if acting else moment.revealed(),
            self._about,
            self._names,
            title=f"{self._title}, hole {game.holes}",
            acting=acting,
            totals=self._totals,
            news=tuple(self._told),
            scores=tuple(self._scores),
        )


def watching(game: str, deal: int, *, hidden: bool, delay: float | None) -> Watch:
    """A display of a match as it is played; `delay`: seconds after a move."""

    @contextmanager
    def watch(seats: tuple[str, ...], look: Look) -> Iterator[WatchedMatch]:
        out, shown = sys.stdout, style(hidden=hidden)
        assert isinstance(out, TextIOWrapper)
        display: PictureDisplay | LineDisplay = LineDisplay(out, delay or 0.0)
        if can_draw(out):
            seconds = DELAY_S if delay is None else delay
            display = PictureDisplay(out, shown, seconds, keys=sys.stdin.isatty())
        with display:
            title, about = f"{game}, deal {deal}", registry.game(game).about
            yield WatchedMatch(title, about, seats, display, rest=lambda: display.rest(look))

    return watch
