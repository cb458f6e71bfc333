"""`arena rate`: rate events again, together, from their logs."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    Helped,
    Parsed,
    option,
    report_options,
    selection_options,
    sources_option,
    switch,
)

_DAY = len("2026-01-02")


def _seconds(text: str, *, after: bool) -> float:
    """A day or a moment, in UTC unless it names an offset; `after`: of a day its end."""
    try:
        moment = datetime.fromisoformat(text.strip())
        if after and len(text.strip()) <= _DAY:
            moment += timedelta(days=1)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is no date: write it like 2026-01-02 or 2026-01-02T15:04"
        ) from None


SINCE = Parsed("date", partial(_seconds, after=False))
UNTIL = Parsed("date", partial(_seconds, after=True))


@click.command(cls=Helped, short_help="Rate the events in FOLDERS together, without playing.")
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@option(
    "--rate-on",
    ["results", "adjusted"],
    "Results as played, or strokes less luck.  [default: the events']",
)
@selection_options
@option("--since DATE", SINCE, "Matches that ended from then on.")
@option("--until DATE", UNTIL, "Matches that ended before then; of a day, to its end.")
@switch("--skip-damaged", "Of damaged logs: rate what is whole.")
@sources_option
@report_options
def rate(folders: tuple[Path, ...], *, sources: bool, **options: Any) -> None:  # noqa: ANN401 - click's flags
    import arena
    from arena.terminal.screen import say
    from arena.terminal.table import print_table, with_sources

    shown = {name: options.pop(name) for name in ("report", "canonical", "details")}
    chosen = arena.RateOptions(**options)
    if chosen.since is not None and chosen.until is not None and chosen.since >= chosen.until:
        raise arena.UserError("--since and --until: there is no time between them")
    table = arena.rate(folders, chosen, notify=say)
    if chosen.dated and not any(row.deals for row in table.rows):
        say("note: no rated event lies within that time")
    if sources:
        table = with_sources(table, folders)
        shown["details"] = True
    print_table(table, **shown, more="--details")
