"""The best three, a line each. A report of a test's own."""

from arena.model import Table
from arena.reports import TableReport, View


def render(table: Table, view: View) -> str:
    """Best first."""
    del view
    return "".join(f"{row.rank}. {row.entrant}\n" for row in table.rows[:3])


REPORT = TableReport(render, file="table.podium")
