"""What a reader must know besides the rows: from it the event can be repeated, and doubted.

Invariant: canonical facts are the same on every machine on which the same was played.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from arena.model import Event, FaultKind, RatingSettings, Settings, Table
from arena.reports.columns import OFF_TURN_NAMED_MS

# Faults that a slower or busier machine could have caused; another run may go another way.
_TIMED = frozenset({FaultKind.TIMEOUT.value, FaultKind.BANK.value, FaultKind.START.value})
_SHORT = 16

UNCONFINED = (
    "NOT CONFINED: these bots ran without a sandbox. They could read and change whatever the "
    "user could, other bots' files and this event's secret included."
)


class Fact(msgspec.Struct, frozen=True):
    """A label, whom or what it is about, and a sentence. Nothing in it is to be trusted: an
    event.json may come from anywhere.
    """

    label: str
    text: str
    name: str = ""


def unconfined(table: Table, *, canonical: bool) -> bool:
    """Whether the bots were free to do harm."""
    return table.event.sandbox == "none" and not canonical


def facts(table: Table, *, canonical: bool, brief: bool) -> Iterator[Fact]:
    """Everything below the table."""
    event = table.event
    yield Fact("game", _game(event.settings))
    yield Fact("matches", _matches(table))
    yield Fact("deals", _deals(event, brief=brief))
    yield Fact("rating", _rating(event.settings.rating))
    yield Fact("limits", _limits(event.settings))
    if not canonical:
        yield from _sandbox(event)
        yield from _off_turn(table)
        if machine := _machine(event):
            yield Fact("machine", machine)
        for absent in sorted(event.not_run, key=lambda absent: (absent.name, absent.reason)):
            yield Fact("not run", absent.reason, absent.name)
    for out in table.withdrawn:
        yield Fact(
            "withdrawn",
            f"three faulted matches in a row up to {out.after}; "
            + (
                "under half of its matches were played: all its results are annulled"
                if out.annulled
                else "the rest of its matches are forfeits"
            ),
            out.entrant,
        )
    if any(kind in _TIMED for row in table.rows for kind, _ in row.faults):
        yield Fact("time faults", "a repeat on another machine may differ")
    for row in table.rows:
        if "not reproducible" in row.note:
            yield Fact("not reproducible", "played the same deal otherwise", row.entrant)


def _game(settings: Settings) -> str:
    parts = [
        settings.game,
        f"{settings.seats} seats",
        settings.format,
        f"{settings.deals} {'deal' if settings.deals == 1 else 'deals'} a table in all rotations",
        f"series of {settings.series}",
        f"turn cap {settings.turn_cap}",
    ]
    if settings.tables is not None:
        parts.append(f"{settings.tables} tables")
    if not settings.same_author:
        parts.append("no two bots of one author at a table")
    if settings.playoff:
        parts.append("playoffs (they break ties in W-T-L, not in ratings)")
    return ", ".join(parts)


def _matches(table: Table) -> str:
    if not table.planned:
        text = f"{table.matches} counted"
    else:
        text = f"{table.matches} of {table.planned} counted"
    if not table.event.finished:
        return f"{text}; THE EVENT IS NOT FINISHED"
    if table.withdrawn:
        return f"{text}; those with withdrawn bots are void"
    return text


def _deals(event: Event, *, brief: bool) -> str:
    commitment = event.commitment[:_SHORT] + "…" if brief else event.commitment
    if not event.secret:
        revealed = "secret not revealed yet"
    elif brief:
        revealed = "secret revealed"
    else:
        revealed = f"secret {event.secret}"
    text = f"commitment {commitment}, {revealed}"
    return f"{text}; DEALS PREDICTABLE (seeded)" if event.predictable else text


def _rating(settings: RatingSettings) -> str:
    return (
        f"TrueSkill fitted to all results: mu {settings.mu:.6g}, sigma {settings.sigma:.6g}, "
        f"beta {settings.beta:.6g}, tau {settings.tau:.6g}, "
        f"draw probability {settings.draw_probability:.6g}; "
        f"a forfeit counts as {settings.forfeit_margin:.6g} strokes; ± are 95 % intervals"
    )


def _limits(settings: Settings) -> str:
    limits = settings.limits
    return (
        f"move {limits.move_ms} ms, match {limits.match_ms} ms, start {limits.start_ms} ms, "
        f"memory {limits.memory_mb} MB, {limits.tasks} tasks"
        + ("; bots stand still while it isn't their turn" if settings.freeze else "")
    )


def _sandbox(event: Event) -> Iterator[Fact]:
    held = event.confinement
    if event.sandbox:
        memory = f"memory by {held.memory}" if held.memory else ""
        yield Fact("sandbox", ", ".join(filter(None, (held.detail or event.sandbox, memory))))
    if held.kept or held.not_kept:
        answers = [("yes", held.kept), ("NO", held.not_kept)]
        text = "; ".join(f"{answer}: {', '.join(names)}" for answer, names in answers if names)
        yield Fact("guarantees", text)
    if held.gaps:
        yield Fact("known gaps", ", ".join(held.gaps))


def _off_turn(table: Table) -> Iterator[Fact]:
    although = ", although it was to stand still" if table.event.settings.freeze else ""
    for row in table.rows:
        if row.off_turn_ms >= OFF_TURN_NAMED_MS:
            used = f"{row.off_turn_ms:.0f} ms of CPU a match while it wasn't asked{although}"
            yield Fact("off turn", used, row.entrant)


def _machine(event: Event) -> str:
    machine = event.machine
    parts = [
        machine.system,
        machine.cpu,
        f"{machine.cores} {'core' if machine.cores == 1 else 'cores'}" if machine.cores else "",
        f"Python {machine.python}" if machine.python else "",
        f"arena {machine.arena}" if machine.arena else "",
    ]
    return ", ".join(part for part in parts if part)
