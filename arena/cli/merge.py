"""`arena merge`: merge the shards of an event; `arena.event.merge` does the work."""

from pathlib import Path

import click

from arena.cli.flags import FOLDER, Helped, option


@click.command(cls=Helped)
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@option("--out", FOLDER, "A new folder for the event.", required=True)
def merge(folders: tuple[Path, ...], out: Path) -> None:
    import arena
    from arena.terminal.outcome import show_result
    from arena.terminal.screen import say

    outcome = arena.merge(folders, out)
    show_result(outcome, say)
    say(f"{len(folders)} shards merged in {out}")
