"""`arena run`: play an event of bots, a prepared event, or bots that join a finished one."""

from collections.abc import Collection
from typing import Any

import click

import arena
from arena.cli import flags
from arena.cli.usage import need_linux

_HERE = {"sandbox", "jobs", "no_pin", "max_time", "as_json", "quiet"}
_HERE |= {"live", "live_host", "live_stay", "on", "tls_ca", "tls_cert", "tls_key"}
_PREPARED = {"bots", "beacon", "shard"} | _HERE
"""Parameters that a prepared event takes; all else was fixed when it was prepared."""
_INTO = {"into", "retire", "bots", "seed", "skip_broken", "dry_run"} | _HERE
"""Parameters that are taken when bots are added to a finished event."""


@click.command(cls=flags.EventCommand)
@flags.event_options
@flags.sandbox_option()
@flags.run_options
@flags.option("--shard I/N", text="Of a prepared event: its I-th of N parts.")
@flags.option(
    "--into FOLDER",
    flags.FOLDER,
    "Add BOTS to the finished event there: only they meet all others.",
)
@flags.switch("--retire", "With --into: former versions of BOTS play no more.")
@flags.switch("--dry-run", "Say what would be played, and how long.")
def run(**options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    from arena.cli.options import event_options_of, exit_code, playing_of
    from arena.terminal.progress import show_forecast

    bots, into, beacon, shard = (options[name] for name in ("bots", "into", "beacon", "shard"))
    playing = playing_of(options)
    display = playing["progress"]
    prepared = len(bots) == 1 and into is None and arena.is_results_folder(bots[0])
    if into is not None:
        _refuse_others(_INTO, "bots are added to an event by its own settings; leave that out")
    elif prepared:
        named = _refuse_others(
            _PREPARED,
            "a prepared event is played as it was fixed when it was prepared; prepare another "
            "one, or leave that out",
        )
    else:
        if options["retire"]:
            raise arena.UserError("--retire goes with --into FOLDER")
        for flag, value in (("--beacon", beacon), ("--shard", shard)):
            if value is not None:
                raise arena.UserError(
                    f"{flag} goes with a prepared folder: arena run FOLDER {flag} {value}"
                )
    if prepared:
        if "sandbox" not in named:
            playing = playing_of({**options, "sandbox": None})
        outcome = arena.run_prepared(bots[0], beacon=beacon, shard=shard, **playing)
        raise SystemExit(exit_code(outcome))
    what = {"event": event_options_of(options), "skip_broken": options["skip_broken"]}
    retire = options["retire"]
    if options["dry_run"]:
        found = arena.dry_run(bots, into=into, retire=retire, out=options["out"], **what, **playing)
        show_forecast(found, display)
        return
    if into is not None:
        how = {"seed": options["seed"], "skip_broken": options["skip_broken"], "retire": retire}
        outcome = arena.add_bots(into, bots, **how, **playing)
    else:
        outcome = arena.run(bots, options["out"], **what, **playing)
    raise SystemExit(exit_code(outcome))


def _refuse_others(allowed: Collection[str], reason: str) -> set[str]:
    """The parameters that were named on the line; UserError if any other than these was."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    named = {name for name in context.params if context.get_parameter_source(name) != default}
    odd = [
        option.opts[0]
        for option in context.command.params
        if option.name in named and option.name not in allowed
    ]
    if odd:
        raise arena.UserError(f"{', '.join(odd)}: {reason}")
    return named
