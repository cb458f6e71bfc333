"""Print what a tuning has found: the setting, and how flat the optimum is."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from arena.event.progress import Progress
from arena.event.tune import Tuning
from arena.reports.escape import plain, shell
from arena.terminal.progress import JsonProgress


def show_tuning(found: Tuning, display: Progress) -> None:
    if found.new is None:
        return
    if isinstance(display, JsonProgress):
        table = found.outcome.table if found.outcome else None
        display.emit(
            "tuned",
            folder=str(found.folder),
            old=found.old.id,
            new=found.new.id,
            setting=found.new.setting,
            matches=found.matches,
            close=found.close,
            parameters=[msgspec.to_builtins(each) for each in found.optima],
            verdict=table.verdict if table else None,
        )
        return
    for line in _lines(found):
        click.echo(line)


def _lines(found: Tuning) -> Iterator[str]:
    assert found.new is not None
    heads = ("parameter", "was", "best", "likely", f"costs < {found.close:g} strokes")
    rows = [heads] + [
        (each.name, each.was, each.value, " to ".join(each.likely), " to ".join(each.flat))
        for each in found.optima
    ]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield ""
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, wide, strict=True))
        yield "  ".join(cells).rstrip()
    yield ""
    yield f"{found.matches} matches of the search; likely: 95 %, as far as its last stage looked;"
    yield "costs: by the fitted surface, with the other parameters at their best"
    if found.new == found.old:
        yield f"the best setting found is that of {plain(found.old.id)}: nothing to compare"
        return
    yield f"the setting: {shell([_named(found.source, found.new.setting)])}"


def _named(source: Path, setting: dict[str, str]) -> str:
    values = ",".join(f"{name}={value}" for name, value in setting.items())
    return f"{source}:{values}" if values else str(source)
