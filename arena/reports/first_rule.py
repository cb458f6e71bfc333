"""Tables by the first rule of derivation, for the files of events that name no other.

Numbers that were not measured had a value then: rank 0, the prior's rating, a share of 0. Text and
Markdown left some of these out.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from arena.model import Standing, Table

LATER = ("sigma_field", "reason")
"""Columns that such tables don't have."""

_DECIMALS = 3


def as_first_rule(table: Table, *, for_people: bool) -> Table:
    annulled = {out.entrant for out in table.withdrawn if out.annulled}
    rows = tuple(_filled(table, row, annulled, for_people=for_people) for row in table.rows)
    return msgspec.structs.replace(table, rows=rows)


def _filled(
    table: Table, row: Standing, annulled: Collection[str], *, for_people: bool
) -> Standing:
    rating = table.event.settings.rating
    none: dict[str, float | int] = {"wins": 0, "ties": 0, "losses": 0}
    if row.matches or not for_people:
        none |= {"strokes": 0.0, "ms": 0.0, "off_turn_ms": 0.0}
    if row.entrant not in annulled or not for_people:
        none |= {"mu": round(rating.mu, _DECIMALS), "sigma": round(rating.sigma, _DECIMALS)}
    if not for_people:
        none |= {"rank": 0, "rank_last": 0, "win": 0.0, "win_low": 0.0, "win_high": 1.0}
        none |= {"delta": 0.0, "delta_ci": 0.0, "adjusted_ci": 0.0}
        if table.event.settings.evaluator:
            none |= {"adjusted": 0.0, "luck": 0.0}
    missing = {name: value for name, value in none.items() if getattr(row, name) is None}
    return msgspec.structs.replace(row, **missing)
