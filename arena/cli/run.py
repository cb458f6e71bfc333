"""`arena run`: play an event of bots, a prepared event, or bots that join a finished one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    EventCommand,
    cluster_options,
    event_options,
    live_options,
    option,
    run_options,
    sandbox_option,
    switch,
)
from arena.cli.usage import need_linux

_LIVE = {"live", "live_host", "live_stay"}
_CLUSTER = {"on", "tls_ca", "tls_cert", "tls_key"}
_HERE = {"sandbox", "jobs", "no_pin", "max_time", "as_json", "quiet"}
_PREPARED = {"bots", "beacon", "shard"} | _HERE | _LIVE | _CLUSTER
"""Parameters that a prepared event takes; all else was fixed when it was prepared."""
_INTO = {"into", "bots", "seed", "dry_run"} | _HERE | _LIVE | _CLUSTER
"""Parameters that are taken when bots are added to a finished event."""


@click.command(
    cls=EventCommand,
    epilog="""\b
Examples:
  arena run bots/*
  arena run bots/* --game four-card-golf --seats 4 --tables 30
  arena run bots/* --seed demo --out demo       the same deals every time
  arena run bots/* --dry-run                    what would be played
  arena run --event friday.toml                 every setting from a file
  arena run friday                              what arena prepare made
  arena run friday --shard 2/5                  a part of it, see arena merge
  arena run bots/* --json | my-dashboard        one JSON line an event
  arena run bots/* --live                       watch it in a browser
  arena run --into friday my-bot                to an event that is over
  arena run bots/* --on dask tls://head:8786 --tls-ca ca.pem --tls-cert me.pem

\b
Exit codes:
  0 done, or stopped by --max-time    2 wrong input
  3 bots that can't start             4 the machine's trouble
  130 Ctrl-C                          143 arena stop
""",
)
@event_options
@sandbox_option()
@run_options
@cluster_options
@live_options
@option("--shard I/N", text="Of a prepared event: its I-th of N parts.")
@option("--into FOLDER", FOLDER, "Add BOTS to the finished event there: only they meet all others.")
@switch("--dry-run", "Say what would be played, and how long.")
def run(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Play a tournament between BOTS and print the ranked table.

    A bot is a folder with a bot.toml or an obvious entry file (bot.py, main.js, …), a script,
    or an executable. Results go to a folder of their own; Ctrl-C keeps everything finished and
    prints the command that goes on. BOTS may also be one prepared folder: that is played.

    With --into, bots are added to an event that is over, under its settings: what they play is an
    epoch of it, with a commitment of its own, in a folder within the event's. Bots of the event
    that the cache has lost are named beside them.
    """
    need_linux()
    from arena.cli.options import event_options_of, exit_code, session_of
    from arena.event.dry_run import Forecast
    from arena.model import UserError
    from arena.store import is_results_folder

    bots, beacon, shard = options["bots"], options["beacon"], options["shard"]
    with session_of(options) as session:
        if (into := options["into"]) is not None:
            from arena.event.add_bots import run_into
            from arena.event.commands import command_line

            _refuse_others(_INTO, "bots are added to an event by its own settings; leave that out")
            seed, dry_run = options["seed"], options["dry_run"]
            outcome = run_into(into, bots, session, seed=seed, dry_run=dry_run)
            if not isinstance(outcome, Forecast) and outcome.event.finished:
                session.progress.say(f"with the whole event: {command_line('table', into)}")
        elif len(bots) == 1 and is_results_folder(bots[0]):
            import msgspec

            from arena.event.resume import run_prepared

            named = _refuse_others(
                _PREPARED,
                "a prepared event is played as it was fixed when it was prepared; prepare another "
                "one, or leave that out",
            )
            sandbox = options["sandbox"] if "sandbox" in named else None
            here = msgspec.structs.replace(session.options, sandbox=sandbox)
            outcome = run_prepared(
                bots[0], session._replace(options=here), beacon=beacon, shard=shard
            )
        else:
            from arena.event.prepare import run_event

            for flag, value in (("--beacon", beacon), ("--shard", shard)):
                if value is not None:
                    raise UserError(
                        f"{flag} goes with a prepared folder: arena run FOLDER {flag} {value}"
                    )
            outcome = run_event(
                bots,
                event_options_of(options),
                session,
                out=options["out"],
                skip_broken=options["skip_broken"],
                dry_run=options["dry_run"],
            )
    if isinstance(outcome, Forecast):
        from arena.terminal.progress import show_forecast

        show_forecast(outcome, session.progress)
        raise SystemExit(0)
    raise SystemExit(exit_code(outcome))


def _refuse_others(allowed: Collection[str], reason: str) -> set[str]:
    """The parameters that were named on the line; UserError if any other than these was."""
    from arena.model import UserError

    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    named = {name for name in context.params if context.get_parameter_source(name) != default}
    flags = [
        option.opts[0]
        for option in context.command.params
        if option.name in named and option.name not in allowed
    ]
    if flags:
        raise UserError(f"{', '.join(flags)}: {reason}")
    return named
