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
from arena.cli.entering import (
    enter,
    find_sandbox,
    setting_of,
    settings_of,
    try_starts,
    without,
)
from arena.cli.play import play
from arena.cli.progress import progress
from arena.cli.screen import say
from arena.deals import commitment, secret_from_seed
from arena.executors import Config
from arena.executors.cores import cores, fair_jobs
from arena.executors.local import LocalExecutor
from arena.model import (
    Bot,
    Confinement,
    Event,
    Machine,
    UserError,
)
from arena.roster import default_cache, in_use, load, restore
from arena.sandbox import Backend
from arena.sandbox.guarantees import GUARANTEES
from arena.store import (
    Private,
    Store,
    is_results_folder,
    read_event,
    read_private,
    secret_of,
)

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
    settings = settings_of(**flags)
    cache = default_cache()
    watcher = progress(settings.rating, as_json=as_json, quiet=quiet)
    with in_use(cache):
        roster = load(bots, cache=cache)
        backend = find_sandbox(sandbox)
        ready, not_run = enter(roster, backend, settings, cache, skip_broken=skip_broken)
        secret = secret_from_seed(seed) if seed is not None else secrets.token_bytes(32)
        setting = setting_of(settings, secret, ready, backend)
        registry.schedule(settings, [bot.entrant for bot in ready], setting.deals)
        broken = trio.run(try_starts, setting)
        if broken:
            ready, gone = without(ready, broken, skip_broken=skip_broken)
            not_run += gone
            registry.schedule(settings, [bot.entrant for bot in ready], setting.deals)
            setting = setting_of(settings, secret, ready, backend)
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
        backend = find_sandbox(event.sandbox)
        ready, _ = enter(
            restore(sources, cache=cache),
            backend,
            event.settings,
            cache,
            skip_broken=False,
            way_out="they must be as they were",
        )
        setting = setting_of(event.settings, secret, ready, backend)
        if broken := trio.run(try_starts, setting):
            without(ready, broken, skip_broken=False)
        watcher = progress(event.settings.rating, as_json=as_json, quiet=quiet)
        stored = private.options.get("jobs")
        workers = _workers(jobs or (stored if isinstance(stored, int) else None))
        pin = not (no_pin or private.options.get("no_pin"))
        executor = LocalExecutor(_config(event, secret, ready), jobs=workers, pin=pin)
        return play(store, secret, executor, watcher, max_time=max_time)


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
