"""Playing an event from the command line: from flags to the table on the screen."""

from __future__ import annotations

import contextlib
import math
import platform
import secrets
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
import trio

from arena import __version__, registry
from arena.cli.progress import JsonLines, Progress, progress, spoken
from arena.cli.screen import colour, columns
from arena.deals import Deals, commitment, secret_from_seed
from arena.executors import Config
from arena.executors.local import LocalExecutor, cores
from arena.match import Played, Setting, play_series, try_start
from arena.model import (
    Bot,
    Event,
    Limits,
    Machine,
    NotRun,
    Series,
    Settings,
    StartError,
    UserError,
)
from arena.pipes import open_table
from arena.referee import Failure
from arena.reports import render
from arena.roster import Roster, build, default_cache, in_use, load, printable, restore
from arena.sandbox import Backend
from arena.sandbox.client import Spawner
from arena.store import (
    Private,
    Store,
    is_results_folder,
    read_event,
    read_private,
    secret_of,
)
from arena.tournament import Tournament, all_blocks, schedule_of

# How often the display is drawn.
TICK_S = 0.2
# What takes longer than this is worth a line.
QUIET_S = 2.0
SKIP = "mend what can't take part, or go on without: --skip-broken"
# Signals that stop an event, and the exit codes that tell so.
AT_ONCE = signal.SIGUSR1
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, AT_ONCE: 143}

Broken = dict[str, tuple[Failure, str]]
"""Entrants that can't start: why, and the end of their stderr."""


def say(text: str) -> None:
    """A line for people, beside the results."""
    with contextlib.suppress(OSError):  # a terminal that has hung up ends nothing
        click.echo(text, err=True)


# ---------------------------------------------------------------------------------- commands


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
    **flags: Any,  # noqa: ANN401 - the settings' own flags
) -> int:
    """`arena run`."""
    if not bots:
        raise UserError("name the bots that play, for instance: arena run bots/*")
    for path in bots:
        if is_results_folder(path):
            raise UserError(f"{path} holds an event; go on with it: arena resume {path}")
    settings = _settings(**flags)
    cache = default_cache()
    with in_use(cache):
        return _run(
            bots,
            settings,
            cache,
            seed=seed,
            out=out,
            sandbox=sandbox,
            skip_broken=skip_broken,
            dry_run=dry_run,
            jobs=jobs,
            no_pin=no_pin,
            max_time=max_time,
            watcher=progress(settings.rating, as_json=as_json, quiet=quiet),
        )


def _run(
    bots: Sequence[Path],
    settings: Settings,
    cache: Path,
    *,
    seed: str | None,
    out: Path | None,
    sandbox: str,
    skip_broken: bool,
    dry_run: bool,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    watcher: Progress,
) -> int:
    roster = load(bots, cache=cache)
    backend = _sandbox(sandbox)
    ready, not_run = _enter(roster, backend, settings, cache, skip_broken=skip_broken)
    secret = secret_from_seed(seed) if seed is not None else secrets.token_bytes(32)
    setting = _setting(settings, secret, ready, backend)
    registry.schedule(settings, [bot.entrant for bot in ready], setting.deals)
    broken = trio.run(_try_starts, setting)
    if broken:
        ready, gone = _without(ready, broken, skip_broken=skip_broken)
        not_run += gone
        registry.schedule(settings, [bot.entrant for bot in ready], setting.deals)
        setting = _setting(settings, secret, ready, backend)
    entrants = tuple(bot.entrant for bot in sorted(ready, key=lambda bot: bot.entrant.id))
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        predictable=seed is not None,
        sandbox=backend.name,
        machine=_machine(),
        not_run=not_run,
    )
    workers = jobs or len(cores())
    if dry_run:
        return _dry_run(event, setting, secret, workers, watcher)
    private = Private(
        secret=secret.hex(),
        sources={bot.entrant.id: bot.source for bot in ready},
        cache=str(cache),
        options={"jobs": jobs, "no_pin": no_pin},
    )
    folder = out or Path("arena-results", time.strftime("%Y%m%d-%H%M%S"))
    with Store.create(folder, event, private) as store:
        config = _config(event, secret, ready)
        executor = LocalExecutor(config, jobs=workers, pin=not no_pin)
        return _play(store, secret, executor, watcher, max_time=max_time)


def resume_event(
    folder: Path,
    *,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """`arena resume`."""
    event = read_event(folder)
    if event.finished:
        raise UserError(f"{folder}: the event is finished; its table: arena table {folder}")
    private = read_private(folder)
    if private is None:
        raise UserError(f"{folder}: private.json is missing; only its owner can resume an event")
    secret = secret_of(folder, event)
    if commitment(secret, event.settings, event.entrants) != event.commitment:
        raise UserError(f"{folder}: settings, entrants and secret don't fit the commitment")
    cache = Path(private.cache)
    sources = [(entrant, private.sources.get(entrant.id, "")) for entrant in event.entrants]
    with in_use(cache), Store.open(folder) as store:
        backend = _sandbox(event.sandbox)
        ready, _ = _enter(
            restore(sources, cache=cache),
            backend,
            event.settings,
            cache,
            skip_broken=False,
            resuming=True,
        )
        setting = _setting(event.settings, secret, ready, backend)
        if broken := trio.run(_try_starts, setting):
            _without(ready, broken, skip_broken=False)
        watcher = progress(event.settings.rating, as_json=as_json, quiet=quiet)
        stored = private.options.get("jobs")
        workers = jobs or (stored if isinstance(stored, int) else None) or len(cores())
        pin = not (no_pin or private.options.get("no_pin"))
        executor = LocalExecutor(_config(event, secret, ready), jobs=workers, pin=pin)
        return _play(store, secret, executor, watcher, max_time=max_time)


# --------------------------------------------------------------------------------- preparing


def _settings(
    *,
    game: str,
    seats: int,
    tables: int | None,
    deals: int,
    series: int,
    fresh: str,
    playoff: bool,
    turn_cap: int | None,
    no_same_author: bool,
    move_time: int,
    match_time: int,
    start_time: int,
    memory: int,
    tasks: int,
) -> Settings:
    if move_time > match_time:
        raise UserError(
            f"--move-time {move_time} ms is more than --match-time {match_time} ms, "
            "the time for all of a bot's decisions in a match"
        )
    rules = registry.game(game)
    if not rules.min_seats <= seats <= rules.max_seats:
        raise UserError(
            f"--seats {seats}: {game} is for {rules.min_seats} to {rules.max_seats} players"
        )
    return Settings(
        game=game,
        seats=seats,
        deals=deals,
        tables=tables,
        same_author=not no_same_author,
        series=1 if fresh == "match" else series,
        turn_cap=turn_cap or rules.turn_cap,
        playoff=playoff,
        limits=Limits(
            move_ms=move_time,
            match_ms=match_time,
            start_ms=start_time,
            memory_mb=memory,
            tasks=tasks,
        ),
        rating=registry.rating(game),
    )


def _sandbox(wanted: str) -> Backend:
    """The backend asked for, or the first whose live canary passes."""
    if wanted == "none":
        return registry.backend(wanted)
    reasons = []
    for name in registry.SANDBOXES if wanted == "auto" else [wanted]:
        if name == "none":
            continue
        backend = registry.backend(name)
        found = backend.probe()
        if found.works:
            return backend
        reasons.append(f"{name}: {found.detail}")
    raise UserError(
        "no sandbox works on this machine:\n"
        + "\n".join(f"  {reason}" for reason in reasons)
        + "\nto run bots that you trust without any: --sandbox none"
    )


def _enter(
    roster: Roster,
    backend: Backend,
    settings: Settings,
    cache: Path,
    *,
    skip_broken: bool,
    resuming: bool = False,
) -> tuple[list[Bot], tuple[NotRun, ...]]:
    """Build what was found; every problem is told before anything is given up."""
    for note in roster.notes:
        say(f"note: {note}")
    for candidate in roster.candidates:
        asked, limits = candidate.asked, settings.limits
        for needs, allowed, flag in (
            (asked.memory_mb, limits.memory_mb, "MB of memory (--memory)"),
            (asked.tasks, limits.tasks, "tasks (--tasks)"),
            (asked.start_ms, limits.start_ms, "ms to start (--start-time)"),
        ):
            if (needs or 0) > allowed:
                say(f"note: {candidate.entrant.id} asks for {needs}, gets {allowed} {flag}")
    with Spawner() as spawner:
        built = build(roster.candidates, cache=cache, backend=backend, spawner=spawner, report=say)
    skipped = (*roster.skipped, *built.skipped)
    for left_out in skipped:
        say(f"note: {left_out.name} is left out: {left_out.reason}")
    problems = (*roster.problems, *built.problems)
    if problems and not skip_broken:
        way_out = "they must be as they were" if resuming else SKIP
        raise UserError("\n".join([*map(str, problems), way_out]))
    for problem in problems:
        say(f"note: {problem.name} is left out: {problem.lines[0]}")
    not_run = (*skipped, *(problem.not_run for problem in problems))
    return list(built.bots), not_run


def _without(
    bots: Sequence[Bot], broken: Broken, *, skip_broken: bool
) -> tuple[list[Bot], tuple[NotRun, ...]]:
    """Leave out the bots that can't start, or say why each one can't."""
    told = []
    for entrant, (failure, stderr) in sorted(broken.items()):
        status = f" ({failure.status})" if failure.status else ""
        told.append(f"{entrant}: can't start: {printable(failure.message)}{status}")
        if failure.line:
            told.append(f"  its line: {printable(failure.line)}")
        tail = [line for line in stderr.splitlines() if line.strip()][-10:]
        told += [f"  | {printable(line)}" for line in tail]
    if not skip_broken:
        raise StartError("\n".join([*told, SKIP]))
    for line in told:
        say(f"note: {line}")
    rest = [bot for bot in bots if bot.entrant.id not in broken]
    gone = tuple(
        NotRun(name=entrant, reason=f"can't start: {failure.message}")
        for entrant, (failure, _) in sorted(broken.items())
    )
    return rest, gone


def _setting(settings: Settings, secret: bytes, bots: Sequence[Bot], backend: Backend) -> Setting:
    return Setting(
        settings=settings,
        game=registry.game(settings.game),
        deals=Deals(secret),
        bots={bot.entrant.id: bot for bot in bots},
        backend=backend,
    )


def _config(event: Event, secret: bytes, bots: Sequence[Bot]) -> Config:
    return Config(
        settings=event.settings,
        secret=secret.hex(),
        bots=tuple(bots),
        sandbox=event.sandbox,
    )


async def _try_starts(setting: Setting) -> Broken:
    """Start every bot once, as many at a time as there are cores."""
    broken: Broken = {}
    entrants = iter(sorted(setting.bots))

    async def work() -> None:
        async with open_table() as table:
            for entrant in entrants:
                if found := await try_start(table, setting, entrant):
                    broken[entrant] = found

    async def tell() -> None:
        await trio.sleep(QUIET_S)
        say(f"starting each of {len(setting.bots)} bots once, to see that it can")

    async with trio.open_nursery() as outer:
        outer.start_soon(tell)
        async with trio.open_nursery() as nursery:
            for _ in range(min(len(cores()), len(setting.bots))):
                nursery.start_soon(work)
        outer.cancel_scope.cancel()
    return broken


def _machine() -> Machine:
    cpu = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cpu=cpu,
        cores=len(cores()),
        python=platform.python_version(),
        arena=__version__,
    )


# ------------------------------------------------------------------------------------ dry run


def _dry_run(event: Event, setting: Setting, secret: bytes, workers: int, watcher: Progress) -> int:
    """Say what would be played; play one match for each bot to see how long it takes."""
    schedule = schedule_of(event, secret)
    settings = event.settings
    unseen = {entrant.id for entrant in event.entrants}
    samples: list[Series] = []
    for block in all_blocks(schedule):
        series = block.series[0]
        if not unseen.isdisjoint(series.entrants):
            unseen.difference_update(series.entrants)
            samples.append(Series(id=series.id, matches=series.matches[:1]))
        if not unseen:
            break
    starting, playing = trio.run(_sample, setting, samples)
    started = math.ceil(schedule.planned / min(settings.series, settings.deals))
    seconds = (started * starting + schedule.planned * playing) / workers
    tables = schedule.planned // (settings.deals * settings.seats)
    if isinstance(watcher, JsonLines):
        watcher.say(
            "dry-run",
            bots=[entrant.id for entrant in event.entrants],
            tables=tables,
            planned=schedule.planned,
            seconds=round(seconds, 1),
        )
        return 0
    for entrant in event.entrants:
        author = f" by {printable(entrant.author)}" if entrant.author else ""
        click.echo(f"{entrant.id}{author}")
    click.echo(
        f"{len(event.entrants)} bots, {settings.game} at {settings.seats} seats: {tables} tables x "
        f"{settings.deals} deals x {settings.seats} rotations = {schedule.planned} matches"
    )
    click.echo(
        f"about {spoken(seconds)} with {workers} at a time "
        f"({playing * 1000:.0f} ms a match, {starting * 1000:.0f} ms to start and end a series; "
        f"from {len(samples)} matches just played)"
    )
    return 0


async def _sample(setting: Setting, samples: Sequence[Series]) -> tuple[float, float]:
    """Mean seconds to start a series' bots, and to play a match."""
    starting = playing = 0.0
    async with open_table() as table:
        for series in samples:
            records: list[Played] = []
            begun = time.monotonic()
            await play_series(table, setting, series, 0, records.append)
            took = time.monotonic() - begun
            thought = sum(use.think_ms for played in records for use in played.record.use) / 1000
            starting += took - thought
            playing += thought
    return starting / len(samples), playing / len(samples)


# -------------------------------------------------------------------------------------- play


def _play(
    store: Store,
    secret: bytes,
    executor: LocalExecutor,
    watcher: Progress,
    *,
    max_time: int | None,
) -> int:
    """Play until the end or a stop; print the table, and how to go on if it isn't over."""
    tournament = Tournament(store, secret, watcher)
    planned, left = tournament.planned, tournament.left
    watcher.begin(planned, planned - left)
    event = store.event
    if isinstance(watcher, JsonLines):
        watcher.say(
            "start",
            folder=str(store.folder),
            commitment=event.commitment,
            predictable=event.predictable,
            bots=[entrant.id for entrant in event.entrants],
            planned=planned,
            done=planned - left,
            sandbox=event.sandbox,
        )
    else:
        watcher.note(
            f"{len(event.entrants)} bots, {left} matches to play, results in {store.folder}"
        )
        watcher.note(f"commitment {event.commitment}")
        if event.sandbox == "none":
            say("warning: --sandbox none: the bots can do whatever you can do")
    outcome: list[int] = []
    try:
        trio.run(_follow, tournament, executor, watcher, max_time, outcome)
        watcher.end()
        if tournament.left == 0:
            tournament.conclude()
        _publish(store, tournament, watcher)
    finally:
        watcher.end()
        _tell_trouble(store, tournament, watcher)
        if not store.event.finished:
            _tell_resume(store, watcher)
    return outcome[0] if outcome and not store.event.finished else 0


async def _follow(
    tournament: Tournament,
    executor: LocalExecutor,
    watcher: Progress,
    max_time: int | None,
    outcome: list[int],
) -> None:
    """Play, with a clock for the display and an ear for signals."""
    stop = trio.Event()

    async def tick() -> None:
        while True:
            watcher.tick()
            await trio.sleep(TICK_S)

    async def listen() -> None:
        with trio.open_signal_receiver(*STOPPED) as signals:
            async for number in signals:
                outcome.append(STOPPED[signal.Signals(number)])
                if len(outcome) > 1 or number == AT_ONCE:
                    nursery.cancel_scope.cancel()
                stop.set()
                if len(outcome) == 1:
                    watcher.note("stopping after the series in play; once more to stop at once")

    async def alarm(seconds: float) -> None:
        await trio.sleep(seconds)
        stop.set()
        watcher.note("the time is over: stopping after the series in play")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tick)
        nursery.start_soon(listen)
        if max_time is not None:
            nursery.start_soon(alarm, max_time / 1000)
        await tournament.play(executor, stop)
        nursery.cancel_scope.cancel()


def _publish(store: Store, tournament: Tournament, watcher: Progress) -> None:
    """The table: on the screen, and beside the log in every form."""
    table = tournament.result()
    for name, kind in (("table.txt", "text"), ("table.md", "md"), ("table.csv", "csv")):
        store.write(name, render(table, kind, width=None))
    store.write("table.json", render(table, "json"))
    if isinstance(watcher, JsonLines):
        watcher.say("table", table=msgspec.json.decode(render(table, "json")))
        watcher.say("end", finished=store.event.finished, done=watcher.done)
        return
    click.echo(render(table, "text", width=columns(), color=colour()), nl=False)


def _tell_trouble(store: Store, tournament: Tournament, watcher: Progress) -> None:
    """What went wrong, a line for each bot: to be mended by its author, or by us."""
    if not isinstance(watcher, JsonLines):
        for _, line in sorted(watcher.first_faults.items()):
            say(line)
        if watcher.first_faults:
            say(f"all faults: arena log {shlex.quote(str(store.folder))} --faults")
    for entrant, times, voids in tournament.suspects():
        watcher.note(f"{entrant} was at the table in {times} of {voids} void series")


def _tell_resume(store: Store, watcher: Progress) -> None:
    folder = str(store.folder)
    command = f"arena resume {shlex.quote(f'./{folder}' if folder.startswith('-') else folder)}"
    if isinstance(watcher, JsonLines):
        try:
            watcher.say("resume", command=command)
        except OSError:  # whoever read our lines is gone: tell whoever started us
            pass
        else:
            return
    say(f"not finished; everything played is kept; go on with: {command}")
