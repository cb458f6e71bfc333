"""`arena replay`: find a recorded match and show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.paths import BotName, MatchId, PathName

SORTS = ("best", "worst", "closest", "widest")


class Comparison(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """A number, or a comparison with one: 60, '<60', '>=-3'."""

    name = "comparison"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - named there, and imported only when it is used
        """Read it, or say what it should look like."""
        from arena.event.search import Bound

        bound = Bound.read(value) if isinstance(value, str) else value
        if bound is None:
            self.fail(f"{value!r} is no comparison: write it like '<60', '>=-3' or 48", param, ctx)
        return bound


@click.command(
    short_help="List the matches of an event, or step through one.",
    epilog="""\b
Examples:
  arena replay friday                            the matches, a line each
  arena replay friday 4f2c01ab99de-000003-1      step through one: ? helps
  arena replay friday 4f2c                       an id's beginning is enough
  arena replay friday --bot mine --fault         where it failed
  arena replay friday --bot mine --margin '>0' --sort closest
  arena replay friday --sort best --limit 1      the best match of all
  arena replay friday 4f2c --hole 3 | less       as text, card by card
  arena replay friday 4f2c --export match.json
""",
)
@click.argument("folder", type=PathName(path_type=Path))
@click.argument("match", required=False, type=MatchId())
@click.option(
    "--bot",
    "bots",
    type=BotName(),
    multiple=True,
    metavar="NAME",
    help="Matches of this bot; given several times: of all of them.",
)
@click.option(
    "--fault",
    is_flag=False,
    flag_value="any",
    metavar="[KIND]",
    help="With a fault, of the first bot if one is named; a match is shown from there.",
)
@click.option(
    "--total",
    "totals",
    type=Comparison(),
    multiple=True,
    metavar="'<60'",
    help="Strokes of the first bot, or of the winner.",
)
@click.option(
    "--margin",
    "margins",
    type=Comparison(),
    multiple=True,
    metavar="'>10'",
    help="Strokes the first bot was behind the best other, or the winner's lead.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    metavar="ORDER",
    help=f"By strokes or margin: {', '.join(SORTS)}; forfeits last.  [default: as in the log]",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="How many are listed; 0: all.  [default: 20; with --json all]",
)
@click.option("--all", "everything", is_flag=True, help="Also matches that don't count.")
@click.option(
    "--attempt",
    type=click.IntRange(min=0),
    metavar="N",
    help="Of a series that was played again.  [default: the one that counts]",
)
@click.option(
    "--hole", type=click.IntRange(min=1), metavar="N", help="Begin there; as text: it alone."
)
@click.option(
    "--move",
    type=click.IntRange(min=0),
    metavar="N",
    help="Of the hole: begin there; as text: it alone.",
)
@click.option(
    "--as", "watcher", metavar="SEAT|NAME", help="Show no more than that seat could know."
)
@click.option("--print", "as_text", is_flag=True, help="As text, on a terminal too.")
@click.option(
    "--export",
    type=PathName(readable=False, allow_dash=True),
    metavar="FILE",
    help="Write the match as JSON; - is standard output.",
)
@click.option("--json", "as_json", is_flag=True, help="--export -, or the list as JSON lines.")
def replay(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """List the matches of the event in FOLDER, or step through MATCH.

    MATCH is the beginning of an id. Without it matches are listed that the flags leave; if that is
    one, it is shown. In a terminal keys step through it, elsewhere it is printed. The cards follow
    from the event's secret, which is revealed when the event is over.
    """
    from arena.terminal.replay import look

    look(**options)
