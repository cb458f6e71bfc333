"""`arena fetch`: get the packages that bots need, before the event and outside of it."""

from pathlib import Path

import click

from arena.cli.flags import Helped
from arena.cli.paths import BotPath


@click.command(cls=Helped, short_help="Get the packages that the lock files of BOTS name.")
@click.argument("bots", nargs=-1, type=BotPath())
def fetch(bots: tuple[Path, ...]) -> None:
    from arena.bots import default_cache, in_use, load
    from arena.bots import fetch as fetch_packages
    from arena.model import UserError
    from arena.terminal.screen import say

    if not bots:
        raise UserError("name the bots whose packages are wanted, for instance: arena fetch bots/*")
    with in_use(default_cache()) as cache:
        roster = load(bots, cache=cache)
        for note in roster.notes:
            say(f"note: {note}")
        fetched = fetch_packages(roster.candidates, cache=cache, report=click.echo)
    for left_out in (*roster.skipped, *fetched.skipped):
        say(f"note: {left_out.name} is left out: {left_out.reason}")
    if problems := (*roster.problems, *fetched.problems):
        raise UserError("\n".join(map(str, problems)))
