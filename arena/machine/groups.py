"""Combine machines and sandboxes of an event that was played on more than one.

An event that is resumed elsewhere, or merged from shards, is confined as well as in the weakest of
its places: a guarantee is kept if it was kept everywhere.

Invariant: nothing here has a part in what is canonical.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from arena.model import Confinement, Event, Machine
from arena.registry import SANDBOXES

_AND = " and "


def with_host(
    event: Event, sandbox: str, confinement: Confinement, machines: Iterable[Machine]
) -> Event:
    """The event, played in this sandbox and on these machines too."""
    if not event.sandbox:  # prepared: nowhere as yet
        event = msgspec.structs.replace(event, sandbox=sandbox, confinement=confinement)
        known: tuple[Machine, ...] = ()
    else:
        known = machines_of(event)
    every = _alike_once((*known, *machines))
    return msgspec.structs.replace(
        event,
        sandbox=max(event.sandbox, sandbox, key=_weakness),
        confinement=_both(event.confinement, confinement),
        machine=every[0],
        machines=every if len(every) > 1 else (),
    )


def machines_of(event: Event) -> tuple[Machine, ...]:
    """Every machine that an event was played on."""
    return event.machines or (event.machine,)


def _alike_once(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    """Machines that differ only in how fast they were found are one, as slow as the slowest."""
    speeds: dict[Machine, list[int]] = {}
    for machine in machines:
        kind = msgspec.structs.replace(machine, speed=UNSET)
        found = speeds.setdefault(kind, [])
        if machine.speed is not UNSET:
            found.append(machine.speed)
    return tuple(
        msgspec.structs.replace(kind, speed=min(found, default=UNSET))
        for kind, found in speeds.items()
    )


def _weakness(sandbox: str) -> int:
    """The rank of a sandbox from the best; unknown ones are last."""
    known = list(SANDBOXES)
    return known.index(sandbox) if sandbox in known else len(known)


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
