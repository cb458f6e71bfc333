"""The report as Markdown: all columns, whatever its width."""

from __future__ import annotations

from tabulate import tabulate

from arena.model import Table
from arena.reports import TableReport, View
from arena.reports.columns import BOT, NOTHING, WIDEST_MATRIX, Matrix, columns, share
from arena.reports.escape import markdown_name, markdown_sentence
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
        words = [markdown_name(fact.name) if fact.name else "", markdown_sentence(fact.text)]
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
    return tabulate(
        rows,
        headers=[column.heading for column in found],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left" if column.left else "right" for column in found] if rows else None,
    )


def _matrix(table: Table) -> str:
    matrix = Matrix(table)
    entrants = matrix.entrants
    if len(entrants) < 2:
        return ""
    if len(entrants) > WIDEST_MATRIX:
        return f"Win matrix: {len(entrants)} bots are too many for a page; it is in the JSON."
    rows = []
    for number, row in enumerate(entrants, 1):
        line = [str(number), markdown_name(row)]
        for column in entrants:
            duel = matrix.duel(row, column)
            if duel is None:
                line.append(NOTHING)
            else:
                won = f"{100 * share(duel):.0f}"
                line.append(f"{won} ({duel.wins}-{duel.ties}-{duel.losses})")
        rows.append(line)
    made = tabulate(
        rows,
        headers=["", BOT, *map(str, range(1, len(entrants) + 1))],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["right", "left", *["right"] * len(entrants)],
    )
    return f"Rated events won by the row against the column, % (W-T-L):\n\n{made}"


REPORT = TableReport(render, file="table.md", for_people=True)
