"""`arena compare`: is the new bot better than the old one? `arena.event.compare` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.options import Finite, limit_options, run_options, sandbox_option
from arena.cli.paths import PathName
from arena.event.cluster import on_options, where_of
from arena.live.event import LiveCommand, live_of, live_options
from arena.registry import GAMES


@click.command(
    cls=LiveCommand,
    epilog="""\b
Examples:
  arena compare main/my-bot my-bot
  arena compare old new --effect 5              coarser, and sooner answered
  arena compare old new --game four-card-golf --alpha 0.01 --beta 0.1
  arena compare old new --quiet && git push     in a script

\b
Exit codes:
  0 better   6 not better   7 no decision within the budget
  8 both have the same content, and nothing was played
  2 wrong input   3 bots that can't start   4 the machine's trouble
""",
)
@click.argument("old", type=PathName(path_type=Path, readable=False))
@click.argument("new", type=PathName(path_type=Path, readable=False))
@click.option(
    "--game", type=click.Choice(list(GAMES)), default="play-nine", show_default=True,
    help="What is played.",
)  # fmt: skip
@click.option(
    "--effect", type=Finite(0, 1000, min_open=True), default=2.0, show_default=True,
    metavar="STROKES", help="What counts as better: so many strokes a match.",
)  # fmt: skip
@click.option(
    "--alpha", type=Finite(0, 0.5, min_open=True, max_open=True), default=0.05,
    show_default=True, metavar="P", help="How often one that isn't better may pass.",
)  # fmt: skip
@click.option(
    "--beta", type=Finite(0, 0.5, min_open=True, max_open=True), default=0.05,
    show_default=True, metavar="P", help="How often one that is better by --effect may fail.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(min=1), default=4000, show_default=True, metavar="N",
    help="Matches at most.",
)  # fmt: skip
@click.option(
    "--rate-on", type=click.Choice(["results", "adjusted"]), default="adjusted", show_default=True,
    help="Strokes less luck need a fraction of the matches.",
)  # fmt: skip
@click.option("--seed", help="Deals from this seed: repeatable.")
@limit_options
@click.option(
    "--out", type=PathName(path_type=Path), help="Results folder.  [default: arena-results/…]"
)
@sandbox_option("auto")
@run_options
@on_options
@live_options
def compare(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Play NEW against OLD until it is known whether NEW is better.

    A sequential test: it asks whether NEW is ahead by --effect strokes a match or not at all, and
    stops as soon as the stated error rates allow an answer. Each deal is played in both seatings.
    A match that is forfeited counts as lost by 123 strokes (four-card golf: 56). Before NEW is
    called better it is also shown that it gains more than it may lose by forfeits not seen yet.
    The exit code tells the answer, so a script or a pull request can depend on it.
    """
    from arena.cli.run import need_linux
    from arena.event.compare import compare_bots

    need_linux()
    options["live"] = live_of(options)
    options["where"] = where_of(options)
    raise SystemExit(compare_bots(**options))
