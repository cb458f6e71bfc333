"""`arena replay`: find a recorded match and show it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from arena.cli.flags import FOLDER, NATURAL, POSITIVE, Helped, Parsed, option, switch
from arena.cli.paths import PathName, bots_of, matches_of

if TYPE_CHECKING:
    from arena import Bound

SORTS = ("best", "worst", "closest", "widest")


def _comparison(text: str) -> Bound:
    from arena import Bound

    bound = Bound.read(text)
    if bound is None:
        raise ValueError(f"{text!r} is no comparison: write it like '<60', '>=-3' or 48")
    return bound


COMPARISON = Parsed("comparison", _comparison)


@click.command(cls=Helped, short_help="List the matches of an event, or step through one.")
@click.argument("folder", type=FOLDER)
@click.argument("match", required=False, shell_complete=matches_of)
@option(
    "--bot NAME",
    text="Matches of this bot; given several times: of all of them.",
    to="bots",
    multiple=True,
    shell_complete=bots_of,
)
@click.option(
    "--fault",
    is_flag=False,
    flag_value="any",
    metavar="[KIND]",
    help="With a fault, of the first bot if one is named; a match is shown from there.",
)
@option(
    "--total '<60'",
    COMPARISON,
    "Strokes of the first bot, or of the winner.",
    to="totals",
    multiple=True,
)
@option(
    "--margin '>10'",
    COMPARISON,
    "Strokes the first bot was behind the best other, or the winner's lead.",
    to="margins",
    multiple=True,
)
@option(
    "--sort ORDER",
    list(SORTS),
    f"By strokes or margin: {', '.join(SORTS)}; forfeits last.  [default: as in the log]",
)
@option("--limit N", NATURAL, "How many are listed; 0: all.  [default: 20; with --json all]")
@switch("--all", "Also matches that don't count.", to="everything")
@option(
    "--attempt N", NATURAL, "Of a series that was played again.  [default: the one that counts]"
)
@option("--hole N", POSITIVE, "Begin there; as text: it alone.")
@option("--move N", NATURAL, "Of the hole: begin there; as text: it alone.")
@option("--as SEAT|NAME", text="Show no more than that seat could know.", to="watcher")
@switch("--regret", "Beside a move what it cost, and which was best: an evaluator's opinion.")
@switch("--print", "As text, on a terminal too.", to="as_text")
@option(
    "--export FILE",
    PathName(readable=False, allow_dash=True),
    "Write the match as JSON; - is standard output.",
)
@switch("--json", "--export -, or the list as JSON lines.", to="as_json")
def replay(**options: Any) -> None:  # noqa: ANN401 - click's flags
    from arena.terminal.replay import show_replay

    show_replay(SimpleNamespace(**options))
