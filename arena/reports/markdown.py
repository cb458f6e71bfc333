"""The report as Markdown: all columns, whatever its width."""

from tabulate import tabulate

from arena.model import Duel, Table
from arena.reports import TableReport, View
from arena.reports.columns import BOT, NOTHING, WIDEST_MATRIX, columns, matrix, share
from arena.reports.escape import markdown, markdown_name, sentence
from arena.reports.footer import UNCONFINED, facts, unconfined
from arena.reports.rows import listed


def render(table: Table, view: View) -> str:
    canonical = view.canonical
    parts = []
    if unconfined(table, canonical=canonical):
        parts.append(f"> **{UNCONFINED}**")
    parts += [_standings(table, canonical=canonical), _matrix(table)]
    lines = []
    for fact in facts(table, canonical=canonical, brief=False):
        words = [markdown_name(fact.name) if fact.name else "", sentence(fact.text, markdown)]
        lines.append(f"- {fact.label}: {': '.join(part for part in words if part)}")
    parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def _standings(table: Table, *, canonical: bool) -> str:
    found = columns(table, canonical=canonical)
    rows = [
        [
            markdown_name(column.cell(row)) if column.heading == BOT else column.cell(row)
            for column in found
        ]
        for row in listed(table, canonical=canonical)
    ]
    aligned = ["left" if column.left else "right" for column in found]
    return _table([column.heading for column in found], rows, aligned)


def _matrix(table: Table) -> str:
    found = matrix(table)
    if len(found) < 2:
        return ""
    if len(found) > WIDEST_MATRIX:
        return f"Win matrix: {len(found)} bots are too many for a page; it is in the JSON."
    rows = [[str(n), markdown_name(row), *map(_duel, met)] for n, (row, met) in enumerate(found, 1)]
    numbers = [row[0] for row in rows]
    made = _table(["", BOT, *numbers], rows, ["right", "left", *["right"] * len(numbers)])
    return f"Rated events won by the row against the column, % (W-T-L):\n\n{made}"


def _duel(duel: Duel | None) -> str:
    if duel is None:
        return NOTHING
    return f"{100 * share(duel):.0f} ({duel.wins}-{duel.ties}-{duel.losses})"


def _table(heads: list[str], rows: list[list[str]], aligned: list[str]) -> str:
    align = aligned if rows else None
    return tabulate(rows, headers=heads, tablefmt="pipe", disable_numparse=True, colalign=align)


REPORT = TableReport(render, file="table.md", for_people=True)
