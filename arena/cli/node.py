"""`arena node`: internal command with which a cluster worker examines its machine."""

import sys

import click

from arena.cli.flags import Helped


@click.command(cls=Helped, hidden=True)
def node() -> None:
    from arena.event.admission import admit
    from arena.terminal.screen import say

    if sys.stdin is None:
        raise click.UsageError("standard input is closed; it takes a question of a cluster's event")
    sys.stdout.buffer.write(admit(sys.stdin.buffer.read(), say))
