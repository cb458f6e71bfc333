"""`arena publish`: write events as a static site."""

from pathlib import Path
from typing import Any

import click

from arena.cli.flags import FOLDER, NATURAL, POSITIVE, Helped, option, selection_options, switch


@click.command(cls=Helped, short_help="Write the events in FOLDERS as a static site.")
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@option(
    "--to SITE",
    FOLDER,
    "The site's folder: empty, or a site that this command has made.",
    to="site",
    required=True,
)
@option("--title TEXT", text="What the site is called.")
@option("--name TEXT", text="What the event is called, of one FOLDER.")
@selection_options
@switch("--anonymous", "Stable aliases instead of names and authors.")
@option(
    "--alias-key FILE",
    FOLDER,
    "The key of the aliases.  [default: one in your own state folder, made when needed]",
)
@switch("--with-stderr", "What bots wrote to stderr, with their faults.")
@switch("--with-host", "Machines, and why bots were not run: may name hosts, paths.")
@option(
    "--regret N",
    NATURAL,
    "In how many of the newest matches to look where bots lost strokes; 0: none.  [default: 50]",
)
@option("--jobs", POSITIVE, "Processes.  [default: a core each]")
def publish(folders: tuple[Path, ...], site: Path, **options: Any) -> None:  # noqa: ANN401 - flags
    import arena
    from arena.terminal.published import PublishProgress, outcome_lines
    from arena.terminal.screen import say

    with_ = {name: options.pop(f"with_{name}") for name in ("stderr", "host")}
    if options["regret"] is None:
        del options["regret"]
    chosen = arena.PublishOptions(**with_, **options)
    for outcome in arena.publish(folders, site, chosen, notify=say, progress=PublishProgress()):
        for line in outcome_lines(outcome):
            say(line)
    click.echo(str(site / "index.html"))
