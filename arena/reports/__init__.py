"""From a `Table` to bytes: text, Markdown, CSV, JSON. Every name is treated as hostile.

Invariant: the same table gives the same bytes; with `canonical` also on every machine that
played the same, because timings and host facts are left out. No colour unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from arena.model import Table, UserError
from arena.reports.as_json import machine
from arena.reports.delimited import delimited
from arena.reports.legacy import as_first_rule
from arena.reports.markdown import markdown
from arena.reports.text import text

_Report = Callable[[Table, int | None, bool, bool], str]

FORMATS: Mapping[str, _Report] = MappingProxyType(
    {
        "text": lambda table, room, canonical, color: text(
            table, room=room, canonical=canonical, color=color
        ),
        "md": lambda table, _room, canonical, _color: markdown(table, canonical=canonical),
        "csv": lambda table, _room, canonical, _color: delimited(table, canonical=canonical),
        "json": lambda table, _room, canonical, _color: machine(table, canonical=canonical),
    }
)
"""By the name that `--format` takes. Adding a report is one module and one line here."""

FILES: Mapping[str, str] = MappingProxyType(
    {"table.txt": "text", "table.md": "md", "table.csv": "csv", "table.json": "json"}
)
"""The tables that are written beside a log, by the name of their file."""


def files(table: Table) -> Iterator[tuple[str, str]]:
    """The tables that are written beside a log, by the rule that `table` was derived by."""
    for name, kind in FILES.items():
        told = table
        if table.rule == 1:
            told = as_first_rule(table, for_people=kind in {"text", "md"})
        yield name, render(told, kind)


def render(
    table: Table,
    format: str,  # noqa: A002 - as the option is called
    *,
    width: int | None = None,
    canonical: bool = False,
    color: bool = False,
) -> str:
    """A report that ends with a newline. `width` and `color` matter to text alone."""
    if format not in FORMATS:
        raise UserError(f"no report format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format](table, width, canonical, color)
