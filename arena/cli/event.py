"""Preparing an event, new or to be resumed: from flags and paths to bots that are ready."""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trio

from arena import __version__, registry
from arena.cli.dry_run import dry_run as dry_run_event
from arena.cli.play import play
from arena.cli.progress import progress
from arena.cli.screen import say
from arena.deals import Deals, commitment, secret_from_seed
from arena.executors import Config
from arena.executors.cores import cores, fair_jobs
from arena.executors.local import LocalExecutor
from arena.match import Setting, try_start
from arena.model import (
    Bot,
    Confinement,
    Event,
    Limits,
    Machine,
    NotRun,
    Settings,
    StartError,
    UserError,
)
from arena.pipes import open_table
from arena.referee import Failure
from arena.roster import Roster, build, default_cache, in_use, load, printable, restore
from arena.sandbox import Backend
from arena.sandbox.client import Spawner
from arena.sandbox.diagnosis import of_backend
from arena.sandbox.guarantees import GUARANTEES
from arena.store import (
    Private,
    Store,
    is_results_folder,
    read_event,
    read_private,
    secret_of,
)

# What takes longer than this is worth a line.
QUIET_S = 2.0
# Of advice in an error, so that with its margin it fits 80 columns.
WIDTH = 68
SKIP = "mend what can't take part, or go on without: --skip-broken"

Broken = dict[str, tuple[Failure, str]]
"""Entrants that can't start: why, and the end of their stderr."""


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
    watcher = progress(settings.rating, as_json=as_json, quiet=quiet)
    with in_use(cache):
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
            confinement=_confinement(backend),
            machine=this_machine(),
            not_run=not_run,
        )
        workers = _workers(jobs)
        if dry_run:
            return dry_run_event(event, setting, secret, workers, watcher)
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
            return play(store, secret, executor, watcher, max_time=max_time)


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
        workers = _workers(jobs or (stored if isinstance(stored, int) else None))
        pin = not (no_pin or private.options.get("no_pin"))
        executor = LocalExecutor(_config(event, secret, ready), jobs=workers, pin=pin)
        return play(store, secret, executor, watcher, max_time=max_time)


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
    freeze: bool,
    turn_cap: int | None,
    no_same_author: bool,
    move_time: int,
    match_time: int,
    start_time: int,
    memory: int,
    tasks: int,
    scratch: int,
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
        freeze=freeze,
        limits=Limits(
            move_ms=move_time,
            match_ms=match_time,
            start_ms=start_time,
            memory_mb=memory,
            tasks=tasks,
            scratch_mb=scratch,
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
        finding = of_backend(name, found.detail)
        reasons += [f"  {name}: {finding.text}", *(f"    {line}" for line in finding.remedy(WIDTH))]
    missing = "no sandbox works" if wanted == "auto" else f"the sandbox {wanted} does not work"
    raise UserError(
        "\n".join(
            [
                f"{missing} on this machine:",
                *reasons,
                "all that was tried: arena doctor",
                "to run bots that you trust without any: --sandbox none",
            ]
        )
    )


def _confinement(backend: Backend) -> Confinement:
    """How the bots are going to be held, as the canary found it."""
    found = backend.probe()
    return Confinement(
        detail=found.detail,
        memory=found.memory,
        kept=found.kept,
        not_kept=tuple(name for name in GUARANTEES if name not in found.kept),
        gaps=found.gaps,
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
            (asked.scratch_mb, limits.scratch_mb, "MB of scratch space (--scratch)"),
        ):
            if (needs or 0) > allowed:
                say(f"note: {candidate.entrant.id} asks for {needs}, gets {allowed} {flag}")
    with Spawner() as spawner:
        built = build(
            roster.candidates,
            cache=cache,
            backend=backend,
            spawner=spawner,
            scratch_mb=settings.limits.scratch_mb,
            report=say,
        )
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


def _workers(asked: int | None) -> int:
    """How many matches are played at a time; more than cores is worth a line."""
    fair = fair_jobs()
    if asked is None or asked <= fair:
        return asked or fair
    if asked > len(cores()):
        say(
            f"note: {asked} jobs on {len(cores())} cores: workers share them unpinned, and a "
            "bot's time runs while another's match is played"
        )
    else:
        say(
            f"note: {asked} jobs, but this process's control group allows {fair} at a time: "
            "bots are stopped in turns, and their time runs on"
        )
    return asked


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
            for _ in range(min(fair_jobs(), len(setting.bots))):
                nursery.start_soon(work)
        outer.cancel_scope.cancel()
    return broken


def this_machine() -> Machine:
    """Where it is played."""
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
