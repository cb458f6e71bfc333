"""`arena run`, `arena resume`, `arena stop`: the flags; `arena.cli.event` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.options import event_options, run_options

FOLDER = click.Path(path_type=Path)


@click.command(
    epilog="""\b
Examples:
  arena run bots/*
  arena run bots/* --game four-card-golf --seats 4 --tables 30
  arena run bots/* --seed demo --out demo       the same deals every time
  arena run bots/* --dry-run                    what would be played
  arena run --event friday.toml                 every setting from a file
  arena run bots/* --json | my-dashboard        one JSON line an event

\b
Exit codes:
  0 done, or stopped by --max-time    2 wrong input
  3 bots that can't start             4 the machine's trouble
  130 Ctrl-C                          143 arena stop
"""
)
@event_options
@run_options
@click.option("--dry-run", is_flag=True, help="Say what would be played, and how long.")
def run(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Play a tournament between BOTS and print the ranked table.

    A bot is a folder with a bot.toml or an obvious entry file (bot.py, main.js, …), a script,
    or an executable. Results go to a folder of their own; Ctrl-C keeps everything finished and
    prints the command that goes on.
    """
    need_linux()
    from arena.cli.event import run_event

    raise SystemExit(run_event(**options))


@click.command(
    epilog="""\b
Example:
  arena resume arena-results/20260102-150405
"""
)
@click.argument("folder", type=FOLDER)
@run_options
def resume(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    """Go on with the unfinished event in FOLDER."""
    need_linux()
    from arena.cli.event import resume_event

    raise SystemExit(resume_event(folder, **options))


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--now", is_flag=True, help="Don't wait for the series that are being played.")
def stop(folder: Path, *, now: bool) -> None:
    """Stop the event that is being played into FOLDER, and wait until it has stopped."""
    import os
    import signal

    from arena.model import UserError
    from arena.store import await_writer, read_event, writer

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
    finished = read_event(folder).finished
    click.echo("the event is finished" if finished else f"stopped; go on: arena resume {folder}")


def need_linux() -> None:
    """Bots are confined by the Linux kernel; say what works elsewhere."""
    import sys

    from arena.model import UserError

    if sys.platform != "linux":
        raise UserError(
            f"playing needs Linux (x86-64 or aarch64), this is {sys.platform}: use a virtual "
            "machine, a container or WSL 2; `arena table` and `arena log` work here"
        )
