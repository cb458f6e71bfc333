"""`arena spec`: print the page that describes the protocol and the rules."""

import click

from arena.cli.flags import Helped


@click.command(cls=Helped, short_help="Print the protocol's page: all that a bot must know.")
def spec() -> None:
    import sys

    from arena.scaffolds import specification

    sys.stdout.buffer.write(specification().read_bytes())
    sys.stdout.buffer.flush()
