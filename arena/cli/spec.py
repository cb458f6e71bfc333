"""`arena spec`: print the page that describes the protocol and the rules."""

import click

from arena.cli.flags import Command


@click.command(cls=Command, short_help="Print the protocol's page: all that a bot must know.")
def spec() -> None:
    """Print the protocol's page, in Markdown: messages, rules of both games, limits, faults.

    It is all that is needed to write a bot, in any language. The schemas that it mentions are
    beside it in the repository, in protocol/.
    """
    import sys

    from arena.scaffolds import specification

    sys.stdout.buffer.write(specification().read_bytes())
    sys.stdout.buffer.flush()
