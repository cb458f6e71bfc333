"""`arena prepare`, `arena run`, `arena resume`, `arena stop`: the flags.

`arena.event.prepare` does the work for new events, `arena.event.resume` for those with a folder.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from arena.cli.options import event_options, run_options, sandbox_option
from arena.cli.paths import PathName
from arena.event.cluster import FLAGS as ON
from arena.event.cluster import on_options, where_of
from arena.live.event import FLAGS as LIVE
from arena.live.event import LiveCommand, live_of, live_options

FOLDER = PathName(path_type=Path)
# What may be said when a prepared event is played; all else was fixed when it was prepared.
HERE = {
    *("bots", "sandbox", "beacon", "shard", "jobs", "no_pin", "max_time", "as_json", "quiet"),
    *LIVE,
    *ON,
}
# And when bots come to an event that is over.
INTO = {
    *("into", "bots", "seed", "sandbox", "dry_run"),
    *("jobs", "no_pin", "max_time", "as_json", "quiet"),
    *LIVE,
    *ON,
}


@click.command(
    short_help="Prepare a tournament between BOTS, to be played later.",
    epilog="""\b
Examples:
  arena prepare bots/* --deals 100 --out friday
  arena prepare bots/* --beacon-from "drand round 4182001" --out friday
  arena run friday --beacon 8f3c...
  arena run friday
""",
)
@event_options
@sandbox_option("auto")
@click.option(
    "--beacon-from",
    metavar="SOURCE",
    help="Where a public value will come from that nobody knows yet.",
)
def prepare(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Prepare a tournament between BOTS, to be played later with `arena run`.

    Chooses the secret that all deals follow from, writes it and the bots into a folder, for you
    alone to read, and prints the commitment to publish. A copy of the folder has all that another
    machine needs. With --beacon-from the deals also follow from a value that nobody knows yet, so
    you can't have chosen among secrets.
    """
    need_linux()
    from arena.event.prepare import prepare_event

    raise SystemExit(prepare_event(**options))


@click.command(
    cls=LiveCommand,
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
@sandbox_option("auto")
@run_options
@on_options
@live_options
@click.option("--shard", metavar="I/N", help="Of a prepared event: its I-th of N parts.")
@click.option(
    "--into",
    type=FOLDER,
    metavar="FOLDER",
    help="Add BOTS to the finished event there: only they meet all others.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be played, and how long.")
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
    from arena.model import UserError
    from arena.store import is_results_folder

    bots, beacon, shard = options["bots"], options.pop("beacon"), options.pop("shard")
    options["live"] = live_of(options)
    options["where"] = where_of(options)
    if (into := options.pop("into")) is not None:
        from arena.event.add_bots import run_into

        _refuse_said(INTO, "bots are added to an event by its own settings; leave that out")
        raise SystemExit(
            run_into(
                into,
                **{name: options[name] for name in INTO - {"into"} - LIVE - ON},
                live=options["live"],
                where=options["where"],
            )
        )
    if len(bots) == 1 and is_results_folder(bots[0]):
        from arena.event.resume import run_prepared

        raise SystemExit(
            run_prepared(
                bots[0],
                beacon=beacon,
                shard=shard,
                live=options["live"],
                where=options["where"],
                **_said_here(),
            )
        )
    for flag, value in (("--beacon", beacon), ("--shard", shard)):
        if value is not None:
            raise UserError(f"{flag} goes with a prepared folder: arena run FOLDER {flag} {value}")
    from arena.event.prepare import run_event

    raise SystemExit(run_event(**options))


def _said_here() -> dict[str, Any]:
    """The flags that a prepared event takes; None for a sandbox that nobody has named."""
    said = _refuse_said(
        HERE,
        "a prepared event is played as it was fixed when it was prepared; prepare another one, or "
        "leave that out",
    )
    params = click.get_current_context().params
    here = {name: params[name] for name in HERE - {"bots", "beacon", "shard"} - LIVE - ON}
    return here | {"sandbox": here["sandbox"] if "sandbox" in said else None}


def _refuse_said(allowed: Collection[str], reason: str) -> set[str]:
    """What was said of all flags, if nothing but those that are allowed."""
    from arena.model import UserError

    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    said = {name for name in context.params if context.get_parameter_source(name) != default}
    flags = [
        option.opts[0]
        for option in context.command.params
        if option.name in said and option.name not in allowed
    ]
    if flags:
        raise UserError(f"{', '.join(flags)}: {reason}")
    return said


@click.command(
    cls=LiveCommand,
    epilog="""\b
Example:
  arena resume arena-results/20260102-150405
""",
)
@click.argument("folder", type=FOLDER)
@click.option(
    "--repair",
    is_flag=True,
    help="Set damaged lines of the log aside, and play their matches again.",
)
@sandbox_option(None)
@run_options
@on_options
@live_options
def resume(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    """Go on with the unfinished event in FOLDER."""
    need_linux()
    from arena.event.resume import resume_event

    options["live"] = live_of(options)
    options["where"] = where_of(options)
    raise SystemExit(resume_event(folder, **options))


@click.command(short_help="Stop the event that is being played into FOLDER.")
@click.argument("folder", type=FOLDER)
@click.option("--now", is_flag=True, help="Don't wait for the series that are being played.")
def stop(folder: Path, *, now: bool) -> None:
    """Stop the event that is being played into FOLDER, and wait until it has stopped."""
    import os
    import signal

    from arena.model import UserError
    from arena.store import await_writer, read_event, writer
    from arena.terminal.screen import going_on

    read_event(folder)
    pid = writer(folder)
    if not pid:
        raise UserError(f"{folder}: nobody is playing there")
    try:
        # Two SIGTERMs in a row could arrive as one; "at once" has a signal of its own.
        os.kill(pid, signal.SIGUSR1 if now else signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just left
    except PermissionError:
        raise UserError(f"{folder}: process {pid}, which plays there, is not yours") from None
    await_writer(folder)
    event = read_event(folder)
    how = going_on(folder, event.sandbox)
    click.echo("the event is finished" if event.finished else f"stopped; go on: {how}")


def need_linux() -> None:
    """Bots are confined by the Linux kernel; say what works elsewhere."""
    import sys

    from arena.model import UserError

    if sys.platform != "linux":
        raise UserError(
            f"playing needs Linux (x86-64 or aarch64), this is {sys.platform}: use a virtual "
            "machine, a container or WSL 2; `arena table` and `arena log` work here"
        )
