"""Let a person play with keys: pictures of the table out, keys in.

Theory of operation. `Seat` is a state machine without a terminal: `press` takes a key, `frame` is
the screen, and `move`, `ready`, `left` and `again` are the decisions. `KeyPerson` polls the keys
of a real terminal while trio serves the pipes to the bots.

Invariant: a key that means nothing now changes nothing; every decision is a legal move.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from math import inf
from pathlib import Path

import trio

from arena.event.commands import command_line
from arena.model import MatchRecord
from arena.play.desk import Desk
from arena.play.hints import move_of, refusal
from arena.play.session import Person, PersonLeft
from arena.reports.cards import Style, picture, scorecard
from arena.reports.faults import match_fault_lines
from arena.reports.layout import clip, wrap
from arena.terminal.desk import legal_lines, table_picture
from arena.terminal.keyboard import Keyboard, status_line
from arena.terminal.screen import say

_TYPED = 20  # what is typed as a whole: longer than any move
_KEYS = (files("arena.terminal") / "seat_keys.txt").read_text("utf-8")
_TO = {"t": "take", "s": "swap", "f": "flip"}  # keys that are followed by a position
_AT_ONCE = {"d": ("draw",), "space": ("draw",), "x": ("discard", "skip")}
"""Keys that are a move: the first of these words that the game has."""
_BACK = ("any key: back to the cards", "")
_STATUS = {
    "leave": ("leave? it won't count. y leaves, other keys stay", ""),
    "help": _BACK,
    "score": _BACK,
    "over": ("n another match, q leave", "c score card "),
    "hole": ("space goes on", "c score card  ? help  q leave "),
    "move": ("your turn", "c score card  : type  ? help  q leave "),
}
"""The last line, by the page over the cards or the decision that is due."""


class Seat:
    def __init__(self, style: Style) -> None:
        self.style = style
        self.desk: Desk
        self.move = ""  # a legal move, once it is chosen
        self.ready = False  # whether to go on after a hole, or after the match
        self.left = False
        self.again = False
        self.waiting = ""
        """The decision that is due: move, hole, over, or none while others play."""
        self.closing: list[str] = []  # lines below the cards when the match is over
        self._page = ""  # the page over the cards: help, score, leave
        self._pending = ""
        """Keys of a move that is not complete, or a colon and what has been typed."""
        self._hint = ""

    def wait_for(self, what: str, desk: Desk) -> None:
        self.waiting = what
        self.desk = desk
        self.move = ""
        self.ready = self.again = False
        self._pending = self._hint = ""

    # ---- keys

    def press(self, key: str) -> None:
        self._hint = ""
        if self._page == "leave":
            self._page = ""
            self.left = key in ("y", "q", "enter")
        elif self._page:
            self._page = ""
        elif self._pending.startswith(":"):
            self._type(key)
        elif key == "?":
            self._page = "help"
        elif key == "c":
            self._page = "score"
        elif self.waiting == "over":
            self.again = key in ("n", "y")
            self.left = key in ("q", "escape")
            self.ready = self.again or self.left
        elif key == "q":
            self._page = "leave"
        elif self.waiting == "hole":
            self.ready = key in ("space", "enter", "n", "right")
        elif self.waiting == "move":
            self._choose(key)

    def _choose(self, key: str) -> None:
        desk = self.desk
        pending, self._pending = self._pending, ""
        if key == ":":
            self._pending = ":"
        elif key == "escape":
            pass
        elif desk.phase == "tee":
            self._tee(pending, key)
        elif pending == "k":
            self._try("knock" if key == "enter" else "")
        elif key.isdecimal() and key.isascii():
            self._place(_TO.get(pending, ""), key)
        elif key in _AT_ONCE:
            words = _AT_ONCE[key]
            self._try(next((word for word in words if word in desk.about.moves), words[-1]))
        elif key in _TO or key == "k":
            word = _TO.get(key, "knock")
            if any(move.split(" ")[0] == word for move in desk.legal):
                self._pending = key
            else:
                self._try(f"{word} 0" if key in ("t", "s") else word)

    def _place(self, word: str, position: str) -> None:
        if not word and self.desk.phase == "turn":
            self._hint = f"t {position} takes the pile's card to {position}; d draws"
        else:
            self._try(f"{word or 'swap'} {position}")

    def _tee(self, first: str, key: str) -> None:
        if not (key.isdecimal() and key.isascii()):
            self._hint = "press the numbers of two of your cards" if key != "backspace" else ""
        elif first:
            self._try(f"tee {first} {key}")
        elif int(key) < self.desk.about.cards:
            self._pending = key
        else:
            self._try(f"tee {key}")

    def _type(self, key: str) -> None:
        text = self._pending
        if key == "enter":
            self._pending = ""
            self._try(text[1:])
        elif key == "escape":
            self._pending = ""
        elif key == "backspace":
            self._pending = text[:-1]
        else:
            char = " " if key == "space" else key
            if len(char) == 1 and char.isprintable():
                self._pending = (text + char)[:_TYPED]

    def _try(self, text: str) -> None:
        if not text.strip():
            return
        desk = self.desk
        self.move = move_of(desk, text) or ""
        if not self.move:
            self._hint = str(refusal(desk, text))

    # ---- the screen

    def frame(self, columns: int, rows: int) -> list[str]:
        """The screen: at most so many rows and columns."""
        desk = self.desk
        below = self._below(columns)
        room = max(1, rows - 1 - len(below))
        if self._page == "help":
            lines = [*desk.about.rules.splitlines(), "", *_KEYS.splitlines()]
            lines += ["", *legal_lines(desk, columns)] if desk.legal else []
            lines = [clip(line, columns) for line in lines]
        elif self._page == "score":
            lines = scorecard(desk.names, desk.scores, desk.totals, room=columns)
        else:
            ends = [line for text in self.closing for line in wrap(text, columns, indent="  ")]
            height = max(1, room - len(ends))
            lines = picture(table_picture(desk), self.style, room=columns, height=height)[:height]
            lines += ends
        lines = lines[:room]
        lines += [""] * (room - len(lines))
        screen = [*lines, *below, self._status(columns)][-rows:]
        return screen if self.style.lines else [line.replace("…", "~") for line in screen]

    def _below(self, columns: int) -> list[str]:
        if self._page:
            return []
        prompt = self._prompt() if self.waiting == "move" else ""
        return [
            paint(line)
            for text, paint in ((self._hint, self.style.red), (prompt, self.style.bold))
            for line in (wrap(text, columns, indent="  ") if text else ())
        ]

    def _prompt(self) -> str:
        desk, pending = self.desk, self._pending
        if pending.startswith(":"):
            return f"a move, then Enter: {pending[1:]}_"
        if desk.phase == "tee":
            first = f" (the first: {pending})" if pending else ""
            return f"Your turn. Turn over two of your cards: press their numbers{first}"
        pile, drawn = desk.about.label(desk.view.discard), desk.about.label(desk.drawn)
        last = desk.about.cards - 1
        if pending == "k":
            return "Knock? Enter does it, any other key lets you think again"
        if pending:
            what = {
                "t": f"Take the {pile} to which position?",
                "s": f"Put the {drawn} to which position?",
                "f": f"Throw the {drawn} away and turn which one?",
            }[pending]
            return f"{what} 0 to {last}, Esc: think again"
        if desk.phase == "turn":
            more = ", k knock" if "knock" in desk.legal else ""
            more += "".join(f", :{word}" for word in desk.about.own_moves if word in desk.legal)
            return f"Your turn. t 0-{last} take the {pile} to a position, d draw{more}"
        away = []
        if "flip" in desk.about.moves:
            away.append(f"f {','.join(map(str, desk.down))} throw it away and turn one")
        if "skip" in desk.legal or "discard" in desk.legal:
            away.append("x throw it away")
        return f"You drew the {drawn}. 0-{last} put it there, {', '.join(away)}"

    def _status(self, columns: int) -> str:
        acting = self.desk.acting()
        who = self.desk.names[acting[0]] if acting else "the others"
        left, keys = _STATUS.get(self._page or self.waiting, (f"{who} to move", "? help  q leave "))
        return status_line(self.style, f" {left} ", (keys,), columns)


class KeyPerson:
    def __init__(self, keyboard: Keyboard, style: Style, delay: float, kept: list[Path]) -> None:
        self._keyboard = keyboard
        self._delay = delay
        self._seat = Seat(style)
        self._seen = (0, 0)  # the hole and the number of its plays that were shown
        self._kept = kept  # the folders of the matches so far

    async def begin(self, desk: Desk, commitment: str) -> None:
        del desk, commitment  # the log has it; the screen is for this person alone
        self._seen = (0, 0)
        self._seat.closing = []

    async def follow(self, desk: Desk) -> None:
        """Show what others do, for a moment after each turn."""
        seat, now = self._seat, (desk.hole, len(desk.plays))
        seat.wait_for("", desk)
        self._draw()
        if now == self._seen:
            return
        mine = bool(desk.plays) and desk.plays[-1].seat == desk.seat
        self._seen = now
        if not desk.plays or mine:
            return
        until = trio.current_time() + self._delay
        while (left := until - trio.current_time()) > 0:
            for key in await self._keys(left):
                if key in ("q", "?", "c"):  # a page over the cards
                    self._seat.press(key)
                    await self._next()
                else:
                    until = 0.0  # seen enough

    async def decide(self, desk: Desk) -> str:
        self._seat.wait_for("move", desk)
        while not self._seat.move:
            await self._next()
        self._seen = desk.hole, len(desk.plays) + 1
        return self._seat.move

    async def hole_over(self, desk: Desk) -> None:
        self._seat.wait_for("hole", desk)
        while not self._seat.ready:
            await self._next()

    async def over(self, desk: Desk, record: MatchRecord, kept: Path) -> bool:
        seat = self._seat
        self._kept.append(kept)
        seat.closing = [
            *match_fault_lines(record),
            f"kept in {kept}; look at it: {command_line('replay', kept)}",
        ]
        seat.wait_for("over", desk)
        while not seat.ready:
            self._draw()
            for key in await self._keys(inf):
                seat.press(key)
        return seat.again

    async def _next(self) -> None:
        self._draw()
        for key in await self._keys(inf):
            self._seat.press(key)
            if self._seat.left:
                raise PersonLeft
            if self._seat.move or self._seat.ready:
                break  # keys pressed in advance were meant for a screen that is gone
        self._draw()

    async def _keys(self, seconds: float) -> list[str]:
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:

                async def wait(descriptor: int) -> None:
                    await trio.lowlevel.wait_readable(descriptor)
                    nursery.cancel_scope.cancel()

                for descriptor in self._keyboard.waited_at:
                    nursery.start_soon(wait, descriptor)
        try:
            return self._keyboard.keys(0)
        except EOFError:
            raise PersonLeft from None

    def _draw(self) -> None:
        self._keyboard.draw(lambda columns, rows: self._seat.frame(max(20, columns), rows))


@asynccontextmanager
async def at_the_keys(style: Style, delay: float) -> AsyncIterator[Person]:
    """A person at this terminal, which is restored at the end."""
    kept: list[Path] = []
    try:
        with Keyboard(sys.stdin.fileno(), sys.stdout.fileno(), sys.stdout.encoding) as keyboard:
            yield KeyPerson(keyboard, style, delay, kept)
    finally:
        for folder in kept:  # again, below the alternate screen
            say(f"kept in {folder}; look at it: {command_line('replay', folder)}")
