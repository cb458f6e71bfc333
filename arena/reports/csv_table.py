"""The rows as CSV, for spreadsheets and scripts. Column names are stable; new ones go last."""

from __future__ import annotations

import csv
import io

from arena.model import Standing, Table
from arena.reports import TableReport, View
from arena.reports.escape import cell
from arena.reports.first_rule import LATER
from arena.reports.rows import listed, reasons

NAMES = (
    "rank",
    "rank_last",
    "entrant",
    "author",
    "mu",
    "sigma",
    "p_next",
    "delta_strokes",
    "delta_strokes_ci95",
    "win_share",
    "win_share_low95",
    "win_share_high95",
    "wins",
    "ties",
    "losses",
    "deals",
    "matches",
    "strokes_per_hole",
    "ms_per_decision",
    "faults",
    "fault_kinds",
    "note",
    "off_turn_ms_per_match",
    "delta_adjusted",
    "delta_adjusted_ci95",
    "luck_per_match",
    "disputed",
    "sigma_field",
    "reason",
)
# Timings are the host's and stay out of canonical files.
_TIMED = frozenset({"ms_per_decision", "off_turn_ms_per_match"})


def render(table: Table, view: View) -> str:
    canonical = view.canonical
    out = io.StringIO()
    authors = {entrant.id: entrant.author for entrant in table.event.entrants}
    unknown = LATER if table.rule == 1 else frozenset()
    names = [n for n in NAMES if not (canonical and n in _TIMED) and n not in unknown]
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    why = reasons(table, canonical=canonical)
    writer.writerows(
        _fields(row, authors.get(row.entrant, ""), why.get(row.entrant, ""))
        for row in listed(table, canonical=canonical)
    )
    return out.getvalue()


def _fields(row: Standing, author: str, why: str) -> dict[str, str | int | float | None]:
    """None is an empty cell: a number that was not measured."""
    return {
        "rank": row.rank,
        "rank_last": row.rank_last,
        "entrant": cell(row.entrant),
        "author": cell(author),
        "mu": row.mu,
        "sigma": row.sigma,
        "p_next": row.p_next,
        "delta_strokes": row.delta,
        "delta_strokes_ci95": row.delta_ci,
        "win_share": row.win,
        "win_share_low95": row.win_low,
        "win_share_high95": row.win_high,
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "deals": row.deals,
        "matches": row.matches,
        "strokes_per_hole": row.strokes,
        "ms_per_decision": row.ms,
        "faults": sum(number for _, number in row.faults),
        "fault_kinds": " ".join(f"{kind}:{number}" for kind, number in row.faults),
        "note": cell(row.note),
        "off_turn_ms_per_match": row.off_turn_ms,
        "delta_adjusted": row.adjusted,
        "delta_adjusted_ci95": None if row.adjusted is None else row.adjusted_ci,
        "luck_per_match": row.luck,
        "disputed": None if row.rank is None else int(row.disputed),
        "sigma_field": row.sigma_field,
        "reason": cell(why),
    }


REPORT = TableReport(render, file="table.csv")
