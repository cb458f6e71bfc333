"""`arena stop`: end the playing of an event from another terminal."""

from pathlib import Path

import click

from arena.cli.flags import FOLDER, Helped, switch


@click.command(cls=Helped, short_help="Stop the event that is being played into FOLDER.")
@click.argument("folder", type=FOLDER)
@switch("--now", "Don't wait for the series that are being played.")
def stop(folder: Path, *, now: bool) -> None:
    import arena
    from arena.terminal.screen import resume_line

    event = arena.stop(folder, at_once=now)
    how = resume_line(folder, event.sandbox)
    click.echo("the event is finished" if event.finished else f"stopped; go on: {how}")
