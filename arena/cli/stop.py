"""`arena stop`: end the playing of an event from another terminal."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.flags import FOLDER, switch


@click.command(short_help="Stop the event that is being played into FOLDER.")
@click.argument("folder", type=FOLDER)
@switch("--now", "Don't wait for the series that are being played.")
def stop(folder: Path, *, now: bool) -> None:
    """Stop the event that is being played into FOLDER, and wait until it has stopped."""
    import os
    import signal

    from arena import UserError
    from arena.store import await_writer, read_event, writer
    from arena.terminal.screen import resume_line

    read_event(folder)
    pid = writer(folder)
    if not pid:
        raise UserError(f"{folder}: no arena is playing there")
    try:
        # Two SIGTERMs in a row could arrive as one; "at once" has a signal of its own.
        os.kill(pid, signal.SIGUSR1 if now else signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just left
    except PermissionError:
        raise UserError(f"{folder}: process {pid}, which plays there, is not yours") from None
    await_writer(folder)
    event = read_event(folder)
    how = resume_line(folder, event.sandbox)
    click.echo("the event is finished" if event.finished else f"stopped; go on: {how}")
