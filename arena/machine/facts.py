"""Facts of this machine that an event records: sandbox, confinement, CPU, cores; its workers."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET

from arena import __version__
from arena.deals import with_beacon
from arena.executors import WorkerConfig
from arena.executors.cores import cores, fair_jobs
from arena.machine import Notify
from arena.machine.groups import with_host
from arena.model import Bot, Confinement, Event, Machine
from arena.sandbox import Backend
from arena.sandbox.guarantees import GUARANTEES


def played_here(event: Event, backend: Backend) -> Event:
    """The event with this machine and sandbox among those that it is played on and in."""
    return with_host(event, backend.name, confinement(backend), (this_machine(),))


def confinement(backend: Backend) -> Confinement:
    """How a sandbox confines bots here, by its canary."""
    found = backend.probe()
    return Confinement(
        detail=found.detail,
        tool=found.tool or UNSET,
        memory=found.memory,
        kept=found.kept,
        not_kept=tuple(name for name in GUARANTEES if name not in found.kept),
        gaps=found.gaps,
    )


def worker_config(
    event: Event, secret: bytes, bots: Sequence[Bot], backend: Backend
) -> WorkerConfig:
    return WorkerConfig(
        settings=event.settings,
        secret=with_beacon(secret, event.beacon).hex(),
        bots=tuple(bots),
        sandbox=backend.name,
    )


def workers_of(asked: int | None, room: int, notify: Notify) -> int:
    """How many matches are played at a time: those that were asked for, or as many as there is
    `room` for; more than cores is worth a line.
    """
    fair = fair_jobs()
    if asked is None or asked <= fair:
        return asked or room
    if asked > len(cores()):
        notify(
            f"note: {asked} jobs on {len(cores())} cores: workers share them unpinned, and a "
            "bot's time runs while another's match is played"
        )
    else:
        notify(
            f"note: {asked} jobs, but this process's control group allows {fair} at a time: "
            "bots are stopped in turns, and their time runs on"
        )
    return asked


def this_machine() -> Machine:
    """This machine, as an event records it."""
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
