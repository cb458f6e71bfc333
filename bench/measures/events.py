"""Whole events: tournament, local executor, workers, sandbox, log, counting, the tables at the end.

An event runs in this process as `arena run` runs it, into a temporary folder. Matches a second are
those of the whole event, from an empty folder to its tables, start of the workers included. The
steady rate leaves the start and the end out: from the first record to the last.

CPU is told apart by who used it: this process, workers, spawners (both by the scheduler's count,
read now and then), and the bots, which are the rest of what all that were waited for have used.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec
import trio

from arena.deals import commitment
from arena.executors import Config
from arena.executors.local import LocalExecutor
from arena.model import Bot, Event, MatchRecord
from arena.reports import render
from arena.store import Private, Store
from arena.tournament import Tournament
from measures import RATE, Measure, Row, SkippedError
from measures.conversation import SECRET, settings_of
from measures.stage import Stage
from measures.worker import cpu_us

LOOK_EVERY = 50
"""Matches between two looks at the processes: a look takes some 50 µs."""


class Watched:
    """A watcher that notes when records came and what the processes below have used."""

    def __init__(self) -> None:
        self.count = 0
        self.first = self.last = 0.0
        self._others = set(_children(os.getpid()))
        self.workers: dict[int, float] = {}
        self.spawners: dict[int, float] = {}
        self.resident_mb = 0.0

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""
        if record.faults:
            raise RuntimeError(f"a bot failed: {record.faults[0]}")
        self.last = time.monotonic()
        self.first = self.first or self.last
        if self.count % LOOK_EVERY == 0:
            self.look()
        self.count += 1

    def rated(self, rated: object) -> None:
        """A rated event is settled."""

    def trouble(self, series: str, message: str) -> None:
        """A series is void."""
        raise RuntimeError(f"{series}: {message}")

    def look(self) -> None:
        """See what workers and spawners have used so far."""
        for worker in set(_children(os.getpid())) - self._others:
            self.workers[worker] = cpu_us(worker)
            self.resident_mb = max(self.resident_mb, memory_mb(worker)["Rss"])
            for spawner in _children(worker):
                self.spawners[spawner] = cpu_us(spawner)


def _children(pid: int) -> Iterator[int]:
    try:
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except FileNotFoundError:
        return


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
    config = Config(settings=settings, secret=SECRET.hex(), bots=tuple(bots), sandbox=event.sandbox)
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


# ----------------------------------------------------------------------------- whole events

DEALS = {"instant": 50, "quick": 50, "lean": 25}
"""Of each of the six pairs of four bots, and for each worker."""


def whole(stage: Stage, bot: str, *, jobs: int, series: int = 25, deals: int = 0) -> dict:
    """An event of four copies of a bot."""
    deals = deals or DEALS[bot] * jobs
    name = bot if series > 1 else f"{bot}-fresh"
    found = play_event(stage, stage.field(bot, 4), deals=deals, jobs=jobs, series=series)
    return {f"event.{name}.{jobs}.{part}": value for part, value in found.items()}


def one_and_two(stage: Stage) -> Mapping[str, float]:
    """The same event by one worker and, twice as large, by two."""
    found = whole(stage, "instant", jobs=1)
    if len(stage.cores) > 1:
        found |= whole(stage, "instant", jobs=2)
        for part in ("rate", "steady"):
            one, two = (found[f"event.instant.{jobs}.{part}"] for jobs in (1, 2))
            found[f"cores.{part}"] = two / one
    return found


PARTS = ("cpu", "parent", "workers", "spawners", "bots")
PART_TEXTS = ("CPU of all processes", "  parent", "  workers", "  spawners", "  bots")


def _split(prefix: str) -> tuple[Row, ...]:
    return tuple(
        Row(key=f"{prefix}.{part}", text=f"{text}, a match", unit="µs")
        for part, text in zip(PARTS, PART_TEXTS, strict=True)
    )


def _rate(key: str, text: str, goal: float | None = None) -> Row:
    return Row(key=key, text=text, unit=RATE, goal=goal)


# ---------------------------------------------------------------------------------- growth


def growth(stage: Stage) -> Mapping[str, float]:
    """Events of more and more matches, all of four bots; the steady rates are compared."""
    sizes = [100, 1_000, 10_000, *([100_000] if stage.long else [])]
    found: dict[str, float] = {}
    for size in sizes:
        # As long a series in all of them, and small events more than once.
        several = [
            play_event(
                stage,
                stage.field("instant", 4),
                deals=-(-size // 12),
                series=9,
                jobs=len(stage.cores[:2]),
            )
            for _ in range(max(1, 500 // size))
        ]
        for part in ("steady", "cpu", "memory"):
            found[f"growth.{size}.{part}"] = median(each[part] for each in several)
        found[f"growth.{size}.share"] = found[f"growth.{size}.steady"] / found["growth.100.steady"]
    return found


def field(stage: Stage) -> Mapping[str, float]:
    """Events of as many matches and series, by 4, 50 and 200 bots."""
    found = {}
    for bots, tables in ((4, 6), (50, 100), (200, 100)):
        played = play_event(
            stage,
            stage.field("instant", bots),
            deals=1_000 // tables,
            tables=tables if bots > 4 else None,
            series=10,
            jobs=len(stage.cores[:2]),
        )
        found[f"field.{bots}.steady"] = played["steady"]
        found[f"field.{bots}.parent"] = played["parent"]
        found[f"field.{bots}.share"] = played["steady"] / found["field.4.steady"]
    return found


def _growth_rows(sizes: tuple[int, ...]) -> tuple[Row, ...]:
    rows = [_rate(f"growth.{size}.steady", f"{size:,} matches, steady") for size in sizes]
    shares = [
        Row(key=f"growth.{size}.share", text=f"{size:,} / 100", unit="x", goal=0.9, more=True)
        for size in sizes[1:]
    ]
    memory = [
        Row(key=f"growth.{size}.memory", text=f"a worker's memory, {size:,}", unit="MB", goal=100)
        for size in sizes
    ]
    return (*rows, *shares, *memory)


MEASURES = (
    Measure(
        name="event",
        about="whole events on two cores, C bots that answer at once",
        run=one_and_two,
        rows=(
            _rate("event.instant.2.rate", "matches, two workers", 450),
            _rate("event.instant.2.steady", "matches, two workers, steady"),
            _rate("event.instant.1.rate", "matches, one worker"),
            _rate("event.instant.1.steady", "matches, one worker, steady"),
            Row(key="cores.steady", text="two workers / one", unit="x", goal=1.8, more=True),
            *_split("event.instant.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-lean",
        about="whole events on two cores, lean Python bots",
        run=functools.partial(whole, bot="lean", jobs=2),
        rows=(
            _rate("event.lean.2.rate", "matches", 250),
            _rate("event.lean.2.steady", "matches, steady"),
            *_split("event.lean.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-quick",
        about="whole events on two cores, example_bots/quick",
        run=functools.partial(whole, bot="quick", jobs=2),
        rows=(
            _rate("event.quick.2.rate", "matches"),
            _rate("event.quick.2.steady", "matches, steady"),
        ),
        most=3,
        warm=False,
    ),
    Measure(
        name="event-fresh",
        about="whole events on two cores, fresh C bots for every match",
        run=functools.partial(whole, bot="instant", jobs=2, series=1, deals=8),
        rows=(
            _rate("event.instant-fresh.2.rate", "matches", 25),
            _rate("event.instant-fresh.2.steady", "matches, steady"),
            *_split("event.instant-fresh.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-fresh-lean",
        about="whole events on two cores, fresh lean Python bots for every match",
        run=functools.partial(whole, bot="lean", jobs=2, series=1, deals=8),
        rows=(
            _rate("event.lean-fresh.2.rate", "matches", 25),
            _rate("event.lean-fresh.2.steady", "matches, steady"),
        ),
        most=3,
        warm=False,
    ),
    Measure(
        name="field",
        about="as many matches by more bots",
        run=field,
        rows=(
            *(_rate(f"field.{bots}.steady", f"{bots} bots, steady") for bots in (4, 50, 200)),
            Row(key="field.50.share", text="50 bots / 4", unit="x", goal=0.9, more=True),
            Row(key="field.200.share", text="200 bots / 4", unit="x", goal=0.9, more=True),
            Row(key="field.200.parent", text="parent's CPU a match, 200 bots", unit="µs"),
        ),
        most=1,
        warm=False,
    ),
    Measure(
        name="growth",
        about="more matches in an event of four bots",
        run=growth,
        rows=_growth_rows((100, 1_000, 10_000, 100_000)),
        most=1,
        warm=False,
    ),
)
