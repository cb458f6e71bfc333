"""Let a person play line by line: for pipes, and for terminals that can't move their cursor.

Theory of operation. Everything is printed when it happens. A question prints the table and the
legal moves, then a prompt; a line is a move in the protocol's notation, or one of `?`, `score`,
`quit`. A thread reads lines from the descriptor, since a file can't be polled; it is abandoned
when it is no longer needed.

Invariant: a line that isn't a legal move gets an answer and changes nothing; the end of the input
leaves the table.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import TextIOWrapper
from pathlib import Path

import click
import trio

from arena.event.commands import command_line
from arena.model import MatchRecord, UserError
from arena.play.desk import Desk, play_in_words
from arena.play.hints import move_of, refusal
from arena.play.session import Person, PersonLeft
from arena.reports.cards import Style, picture, scorecard
from arena.reports.faults import match_fault_lines
from arena.terminal.desk import ending_lines, legal_lines, table_picture
from arena.terminal.screen import columns, show

READ_BYTES = 4096
LINE_BYTES = 1000  # a typed line; a longer one is a mistake, and is cut
STDIN = 0
TALL = 200


class LinePerson:
    """A `Person` on stdin and stdout."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._room = max(40, columns() - 1)
        self._unread = b""
        self._received = False
        self._printed = (0, 0)  # the hole, and how many of its plays have been printed
        self._fallen: set[int] = set()

    async def begin(self, desk: Desk, commitment: str) -> None:
        self._printed, self._fallen = (0, 0), set()
        bots = [name for seat, name in enumerate(desk.names) if seat != desk.seat]
        click.echo(f"{desk.game}: {desk.names[desk.seat]} (seat {desk.seat}), {', '.join(bots)}")
        click.echo(f"commitment {commitment}")
        click.echo("? explains the rules, quit leaves")

    async def follow(self, desk: Desk) -> None:
        self._print_news(desk)

    async def decide(self, desk: Desk) -> str:
        self._print_news(desk)
        self._show(desk)
        while True:
            show(legal_lines(desk, self._room))
            line = await self._line("> ")
            match line.strip().lower():
                case "":
                    continue
                case "quit" | "q" | "exit":
                    raise PersonLeft
                case "?" | "help" | "h":
                    click.echo(desk.about.rules)
                    self._show(desk)
                    continue
                case "score":
                    self._score(desk)
                    continue
            if (move := move_of(desk, line)) is not None:
                return move
            click.echo(f"no: {refusal(desk, line)}")

    async def hole_over(self, desk: Desk) -> None:
        self._print_news(desk)
        show(ending_lines(desk))
        self._show(desk)
        self._score(desk)

    async def over(self, desk: Desk, record: MatchRecord, kept: Path) -> bool:
        self._print_news(desk)
        show(() if desk.grids else ending_lines(desk))  # else it has been printed
        show(match_fault_lines(record))
        click.echo(f"kept in {kept}; look at it: {command_line('replay', kept)}")
        try:
            answer = await self._line("another one? [y/N] ")
        except (PersonLeft, UserError):
            return False
        return answer.strip().lower() in ("y", "yes")

    def _print_news(self, desk: Desk) -> None:
        hole, known = self._printed
        if desk.hole != hole:
            hole, known = desk.hole, 0
            if hole:
                click.echo()
                click.echo(table_picture(desk, telling=False).title)
        for play in desk.plays[known:]:
            click.echo(f"  {play_in_words(desk, play)}")
        self._printed = hole, len(desk.plays)
        for seat in sorted(desk.fallen.keys() - self._fallen):
            self._fallen.add(seat)
            click.echo(f"  {desk.names[seat]} has failed: {desk.fallen[seat]}")

    def _show(self, desk: Desk) -> None:
        shown = table_picture(desk, telling=False)
        for line in picture(shown, self._style, room=self._room, height=TALL)[1:]:
            if line or shown.pile:
                click.echo(line)

    def _score(self, desk: Desk) -> None:
        show(scorecard(desk.names, desk.scores, desk.totals, room=self._room))

    async def _line(self, prompt: str) -> str:
        click.echo(prompt, nl=False)
        sys.stdout.flush()
        while b"\n" not in self._unread and len(self._unread) < LINE_BYTES:
            data = await trio.to_thread.run_sync(os.read, STDIN, READ_BYTES, abandon_on_cancel=True)
            if not data:
                if self._unread:
                    self._unread += b"\n"
                    break
                click.echo()
                if self._received:
                    raise PersonLeft
                raise UserError(
                    "no person can play: standard input is at its end; run it in a terminal, "
                    "give it a move a line, or play on a page with --browser"
                )
            self._unread += data
        self._received = True
        line, _, self._unread = self._unread.partition(b"\n")
        text = line.decode("utf-8", "replace")
        if not os.isatty(STDIN):
            click.echo(text.strip()[:80].encode("ascii", "backslashreplace").decode())
        return text


@asynccontextmanager
async def line_by_line(style: Style) -> AsyncIterator[Person]:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    yield LinePerson(style)
