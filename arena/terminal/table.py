"""Print a ranked table: all of it to a file or a pipe, on a screen with a footer of two lines."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from arena.bots import sources_in
from arena.event.epochs import epochs_of
from arena.model import Table, Withdrawal, bots_called, calls_of
from arena.registry import render
from arena.reports.columns import share
from arena.reports.escape import plain
from arena.reports.faults import fault_lines
from arena.reports.layout import wrap
from arena.store import read_event, read_private, records_of_match
from arena.terminal.screen import colour, columns


def print_table(
    table: Table, report: str = "text", *, canonical: bool = False, details: bool = False, more: str
) -> None:
    """Print a report. `more`: the command that prints the facts which a screen leaves out."""
    text = render(
        table,
        report,
        width=columns(),
        canonical=canonical,
        color=colour(),
        more="" if details or canonical or not sys.stdout.isatty() else more,
    )
    click.echo(text, nl=False)


def part_of(table: Table, *, top: int | None, bots: Sequence[str]) -> Table:
    """The table with its first rows alone, or with those of some bots, by name or id."""
    absent = () if top else table.event.not_run
    rows = table.rows
    if bots:
        ids = (*(row.entrant for row in rows), *(out.name for out in table.event.not_run))
        calls = calls_of((each, each.rpartition("@")[0] or each) for each in ids)
        wanted = bots_called(calls, bots, "--bot")
        rows = tuple(row for row in rows if row.entrant in wanted)
        absent = tuple(out for out in table.event.not_run if out.name in wanted)
    event = msgspec.structs.replace(table.event, not_run=absent)
    shown = {row.entrant for row in rows[:top]}
    pairs = tuple(pair for pair in table.open_pairs or () if shown.intersection(pair.bots))
    return msgspec.structs.replace(table, event=event, rows=rows[:top], open_pairs=pairs)


def with_sources(table: Table, folders: Iterable[Path]) -> Table:
    """The table with the paths of its bots, as far as their events' folders know them."""
    known: dict[str, str] = {}
    for folder in folders:
        private = read_private(folder)
        known |= {**(private.sources if private else {}), **sources_in(folder)}
    rows = tuple(
        msgspec.structs.replace(row, source=known.get(row.entrant, "unknown")) for row in table.rows
    )
    return msgspec.structs.replace(table, rows=rows)


def duel_lines(table: Table) -> Iterator[str]:
    for row in table.rows:
        against = [duel for duel in table.duels if duel.row == row.entrant]
        shares = ", ".join(f"{plain(duel.column)} {100 * share(duel):.0f}" for duel in against)
        if shares:
            text = f"rated events won by {plain(row.entrant)}, %: against {shares}"
            yield from wrap(text, columns(), indent="  ")


def withdrawal_lines(folder: Path, withdrawn: Iterable[Withdrawal]) -> Iterator[str]:
    """For each withdrawn bot: the fault of its last failed match, and how to see more."""
    for out in withdrawn:
        for path in (folder, *epochs_of(folder)):
            event = read_event(path)
            for record in records_of_match(path, out.after, event)[:1]:
                own = tuple(f for f in record.faults if record.seats[f.seat] == out.entrant)
                yield from fault_lines(
                    msgspec.structs.replace(record, faults=own), str(path), event.settings.limits
                )
