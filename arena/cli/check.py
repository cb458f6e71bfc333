"""`arena check`: test whether bots keep to the protocol."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.cli import flags
from arena.cli.paths import BotPath
from arena.registry import GAMES

WIDEST = 100


@click.command(
    cls=flags.Helped, short_help="Try whether BOTS keep to the protocol, and name each mistake."
)
@click.argument("bots", nargs=-1, required=True, type=BotPath())
@flags.option("--game", list(GAMES), "Only this game.  [default: all]")
@flags.switch("--quick", "One match of each kind.")
@flags.switch("--strict", "A warning fails, too.")
@flags.move_time_option
@flags.start_time_option
@flags.memory_option
@flags.sandbox_option(text="As in arena run.")
@flags.option(
    "--jobs N", flags.POSITIVE, "Bots at a time.  [default: one a core that this process is given]"
)
@flags.switch("--verbose -v", "Lines and standard error whole.")
@flags.json_option
def check(bots: tuple[Path, ...], **options: Any) -> int:  # noqa: ANN401 - click's flags
    import arena
    from arena.cli.options import limits_of
    from arena.terminal.check_report import CheckDisplay
    from arena.terminal.screen import columns, echo_json

    as_json, game = options["as_json"], options["game"]
    display = CheckDisplay(
        None if as_json else click.echo,
        width=min(columns(), WIDEST) if sys.stdout.isatty() else None,
        verbose=options["verbose"],
        several=len(bots) > 1,
    )
    match_ms = max(arena.Limits().match_ms, options["move_time"])
    chosen = arena.CheckOptions(
        games=(game,) if game else tuple(GAMES),
        limits=limits_of({**options, "match_time": match_ms}),
        **{name: options[name] for name in ("quick", "sandbox", "jobs")},
    )
    reports = arena.check_bots(bots, chosen, progress=display)
    if as_json:
        echo_json(reports)
    if not reports.entered:
        return 2
    warned = any(report.status == "warned" for report in reports.bots)
    return 3 if not reports.passed or (options["strict"] and warned) else 0
