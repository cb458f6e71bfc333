"""From a `Table` to text: for a terminal, Markdown, CSV, JSON.

A report is a module here that defines a `TableReport`, and a line of `arena.registry.REPORTS`: then
every `--format` offers it. One that names a file is also written beside the log of each event,
verified there and published.

Invariant: the same table gives the same bytes; with `canonical` also on every machine that
played the same, because timings and host facts are left out. Every name is treated as hostile.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from arena.model import Table
from arena.reports.rows import as_first_rule


class View(NamedTuple):
    """Options of a report. `width` and `color` are for terminals."""

    width: int | None = None  # columns of the terminal; None: as wide as it gets
    canonical: bool = False
    color: bool = False
    more: str = ""
    """For a screen: what prints the facts below the table, of which it then has two lines."""


class TableReport(NamedTuple):
    render: Callable[[Table, View], str]  # the whole text, with a newline at its end
    file: str = ""  # the file beside an event's log that holds it; empty: none
    for_people: bool = False
    """By the first rule of derivation, numbers that were not measured are left out."""

    def file_text(self, table: Table) -> str:
        """What its file holds, by the rule that `table` was derived by."""
        if table.rule == 1:
            table = as_first_rule(table, for_people=self.for_people)
        return self.render(replace(table, open_pairs=UNSET), View())
