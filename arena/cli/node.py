"""`arena node`: internal command with which a cluster worker examines its machine."""

import sys

import click


@click.command(hidden=True)
def node() -> None:
    """Answer whether this machine can play an event, from standard input to standard output."""
    from arena.event.admission import admit
    from arena.terminal.screen import say

    sys.stdout.buffer.write(admit(sys.stdin.buffer.read(), say))
