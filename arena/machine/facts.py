"""Facts of the machines that an event is played on: sandbox, confinement, CPU, cores; its workers.

An event that is resumed elsewhere, or merged from shards, is confined as well as in the weakest of
its places: a guarantee is kept if it was kept everywhere. Nothing of it is canonical.
"""

import platform
import re
from collections.abc import Iterable, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from arena import __version__
from arena.deals import with_beacon
from arena.executors import WorkerConfig
from arena.executors.cores import cores, fair_jobs
from arena.machine import Notify
from arena.model import Bot, Confinement, Event, Machine
from arena.registry import SANDBOXES
from arena.sandbox import Backend
from arena.sandbox.guarantees import GUARANTEES
from arena.sandbox.host import Host

_AND = " and "


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
    """How many matches are played at a time: those `asked` for, else the `room` that there is."""
    fair = fair_jobs()
    if asked is None or asked <= fair:
        return asked or room
    many = (
        f" on {len(cores())} cores: workers share them unpinned, and a bot's time runs while "
        "another's match is played"
    )
    few = (
        f", but this process's control group allows {fair} at a time: bots are stopped in turns, "
        "and their time runs on"
    )
    notify(f"note: {asked} jobs{many if asked > len(cores()) else few}")
    return asked


def this_machine() -> Machine:
    model = re.search(r"^model name[^:\n]*:(.*)", Host().text("proc/cpuinfo"), re.MULTILINE)
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cpu=model[1].strip() if model else platform.processor(),
        cores=len(cores()),
        python=platform.python_version(),
        arena=__version__,
    )


def with_host(
    event: Event, sandbox: str, confinement: Confinement, machines: Iterable[Machine]
) -> Event:
    """The event, played in this sandbox and on these machines too."""
    if not event.sandbox:  # prepared: nowhere as yet
        event = replace(event, sandbox=sandbox, confinement=confinement)
        known: tuple[Machine, ...] = ()
    else:
        known = machines_of(event)
    every = _alike_once((*known, *machines))
    return replace(
        event,
        sandbox=max(event.sandbox, sandbox, key=lambda name: [*SANDBOXES, name].index(name)),
        confinement=_both(event.confinement, confinement),
        machine=every[0],
        machines=every if len(every) > 1 else (),
    )


def machines_of(event: Event) -> tuple[Machine, ...]:
    return event.machines or (event.machine,)


def _alike_once(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    """Machines that differ only in how fast they were found are one, as slow as the slowest."""
    speeds: dict[Machine, list[int]] = {}
    for machine in machines:
        kind = replace(machine, speed=UNSET)
        found = speeds.setdefault(kind, [])
        if machine.speed is not UNSET:
            found.append(machine.speed)
    return tuple(replace(kind, speed=min(found, default=UNSET)) for kind, found in speeds.items())


def _both(one: Confinement, other: Confinement) -> Confinement:
    return Confinement(
        detail=_joined(one.detail, other.detail),
        tool=_joined(one.tool or "", other.tool or "") or UNSET,
        memory=_joined(one.memory, other.memory),
        kept=tuple(name for name in one.kept if name in other.kept),
        not_kept=_united(one.not_kept, other.not_kept),
        gaps=_united(one.gaps, other.gaps),
    )


def _united(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _joined(one: str, other: str) -> str:
    return _AND.join(filter(None, _united(one.split(_AND), other.split(_AND))))
