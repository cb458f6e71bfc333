"""Add bots to a finished event (`arena run --into`): they play an epoch of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.bots import Candidate, Roster, default_cache, in_use, load, printable, restore
from arena.deals import commitment, secret_from_seed
from arena.event.commands import command_line
from arena.event.drift import refuse_drift
from arena.event.dry_run import Forecast
from arena.event.epochs import (
    epoch_fault,
    epochs_of,
    event_of_epoch,
    field_before,
    next_epoch,
    settings_of_epoch,
)
from arena.event.prepare import NewEvent, forecast_new, play_new
from arena.event.progress import Outcome
from arena.event.results import schedule_of, withdrawn_in
from arena.event.session import Session
from arena.event.workshop import Workshop, context_of, find_sandbox
from arena.machine import Notify
from arena.machine.preflight import keep_promises
from arena.model import Entrant, Event, UserError
from arena.store import read_event, read_event_file, read_private, secret_of
from arena.system import randomness

ALL = "they must all be able to play"


class _Field(NamedTuple):
    """The bots of an epoch, and the events before it."""

    folder: Path
    events: Sequence[Event]
    """The event and its epochs so far."""
    new: Sequence[Candidate]
    roster: Roster
    """Of all bots that play, old and new."""
    old: Sequence[Entrant]
    withdrawn: frozenset[str]
    """Withdrawn in the event or an epoch: they take no part."""


def run_into(
    folder: Path, bots: Sequence[Path], session: Session, *, seed: str | None = None
) -> Outcome:
    """Every new bot meets the old ones, and the new ones each other."""
    with _new_epoch(folder, bots, session, seed=seed) as (new, room):
        return play_new(new, next_epoch(folder), room, session)


def forecast_epoch(
    folder: Path, bots: Sequence[Path], session: Session, *, seed: str | None = None
) -> Forecast:
    """Find out what `run_into` would play, and how long it takes."""
    with _new_epoch(folder, bots, session, seed=seed) as (new, room):
        return forecast_new(new, room, session)


@contextmanager
def _new_epoch(
    folder: Path, bots: Sequence[Path], session: Session, *, seed: str | None
) -> Iterator[tuple[NewEvent, int]]:
    """The epoch as a new event, and how many of its matches can be played at a time."""
    events = _finished(folder)
    settings, run, notify = events[0].settings, session.options, session.progress.say
    room = keep_promises(
        settings.limits, notify, seats=settings.seats, series=settings.series, jobs=run.jobs
    )
    cache = default_cache()
    with in_use(cache):
        field = _field(folder, events, bots, cache, notify)
        backend = find_sandbox(run.sandbox or "auto", notify, folder)
        workshop = Workshop(cache, backend, notify, folder, way_out=ALL)
        yield _entered(field, workshop, seed=seed, room=room * settings.seats), room


def _finished(folder: Path) -> list[Event]:
    """The event in a folder and its epochs; UserError if no bot can be added to it."""
    event = read_event(folder)
    if (whole := event_of_epoch(folder)) is not None:
        raise UserError(
            f"{folder} is an epoch of the event in {whole}; add to that: --into {whole}"
        )
    if event.settings.format == "single":
        raise UserError(f"{folder}: one match, to which no bot can come; play another: arena play")
    if event.shard:
        raise UserError(f"{folder}: a shard of an event; merge it first: arena merge")
    events: list[Event] = []
    for path in (folder, *epochs_of(folder)):
        file = read_event_file(path)
        each = file.event
        if not each.finished or read_private(path) is not None:
            command = command_line("resume" if each.sandbox else "run", path)
            raise UserError(f"{path}: the event is not finished; first: {command}")
        if events and (fault := epoch_fault(events, each)):
            raise UserError(f"{path}: no epoch of the event in {folder}: {fault}")
        refuse_drift(path, each, file.announced, secret_of(path, each), None)
        events.append(each)
    return events


def _field(
    folder: Path, events: Sequence[Event], bots: Sequence[Path], cache: Path, notify: Notify
) -> _Field:
    """The new bots, and the old ones as they were: from the paths in `bots`, or the cache."""
    if not bots:
        raise UserError(f"name the bots to add: {command_line('run', Path('BOT'))} --into {folder}")
    field = field_before(events)
    given = load(bots, cache=cache)
    if given.problems:
        raise UserError("\n".join(map(str, given.problems)))
    known = {entrant.hash: entrant for entrant in reversed(field)}
    new = [each for each in given.candidates if each.entrant.hash not in known]
    again = [each for each in given.candidates if each.entrant.hash in known]
    in_it = ", ".join(
        printable(f"{each.path} (as {known[each.entrant.hash].id})") for each in again
    )
    if not new:
        raise UserError(
            f"no bot to add: in the event already, with this content: {in_it}"
            if again
            else "no bot to add: none of the paths is one"
        )
    ids = {entrant.id for entrant in field}
    for each in new:
        if each.entrant.id in ids:
            raise UserError(
                f"{each.path}: {printable(each.entrant.id)} is in the event already, with "
                "different content; give it another version"
            )
    withdrawn = frozenset[str]().union(*map(withdrawn_in, (folder, *epochs_of(folder))))
    if withdrawn:
        gone = ", ".join(map(printable, sorted(withdrawn)))
        notify(f"note: withdrawn from the event, and no opponents any more: {gone}")
    field = tuple(entrant for entrant in field if entrant.id not in withdrawn)
    sources = {each.entrant.hash: each.source for each in again}
    old = restore([(entrant, sources.get(entrant.hash, "")) for entrant in field], cache=cache)
    _refuse_missing(folder, field, old)
    if again:
        notify(f"note: in the event already, and no newcomers: {in_it}")
    roster = msgspec.structs.replace(
        given, candidates=(*old.candidates, *new), problems=(), notes=(*given.notes, *old.notes)
    )
    return _Field(folder, events, new, roster, field, withdrawn)


def _refuse_missing(folder: Path, field: Sequence[Entrant], old: Roster) -> None:
    """UserError if a bot of the event can't play again."""
    here = {candidate.entrant.id for candidate in old.candidates}
    names = {printable(entrant.id) for entrant in field if entrant.id not in here}
    # A problem with a path differs from a bot whose place is unknown.
    others = [problem for problem in old.problems if problem.path not in names]
    lost = sorted(names.intersection(problem.path for problem in old.problems))
    lines = [*map(str, others), *(f"{out.name}: {out.reason}" for out in old.skipped)]
    if lost:
        lines.append(
            f"{folder}: no longer in the cache, of the event's bots: {', '.join(lost)}; name them "
            f"too, as they were: {command_line('run')} --into {folder} NEW... OLD..."
        )
    if lines:
        raise UserError("\n".join(lines))


def _entered(field: _Field, workshop: Workshop, *, seed: str | None, room: int) -> NewEvent:
    """The epoch as an event; its bots can start."""
    base = field.events[0].settings
    ready, not_run = workshop.enter(field.roster, base.limits)
    entrants = tuple(bot.entrant for bot in sorted(ready, key=lambda bot: bot.entrant.id))
    ids = {entrant.id for entrant in entrants}
    heroes = ids & {each.entrant.id for each in field.new}
    if absent := [each.id for each in field.old if each.id not in ids]:
        raise UserError(f"{field.folder}: bots of the event can't play: {', '.join(absent)}")
    if not heroes:
        raise UserError("no bot to add: those that are new can't play here")
    settings = settings_of_epoch(
        base, heroes, predictable=seed is not None, withdrawn=field.withdrawn
    )
    secret = secret_from_seed(seed) if seed is not None else randomness.token_bytes(32)
    context = context_of(settings, secret, ready, workshop.backend)
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        predictable=seed is not None,
        not_run=not_run,
    )
    schedule = schedule_of(event, secret)  # UserError, before a bot is started, if it can't be
    workshop.start(context, room)
    return NewEvent(event, secret, context, tuple(ready), schedule, workshop)
