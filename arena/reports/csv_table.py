"""The report as CSV, for spreadsheets and scripts. Column names are stable; new ones go last."""

import csv
import io
from collections.abc import Callable, Mapping

from arena.model import Standing, Table
from arena.reports import TableReport, View
from arena.reports.escape import cell
from arena.reports.rows import LATER, listed, reasons

COLUMNS: Mapping[str, Callable[[Standing, str, str], str | float | None]] = {
    "rank": lambda row, _a, _w: row.rank,
    "rank_last": lambda row, _a, _w: row.rank_last,
    "entrant": lambda row, _a, _w: cell(row.entrant),
    "author": lambda _, author, _w: cell(author),
    "mu": lambda row, _a, _w: row.mu,
    "sigma": lambda row, _a, _w: row.sigma,
    "p_next": lambda row, _a, _w: row.p_next,
    "delta_strokes": lambda row, _a, _w: row.delta,
    "delta_strokes_ci95": lambda row, _a, _w: row.delta_ci,
    "win_share": lambda row, _a, _w: row.win,
    "win_share_low95": lambda row, _a, _w: row.win_low,
    "win_share_high95": lambda row, _a, _w: row.win_high,
    "wins": lambda row, _a, _w: row.wins,
    "ties": lambda row, _a, _w: row.ties,
    "losses": lambda row, _a, _w: row.losses,
    "deals": lambda row, _a, _w: row.deals,
    "matches": lambda row, _a, _w: row.matches,
    "strokes_per_hole": lambda row, _a, _w: row.strokes,
    "ms_per_decision": lambda row, _a, _w: row.ms,
    "faults": lambda row, _a, _w: sum(number for _, number in row.faults),
    "fault_kinds": lambda row, _a, _w: " ".join(f"{kind}:{n}" for kind, n in row.faults),
    "note": lambda row, _a, _w: cell(row.note),
    "off_turn_ms_per_match": lambda row, _a, _w: row.off_turn_ms,
    "delta_adjusted": lambda row, _a, _w: row.adjusted,
    "delta_adjusted_ci95": lambda row, _a, _w: None if row.adjusted is None else row.adjusted_ci,
    "luck_per_match": lambda row, _a, _w: row.luck,
    "disputed": lambda row, _a, _w: None if row.rank is None else int(row.disputed),
    "sigma_field": lambda row, _a, _w: row.sigma_field,
    "reason": lambda _, _a, why: cell(why),
    "source": lambda row, _a, _w: cell(row.source or ""),
}
"""By name, from a row, its author, and why it may be empty. None is an empty cell."""
# Timings are the host's and stay out of canonical files.
_TIMED = frozenset({"ms_per_decision", "off_turn_ms_per_match"})


def render(table: Table, view: View) -> str:
    canonical = view.canonical
    authors = {entrant.id: entrant.author for entrant in table.event.entrants}
    left_out = {*(_TIMED if canonical else ()), *(LATER if table.rule == 1 else ())}
    if not any(row.source for row in table.rows):  # only its owner asks for it
        left_out.add("source")
    why = reasons(table, canonical=canonical)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(name for name in COLUMNS if name not in left_out)
    for row in listed(table, canonical=canonical):
        about = authors.get(row.entrant, ""), why.get(row.entrant, "")
        writer.writerow(value(row, *about) for n, value in COLUMNS.items() if n not in left_out)
    return out.getvalue()


REPORT = TableReport(render, file="table.csv")
