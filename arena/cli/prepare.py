"""`arena prepare`: an event in a folder, to be played later or elsewhere."""

from __future__ import annotations

from typing import Any

import click

from arena.cli.flags import EventCommand, event_options, sandbox_option
from arena.cli.usage import need_linux


@click.command(
    cls=EventCommand,
    short_help="Prepare a tournament between BOTS, to be played later.",
    epilog="""\b
Examples:
  arena prepare bots/* --deals 100 --out friday
  arena prepare bots/* --beacon-from "drand round 4182001" --out friday
  arena run friday --beacon 8f3c...
  arena run friday
""",
)
@event_options
@sandbox_option()
@click.option(
    "--beacon-from",
    metavar="SOURCE",
    help="Where a public value will come from that nobody knows yet.",
)
def prepare(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Prepare a tournament between BOTS, to be played later with `arena run`.

    Chooses the secret that all deals follow from, writes it and the bots into a folder, for you
    alone to read, and prints the commitment to publish. A copy of the folder has all that another
    machine needs. With --beacon-from the deals also follow from a value that nobody knows yet, so
    you can't have chosen among secrets.
    """
    need_linux()
    from arena.event.prepare import prepare_event

    raise SystemExit(prepare_event(**options))
