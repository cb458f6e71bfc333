"""The report for a terminal: fits its width, and says which columns that cost."""

from __future__ import annotations

from tabulate import tabulate

from arena.model import Standing, Table
from arena.reports import TableReport, View
from arena.reports.columns import (
    BOT,
    FAULTS,
    NOTHING,
    WIDEST_MATRIX,
    Column,
    Matrix,
    columns,
    faults,
    share,
)
from arena.reports.escape import plain, sentence
from arena.reports.footer import UNCONFINED, facts, summary, unconfined
from arena.reports.layout import clip, width, wrap
from arena.reports.rows import listed

# A name is cut before a column is dropped, but not below this.
SHORTEST_NAME = 20
_GAP = 2
_RED = "\x1b[1;31m"
_RESET = "\x1b[0m"


def render(table: Table, view: View) -> str:
    room, canonical, color, more = view
    lines = _standings(table, room=room, canonical=canonical)
    matrix = _matrix(table, room=room)
    if matrix:
        lines += ["", *matrix]
    lines.append("")
    if unconfined(table, canonical=canonical):
        warning = wrap(UNCONFINED, room, indent="  ")
        lines += [f"{_RED}{line}{_RESET}" for line in warning] if color else warning
    if more:
        lines += _summary(table, more, room)
    for fact in () if more else facts(table, canonical=canonical, brief=True):
        parts = [part for part in (plain(fact.name), sentence(fact.text)) if part]
        lines += wrap(f"{fact.label}: {': '.join(parts)}", room, indent="  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _summary(table: Table, more: str, room: int | None) -> tuple[str, str]:
    """Two lines instead of the facts; the command `more` is never cut."""
    counted, how = summary(table)
    both = f"{how}; details: {more}"
    if room is None:
        return counted, both
    return clip(counted, room), both if width(both) <= room else f"details: {more}"


def _standings(table: Table, *, room: int | None, canonical: bool) -> list[str]:
    found = columns(table, canonical=canonical)
    rows = listed(table, canonical=canonical)
    failed = any(faults(row) != NOTHING for row in rows)
    if not failed:
        found = [column for column in found if column.heading != FAULTS]
    shown, name_room = _fitting(found, rows, room)
    lines = _grid(shown, rows, name_room)
    dropped = [column.heading for column in found if column not in shown]
    if failed and FAULTS in dropped:
        dropped.remove(FAULTS)
        for row in rows:
            if faults(row) != NOTHING:
                note = f"faults: {plain(row.entrant)}: {faults(row)}"
                lines += wrap(note, room, indent="  ")
    if dropped:
        note = f"not shown in {room} columns: {', '.join(dropped)} (wider terminal: more; "
        lines += wrap(f"{note}--format md: all)", room, indent="  ")
    return lines


def _cell(column: Column, row: Standing, name_room: int) -> str:
    value = column.cell(row)
    return clip(plain(value), name_room) if column.heading == BOT else value


def _width(column: Column, rows: tuple[Standing, ...], name_room: int) -> int:
    cells = [column.heading, *(_cell(column, row, name_room) for row in rows)]
    return max(map(width, cells))


def _fitting(
    found: list[Column], rows: tuple[Standing, ...], room: int | None
) -> tuple[list[Column], int]:
    """The columns that there is room for, and the room for names.

    From the most important down each column is taken that still fits beside cut names.
    """
    longest = max([len(BOT), *(width(plain(row.entrant)) for row in rows)])
    if room is None:
        return found, longest
    needs = {
        column.heading: _GAP + (0 if column.heading == BOT else _width(column, rows, longest))
        for column in found
    }
    spare = room + _GAP - sum(needs[column.heading] for column in found if not column.dropped)
    taken = []
    for column in sorted(found, key=lambda column: -column.dropped):
        if column.dropped and spare - needs[column.heading] >= min(longest, SHORTEST_NAME):
            spare -= needs[column.heading]
            taken.append(column.heading)
    shown = [column for column in found if not column.dropped or column.heading in taken]
    return shown, min(longest, max(spare, SHORTEST_NAME))


def _grid(shown: list[Column], rows: tuple[Standing, ...], name_room: int) -> list[str]:
    heads = [column.heading for column in shown]
    body = [[_cell(column, row, name_room) for column in shown] for row in rows]
    rules = ["-" * _width(column, rows, name_room) for column in shown]
    aligned = ["left" if column.left else "right" for column in shown]
    return _table([heads, rules, *body], aligned)


def _table(lines: list[list[str]], aligned: list[str]) -> list[str]:
    # Numbers stay as they were formatted: a bot called 007 is not 7.
    made = tabulate(lines, tablefmt="plain", disable_numparse=True, colalign=aligned)
    return made.splitlines()


def _matrix(table: Table, *, room: int | None) -> list[str]:
    """Row against column; columns are named by the row's number."""
    matrix = Matrix(table)
    entrants = matrix.entrants
    if len(entrants) < 3:
        return []
    if len(entrants) > WIDEST_MATRIX and (table.rule > 1 or room is not None):
        note = f"win matrix: {len(entrants)} bots are too many to show; --format json has it"
        return wrap(note, room, indent="  ")
    numbers = [str(number) for number in range(1, len(entrants) + 1)]
    heads = ["", "", *numbers]
    longest = max(width(plain(entrant)) for entrant in entrants)
    cells = len(numbers) * (3 + _GAP) + len(numbers[-1]) + _GAP
    if room is not None and cells + min(longest, SHORTEST_NAME) > room:
        note = f"win matrix: needs {cells + min(longest, SHORTEST_NAME)} columns, there are {room}"
        return wrap(f"{note} (wider terminal, or --format md)", room, indent="  ")
    name_room = longest if room is None else min(longest, room - cells)
    body = []
    for number, row in zip(numbers, entrants, strict=True):
        line = [number, clip(plain(row), name_room)]
        for column in entrants:
            duel = matrix.duel(row, column)
            line.append(NOTHING if duel is None else f"{100 * share(duel):.0f}")
        body.append(line)
    title = wrap("rated events won by the row against the column, %:", room, indent="  ")
    return [*title, *_table([heads, *body], ["right", "left", *["right"] * len(numbers)])]


REPORT = TableReport(render, file="table.txt", for_people=True)
