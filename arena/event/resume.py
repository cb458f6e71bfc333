"""Play an event that has a folder: begin a prepared one, or resume an unfinished one."""

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena import store
from arena.bots import default_cache, in_use, printable, restore
from arena.event.cluster import venue
from arena.event.commands import MERGE, command_line
from arena.event.drift import beacon_value, refuse_drift
from arena.event.epochs import epochs_of
from arena.event.progress import Outcome, Progress
from arena.event.results import counting_of, left_of, shard_of
from arena.event.session import Session, conclude, play
from arena.event.tournament import Tournament
from arena.event.workshop import Workshop, context_of
from arena.executors.cores import cores
from arena.formats.shards import Shard
from arena.model import Event, UserError
from arena.registry import SANDBOXES
from arena.store import Store

AS_BEFORE = (
    "they must be as they were; a bot that has left the cache is put back into it by: "
    "arena check BOT"
)
MOST_JOBS = 4  # a core; more workers only wait for each other


def run_prepared(
    folder: Path, session: Session, *, beacon: str | None = None, shard: str | None = None
) -> Outcome:
    part = "" if shard is None else str(Shard.parse(shard))
    owned = _owned(folder, session.progress)
    event, secret = owned.event, owned.secret
    if event.sandbox:
        raise UserError(f"{folder}: {_begun(folder, event, secret)}")
    event = replace(event, beacon=beacon_value(event, beacon), shard=part)
    counting_of(event, secret, shard=shard_of(event))  # whether it can be cut, before it is begun
    if not session.options.sandbox:
        _sandbox_of(folder, event, owned.private)  # before a log is begun
    return _play_on(folder, owned._replace(event=event), session)


def resume_event(
    folder: Path, session: Session, *, repair: bool = False, beacon: str | None = None
) -> Outcome:
    """Play what an unfinished event lacks. `repair`: set damaged lines of its log aside first."""
    owned = _owned(folder, session.progress, repair=repair)
    event, sandbox = owned.event, session.options.sandbox
    if not event.sandbox:
        raise UserError(f"{folder}: prepared, but not begun; begin: {command_line('run', folder)}")
    if beacon is not None and (given := beacon_value(event, beacon)) != event.beacon:
        raise UserError(
            f"{folder}: the event was begun with the beacon {printable(event.beacon)}, "
            f"not {printable(given)}; leave --beacon out"
        )
    if sandbox and sandbox not in ("auto", event.sandbox):
        goes_on = f"the event records that it goes on in {sandbox}"
        session.progress.say(f"note: begun in {printable(event.sandbox)}; {goes_on}")
    return _play_on(folder, owned, session, repair=repair)


def _begun(folder: Path, event: Event, secret: bytes) -> str:
    """Why an event that has begun can't be begun, and what can be done instead."""
    if pid := store.writer(folder):
        stop = command_line("stop", folder)
        return f"the event is being played right now, by process {pid}; to stop it: {stop}"
    if event.shard and not left_of(folder, event, secret):
        return f"shard {event.shard} of the event is played; when all are: {MERGE}"
    what = f"shard {event.shard} of the event" if event.shard else "the event"
    return f"{what} is unfinished; go on with it: {command_line('resume', folder)}"


def _sandbox_of(folder: Path, event: Event, private: store.Private) -> str:
    """The sandbox that a folder names. Only a command may name `none`."""
    sandbox = event.sandbox or private.options.get("sandbox") or "auto"
    if sandbox == "none":
        command = command_line("resume" if event.sandbox else "run", folder)
        raise UserError(
            f"{folder}: asks for no sandbox, and a folder can't turn the sandbox off: its author "
            f"may have chosen the bots, too. If you trust them: {command} --sandbox none"
        )
    if sandbox not in ("auto", *SANDBOXES):
        raise UserError(f"{folder}: names a sandbox that there is not; choose one with --sandbox")
    return str(sandbox)


def _finished(folder: Path) -> UserError:
    for epoch in epochs_of(folder):
        if not store.read_event(epoch).finished:
            go_on = command_line("resume", epoch)
            return UserError(f"{folder}: the event is finished, its epoch isn't; go on: {go_on}")
    return UserError(
        f"{folder}: the event is finished; its table: {command_line('table', folder)}; "
        f"if its log is damaged: {command_line('resume', folder)} --repair"
    )


class _Owned(NamedTuple):
    event: Event
    private: store.Private
    secret: bytes


def _owned(folder: Path, progress: Progress, *, repair: bool = False) -> _Owned:
    """An event that can be resumed here."""
    file = store.read_event_file(folder)
    event = file.event
    private = store.read_private(folder)
    if event.finished and private is None and not repair:
        raise _finished(folder)
    if private is None and event.secret:
        # It was finished once: its secret is public, and there is nothing else to own.
        private = store.Private(secret=event.secret, sources={}, cache="")
    if private is None:
        raise UserError(f"{folder}: private.json is missing; only its owner can resume an event")
    if not event.predictable and store.others_read_private(folder):
        progress.warn(
            f"note: others can read {folder}/private.json and so know every card; "
            "take that from them with chmod 600"
        )
    secret = store.secret_of(folder, event)
    refuse_drift(folder, event, file.announced, secret, private.entered)
    return _Owned(event, private, secret)


def _play_on(folder: Path, owned: _Owned, session: Session, *, repair: bool = False) -> Outcome:
    event, private, secret = owned
    options, progress, settings = session.options, session.progress, event.settings
    # Never the folder's cache: what is in a cache is trusted, and what is damaged there is removed.
    cache = default_cache()
    if private.cache and Path(private.cache) != cache:
        progress.say(
            f"note: begun with the cache {printable(private.cache)}, here it is {printable(cache)}"
        )
    sources = [(entrant, private.sources.get(entrant.id, "")) for entrant in event.entrants]
    with in_use(cache), Store.open(folder, mend=repair) as opened:
        if opened.mended:
            progress.say(f"note: {opened.mended}")
        if opened.event.sandbox and not event.sandbox:
            raise UserError(f"{folder}: another arena has just begun the event")
        # What is only prepared has deals that aren't fixed before it begins.
        watcher = session.watcher(event, folder, secret)
        begun = Tournament(opened, secret, watcher) if event.sandbox else None
        if begun and begun.left == 0:
            outcome = conclude(opened, begun, session)
            progress.finish(outcome)
            return outcome
        jobs = options.jobs or _jobs(private.options.get("jobs"))
        chosen = options.sandbox or _sandbox_of(folder, event, private)
        workshop = Workshop(
            settings, progress.say, folder, sandbox=chosen, jobs=jobs, way_out=AS_BEFORE
        )
        ready, _ = workshop.enter(restore(sources, cache=cache, folder=folder))
        workshop.start(context_of(settings, secret, ready, workshop.backend))
        pin = options.pin and not private.options.get("no_pin")
        here = replace(options, sandbox=chosen, jobs=jobs, pin=pin)
        with venue(event, secret, ready, workshop, here) as there:
            restated = replace(there.event, finished=False)
            if restated != opened.event:
                opened.restate(restated)
            there.attach(opened, progress.note)
            tournament = begun or Tournament(opened, secret, watcher)
            return play(opened, tournament, there.executor, session)


def _jobs(stored: object) -> int | None:
    """How many matches at a time the folder asks for, if this machine can."""
    if isinstance(stored, int) and 1 <= stored <= MOST_JOBS * len(cores()):
        return stored
    return None
