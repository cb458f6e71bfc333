"""`arena run --into`: bots that come to an event when it is over play an epoch of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import trio

from arena.bots import Candidate, Roster, default_cache, in_use, load, printable, restore
from arena.deals import commitment, secret_from_seed
from arena.event.cluster import Where
from arena.event.drift import refuse_drift
from arena.event.dry_run import dry_run as dry_run_event
from arena.event.enter import context_of, enter, find_sandbox, try_starts, without
from arena.event.epochs import (
    epoch_fault,
    epochs_of,
    field_before,
    next_epoch,
    settings_of_epoch,
    whose_epoch,
)
from arena.event.prepare import Entered, play_new
from arena.event.results import schedule_of, withdrawn_in
from arena.live.event import Live, opened
from arena.machine.facts import played_here, workers_of
from arena.machine.preflight import keep_promises
from arena.model import Entrant, Event, UserError
from arena.store import read_event, read_event_file, read_private, secret_of
from arena.system import randomness
from arena.terminal.progress import progress
from arena.terminal.screen import command_line, say

ALL = "they must all be able to play"


class _Asked(NamedTuple):
    """What an epoch is to be made of."""

    folder: Path
    events: Sequence[Event]
    """The event and its epochs so far."""
    new: Sequence[Candidate]
    roster: Roster
    """Of all bots that play, old and new."""
    field: Sequence[Entrant]
    """The old ones."""
    withdrawn: frozenset[str]
    """Who was, in the event and its epochs: they take no part."""


def run_into(
    folder: Path,
    *,
    bots: Sequence[Path],
    seed: str | None,
    sandbox: str,
    dry_run: bool,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    live: Live | None,
    where: Where | None,
) -> int:
    """`arena run --into`: every new bot meets the old ones, and the new ones each other."""
    events = _finished(folder)
    settings = events[0].settings
    room = keep_promises(settings.limits, seats=settings.seats, series=settings.series, jobs=jobs)
    cache = default_cache()
    watcher = progress(settings.rating, as_json=as_json, quiet=quiet)
    with in_use(cache), opened(live) as page:
        asked = _found(folder, events, bots, cache)
        new = _entered(asked, cache, seed=seed, sandbox=sandbox, room=room * settings.seats)
        if dry_run:
            event = played_here(new.event, new.backend)
            return dry_run_event(event, new.context, new.secret, workers_of(jobs, room), watcher)
        epoch = next_epoch(folder)
        code = play_new(
            new,
            epoch,
            cache,
            watcher,
            jobs=jobs,
            no_pin=no_pin,
            max_time=max_time,
            room=room,
            page=page,
            sandbox=sandbox,
            where=where,
        )
    if read_event(epoch).finished:
        say(f"with the whole event: {command_line('table', folder)}")
    return code


def _finished(folder: Path) -> list[Event]:
    """The event in a folder and its epochs, if bots can come to it."""
    event = read_event(folder)
    if (whole := whose_epoch(folder)) is not None:
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


def _found(folder: Path, events: Sequence[Event], bots: Sequence[Path], cache: Path) -> _Asked:
    """The new bots, and the old ones as they were: from the paths that were named, or the cache."""
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
        printable(f"{each.shown} (as {known[each.entrant.hash].id})") for each in again
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
                f"{each.shown}: {printable(each.entrant.id)} is in the event already, with "
                "different content; give it another version"
            )
    withdrawn = frozenset[str]().union(*map(withdrawn_in, (folder, *epochs_of(folder))))
    if withdrawn:
        gone = ", ".join(map(printable, sorted(withdrawn)))
        say(f"note: withdrawn from the event, and nobody's opponent any more: {gone}")
    field = tuple(entrant for entrant in field if entrant.id not in withdrawn)
    sources = {each.entrant.hash: each.source for each in again}
    old = restore([(entrant, sources.get(entrant.hash, "")) for entrant in field], cache=cache)
    _refuse_missing(folder, field, old)
    if again:
        say(f"note: in the event already, and no newcomers: {in_it}")
    roster = msgspec.structs.replace(
        given, candidates=(*old.candidates, *new), problems=(), notes=(*given.notes, *old.notes)
    )
    return _Asked(folder, events, new, roster, field, withdrawn)


def _refuse_missing(folder: Path, field: Sequence[Entrant], old: Roster) -> None:
    """See that all bots of the event can play again."""
    here = {candidate.entrant.id for candidate in old.candidates}
    names = {printable(entrant.id) for entrant in field if entrant.id not in here}
    # A problem with a path is another one than that nobody knows where the bot is.
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


def _entered(asked: _Asked, cache: Path, *, seed: str | None, sandbox: str, room: int) -> Entered:
    """The epoch, and its bots, which have shown that they can start."""
    backend = find_sandbox(sandbox, asked.folder)
    base = asked.events[0].settings
    ready, not_run = enter(
        asked.roster,
        backend,
        base,
        cache,
        folder=asked.folder,
        skip_broken=False,
        way_out=ALL,
    )
    entrants = tuple(bot.entrant for bot in sorted(ready, key=lambda bot: bot.entrant.id))
    ids = {entrant.id for entrant in entrants}
    heroes = ids & {each.entrant.id for each in asked.new}
    if absent := [each.id for each in asked.field if each.id not in ids]:
        raise UserError(f"{asked.folder}: bots of the event can't play: {', '.join(absent)}")
    if not heroes:
        raise UserError("no bot to add: those that are new can't play here")
    settings = settings_of_epoch(
        base, heroes, predictable=seed is not None, withdrawn=asked.withdrawn
    )
    secret = secret_from_seed(seed) if seed is not None else randomness.token_bytes(32)
    context = context_of(settings, secret, ready, backend)
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        predictable=seed is not None,
        not_run=not_run,
    )
    schedule_of(event, secret)  # whether they can be seated, before anybody is started
    if broken := trio.run(try_starts, context, room):
        without(ready, broken, skip_broken=False, way_out=ALL)
    return Entered(event, secret, context, tuple(ready), backend)
