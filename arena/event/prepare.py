"""A new event: find, build and start its bots, choose its secret; play it at once, or later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena import registry
from arena.bots import Roster, copy_to_event, count_bots, default_cache, in_use, load
from arena.deals import commitment, secret_from_seed
from arena.engine.match import MatchContext
from arena.event.cluster import venue
from arena.event.drift import public_value
from arena.event.dry_run import Forecast, forecast
from arena.event.options import EventOptions
from arena.event.progress import Outcome
from arena.event.results import first_wave
from arena.event.session import Session, play
from arena.event.tournament import Tournament
from arena.event.workshop import Workshop, context_of, find_sandbox, with_heroes
from arena.executors import Executor
from arena.formats import Format
from arena.formats.race import refuse_small_budget
from arena.machine.facts import played_here, workers_of
from arena.machine.preflight import SETTINGS, keep_promises
from arena.model import Bot, Event, Frozen, Settings, UserError
from arena.store import Private, Store, claim_folder, prepare, staged_folder
from arena.system import randomness


class NewEvent(NamedTuple):
    """An event that could begin: all of its bots can start."""

    event: Event
    secret: bytes
    context: MatchContext
    bots: tuple[Bot, ...]
    schedule: Format
    workshop: Workshop


class Prepared(Frozen, frozen=True, kw_only=True):
    """What `prepare` has made."""

    folder: Path
    event: Event
    matches: int
    """Those that are decided: of a race, the first ones."""


def new_event(
    roster: Roster,
    settings: Settings,
    workshop: Workshop,
    *,
    seed: str | None,
    room: int,
    gauntlet: Sequence[str] = (),
) -> NewEvent:
    """Build and start the bots of a new event, at most `room` at a time; choose its secret."""
    built, not_run = workshop.enter(roster, settings.limits)
    ready = sorted(built, key=lambda bot: bot.entrant.id)
    if gauntlet:
        settings = with_heroes(settings, gauntlet, ready)
    secret = secret_from_seed(seed) if seed is not None else randomness.token_bytes(32)
    settings = msgspec.structs.replace(settings, predictable=seed is not None)
    context = context_of(settings, secret, ready, workshop.backend)
    schedule = registry.schedule(settings, [bot.entrant for bot in ready], context.deals)
    if gone := workshop.start(context, room):
        names = {out.name for out in gone}
        ready = [bot for bot in ready if bot.entrant.id not in names]
        not_run += gone
        schedule = registry.schedule(settings, [bot.entrant for bot in ready], context.deals)
        context = context_of(settings, secret, ready, workshop.backend)
    entrants = tuple(bot.entrant for bot in ready)
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        predictable=seed is not None,
        not_run=not_run,
    )
    return NewEvent(event, secret, context, tuple(ready), schedule, workshop)


@contextmanager
def open_event(
    bots: Sequence[Path],
    options: EventOptions,
    session: Session,
    *,
    out: Path | None = None,
    skip_broken: bool = False,
) -> Iterator[tuple[Store, Tournament, Executor]]:
    """Prepare an event to be played at once, in a folder of its own: what `session.play` takes."""
    settings, room = _checked(bots, options, session, skip_broken=skip_broken)
    with claim_folder(out) as folder, in_use(cache := default_cache()):
        workshop = _workshop(cache, session, folder, skip_broken=skip_broken)
        new = _entered(bots, options, settings, workshop, room * settings.seats)
        with _open(new, folder, room, session) as event:
            yield event


def forecast_event(
    bots: Sequence[Path],
    options: EventOptions,
    session: Session,
    *,
    out: Path | None = None,
    skip_broken: bool = False,
) -> Forecast:
    """Find out what such an event would play, and how long it takes."""
    settings, room = _checked(bots, options, session, skip_broken=skip_broken)
    # A forecast needs no folder; one that was named is tried all the same.
    place = nullcontext(Path()) if out is None else claim_folder(out)
    with place as folder, in_use(cache := default_cache()):
        workshop = _workshop(cache, session, folder, skip_broken=skip_broken)
        new = _entered(bots, options, settings, workshop, room * settings.seats)
        return forecast_new(new, room, session)


def _checked(
    bots: Sequence[Path], options: EventOptions, session: Session, *, skip_broken: bool
) -> tuple[Settings, int]:
    """The settings of an event, and how many matches can be played at a time."""
    refuse_no_bots(bots)
    notify = session.progress.say
    settings = options.settings(notify)
    refuse_early(settings, bots, skip_broken=skip_broken)
    room = keep_promises(
        settings.limits,
        notify,
        seats=settings.seats,
        series=settings.series,
        jobs=session.options.jobs,
        flags=SETTINGS,
    )
    return settings, room


def _workshop(cache: Path, session: Session, folder: Path, *, skip_broken: bool) -> Workshop:
    notify = session.progress.say
    backend = find_sandbox(session.options.sandbox or "auto", notify, folder)
    return Workshop(cache, backend, notify, folder, skip_broken)


def _entered(
    bots: Sequence[Path],
    options: EventOptions,
    settings: Settings,
    workshop: Workshop,
    room: int,
) -> NewEvent:
    return new_event(
        load(bots, cache=workshop.cache),
        settings,
        workshop,
        seed=options.seed,
        room=room,
        gauntlet=options.gauntlet,
    )


def forecast_new(new: NewEvent, room: int, session: Session) -> Forecast:
    """What an event that has just been entered would play."""
    workers = workers_of(session.options.jobs, room, session.progress.say)
    event = played_here(new.event, new.workshop.backend)
    return forecast(event, new.context, new.secret, workers)


def play_new(new: NewEvent, folder: Path, room: int, session: Session) -> Outcome:
    """Play an event that has just been entered, in an empty folder."""
    with _open(new, folder, room, session) as event:
        return play(*event, session)


@contextmanager
def _open(
    new: NewEvent, folder: Path, room: int, session: Session
) -> Iterator[tuple[Store, Tournament, Executor]]:
    run, progress = session.options, session.progress
    options = msgspec.structs.replace(run, sandbox=run.sandbox or "auto")
    with venue(
        new.event, new.secret, new.bots, workshop=new.workshop, options=options, room=room
    ) as there:
        private = private_of(
            new, cache=str(new.workshop.cache), options={"jobs": run.jobs, "no_pin": not run.pin}
        )
        with Store.create(folder, there.event, private) as store:
            there.attach(store, progress.note)
            watcher = session.watcher(there.event, folder, new.secret)
            tournament = Tournament(store, new.secret, watcher, new.schedule)
            yield store, tournament, there.executor


def prepare_event(
    bots: Sequence[Path],
    options: EventOptions,
    session: Session,
    *,
    out: Path,
    skip_broken: bool = False,
    beacon_from: str | None = None,
) -> Prepared:
    """Write secret, commitment and bots into a folder that can be copied and played."""
    source = "" if beacon_from is None else public_value("--beacon-from", beacon_from)
    sandbox, notify = session.options.sandbox or "auto", session.progress.say
    settings = msgspec.structs.replace(options.settings(notify), beacon=source)
    refuse_no_bots(bots)
    refuse_early(settings, bots, skip_broken=skip_broken)
    # Here they only start, one by one.
    room = keep_promises(settings.limits, notify, flags=SETTINGS)
    cache = default_cache()
    with claim_folder(out), in_use(cache):
        workshop = _workshop(cache, session, out, skip_broken=skip_broken)
        new = _entered(bots, options, settings, workshop, room)
        # Without a cache: every machine that it is played on has its own.
        private = private_of(new, cache="", options={"sandbox": sandbox})
        with staged_folder(out) as folder:
            prepare(folder, new.event, private)
            copy_to_event(new.event.entrants, folder, cache=cache)
    wave = first_wave(new.schedule)
    return Prepared(folder=out, event=new.event, matches=wave.matches)


def refuse_no_bots(bots: Sequence[Path]) -> None:
    if not bots:
        raise UserError("name the bots that play, for instance: arena run bots/*")


def refuse_early(settings: Settings, bots: Sequence[Path], *, skip_broken: bool) -> None:
    """Refuse a budget that can't do before the bots are copied, built and started."""
    if settings.racing and not skip_broken:
        refuse_small_budget(settings, count_bots(bots))


def private_of(
    new: NewEvent, *, cache: str, options: Mapping[str, str | int | bool | None]
) -> Private:
    """The private part of a new event, for private.json."""
    return Private(
        secret=new.secret.hex(),
        sources={bot.entrant.id: bot.source for bot in new.bots},
        cache=cache,
        entered=new.event,
        options=options,
    )
