"""One whole event: tournament, executor, workers, sandbox, log, counting, tables.

An event runs in this process as `arena run` runs it, into a temporary folder. Matches a second are
those of the whole event, from an empty folder to its tables, start of the workers included. The
steady rate leaves the start and the end out: from the first record to the last.

CPU is told apart by who used it: this process, workers, spawners (both by the scheduler's count,
read now and then), and the bots, which are the rest of what all that were waited for have used.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import trio

from arena.deals import commitment
from arena.event.tournament import Tournament
from arena.executors import WorkerConfig
from arena.executors.local import LocalExecutor
from arena.model import Bot, Event, MatchRecord
from arena.registry import render
from arena.schedule import Wave
from arena.store import Private, Store
from measures import SkippedError
from measures.conversation import SECRET, settings_of
from measures.stage import Stage
from measures.worker import cpu_us

LOOK_EVERY = 50
"""Matches between two looks at the processes: a look reads some files of /proc."""


class Watched:
    """A watcher that notes when records came and what the processes below have used."""

    def __init__(self) -> None:
        self.count = 0
        self.first = self.last = 0.0
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            raise SkippedError("this kernel doesn't tell a process's children")
        self._others = set(_children(os.getpid()))
        self.workers: dict[int, float] = {}
        self.spawners: dict[int, float] = {}
        self.resident_mb = 0.0

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""
        if record.faults:
            raise RuntimeError(f"a bot failed: {record.faults[0]}")
        # By when they ended: a worker tells a few matches at a time.
        self.last = max(self.last, record.ended)
        self.first = min(self.first or record.ended, record.ended)
        if self.count % LOOK_EVERY == 0:
            self.look()
        self.count += 1

    def rated(self, rated: object) -> None:
        """A rated deal is settled."""

    def wave(self, wave: Wave) -> None:
        """So much has been decided."""

    def trouble(self, series: str, message: str) -> None:
        """A series is void."""
        raise RuntimeError(f"{series}: {message}")

    def look(self) -> None:
        """See what workers and spawners have used so far."""
        for worker in set(_children(os.getpid())) - self._others:
            with contextlib.suppress(OSError):  # it has played its last series and gone
                self.workers[worker] = cpu_us(worker)
                self.resident_mb = max(self.resident_mb, memory_mb(worker)["Rss"])
                for spawner in _children(worker):
                    self.spawners[spawner] = cpu_us(spawner)


def _children(pid: int) -> Iterator[int]:
    yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def memory_mb(pid: int) -> dict[str, float]:
    """What a process holds: Rss, and Pss, where what is shared counts by its share."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        found[name] = int(value.split()[0]) / 1024
    return found


def _used(who: int) -> float:
    used = resource.getrusage(who)
    return (used.ru_utime + used.ru_stime) * 1e6


def play_event(
    stage: Stage,
    bots: Sequence[Bot],
    *,
    deals: int,
    jobs: int,
    series: int = 25,
    tables: int | None = None,
) -> dict[str, float]:
    """Play an event; its numbers."""
    if jobs > len(stage.cores):
        raise SkippedError(f"{jobs} workers need {jobs} cores")
    settings = msgspec.structs.replace(settings_of(deals=deals, series=series), tables=tables)
    entrants = tuple(sorted((bot.entrant for bot in bots), key=lambda each: each.id))
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(SECRET, settings, entrants),
        predictable=True,
        sandbox=stage.sandbox,
    )
    config = WorkerConfig(
        settings=settings, secret=SECRET.hex(), bots=tuple(bots), sandbox=event.sandbox
    )
    folder = stage.empty()
    watched = Watched()
    own, below = _used(resource.RUSAGE_SELF), _used(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    with Store.create(folder, event, Private(secret=SECRET.hex(), sources={}, cache="")) as store:
        tournament = Tournament(store, SECRET, watched)
        executor = LocalExecutor(config, jobs=jobs, pin=True)
        trio.run(_play, tournament, executor)
        tournament.conclude()
        table = tournament.result()
        for name, kind in (("table.txt", "text"), ("table.md", "md"), ("table.csv", "csv")):
            store.write(name, render(table, kind))
        store.write("table.json", render(table, "json"))
    ended = time.monotonic()
    own, below = _used(resource.RUSAGE_SELF) - own, _used(resource.RUSAGE_CHILDREN) - below
    shutil.rmtree(folder)
    if watched.count != table.planned:
        raise RuntimeError(f"{watched.count} of {table.planned} matches were played")
    workers, spawners = sum(watched.workers.values()), sum(watched.spawners.values())
    return {
        "rate": watched.count / (ended - begun),
        "steady": (watched.count - 1) / (watched.last - watched.first),
        "cpu": (own + below) / watched.count,
        "parent": own / watched.count,
        "workers": workers / watched.count,
        "spawners": spawners / watched.count,
        "bots": max(0.0, below - workers - spawners) / watched.count,
        "memory": watched.resident_mb,
    }


async def _play(tournament: Tournament, executor: LocalExecutor) -> None:
    await tournament.play(executor, trio.Event())
