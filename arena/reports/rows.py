"""Rows of a report: those of the table, and of bots that were not run, with reasons.

Bots that were not run are facts of the host, so a canonical report has none of them. By the first
rule of derivation, for the files of events that name no other, numbers that were not measured have
a value: rank 0, the prior's rating, a share of 0. Text and Markdown left some of these out.
"""

from collections.abc import Mapping

import msgspec

from arena.model import FAULTS_IN_A_ROW, HALF, Settings, Standing, Table, Withdrawal

NOT_RUN = "not run"
LATER = ("sigma_field", "reason")  # columns that tables of the first rule don't have
_DECIMALS = 3


def listed(table: Table, *, canonical: bool = False) -> tuple[Standing, ...]:
    if canonical or table.rule == 1:
        return table.rows
    # A bot that one event could not run has a row if it played in another.
    known = {name for each in table.event.entrants for name in (each.id, each.name)}
    absent = dict.fromkeys(sorted(out.name for out in table.event.not_run))
    rows = (Standing(entrant=name, note=NOT_RUN) for name in absent if name not in known)
    return (*table.rows, *rows)


def reasons(table: Table, *, canonical: bool = False) -> Mapping[str, str]:
    found = {} if canonical else {out.name: out.reason for out in table.event.not_run}
    settings, rule = table.event.settings, table.rule
    return found | {out.entrant: withdrawal(out, settings, rule) for out in table.withdrawn}


def withdrawal(out: Withdrawal, settings: Settings, rule: int) -> str:
    """Why a bot was taken out, and what became of its results."""
    after, below = settings.withdrawn_after, settings.annulled_below
    faulted = "three" if after == FAULTS_IN_A_ROW else f"{after}"
    part = "half" if below == HALF else f"{100 * below:g} %"
    why = f"{faulted} faulted matches in a row up to {out.after}"
    if not out.annulled:
        return f"{why}; the rest of its matches are forfeits"
    if rule == 1:  # untrue: it goes by the place in the schedule
        return f"{why}; under {part} of its matches were played: all its results are annulled"
    return f"{why}, before {part} of its schedule: all its results are annulled"


def as_first_rule(table: Table, *, for_people: bool) -> Table:
    annulled = {out.entrant for out in table.withdrawn if out.annulled}
    settings = table.event.settings
    rating = settings.rating

    def filled(row: Standing) -> Standing:
        none: dict[str, float | int] = {"wins": 0, "ties": 0, "losses": 0}
        if row.matches or not for_people:
            none |= {"strokes": 0.0, "ms": 0.0, "off_turn_ms": 0.0}
        if row.entrant not in annulled or not for_people:
            none |= {"mu": round(rating.mu, _DECIMALS), "sigma": round(rating.sigma, _DECIMALS)}
        if not for_people:
            none |= {"rank": 0, "rank_last": 0, "win": 0.0, "win_low": 0.0, "win_high": 1.0}
            none |= {"delta": 0.0, "delta_ci": 0.0, "adjusted_ci": 0.0}
            if settings.evaluator:
                none |= {"adjusted": 0.0, "luck": 0.0}
        missing = {name: value for name, value in none.items() if getattr(row, name) is None}
        return msgspec.structs.replace(row, **missing)

    return msgspec.structs.replace(table, rows=tuple(map(filled, table.rows)))
