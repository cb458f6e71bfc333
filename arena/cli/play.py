"""`arena play`: play a match against bots yourself, in the terminal or in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import flags
from arena.cli.paths import BotPath, PathName
from arena.cli.usage import need_linux

if TYPE_CHECKING:
    from arena.play.session import Guest

DELAY_S = 0.6
INTERRUPTED = 130


@click.command(cls=flags.EventCommand)
@click.argument("bots", nargs=-1, type=BotPath())
@flags.option(
    "--seat N",
    flags.NATURAL,
    "Yours; seat 0 begins the first hole. The bots follow as named.",
    default=0,
)
@flags.option("--name", text="What you are called in the log.", default="you")
@flags.option(
    "--browser [PORT]", click.IntRange(0, 65535), "Play on a page that this machine alone can open."
)
@flags.switch("--lines", "Line by line, in a terminal too.")
@flags.option(
    "--delay", flags.PAUSE, "Pause after a bot's turn, at no bot's cost.  [default: 0.6s]"
)
@flags.option("--seed TEXT", text="The same cards for the same text; else new ones.")
@flags.no_playoff_option
@flags.option(
    "--out DIR",
    PathName(path_type=Path, file_okay=False),
    "Where to keep the match.  [default: arena-results/play-TIME]",
)
@flags.game_option
@flags.limit_options
@flags.sandbox_option()
def play(**options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    from arena.cli.options import match_options_of
    from arena.play.session import play_against
    from arena.terminal.screen import say

    delay = options["delay"]
    guest = _guest(
        options["browser"], lines=options["lines"], delay=DELAY_S if delay is None else delay / 1000
    )
    chosen = match_options_of({**options, "seed": ""})
    named = {name: options[name] for name in ("seat", "name", "seed", "out", "sandbox")}
    if not play_against(options["bots"], chosen, guest, say, **named):
        raise SystemExit(INTERRUPTED)


def _guest(browser: int | None, *, lines: bool, delay: float) -> Guest:
    from arena import UserError
    from arena.terminal.screen import can_draw, say, style

    if browser is not None:
        if lines:
            raise UserError("--browser and --lines are two ways to play: leave one of them out")
        try:
            from arena.play.page import browser_seat
        except ModuleNotFoundError as error:
            raise UserError(
                f"--browser needs {error.name}, of the extra `live`: pip install 'nine-arena[live]'"
            ) from None
        return browser_seat(browser, delay, say)
    if not lines and can_draw(sys.stdin, sys.stdout):
        from arena.terminal.seat_keys import at_the_keys

        return lambda: at_the_keys(style(), delay)
    from arena.terminal.seat_lines import line_by_line

    return lambda: line_by_line(style())
