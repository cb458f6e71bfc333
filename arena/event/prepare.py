"""A new event: from flags and paths to bots that are ready, to be played at once or later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import trio

from arena import registry
from arena.bots import Roster, at_least, copy_to_event, default_cache, in_use, load, printable
from arena.deals import commitment, secret_from_seed
from arena.engine.match import MatchContext
from arena.event.cluster import Where, playing
from arena.event.drift import public_value
from arena.event.dry_run import dry_run as dry_run_event
from arena.event.enter import (
    SKIP,
    context_of,
    enter,
    find_sandbox,
    settings_of,
    try_starts,
    with_heroes,
    without,
)
from arena.event.results import first_wave, schedule_of
from arena.event.session import play
from arena.event.tournament import Tournament
from arena.formats.race import refuse_small_budget
from arena.live.event import Live, LivePage, opened
from arena.machine.facts import played_here, workers_of
from arena.machine.preflight import SETTINGS, keep_promises
from arena.model import Bot, Event, Settings, UserError
from arena.sandbox import Backend
from arena.store import Private, Store, claim_folder, prepare, staged_folder
from arena.system import randomness
from arena.terminal.progress import Progress, progress
from arena.terminal.screen import command_line, say


class Entered(NamedTuple):
    """An event that could begin, and the bots that have shown that they can start."""

    event: Event
    secret: bytes
    context: MatchContext
    bots: tuple[Bot, ...]
    backend: Backend


def entered(
    roster: Roster,
    settings: Settings,
    cache: Path,
    *,
    folder: Path,
    seed: str | None,
    sandbox: str,
    skip_broken: bool,
    room: int,
    gauntlet: Sequence[str] = (),
    way_out: str = SKIP,
) -> Entered:
    """Find, build and start the bots of a new event; choose its secret.

    `room`: how many bots may be alive at a time; `way_out`: what to do if one can't take part.
    """
    backend = find_sandbox(sandbox, folder)
    ready, not_run = enter(
        roster,
        backend,
        settings,
        cache,
        folder=folder,
        skip_broken=skip_broken,
        way_out=way_out,
    )
    if gauntlet:
        settings = with_heroes(settings, gauntlet, ready)
    secret = secret_from_seed(seed) if seed is not None else randomness.token_bytes(32)
    settings = msgspec.structs.replace(settings, predictable=seed is not None)
    context = context_of(settings, secret, ready, backend)
    registry.schedule(settings, [bot.entrant for bot in ready], context.deals)
    broken = trio.run(try_starts, context, room)
    if broken:
        ready, gone = without(ready, broken, skip_broken=skip_broken, way_out=way_out)
        not_run += gone
        registry.schedule(settings, [bot.entrant for bot in ready], context.deals)
        context = context_of(settings, secret, ready, backend)
    entrants = tuple(bot.entrant for bot in sorted(ready, key=lambda bot: bot.entrant.id))
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        predictable=seed is not None,
        not_run=not_run,
    )
    return Entered(event, secret, context, tuple(ready), backend)


def run_event(
    *,
    bots: Sequence[Path],
    seed: str | None,
    out: Path | None,
    sandbox: str,
    skip_broken: bool,
    dry_run: bool,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    live: Live | None,
    where: Where | None,
    **flags: Any,  # noqa: ANN401 - the settings' own flags
) -> int:
    """`arena run` of bots: an event that is prepared and played at once."""
    named(bots)
    gauntlet = flags["gauntlet"]
    settings = settings_of(**flags)
    refuse_early(settings, bots, skip_broken=skip_broken)
    room = keep_promises(
        settings.limits,
        seats=settings.seats,
        series=settings.series,
        jobs=jobs,
        flags=SETTINGS,
    )
    cache = default_cache()
    watcher = progress(settings.rating, as_json=as_json, quiet=quiet)
    # A dry run needs no folder; one that was named is tried all the same.
    place = nullcontext(Path()) if dry_run and out is None else claim_folder(out)
    with place as folder, in_use(cache), opened(live) as page:
        new = entered(
            load(bots, cache=cache),
            settings,
            cache,
            folder=folder,
            seed=seed,
            sandbox=sandbox,
            skip_broken=skip_broken,
            room=room * settings.seats,
            gauntlet=gauntlet,
        )
        if dry_run:
            event = played_here(new.event, new.backend)
            return dry_run_event(event, new.context, new.secret, workers_of(jobs, room), watcher)
        return play_new(
            new,
            folder,
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


def play_new(
    new: Entered,
    folder: Path,
    cache: Path,
    watcher: Progress,
    *,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    room: int,
    sandbox: str,
    where: Where | None,
    page: LivePage | None = None,
) -> int:
    """Play an event that has just been entered, in an empty folder."""
    with playing(
        new.event,
        new.secret,
        new.bots,
        new.backend,
        sandbox=sandbox,
        cache=cache,
        jobs=jobs,
        room=room,
        pin=not no_pin,
        where=where,
    ) as (executor, event, told):
        private = private_of(new, cache=str(cache), options={"jobs": jobs, "no_pin": no_pin})
        with Store.create(folder, event, private) as store:
            told(store, watcher.note)
            heard = page.joined(watcher, event, folder, new.secret) if page else watcher
            tournament = Tournament(store, new.secret, heard)
            return play(
                store,
                tournament,
                executor,
                watcher,
                max_time=max_time,
                page=page,
                where=where.flags if where else "",
            )


def prepare_event(
    *,
    bots: Sequence[Path],
    seed: str | None,
    out: Path | None,
    sandbox: str,
    skip_broken: bool,
    beacon_from: str | None,
    **flags: Any,  # noqa: ANN401 - the settings' own flags
) -> int:
    """`arena prepare`: secret, commitment and bots in a folder that can be copied and played."""
    if out is None:
        raise UserError("say which folder to prepare: --out FOLDER")
    source = "" if beacon_from is None else public_value("--beacon-from", beacon_from)
    settings = msgspec.structs.replace(settings_of(**flags), beacon=source)
    named(bots)
    refuse_early(settings, bots, skip_broken=skip_broken)
    room = keep_promises(settings.limits, flags=SETTINGS)  # here they only start, one by one
    cache = default_cache()
    with claim_folder(out), in_use(cache):
        new = entered(
            load(bots, cache=cache),
            settings,
            cache,
            folder=out,
            seed=seed,
            sandbox=sandbox,
            skip_broken=skip_broken,
            room=room,
            gauntlet=flags["gauntlet"],
        )
        # Without a cache: every machine that it is played on has its own.
        private = private_of(new, cache="", options={"sandbox": sandbox})
        with staged_folder(out) as folder:
            prepare(folder, new.event, private)
            copy_to_event(new.event.entrants, folder, cache=cache)
    schedule = schedule_of(new.event, new.secret)
    # None at all is never taken from a folder.
    shown = command_line("run", out) + (" --sandbox none" if sandbox == "none" else "")
    say(f"{len(new.bots)} bots, {first_wave(schedule).matches} matches; prepared in {out}")
    say("the secret and the bots are in it, for you alone; publish the commitment:")
    click.echo(new.event.commitment)
    if source:
        say(f"when {printable(source)} is known: {shown} --beacon VALUE")
    else:
        say(f"play it: {shown}")
    return 0


def named(bots: Sequence[Path]) -> Sequence[Path]:
    """The bots, if there are any."""
    if not bots:
        raise UserError("name the bots that play, for instance: arena run bots/*")
    return bots


def refuse_early(settings: Settings, bots: Sequence[Path], *, skip_broken: bool) -> None:
    """Refuse a budget that can't do before the bots are copied, built and started."""
    if settings.racing and not skip_broken:
        refuse_small_budget(settings, at_least(bots))


def private_of(
    new: Entered, *, cache: str, options: Mapping[str, str | int | bool | None]
) -> Private:
    """What only the owner of a new event may know."""
    return Private(
        secret=new.secret.hex(),
        sources={bot.entrant.id: bot.source for bot in new.bots},
        cache=cache,
        entered=new.event,
        options=options,
    )
