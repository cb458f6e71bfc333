"""The columns of the table for people, in the order of the design; text and Markdown share them.

Invariant: a cell of ours is numbers and fixed words; names go in as they are given, so the
caller makes them harmless for where they go.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from arena.model import ADJUSTED, Duel, Settings, Standing, Table

NOTHING = "-"


class Column(msgspec.Struct, frozen=True):
    """One column: its cell for a row of the table."""

    heading: str
    cell: Callable[[Standing], str]
    left: bool = False
    given_up: int = 0
    """In which order columns are left out where there is no room, 1 first; 0 is never."""


RANK = "rank"
BOT = "bot"
FAULTS = "faults"
MS = "ms/decision"
OFF_TURN = "off-turn ms/match"
DISPUTED = "≠"

OFF_TURN_SHOWN_MS = 1.0
"""CPU off turn from which it gets a column: over a series, what compiles or cleans up in the
background (node, JVM) was seen to use up to 0.8 ms a match, all others nothing."""

OFF_TURN_NAMED_MS = 25.0
"""From here on a bot is named: above what a JVM uses in its very first match, 8 to 15 ms, which
counts in full where every match has fresh processes."""


def columns(table: Table, *, canonical: bool) -> list[Column]:
    """All columns of a table."""
    void = {out.entrant for out in table.withdrawn if out.annulled}

    def known(text: Callable[[Standing], str]) -> Callable[[Standing], str]:
        """A cell that an entrant without results leaves empty."""
        return lambda row: text(row) if row.deals and row.entrant not in void else NOTHING

    def rated(text: Callable[[Standing], str]) -> Callable[[Standing], str]:
        return lambda row: NOTHING if row.entrant in void else text(row)

    found = [
        Column(RANK, _rank),
        Column(BOT, lambda row: row.entrant, left=True),
        Column("μ", rated(lambda row: f"{row.mu:.2f}")),
        Column("σ", rated(lambda row: f"{row.sigma:.2f}"), given_up=5),  # noqa: RUF001 - the Greek letter
        Column("P>next %", rated(_p_next), given_up=8),
        *_gaps(table.event.settings, known),
        Column("win %", known(_win), given_up=7),
        Column("W-T-L", lambda row: f"{row.wins}-{row.ties}-{row.losses}", given_up=4),
        Column("deals/matches", lambda row: f"{row.deals}/{row.matches}", given_up=3),
        Column("strokes/hole", _strokes, given_up=2),
    ]
    if not canonical:
        found.append(Column(MS, _ms, given_up=1))
        if any(row.off_turn_ms >= OFF_TURN_SHOWN_MS for row in table.rows):
            found.append(Column(OFF_TURN, _off_turn, given_up=2))
    found.append(Column(FAULTS, faults, left=True, given_up=6))
    return found


def _gaps(
    settings: Settings, known: Callable[[Callable[[Standing], str]], Callable[[Standing], str]]
) -> list[Column]:
    """By how many strokes: what the event rates on is given up last."""
    by_luck = settings.rate_on == ADJUSTED
    found = [Column("Δ strokes", known(_delta), given_up=1 if by_luck else 10)]
    if settings.evaluator:
        found.append(Column("Δ less luck", known(_adjusted), given_up=10 if by_luck else 7))
        found.append(Column("luck", known(_luck), given_up=2))
    return found


def _rank(row: Standing) -> str:
    if not row.rank:
        return NOTHING
    ranks = f"{row.rank}" if row.rank == row.rank_last else f"{row.rank}-{row.rank_last}"
    return f"{ranks} {DISPUTED}" if row.disputed else ranks


def _adjusted(row: Standing) -> str:
    return NOTHING if row.adjusted is None else f"{row.adjusted:+.1f} ± {row.adjusted_ci:.1f}"


def _luck(row: Standing) -> str:
    return NOTHING if row.luck is None else f"{row.luck:+.1f}"


def _p_next(row: Standing) -> str:
    """A probability is never certain, however it is rounded."""
    if row.p_next is None:
        return NOTHING
    if row.p_next >= 0.9995:
        return ">99.9"
    return "<0.1" if row.p_next < 0.0005 else f"{100 * row.p_next:.1f}"


def _delta(row: Standing) -> str:
    return f"{row.delta:+.1f} ± {row.delta_ci:.1f}"


def _win(row: Standing) -> str:
    low, high = (f"{100 * end:.0f}" for end in (row.win_low, row.win_high))
    return f"{100 * row.win:.1f} ({low}-{high})"


def _strokes(row: Standing) -> str:
    return f"{row.strokes:.2f}" if row.matches else NOTHING


def _ms(row: Standing) -> str:
    return f"{row.ms:.2f}" if row.matches else NOTHING


def _off_turn(row: Standing) -> str:
    return f"{row.off_turn_ms:.1f}" if row.matches else NOTHING


def faults(row: Standing) -> str:
    """How often and how a bot failed, the most frequent first; and what became of it."""
    by_number = sorted(row.faults, key=lambda fault: (-fault[1], fault[0]))
    counts = ", ".join(f"{number} {kind}" for kind, number in by_number)
    return "; ".join(part for part in (counts, row.note) if part) or NOTHING


class Matrix:
    """Who beat whom: the share of rated events that the row won of those with the column."""

    def __init__(self, table: Table) -> None:
        self._duels = {(duel.row, duel.column): duel for duel in table.duels}
        self.entrants = [row.entrant for row in table.rows]

    def duel(self, row: str, column: str) -> Duel | None:
        """The results of two that met."""
        return self._duels.get((row, column))


def share(duel: Duel) -> float:
    """A tie counts half."""
    return (duel.wins + duel.ties / 2) / (duel.wins + duel.ties + duel.losses)
