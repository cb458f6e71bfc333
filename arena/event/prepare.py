"""A new event: find, build and start its bots, choose its secret; forecast it, play it at once, or
prepare it for later.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec.structs import replace

from arena import registry
from arena.bots import Roster, count_bots, in_use, keep_bots, load, printable
from arena.bots.cache import BOTS
from arena.bots.kept import MOST_BYTES
from arena.deals import commitment, secret_from_seed
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.event.cluster import venue
from arena.event.epochs import event_of_epoch
from arena.event.options import EventOptions, RunOptions, public_line
from arena.event.progress import Outcome
from arena.event.results import first_wave
from arena.event.session import Session, play
from arena.event.tournament import Tournament
from arena.event.workshop import Workshop, context_of, with_heroes
from arena.executors import Executor
from arena.formats import Format
from arena.formats.race import refuse_small_budget
from arena.machine.facts import played_here, workers_of
from arena.machine.preflight import SETTINGS
from arena.model import Bot, Event, Frozen, Limits, Series, Settings, UserError
from arena.store import Private, Store, claim_folder, prepare, staged_folder
from arena.system import clock, randomness

Settle = Callable[[Sequence[Bot]], Settings]


class Forecast(Frozen, frozen=True, kw_only=True):
    """The number of matches that would be played, and how long they take."""

    event: Event
    tables: int
    deals: int
    """A table."""
    matches: int
    adaptive: bool
    """Whether results decide what follows these matches."""
    workers: int
    """Matches at a time."""
    samples: int
    """Matches that were played to find out the seconds."""
    series_seconds: float
    """To start and end the bots of a series."""
    match_seconds: float
    seconds: float
    """For all matches."""


async def _sample(context: MatchContext, samples: Sequence[Series]) -> tuple[float, float]:
    """Mean seconds to start a series' bots, and to play a match."""
    starting = playing = 0.0
    async with open_pipes() as table:
        for series in samples:
            begun = clock.monotonic()
            records = [played async for played in play_series(table, context, series)]
            took = clock.monotonic() - begun
            thought = sum(use.think_ms for played in records for use in played.record.use) / 1000
            starting += took - thought
            playing += thought
    return starting / len(samples), playing / len(samples)


class Entry(NamedTuple):
    """What a new event is made of."""

    bots: Sequence[Path]
    options: EventOptions
    out: Path | None
    skip_broken: bool


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


def new_event(roster: Roster, workshop: Workshop, settle: Settle, *, seed: str | None) -> NewEvent:
    """Build and start the bots, and choose a secret. `settle`: from the bots to the settings."""
    built, not_run = workshop.enter(roster)
    ready = sorted(built, key=lambda bot: bot.entrant.id)
    secret = randomness.token_bytes(32) if seed is None else secret_from_seed(seed)

    def planned() -> tuple[MatchContext, Format]:
        settings = replace(settle(ready), predictable=seed is not None)
        context = context_of(settings, secret, ready, workshop.backend)
        return context, registry.schedule(settings, [bot.entrant for bot in ready], context.deals)

    context, schedule = planned()  # UserError, before a bot is started, if it can't be
    if gone := workshop.start(context):
        names = {out.name for out in gone}
        ready = [bot for bot in ready if bot.entrant.id not in names]
        not_run += gone
        context, schedule = planned()
    settings = context.settings
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
def _entered(
    entry: Entry,
    session: Session,
    place: AbstractContextManager[Path],
    *,
    only_start: bool = False,
    beacon: str = "",
) -> Iterator[tuple[NewEvent, Path]]:
    """An event of these bots, and its folder. `only_start`: no match is played here."""
    bots, options, _, skip_broken = entry
    if not bots:
        raise UserError("name the bots that play, for instance: arena run bots/*")
    run, notify = session.options, session.progress.say
    settings = replace(options.settings(notify), beacon=beacon)
    if settings.racing and not skip_broken:  # before the bots are copied, built and started
        refuse_small_budget(settings, count_bots(bots))
    jobs = None if only_start else run.jobs
    terms: Settings | Limits = settings.limits if only_start else settings
    workshop = Workshop(
        terms, notify, sandbox=run.sandbox, jobs=jobs, flags=SETTINGS, skip_broken=skip_broken
    )
    with place as folder, in_use(workshop.cache):
        workshop.folder = folder

        def settle(ready: Sequence[Bot]) -> Settings:
            return with_heroes(settings, options.gauntlet, ready)

        roster = load(bots, cache=workshop.cache)
        yield new_event(roster, workshop, settle, seed=options.seed), folder


@contextmanager
def open_event(entry: Entry, session: Session) -> Iterator[tuple[Store, Tournament, Executor]]:
    """Prepare an event to be played at once, in a folder of its own: what `session.play` takes."""
    place = claim_folder(entry.out)
    with _entered(entry, session, place) as found, _open(*found, session) as event:
        yield event


def forecast_event(entry: Entry, session: Session) -> Forecast:
    # A forecast needs no folder; one that was named is tried all the same.
    place = nullcontext(Path()) if entry.out is None else claim_folder(entry.out)
    with _entered(entry, session, place) as (new, _):
        return forecast_new(new, session)


def forecast_new(new: NewEvent, session: Session) -> Forecast:
    """Play one match for each bot to see how long all of them take."""
    event, settings, wave = new.event, new.event.settings, first_wave(new.schedule, new.event)
    unseen = {entrant.id for entrant in event.entrants}
    samples: list[Series] = []
    for block in wave.blocks():
        series = block.series[0]
        if not unseen.isdisjoint(series.entrants):
            unseen.difference_update(series.entrants)
            samples.append(Series(id=series.id, matches=series.matches[:1]))
        if not unseen:
            break
    workers = workers_of(session.options.jobs, new.workshop.room, session.progress.say)
    starting, playing = trio.run(_sample, new.context, samples)
    started = math.ceil(wave.matches / min(settings.series, settings.deals))
    tables = len(wave.deals)
    return Forecast(
        event=played_here(event, new.workshop.backend),
        tables=tables,
        deals=wave.matches // (tables * settings.seats),
        matches=wave.matches,
        adaptive=new.schedule.adaptive,
        workers=workers,
        samples=len(samples),
        series_seconds=starting,
        match_seconds=playing,
        seconds=(started * starting + wave.matches * playing) / workers,
    )


def write_prepared(new: NewEvent, folder: Path, options: RunOptions) -> None:
    """Write an event into a folder that `run_prepared` plays on this machine."""
    private = _private(new, cache=str(new.workshop.cache), options=_lasting(options))
    prepare(folder, new.event, private)


def _lasting(options: RunOptions) -> dict[str, str | int | bool | None]:
    return {"jobs": options.jobs, "no_pin": not options.pin}


def play_new(new: NewEvent, folder: Path, session: Session) -> Outcome:
    with _open(new, folder, session) as event:
        return play(*event, session)


@contextmanager
def _open(
    new: NewEvent, folder: Path, session: Session
) -> Iterator[tuple[Store, Tournament, Executor]]:
    run, workshop = session.options, new.workshop
    with venue(new.event, new.secret, new.bots, workshop, run) as there:
        private = _private(new, cache=str(workshop.cache), options=_lasting(run))
        with Store.create(folder, there.event, private) as store:
            _keep_best(new, folder, session)
            there.attach(store, session.progress.note)
            watcher = session.watcher(there.event, folder, new.secret)
            yield store, Tournament(store, new.secret, watcher, new.schedule), there.executor


def _keep(
    new: NewEvent, folder: Path, place: Path | None = None, most: int = MOST_BYTES
) -> list[str]:
    sources = {bot.entrant.id: bot.source for bot in new.bots}
    cache = new.workshop.cache
    return keep_bots(new.event.entrants, folder, sources, cache=cache, place=place, most=most)


def _keep_best(new: NewEvent, folder: Path, session: Session) -> None:
    """Keep the bots with the results; an event that can't is played all the same."""
    whole = session.whole or event_of_epoch(folder)
    try:
        lost = _keep(new, folder, session.bots or (whole / BOTS if whole else None))
    except UserError as error:
        session.progress.say(f"note: {error}; they are in the cache alone")
        return
    if lost:
        names = ", ".join(map(printable, lost))
        session.progress.say(f"note: too large to be kept, and in the cache alone: {names}")


def prepare_event(entry: Entry, out: Path, beacon_from: str | None, session: Session) -> Prepared:
    """Write secret, commitment and bots into a folder that can be copied and played."""
    source = "" if beacon_from is None else public_line("--beacon-from", beacon_from)
    place, options = claim_folder(out), {"sandbox": session.options.sandbox or "auto"}
    with _entered(entry, session, place, only_start=True, beacon=source) as (new, _):
        # Without a cache: every machine that it is played on has its own.
        private = _private(new, cache="", options=options)
        with staged_folder(out) as folder:
            prepare(folder, new.event, private)
            _keep(new, folder, most=sys.maxsize)
    return Prepared(
        folder=out, event=new.event, matches=first_wave(new.schedule, new.event).matches
    )


def _private(
    new: NewEvent, *, cache: str, options: Mapping[str, str | int | bool | None]
) -> Private:
    secret, sources = new.secret.hex(), {bot.entrant.id: bot.source for bot in new.bots}
    return Private(secret=secret, sources=sources, cache=cache, entered=new.event, options=options)
