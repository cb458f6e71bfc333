"""`arena twins`: find bots of an event that decide alike."""

from pathlib import Path
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    NATURAL,
    POSITIVE,
    TIME,
    Helped,
    json_option,
    option,
    sandbox_option,
    switch,
)
from arena.cli.paths import BotPath, rated_bots_of
from arena.cli.usage import need_linux


@click.command(
    cls=Helped, short_help="Find bots that decide alike: copies, ports, reworded programs."
)
@click.argument("folder", type=FOLDER)
@click.argument("bots", nargs=-1, type=BotPath())
@option(
    "--bot NAME",
    text="Only pairs with this bot; can be given again.",
    to="of",
    multiple=True,
    shell_complete=rated_bots_of,
)
@switch("--all", "Every pair, however little alike.", to="every")
@option(
    "--recipe BOT",
    BotPath(),
    "A program that all had to begin with; can be given again.",
    to="recipes",
    multiple=True,
)
@option("--limit N", NATURAL, "Pairs whose moments are shown; 0: all.", default=10)
@option("--max-time", TIME, "Stop asking a bot after this time.", default="20s")
@option("--jobs N", POSITIVE, "Bots at a time.  [default: the cores]")
@sandbox_option(text="`none` confines nothing.")
@json_option
def twins(  # click's flags
    folder: Path,
    *,
    as_json: bool,
    limit: int,
    max_time: int,
    **options: Any,  # noqa: ANN401
) -> None:
    need_linux()
    import arena
    from arena.terminal.screen import columns, echo_json, say, show
    from arena.terminal.twins_report import twin_lines

    chosen = arena.TwinOptions(seconds=max_time / 1000, **options)
    found = arena.find_twins(folder, chosen, notify=say)
    if as_json:
        echo_json(found)
    else:
        show(twin_lines(found, str(folder), columns(), limit or None))
