"""`arena match`: one match, to look at; `arena.event.single_match` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.options import Duration
from arena.cli.paths import PathName
from arena.cli.run import run

# The flags that say how a match is played are those of `arena run`.
AS_IN_RUN = (
    *("game", "turn_cap", "move_time", "match_time", "start_time", "memory", "tasks", "scratch"),
    *("freeze", "sandbox"),
)


class Delay(Duration):
    """A time, or none at all."""

    least_ms = 0

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Read it; 0 needs no unit."""
        return 0 if str(value).strip() == "0" else super().convert(value, param, ctx)


@click.command(
    epilog="""\b
Examples:
  arena match bots/mine bots/other              who wins, hole by hole
  arena match bots/mine bots/mine --watch       against itself; space pauses
  arena match A B C --game four-card-golf --deal 7
  arena match A B --record talk                 every line said, in talk/

\b
Exit codes:
  0 done                   2 wrong input
  3 a bot has failed       4 the machine's trouble
  130 Ctrl-C
"""
)
@click.argument("bots", nargs=-1, type=PathName(path_type=Path, readable=False))
@click.option(
    "--deal",
    type=click.IntRange(min=1),
    metavar="N",
    default=1,
    show_default=True,
    help="Which cards: the same number, game and players, the same cards.",
)
@click.option("--seed", default="match", show_default=True, help="Deals from another seed.")
@click.option("--no-playoff", is_flag=True, help="A tie for first stays one.")
@click.option("--watch", is_flag=True, help="Show the cards and moves as they are played.")
@click.option(
    "--delay",
    type=Delay(),
    help="Pause after a move with --watch, on nobody's time.  [default: 0.5s; 0s in a pipe]",
)
@click.option("--hidden", is_flag=True, help="With --watch: hidden cards by their backs.")
@click.option(
    "--record",
    type=PathName(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep every line said, and stderr, a file a bot.",
)
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON line.")
def match(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Play one match between BOTS, the first in seat 0.

    A bot may be named twice, to play against itself. A tie for first is played off in sudden
    death. The bots start in the sandbox, as in `arena run`, and have the same time.
    """
    from arena.cli.run import need_linux
    from arena.event.single_match import play_match

    need_linux()
    raise SystemExit(play_match(**options))


match.params += [option for option in run.params if option.name in AS_IN_RUN]
