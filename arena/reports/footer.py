"""Facts below the table: settings, deals, ratings, limits, machines, withdrawals.

Invariant: canonical facts are the same on every machine on which the same was played.
"""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from arena.model import ADJUSTED, Event, FaultKind, Machine, Settings, SourceEvent, Table
from arena.model.parameters import shown
from arena.reports.columns import DISPUTED, OFF_TURN_NAMED_MS
from arena.reports.cycles import SHOWN, cycles
from arena.reports.escape import sentence
from arena.reports.rows import withdrawal

# Faults that a slower or busier machine could have caused; another run may go another way.
_TIMED = frozenset({FaultKind.TIMEOUT.value, FaultKind.BANK.value, FaultKind.START.value})
_SHORT = 16

UNCONFINED = (
    "NOT CONFINED: these bots ran without a sandbox. They could read and change whatever the "
    "user could, other bots' files and this event's secret included."
)


class Fact(msgspec.Struct, frozen=True):
    """A label, whom or what it is about, and a sentence; nothing in it is to be trusted."""

    label: str
    text: str
    name: str = ""


def unconfined(table: Table, *, canonical: bool) -> bool:
    return table.event.sandbox == "none" and not canonical


def facts(table: Table, *, canonical: bool, brief: bool) -> Iterator[Fact]:
    event = table.event
    if table.sources:
        yield from _sources(table, brief=brief)
    else:
        if event.settings.name:
            yield Fact("name", event.settings.name)
        yield Fact("game", _game(event))
        yield Fact("matches", _matches(table))
        yield Fact("deals", _deals(event, brief=brief))
    yield Fact("rating", _rating(event.settings, table.rule))
    yield from _found(table)
    if not table.sources:
        yield Fact("limits", _limits(event.settings))
    if not canonical:
        yield from _host(table)
    if not table.sources:
        yield from _withdrawn(table, table.rule)
    if len(table.sources) < 2:
        yield from _kept_out(event.settings)
    if any(kind in _TIMED for row in table.rows for kind, _ in row.faults):
        yield Fact("time faults", "a repeat on another machine may differ")
    for row in table.rows:
        if "not reproducible" in row.note:
            yield Fact("not reproducible", "played the same deal otherwise", row.entrant)


def _kept_out(settings: Settings) -> Iterator[Fact]:
    for entrant in settings.withdrawn or ():
        yield Fact("kept out", "was withdrawn before this epoch", entrant)
    for entrant in settings.retired or ():
        yield Fact("kept out", "is a former version of a bot that came later", entrant)


def summary(table: Table) -> tuple[str, str]:
    """What a screen shows instead of the facts: what was counted, how to read the ranking."""
    event, settings = table.event, table.event.settings
    count = len(table.sources)
    what = f"{count} events" if count > 1 else settings.format
    matches = f"{table.matches}/{table.planned}" if table.planned else f"{table.matches}"
    counted: tuple[str, ...] = (
        f"{settings.game}, {settings.seats} seats, {what}: {matches} matches",
        "" if event.finished or table.sources else "NOT FINISHED",
        "PREDICTABLE" if event.predictable else "",
    )
    if settings.name:
        counted = (sentence(settings.name), *counted)
    return "; ".join(filter(None, counted)), "± 95 %; shared ranks: not told apart"


def _sources(table: Table, *, brief: bool) -> Iterator[Fact]:
    first = table.sources[0].event.settings
    count = len(table.sources)
    events = f"{count} events rated together" if count > 1 else "a part of one event"
    yield Fact("game", f"{first.game}, {first.seats} seats, {events}")
    yield Fact("matches", f"{table.matches} counted")
    for line in table.selected:
        yield Fact("selected", line)
    if not table.event.settings.evaluator and any(
        source.event.settings.evaluator for source in table.sources
    ):
        yield Fact("luck", "not measured, or not by one evaluator, in all of the events: left out")
    for source in table.sources:
        yield Fact("event", "; ".join(_source(source, brief=brief)))
        for old, new in source.aliases:
            yield Fact("same bot", f"the same content as {new}, and shown as that", old)
        yield from _withdrawn(source, table.rule)
        for entrant in source.gone:
            yield Fact("not counted", "was withdrawn before this epoch: nothing it did here counts",
                       entrant)  # fmt: skip


def _source(source: SourceEvent, *, brief: bool) -> Iterator[str]:
    event = source.event
    if event.settings.name:
        yield event.settings.name
    yield _deals(event, brief=brief)
    yield f"{source.matches} of {source.planned} matches counted"
    if not event.finished:
        yield "THE EVENT IS NOT FINISHED"
    if source.damaged:
        lines = "LINE" if source.damaged == 1 else "LINES"
        yield f"{source.damaged} DAMAGED {lines} OF ITS LOG PASSED OVER"
    yield _game(event)
    yield _limits(event.settings)
    if source.ended:
        yield f"stopped by: {source.ended}"


def _withdrawn(of: Table | SourceEvent, rule: int) -> Iterator[Fact]:
    for out in of.withdrawn:
        yield Fact("withdrawn", withdrawal(out, of.event.settings, rule), out.entrant)


def _found(table: Table) -> Iterator[Fact]:
    event = table.event
    if table.ended and not table.sources:
        yield Fact("stopped by", table.ended)
    for row in table.rows:
        if row.source:
            yield Fact("source", row.source, row.entrant)
    for entrant in event.entrants:
        if entrant.setting:
            yield Fact("setting", shown(entrant.setting), entrant.id)
    if event.settings.evaluator:
        yield Fact("luck", f"by the evaluator {event.settings.evaluator}")
    if any(row.disputed for row in table.rows):
        other = "as played" if event.settings.rate_on == ADJUSTED else "by strokes less luck"
        yield Fact(DISPUTED, f"{other}, its rank would be outside this range")
    found = cycles(table)
    for cycle in found[:SHOWN]:
        yield Fact("cycle", f"{' beats '.join(cycle)}, which beats the first")
    if len(found) > SHOWN:
        yield Fact("cycles", f"{len(found)} in all; no ranking can show them")


def _begin(settings: Settings) -> str:
    """How a format that looks at results begins."""
    if settings.ladder:
        return " at a time"
    if settings.racing and settings.racing.spread is not UNSET:
        return f" at a time, {settings.racing.spread} a bot or more to begin with"
    return " to begin with" if settings.racing or settings.trial else ""


def _game(event: Event) -> str:
    settings = event.settings
    single = settings.format == "single"
    many = "1 deal" if settings.deals == 1 else f"{settings.deals} deals"
    parts = [
        settings.game,
        f"{settings.seats} seats",
        settings.format,
        "one match, which rates nobody"
        if single
        else f"{many} a table in all rotations{_begin(settings)}",
        f"series of {settings.series}",
        f"turn cap {settings.turn_cap}",
    ]
    if settings.tables is not None:
        parts.append(f"{settings.tables} tables")
    if not settings.same_author:
        parts.append("no two bots of one author at a table")
    if settings.heroes and not single:
        parts.append(f"run by {', '.join(settings.heroes)}")
    if (race := settings.racing) is not None:
        most = f" or {race.budget} matches" if race.budget else ""
        parts.append(
            f"until neighbours are told apart, or shown to be within {race.close:g} strokes{most}"
        )
    if ladder := settings.ladder:
        rounds = f"round {ladder.round}" if event.commitment else f"rounds up to {ladder.round}"
        parts.append(f"{rounds}, {ladder.budget} matches where they tell most")
    if (trial := settings.trial) is not None:
        apart = trial.forfeits is not UNSET and settings.rate_on == ADJUSTED
        asked = f"better: 0 against {trial.effect:g}"
        if trial.no_worse is True:
            asked = f"no worse: {-trial.effect:g} against 0"
        parts.append(
            f"is {trial.new} {asked} strokes a match, "
            f"alpha {trial.alpha:g}, beta {trial.beta:g}, {trial.budget} matches at most"
            f"{', forfeits tested apart' if apart else ''}"
        )
    if settings.options is not UNSET:
        parts += [f"{name} {value}" for name, value in sorted(settings.options.items())]
    if settings.playoff:
        parts.append("playoffs (they break ties in W-T-L, not in ratings)")
    return ", ".join(parts)


def _matches(table: Table) -> str:
    planned = f" of {table.planned}" if table.planned else ""
    text = f"{table.matches}{planned} counted"
    if not table.event.finished:
        part = f" (this is shard {table.event.shard})" if table.event.shard else ""
        return f"{text}; THE EVENT IS NOT FINISHED{part}"
    if table.rule == 1:  # untrue at tables of three and more, and of bots that weren't annulled
        return f"{text}; those with withdrawn bots are void" if table.withdrawn else text
    return "; ".join((text, *_uncounted(table)))


def _uncounted(table: Table) -> Iterator[str]:
    """How the matches of withdrawn bots count."""
    two = table.event.settings.seats == 2
    if any(out.annulled for out in table.withdrawn):
        others = "nobody" if two else "the others, if they are two or more"
        yield f"those with an annulled bot count for {others}"
    if not all(out.annulled for out in table.withdrawn):
        unplayed = ", and they are not played" if two else ""
        yield f"those of a bot that was withdrawn later are its forfeits from then on{unplayed}"


def _deals(event: Event, *, brief: bool) -> str:
    commitment = event.commitment[:_SHORT] + "…" if brief else event.commitment
    revealed = "secret revealed" if brief else f"secret {event.secret}"
    if not event.secret:
        revealed = "secret not revealed yet"
    text = f"commitment {commitment}, {revealed}"
    if not event.commitment:
        text = "of several rounds, each with a commitment of its own"
    if event.settings.beacon:
        text += f", beacon {event.beacon or 'not known yet'} ({event.settings.beacon})"
    return f"{text}; DEALS PREDICTABLE (seeded)" if event.predictable else text


def _rating(settings: Settings, rule: int) -> str:
    rating = settings.rating
    against = ", that of μ against the field's mean" if rule > 1 else ""
    constants = f"mu {rating.mu:.6g}, sigma {rating.sigma:.6g}, beta {rating.beta:.6g}"
    if settings.rate_on == ADJUSTED:
        text = (
            f"TrueSkill's model fitted to all strokes less luck: {constants}, "
            f"{rating.event_sd:.6g} strokes a match are one deviation of a rated event"
        )
    else:
        text = (
            f"TrueSkill fitted to all results as played: {constants}, tau {rating.tau:.6g}, "
            f"draw probability {rating.draw_probability:.6g}"
        )
    return (
        f"{text}; a forfeit counts as {rating.forfeit_margin:.6g} strokes; ± are 95 % intervals"
        f"{against}; "
        "bots that share ranks can't be told apart with "
        f"{100 * (1 - rating.error_rate):.6g} % confidence"
    )


def _limits(settings: Settings) -> str:
    limits = settings.limits
    return (
        f"move {limits.move_ms} ms, match {limits.match_ms} ms, start {limits.start_ms} ms, "
        f"memory {limits.memory_mb} MB, {limits.tasks} tasks"
        + ("; bots stand still while it isn't their turn" if settings.freeze else "")
    )


def _host(table: Table) -> Iterator[Fact]:
    event = table.event
    yield from _sandbox(event)
    yield from _off_turn(table)
    for machine in event.machines or (event.machine,):
        if described := _machine(machine):
            yield Fact("machine", described)
    for absent in sorted(event.not_run, key=lambda absent: (absent.name, absent.reason)):
        yield Fact("not run", absent.reason, absent.name)


GAPS = {"page cache": "what a bot has read stays in memory after its end, some 1,000 bits a second"}
"""An explanation beside the name of a gap."""


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
        named = (f"{name} ({GAPS[name]})" if name in GAPS else name for name in held.gaps)
        yield Fact("known gaps", ", ".join(named))


def _off_turn(table: Table) -> Iterator[Fact]:
    although = ", although it was to stand still" if table.event.settings.freeze else ""
    for row in table.rows:
        if row.off_turn_ms is not None and row.off_turn_ms >= OFF_TURN_NAMED_MS:
            used = f"{row.off_turn_ms:.0f} ms of CPU a match while it wasn't asked{although}"
            yield Fact("off turn", used, row.entrant)


def _machine(machine: Machine) -> str:
    parts = [
        machine.system,
        machine.cpu,
        "1 core" if machine.cores == 1 else f"{machine.cores} cores" if machine.cores else "",
        f"speed {machine.speed}" if machine.speed else "",
        f"Python {machine.python}" if machine.python else "",
        f"arena {machine.arena}" if machine.arena else "",
    ]
    return ", ".join(filter(None, parts))
