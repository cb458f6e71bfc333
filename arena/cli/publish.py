"""`arena publish`: write events as a static site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.paths import PathName


@click.command(
    short_help="Write the events in FOLDERS as a static site.",
    epilog="""\b
Examples:
  arena publish friday --to site              then open site/index.html
  arena publish friday saturday --to site     side by side; others in it stay
  arena publish ladder --to site --anonymous  names and authors are aliases
""",
)
@click.argument("folders", nargs=-1, required=True, type=PathName(path_type=Path))
@click.option(
    "--to",
    "site",
    required=True,
    metavar="SITE",
    type=PathName(path_type=Path),
    help="The site's folder: empty, or a site that this command has made.",
)
@click.option("--title", metavar="TEXT", help="What the site is called.")
@click.option("--name", metavar="TEXT", help="What the event is called, of one FOLDER.")
@click.option("--anonymous", is_flag=True, help="Stable aliases instead of names and authors.")
@click.option(
    "--alias-key",
    metavar="FILE",
    type=PathName(path_type=Path),
    help="The key of the aliases.  [default: one in your own state folder, made when needed]",
)
@click.option("--with-stderr", is_flag=True, help="What bots wrote to stderr, with their faults.")
@click.option(
    "--with-host", is_flag=True, help="Machines, and why bots were not run: may name hosts, paths."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: a core each]")
def publish(
    folders: tuple[Path, ...],
    site: Path,
    *,
    with_stderr: bool,
    with_host: bool,
    **options: Any,  # noqa: ANN401 - click's flags
) -> None:
    """Write the events in FOLDERS as a static site: rankings, matrices, bots, replays, method.

    No server, no network: it works from a folder and under any path of any host. Events that are in
    SITE already stay, or are made anew if they are named.
    """
    from arena.site.update import PublishOptions, update_site
    from arena.terminal.published import PublishProgress, outcome_lines
    from arena.terminal.screen import say

    chosen = PublishOptions(stderr=with_stderr, host=with_host, **options)
    for outcome in update_site(folders, site, chosen, say, PublishProgress()):
        for line in outcome_lines(outcome):
            say(line)
    click.echo(str(site / "index.html"))
