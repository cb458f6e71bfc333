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
@option("--name TEXT", text="What the event is called, of one FOLDER.  [default: its own name]")
@selection_options
@switch("--anonymous", "Stable aliases instead of names and authors.")
@option(
    "--alias-key FILE",
    FOLDER,
    "The key of the aliases.  [default: one in your own state folder, made when needed]",
)
@switch("--print-aliases", "With --anonymous: also print which alias is which bot, for you alone.")
@switch("--json", "With --print-aliases: a JSON line a bot.", to="as_json")
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
    from arena.terminal.published import PublishProgress, outcome_lines, print_aliases
    from arena.terminal.screen import say

    aliases, as_json = options.pop("print_aliases"), options.pop("as_json")
    if aliases and not options["anonymous"]:
        raise arena.UserError("--print-aliases goes with --anonymous: else names are published")
    if as_json and not aliases:
        raise arena.UserError("--json goes with --print-aliases")
    with_ = {name: options.pop(f"with_{name}") for name in ("stderr", "host")}
    if options["regret"] is None:
        del options["regret"]
    chosen = arena.PublishOptions(**with_, **options)
    done = arena.publish(folders, site, chosen, notify=say, progress=PublishProgress())
    for outcome in done:
        for line in outcome_lines(outcome):
            say(line)
    if aliases:
        print_aliases(done, as_json=as_json)
        say(str(site / "index.html"))
    else:
        click.echo(str(site / "index.html"))
