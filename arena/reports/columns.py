"""Columns of the table for people; text and Markdown share them.

Invariant: cells are numbers and fixed words, but for names, which the caller has to escape.
"""

from collections.abc import Callable

import msgspec

from arena.model import ADJUSTED, Duel, Standing, Table

NOTHING = "-"
DEVIATIONS_95 = 1.96  # standard deviations on either side that hold 95 %


class Column(msgspec.Struct, frozen=True):
    heading: str
    cell: Callable[[Standing], str]
    left: bool = False
    dropped: int = 0
    """The order in which columns are dropped where room is short, 1 first; 0: never."""


RANK = "rank"
BOT = "bot"
FAULTS = "faults"
WITHIN = "±"
MS = "ms/decision"
OFF_TURN = "off-turn ms/match"
DISPUTED = "≠"

WIDEST_MATRIX = 40  # a wider matrix is unreadable; it is in the JSON
OFF_TURN_SHOWN_MS = 1.0
"""CPU off turn from which it gets a column: over a series, what compiles or cleans up in the
background (node, JVM) was seen to use up to 0.8 ms a match, all others nothing."""

OFF_TURN_NAMED_MS = 25.0
"""From here on a bot is named: above what a JVM uses in its very first match, 8 to 15 ms, which
counts in full where every match has fresh processes."""


def columns(table: Table, *, canonical: bool) -> list[Column]:
    settings = table.event.settings
    # Of the differences in strokes the one that the event rates on is dropped last.
    strokes, less = (1, 10) if settings.rate_on == ADJUSTED else (10, 7)
    found = [
        Column(RANK, _rank),
        Column(BOT, lambda row: row.entrant, left=True),
        Column("μ", lambda row: _number(row.mu, ".2f")),
        *([Column(WITHIN, _sure, dropped=9)] if table.rule > 1 else []),
        Column("σ", lambda row: _number(row.sigma, ".2f"), dropped=1),  # noqa: RUF001 - the Greek letter
        Column("P>next %", _p_next, dropped=8),
        Column("Δ strokes", lambda row: _within(row.delta, row.delta_ci), dropped=strokes),
        Column("Δ less luck", lambda row: _within(row.adjusted, row.adjusted_ci), dropped=less),
        Column("luck", lambda row: _number(row.luck, "+.1f"), dropped=2),
        Column("win %", _win, dropped=7),
        Column("W-T-L", _results, dropped=4),
        Column("deals/matches", lambda row: f"{row.deals}/{row.matches}", dropped=3),
        Column("strokes/hole", lambda row: _number(row.strokes, ".2f"), dropped=2),
        Column(MS, lambda row: _number(row.ms, ".2f"), dropped=1),
        Column(OFF_TURN, lambda row: _number(row.off_turn_ms, ".1f"), dropped=2),
        Column(FAULTS, faults, left=True, dropped=6),
    ]
    off_turn = any((row.off_turn_ms or 0) >= OFF_TURN_SHOWN_MS for row in table.rows)
    absent = set() if settings.evaluator else {"Δ less luck", "luck"}
    absent |= {MS, OFF_TURN} if canonical else set() if off_turn else {OFF_TURN}
    return [column for column in found if column.heading not in absent]


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None else format(value, form)


def _within(value: float | None, half: float | None) -> str:
    return NOTHING if value is None or half is None else f"{value:+.1f} ± {half:.1f}"


def _rank(row: Standing) -> str:
    if row.rank is None:
        return NOTHING
    ranks = f"{row.rank}" if row.rank == row.rank_last else f"{row.rank}-{row.rank_last}"
    return f"{ranks} {DISPUTED}" if row.disputed else ranks


def _sure(row: Standing) -> str:
    """Half of the 95 % interval of mu less the field's mean."""
    return NOTHING if row.sigma_field is None else f"{DEVIATIONS_95 * row.sigma_field:.2f}"


def _p_next(row: Standing) -> str:
    """A probability is never certain, however it is rounded."""
    if row.p_next is None:
        return NOTHING
    if row.p_next >= 0.9995:
        return ">99.9"
    return "<0.1" if row.p_next < 0.0005 else f"{100 * row.p_next:.1f}"


def _win(row: Standing) -> str:
    if row.win is None or row.win_low is None or row.win_high is None:
        return NOTHING
    return f"{100 * row.win:.1f} ({100 * row.win_low:.0f}-{100 * row.win_high:.0f})"


def _results(row: Standing) -> str:
    return NOTHING if row.wins is None else f"{row.wins}-{row.ties}-{row.losses}"


def faults(row: Standing) -> str:
    """Counts of faults by kind, the most frequent first; then the row's note."""
    by_number = sorted(row.faults, key=lambda fault: (-fault[1], fault[0]))
    counts = ", ".join(f"{number} {kind}" for kind, number in by_number)
    return "; ".join(part for part in (counts, row.note) if part) or NOTHING


def matrix(table: Table) -> list[tuple[str, list[Duel | None]]]:
    """Each entrant with its results against all, in the order of the table."""
    duels = {(duel.row, duel.column): duel for duel in table.duels}
    entrants = [row.entrant for row in table.rows]
    return [(row, [duels.get((row, column)) for column in entrants]) for row in entrants]


def share(duel: Duel) -> float:
    """A tie counts half."""
    return (duel.wins + duel.ties / 2) / (duel.wins + duel.ties + duel.losses)
