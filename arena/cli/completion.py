"""`arena completion`: print the script that lets a shell complete arena's command line."""

import click
from click.shell_completion import get_completion_class

from arena.cli.flags import Helped


@click.command(cls=Helped, short_help="Print the script that completes arena in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "arena", "_ARENA_COMPLETE").source())
