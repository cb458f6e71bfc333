"""`arena table`: the table of a results folder, derived from its log."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.paths import PathName
from arena.registry import REPORTS


@click.command(
    short_help="Print the ranked table of the event in FOLDER.",
    epilog="""\b
Examples:
  arena table arena-results/20260102-150405
  arena table results --format md > TABLE.md
""",
)
@click.argument("folder", type=PathName(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(REPORTS)),
    default="text",
    show_default=True,
)
@click.option("--canonical", is_flag=True, help="Without timings and host facts.")
def table(folder: Path, kind: str, *, canonical: bool) -> None:
    """Print the ranked table of the event in FOLDER, with the epochs that were added to it."""
    from arena.event.epochs import epochs_of
    from arena.event.rerate import rated
    from arena.event.results import table_of
    from arena.event.search import withdrawal_lines
    from arena.registry import render
    from arena.terminal.notes import tell_long_read
    from arena.terminal.screen import colour, columns

    epochs = epochs_of(folder)
    tell_long_read([folder, *epochs])
    found = rated([folder]) if epochs else table_of(folder)
    click.echo(
        render(
            found,
            kind,
            width=columns(),
            canonical=canonical,
            color=colour(),
        ),
        nl=False,
    )
    if kind == "text" and not canonical:
        for line in withdrawal_lines(folder, found.withdrawn):
            click.echo(line)
