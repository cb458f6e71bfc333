"""A machine of a cluster before it plays: its sandbox, its limits, its cores, and the bots.

The same steps as on one machine, by the same functions; what is amiss is told to whoever asks.
"""

from __future__ import annotations

import platform
from pathlib import Path

import msgspec
import trio

from arena.bots import default_cache, in_use, lacking, restore, unfetched
from arena.event.enter import context_of, find_sandbox, prepare, try_starts, without
from arena.executors import core_probe
from arena.executors.cores import cores
from arena.executors.dask_tasks import Ask, AskCores, CoreTrials, NodeAnswer, NodeFit, NodeUnfit
from arena.machine.facts import confinement, this_machine
from arena.machine.preflight import keep_promises
from arena.model import Bot, HostError, UserError
from arena.sandbox import Backend

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def admitted(ask: bytes) -> bytes:
    """The answer to whoever asks."""
    return msgspec.json.encode(_answer(msgspec.json.decode(ask, type=Ask | AskCores)))


def _answer(ask: Ask | AskCores) -> NodeAnswer:
    if isinstance(ask, AskCores):
        return CoreTrials(trials=tuple(core_probe.try_cores(ask.cores)))
    settings, cache = ask.settings, default_cache()
    try:
        room = keep_promises(settings.limits, seats=settings.seats, series=settings.series)
        backend = find_sandbox(ask.sandbox)
        with in_use(cache):
            bots = _bots(ask, backend, cache, room) if ask.enter else ()
            return NodeFit(
                host=_host(),
                cache=_identity(cache),
                machine=this_machine(),
                sandbox=backend.name,
                confinement=confinement(backend),
                cores=tuple(cores()),
                room=room,
                missing=() if ask.enter else _missing(ask, cache),
                bots=bots,
            )
    except (UserError, HostError) as error:
        return NodeUnfit(trouble=str(error))


def _missing(ask: Ask, cache: Path) -> tuple[str, ...]:
    """What isn't in the cache: bots, and packages of those that are."""
    there = restore([(each, "") for each in ask.entrants], cache=cache).candidates
    return (*lacking(ask.entrants, cache=cache), *unfetched(there, cache=cache))


def _bots(ask: Ask, backend: Backend, cache: Path, room: int) -> tuple[Bot, ...]:
    """Build the bots, and start each one once."""
    found = restore([(each, "") for each in ask.entrants], cache=cache)
    ready, problems, left_out = prepare(found, backend, ask.settings.limits, cache)
    # By their names: their paths here are hashes.
    told = [f"{bad.name}: {'; '.join(bad.lines)}" for bad in problems]
    if told := told + [f"{out.name}: {out.reason}" for out in left_out]:
        raise UserError("\n".join(told))
    context = context_of(ask.settings, bytes(32), ready, backend)
    if broken := trio.run(try_starts, context, room * ask.settings.seats):
        without(ready, broken, skip_broken=False, way_out="")
    return tuple(ready)


def _identity(cache: Path) -> str:
    """This cache on this machine: one by its path is another where another folder is mounted."""
    found = cache.stat()
    return f"{cache} {found.st_dev} {found.st_ino}"


def _host() -> str:
    """This machine since it was started, or this container on it."""
    try:
        boot = _BOOT.read_text().strip()
    except OSError:
        boot = ""
    return f"{platform.node()} {boot}"
