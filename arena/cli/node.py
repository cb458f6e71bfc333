"""`arena node`: internal command with which a cluster worker examines its machine."""

import sys

import click

from arena.cli.flags import Helped


@click.command(cls=Helped, hidden=True)
def node() -> None:
    from arena.event.admission import admit
    from arena.terminal.screen import say

    sys.stdout.buffer.write(admit(sys.stdin.buffer.read(), say))
