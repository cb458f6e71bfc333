"""Admit a machine to a cluster: check its sandbox, its limits, its cores, and the bots there.

The same steps as on one machine, by the same functions; problems are part of the answer.
"""

import platform
from pathlib import Path

import msgspec

from arena import bots
from arena.event.workshop import Workshop, context_of
from arena.executors import core_probe
from arena.executors.cores import cores
from arena.executors.dask_tasks import Ask, AskCores, CoreTrials, NodeAnswer, NodeFit, NodeUnfit
from arena.machine import Notify
from arena.machine.facts import confinement, this_machine
from arena.model import Bot, HostError, Settings, UserError

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def admit(ask: bytes, notify: Notify) -> bytes:
    try:
        asked = msgspec.json.decode(ask, type=Ask | AskCores)
    except msgspec.DecodeError as error:
        what = "standard input is no question of Dask's workers, which call this command"
        raise UserError(f"node: {what} ({error})") from None
    return msgspec.json.encode(_answer(asked, notify))


def _answer(ask: Ask | AskCores, notify: Notify) -> NodeAnswer:
    if isinstance(ask, AskCores):
        return CoreTrials(trials=tuple(core_probe.try_cores(ask.cores)))
    settings, cache = ask.settings, bots.default_cache()
    try:
        with bots.in_use(cache):
            workshop = Workshop(settings, notify, sandbox=ask.sandbox, way_out="")
            there = bots.restore([(each, "") for each in ask.entrants], cache=cache)
            missing: tuple[str, ...] = ()
            if not ask.enter:  # what the cache lacks: bots, and packages of those that it has
                snapshots = bots.missing_snapshots(ask.entrants, cache=cache)
                missing = (*snapshots, *bots.missing_packages(there.candidates, cache=cache))
            return NodeFit(
                host=_host(),
                cache=_identity(cache),
                machine=this_machine(),
                sandbox=workshop.backend.name,
                confinement=confinement(workshop.backend),
                cores=tuple(cores()),
                room=workshop.room,
                missing=missing,
                bots=_started(there, settings, workshop) if ask.enter else (),
            )
    except (UserError, HostError) as error:
        return NodeUnfit(trouble=str(error))


def _started(found: bots.Roster, settings: Settings, workshop: Workshop) -> tuple[Bot, ...]:
    ready, problems, left_out = workshop.build(found)
    # By their names: their paths here are hashes.
    lines = [f"{bad.name}: {'; '.join(bad.lines)}" for bad in problems]
    if lines := lines + [f"{out.name}: {out.reason}" for out in left_out]:
        raise UserError("\n".join(lines))
    workshop.start(context_of(settings, bytes(32), ready, workshop.backend))
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
