"""Rows of a report: those of the table, and of bots that were not run, with reasons.

Bots that were not run are facts of the host, so a canonical report has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena.model import FAULTS_IN_A_ROW, HALF, Settings, Standing, Table, Withdrawal

NOT_RUN = "not run"


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
