"""`arena match`: one match between named bots, to watch, to record or to debug."""

from pathlib import Path
from typing import Any

import click

import arena
from arena.cli import flags
from arena.cli.paths import BotPath, PathName
from arena.cli.usage import need_linux

FAULTED = 3
_TIMES = ("move_time", "match_time", "start_time")
_DAYS_MS = 1_000_000_000  # eleven days: the longest limit that the protocol has


@click.command(cls=flags.EventCommand, short_help="Play one match between BOTS, and show it.")
@click.argument("bots", nargs=-1, type=BotPath())
@flags.option(
    "--deal N",
    flags.POSITIVE,
    "Which cards: the same number, game and players, the same cards.",
    default=1,
)
@flags.option("--seed", text="Deals from another seed.", default="match")
@flags.no_playoff_option
@flags.switch("--watch", "Show the cards and moves as they are played.")
@flags.option(
    "--delay",
    flags.PAUSE,
    "Pause after a move with --watch, at no bot's cost.  [default: 0.5s; 0s in a pipe]",
)
@flags.switch("--hidden", "With --watch: hidden cards by their backs.")
@flags.option(
    "--record DIR",
    PathName(path_type=Path, file_okay=False),
    "Record every line, and stderr, a file a bot.",
)
@flags.switch("--json", "The result as one JSON line.", to="as_json")
@flags.switch("--no-limits", "No time limits: for a debugger that stops a bot. Not for results.")
@flags.game_option
@flags.limit_options
@flags.freeze_option
@flags.sandbox_option()
def match(**options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    from arena.cli.options import match_options_of
    from arena.terminal.outcome import show_match
    from arena.terminal.screen import say
    from arena.terminal.watch import watching

    if options["no_limits"]:
        _lift_limits(options)
    bots, watch, delay, as_json = (options[n] for n in ("bots", "watch", "delay", "as_json"))
    chosen, talk = match_options_of(options), options["record"]
    if watch and as_json:
        raise arena.UserError("--watch and --json both want standard output: leave one of them out")
    if not watch and (options["hidden"] or delay is not None):
        raise arena.UserError("--hidden and --delay go with --watch")
    seconds = None if delay is None else delay / 1000
    played = arena.play_match(
        bots,
        chosen,
        notify=say,
        sandbox=options["sandbox"],
        talk=talk,
        watch=watching(chosen.game, chosen.deal, hidden=options["hidden"], delay=seconds)
        if watch
        else None,
    )
    show_match(played, bots, as_json=as_json, talk=talk)
    raise SystemExit(FAULTED if played.record.faults else 0)


def _lift_limits(options: dict[str, Any]) -> None:
    """Give bots all the time there is, and say so beside what is printed."""
    from arena.terminal.screen import warn

    context = click.get_current_context()
    for name in _TIMES:
        if context.get_parameter_source(name) != click.core.ParameterSource.DEFAULT:
            flag = f"--{name.replace('_', '-')}"
            raise arena.UserError(f"--no-limits and {flag}: leave one of them out")
        options[name] = _DAYS_MS
    warn("no time limits: a bot may take as long as it likes; this match is no result")
