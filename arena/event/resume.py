"""Going on with an event that has a folder: a prepared one that begins, or an unfinished one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import trio

from arena.bots import default_cache, in_use, printable, restore
from arena.event.cluster import Where, playing
from arena.event.drift import beacon_value, refuse_drift
from arena.event.enter import context_of, enter, find_sandbox, try_starts, without
from arena.event.epochs import epochs_of
from arena.event.results import counting_of, left_of, shard_of
from arena.event.session import MERGE, conclude, play
from arena.event.tournament import Tournament
from arena.executors.cores import cores
from arena.formats.shards import Shard
from arena.live.event import Live, opened
from arena.machine.preflight import keep_promises
from arena.model import Event, UserError
from arena.registry import SANDBOXES
from arena.store import (
    Private,
    Store,
    others_read_private,
    read_event,
    read_event_file,
    read_private,
    secret_of,
    writer,
)
from arena.terminal.progress import progress
from arena.terminal.screen import command_line, say, warn

UNCONFINED = "none"
AS_BEFORE = "they must be as they were"
# More workers a core than this only wait for each other.
MOST_JOBS = 4


def run_prepared(
    folder: Path,
    *,
    beacon: str | None,
    shard: str | None,
    sandbox: str | None,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    live: Live | None,
    where: Where | None,
) -> int:
    """`arena run` of a prepared folder."""
    part = "" if shard is None else str(Shard.parse(shard))
    event, private, secret = _owned(folder)
    if event.sandbox:
        raise UserError(f"{folder}: {_begun(folder, event, secret)}")
    event = msgspec.structs.replace(event, beacon=beacon_value(event, beacon), shard=part)
    counting_of(event, secret, shard=shard_of(event))  # whether it can be cut, before it is begun
    return _play_on(
        folder,
        event,
        private,
        secret,
        sandbox=sandbox,
        jobs=jobs,
        no_pin=no_pin,
        max_time=max_time,
        as_json=as_json,
        quiet=quiet,
        live=live,
        where=where,
    )


def resume_event(
    folder: Path,
    *,
    repair: bool,
    beacon: str | None,
    sandbox: str | None,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    live: Live | None,
    where: Where | None,
) -> int:
    """`arena resume`."""
    event, private, secret = _owned(folder, repair=repair)
    if not event.sandbox:
        raise UserError(f"{folder}: prepared, but not begun; begin: {command_line('run', folder)}")
    if beacon is not None and (given := beacon_value(event, beacon)) != event.beacon:
        raise UserError(
            f"{folder}: the event was begun with the beacon {printable(event.beacon)}, "
            f"not {printable(given)}; leave --beacon out"
        )
    if sandbox and sandbox not in ("auto", event.sandbox):
        say(
            f"note: begun in {printable(event.sandbox)}; "
            f"the event records that it goes on in {sandbox}"
        )
    return _play_on(
        folder,
        event,
        private,
        secret,
        repair=repair,
        sandbox=sandbox,
        jobs=jobs,
        no_pin=no_pin,
        max_time=max_time,
        as_json=as_json,
        quiet=quiet,
        live=live,
        where=where,
    )


def _begun(folder: Path, event: Event, secret: bytes) -> str:
    """What to say of an event that is more than prepared."""
    if pid := writer(folder):
        return (
            f"the event is being played right now, by process {pid}; "
            f"to stop it: {command_line('stop', folder)}"
        )
    if event.shard and not left_of(folder, event, secret):
        return f"shard {event.shard} of the event is played; when all are: {MERGE}"
    what = f"shard {event.shard} of the event" if event.shard else "the event"
    return f"{what} is unfinished; go on with it: {command_line('resume', folder)}"


def _asked_for(folder: Path, event: Event, private: Private) -> str:
    """The sandbox that a folder names. None of all is taken from the user's mouth alone."""
    sandbox = event.sandbox or private.options.get("sandbox") or "auto"
    if sandbox == UNCONFINED:
        command = command_line("resume" if event.sandbox else "run", folder)
        raise UserError(
            f"{folder}: names no sandbox for its bots, and that is taken from no folder, since "
            f"whoever made it may have chosen them. If you trust them: {command} --sandbox none"
        )
    if sandbox not in ("auto", *SANDBOXES):
        raise UserError(f"{folder}: names a sandbox that there is not; choose one with --sandbox")
    return str(sandbox)


def _finished(folder: Path) -> UserError:
    """What there is to be done with an event that is over."""
    for epoch in epochs_of(folder):
        if not read_event(epoch).finished:
            go_on = command_line("resume", epoch)
            return UserError(f"{folder}: the event is finished, its epoch isn't; go on: {go_on}")
    return UserError(
        f"{folder}: the event is finished; its table: {command_line('table', folder)}; "
        f"if its log is damaged: {command_line('resume', folder)} --repair"
    )


def _owned(folder: Path, *, repair: bool = False) -> tuple[Event, Private, bytes]:
    """An event that can be gone on with here, and its secret."""
    file = read_event_file(folder)
    event = file.event
    private = read_private(folder)
    if event.finished and private is None and not repair:
        raise _finished(folder)
    if private is None and event.secret:
        # It was over once: it is nobody's own any more.
        private = Private(secret=event.secret, sources={}, cache="")
    if private is None:
        raise UserError(f"{folder}: private.json is missing; only its owner can resume an event")
    if not event.predictable and others_read_private(folder):
        warn(
            f"note: others can read {folder}/private.json and so know every card; "
            "take that from them with chmod 600"
        )
    secret = secret_of(folder, event)
    refuse_drift(folder, event, file.announced, secret, private.entered)
    return event, private, secret


def _play_on(
    folder: Path,
    event: Event,
    private: Private,
    secret: bytes,
    *,
    repair: bool = False,
    sandbox: str | None,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    live: Live | None,
    where: Where | None,
) -> int:
    """Find the bots again, and play what is left."""
    # Never the folder's: what is in a cache is trusted, and what is damaged there is removed.
    cache = default_cache()
    if private.cache and Path(private.cache) != cache:
        say(f"note: begun with the cache {printable(private.cache)}, here it is {printable(cache)}")
    sources = [(entrant, private.sources.get(entrant.id, "")) for entrant in event.entrants]
    with in_use(cache), opened(live) as page, Store.open(folder, mend=repair) as store:
        if store.mended:
            say(f"note: {store.mended}")
        if store.event.sandbox and not event.sandbox:
            raise UserError(f"{folder}: another arena has just begun the event")
        watcher = progress(event.settings.rating, as_json=as_json, quiet=quiet)
        # What is only prepared has deals that aren't fixed before it begins.
        heard = page.joined(watcher, event, folder, secret) if page else watcher
        begun = Tournament(store, secret, heard) if event.sandbox else None
        if begun and begun.left == 0:
            return conclude(store, begun, watcher)
        asked = jobs or _jobs(private.options.get("jobs"))
        settings = event.settings
        room = keep_promises(
            settings.limits, seats=settings.seats, series=settings.series, jobs=asked
        )
        chosen = sandbox or _asked_for(folder, event, private)
        backend = find_sandbox(chosen, folder)
        ready, _ = enter(
            restore(sources, cache=cache, folder=folder),
            backend,
            event.settings,
            cache,
            folder=folder,
            skip_broken=False,
            way_out=f"{AS_BEFORE}; a bot that has left the cache is put back into it by: "
            "arena check BOT",
        )
        context = context_of(event.settings, secret, ready, backend)
        if broken := trio.run(try_starts, context, room * settings.seats):
            without(ready, broken, skip_broken=False, way_out=AS_BEFORE)
        with playing(
            event,
            secret,
            ready,
            backend,
            sandbox=chosen,
            cache=cache,
            jobs=asked,
            room=room,
            pin=not (no_pin or private.options.get("no_pin")),
            where=where,
        ) as (executor, hosted, told):
            there = msgspec.structs.replace(hosted, finished=False)
            if there != store.event:
                store.restate(there)
            told(store, watcher.note)
            tournament = begun or Tournament(store, secret, heard)
            return play(
                store,
                tournament,
                executor,
                watcher,
                max_time=max_time,
                page=page,
                where=where.flags if where else "",
            )


def _jobs(stored: object) -> int | None:
    """How many matches at a time the folder asks for, if this machine can."""
    if isinstance(stored, int) and 1 <= stored <= MOST_JOBS * len(cores()):
        return stored
    return None
