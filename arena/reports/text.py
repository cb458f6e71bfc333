"""The report for a terminal: fits its width, and says which columns that cost."""

from tabulate import tabulate

from arena.model import Table
from arena.reports import TableReport, View
from arena.reports.columns import (
    BOT,
    FAULTS,
    NOTHING,
    WIDEST_MATRIX,
    Column,
    columns,
    faults,
    matrix,
    share,
)
from arena.reports.escape import plain, sentence
from arena.reports.footer import UNCONFINED, facts, summary, unconfined
from arena.reports.layout import clip, width, wrap
from arena.reports.rows import listed

SHORTEST_NAME = 20  # a name is cut before a column is dropped, but not below this
OPEN_SHOWN = 8  # pairs of neighbours that are not told apart
_GAP = 2
_RED = "\x1b[1;31m"
_RESET = "\x1b[0m"


def render(table: Table, view: View) -> str:
    room, canonical, color, more = view
    lines = _standings(table, room=room, canonical=canonical)
    if won := _matrix(table, room=room):
        lines += ["", *won]
    if ahead := [] if canonical else _outlook(table, room):
        lines += ["", *ahead]
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


def _outlook(table: Table, room: int | None) -> list[str]:
    """How many more deals would tell neighbours apart, the closest to an answer first."""
    pairs = table.open_pairs or ()
    of = "of the two" if table.event.settings.racing or table.event.settings.ladder else "a table"
    lines = wrap(
        f"more deals {of} to tell neighbours apart (even chance at their lead):",
        room,
        indent="  ",
    )
    for pair in pairs[:OPEN_SHOWN]:
        one, two = (clip(plain(bot), SHORTEST_NAME) for bot in pair.bots)
        about = "more than" if pair.at_least else "about"
        lines += wrap(f"  {one} and {two}: {about} {pair.deals:,}", room, indent="    ")
    if (more := len(pairs) - OPEN_SHOWN) > 0:
        lines.append(f"  and {more} more pairs; --format json has them")
    return lines if pairs else []


def _standings(table: Table, *, room: int | None, canonical: bool) -> list[str]:
    rows = listed(table, canonical=canonical)
    failed = [row for row in rows if faults(row) != NOTHING]
    found = [
        column
        for column in columns(table, canonical=canonical)
        if failed or column.heading != FAULTS
    ]
    cells = {column.heading: [column.heading, *map(column.cell, rows)] for column in found}
    cells[BOT] = [plain(name) for name in cells[BOT]]
    shown, name_room = _fit(found, {name: _width(cells[name]) for name in cells}, room)
    cells[BOT] = [clip(name, name_room) for name in cells[BOT]]
    for texts in cells.values():
        texts.insert(1, "-" * _width(texts))
    lines = _table(
        [list(line) for line in zip(*(cells[column.heading] for column in shown), strict=True)],
        ["left" if column.left else "right" for column in shown],
    )
    dropped = [column.heading for column in found if column not in shown]
    if FAULTS in dropped:
        dropped.remove(FAULTS)
        for row in failed:
            lines += wrap(f"faults: {plain(row.entrant)}: {faults(row)}", room, indent="  ")
    if dropped:
        note = f"not shown in {room} columns: {', '.join(dropped)} (wider terminal: more; "
        lines += wrap(f"{note}--format md: all)", room, indent="  ")
    return lines


def _width(cells: list[str]) -> int:
    return max(map(width, cells))


def _fit(found: list[Column], wide: dict[str, int], room: int | None) -> tuple[list[Column], int]:
    """The columns that fit beside cut names, from the most important down; room for names."""
    longest = wide[BOT]
    if room is None:
        return found, longest
    needs = {name: _GAP + (0 if name == BOT else columns) for name, columns in wide.items()}
    spare = room + _GAP - sum(needs[column.heading] for column in found if not column.dropped)
    taken = []
    for column in sorted(found, key=lambda column: -column.dropped):
        if column.dropped and spare - needs[column.heading] >= min(longest, SHORTEST_NAME):
            spare -= needs[column.heading]
            taken.append(column.heading)
    shown = [column for column in found if not column.dropped or column.heading in taken]
    return shown, min(longest, max(spare, SHORTEST_NAME))


def _table(lines: list[list[str]], aligned: list[str]) -> list[str]:
    # Numbers stay as they were formatted: a bot called 007 is not 7.
    return tabulate(lines, tablefmt="plain", disable_numparse=True, colalign=aligned).splitlines()


def _matrix(table: Table, *, room: int | None) -> list[str]:
    """Row against column; columns are named by the row's number."""
    found = matrix(table)
    many = len(found)
    if many < 3:
        return []
    if many > WIDEST_MATRIX and (table.rule > 1 or room is not None):
        note = f"win matrix: {many} bots are too many to show; --format json has it"
        return wrap(note, room, indent="  ")
    longest = _width([plain(entrant) for entrant, _ in found])
    cells = many * (3 + _GAP) + len(str(many)) + _GAP
    if room is not None and cells + min(longest, SHORTEST_NAME) > room:
        note = f"win matrix: needs {cells + min(longest, SHORTEST_NAME)} columns, there are {room}"
        return wrap(f"{note} (wider terminal, or --format md)", room, indent="  ")
    name_room = longest if room is None else min(longest, room - cells)
    lines = [["", "", *(str(number) for number in range(1, many + 1))]]
    for number, (entrant, duels) in enumerate(found, 1):
        won = [NOTHING if duel is None else f"{100 * share(duel):.0f}" for duel in duels]
        lines.append([str(number), clip(plain(entrant), name_room), *won])
    title = wrap("rated events won by the row against the column, %:", room, indent="  ")
    return [*title, *_table(lines, ["right", "left", *["right"] * many])]


REPORT = TableReport(render, file="table.txt", for_people=True)
