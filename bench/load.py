"""Whose time is it? On a loaded machine good bots lose nothing, and who overstays is caught.

    python bench/load.py                            5,000 decisions, half an hour
    python bench/load.py --decisions 600            some of them
    python bench/load.py --into FILE                what is found is added to what is in FILE

Two bots that use half of their move time, one computing and one sleeping, play four-card golf on
every core, beside eight busy processes that each have a session of their own (so that the kernel
gives each as much as a whole bot). Between their matches bots have their turn that overstay, openly
or with an attempt to look starved; first the same bots with the machine at rest.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import trio
from measures.stage import Stage

from arena import registry
from arena.deals import secret_from_seed
from arena.engine.match import FinishedMatch
from arena.executors import Report, WorkerConfig
from arena.executors.local import LocalExecutor
from arena.model import Block, Bot, FaultKind, Limits, MatchRecord, MatchSpec, Series, Settings

MOVE_S = 0.1
LONG_S = 5.0
"""What those that overstay would take."""
HOGS = 8
GAME = "four-card-golf"
HOLES = 9
OVERSTAYING = (
    "computes", "sleeps", "threads", "ending", "idle", "children", "unreaped", "stops",
)  # fmt: skip
TIMES = 3
"""So often each of them is seen, at rest and under load, in a run."""
TIME_FAULTS = {FaultKind.TIMEOUT, FaultKind.BANK, FaultKind.START}
MOST_OVER_MS = {"rest": 25.0, "hogs": 250.0}


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """So many busy processes on any core."""
    # It goes when we go, in whatever way.
    program = "import ctypes; ctypes.CDLL(None).prctl(1, 9)\nwhile True: pass"
    started = [
        subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True)
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()


class Load:
    """Plays matches of chosen bots on all cores, and counts."""

    def __init__(self, stage: Stage) -> None:
        self._settings = Settings(
            game=GAME,
            turn_cap=registry.game(GAME).turn_cap,
            limits=Limits(move_ms=int(MOVE_S * 1000)),
        )
        half, long = str(MOVE_S / 2), str(LONG_S)
        self._bots: dict[str, Bot] = {}
        for how, seconds in [("computes", half), ("sleeps", half), ("brisk", "0")]:
            self._bots["good " + how] = stage.field("timed", 1, how, seconds)[0]
        for how in OVERSTAYING:
            self._bots[how] = stage.field("timed", 1, how, long)[0]
        for name, bot in self._bots.items():
            entrant = msgspec.structs.replace(bot.entrant, id=f"{name}@1", name=name)
            self._bots[name] = msgspec.structs.replace(bot, entrant=entrant)
        self._numbers = itertools.count(1)
        self._config = WorkerConfig(
            settings=self._settings,
            secret=secret_from_seed("load").hex(),
            bots=tuple(self._bots.values()),
            sandbox=stage.sandbox,
        )

    def block(self, first: str, second: str) -> Block:
        """One match of two bots, and nothing else."""
        name = f"{next(self._numbers):05d}"
        seats = (f"{first}@1", f"{second}@1")
        spec = MatchSpec(
            id=name, series=name, pairing=name, deal=int(name), rotation=0, seats=seats
        )
        return Block(id=name, series=(Series(id=name, matches=(spec,)),))

    def bad(self, times: int) -> list[Block]:
        """Those that overstay, each so often."""
        return [self.block(how, "good brisk") for _ in range(times) for how in OVERSTAYING]

    def good(self, decisions: int) -> list[Block]:
        """So many decisions at least."""
        matches = -(-decisions // (2 * HOLES))
        return [self.block("good computes", "good sleeps") for _ in range(matches)]

    def play(self, blocks: list[Block]) -> tuple[list[MatchRecord], list[str]]:
        """Their records, and the host's troubles."""
        records: list[MatchRecord] = []
        troubles: list[str] = []
        done: set[str] = set()

        def report(told: Report) -> None:
            if isinstance(told, FinishedMatch):
                records.append(told.record)
                return
            if told.bug:
                sys.exit(told.bug)
            if told.trouble:
                troubles.append(told.trouble)
            done.add(told.series)

        executor = LocalExecutor(self._config, jobs=len(os.sched_getaffinity(0)), pin=True)
        trio.run(
            lambda: executor.play(
                iter(blocks),
                choose=lambda series: None if series.id in done else 0,
                report=report,
                stop=trio.Event(),
            )
        )
        return records, troubles


def mixed(good: list[Block], bad: list[Block]) -> list[Block]:
    """The bad evenly among the good."""
    found = list(good)
    for number, block in enumerate(bad):
        found.insert((number + 1) * len(good) // (len(bad) + 1) + number, block)
    return found


def counted(where: str, records: list[MatchRecord], troubles: list[str]) -> dict[str, float]:
    """The figures of some matches, by name; those that are maxima begin with "most"."""
    figures: dict[str, float] = {f"{where}: voided by the host": len(troubles)}
    for record in records:
        faults = {record.seats[fault.seat]: fault for fault in record.faults}
        for bot, use in zip(record.seats, record.use, strict=True):
            name = bot.removesuffix("@1")
            fault = faults.get(bot)
            late = fault is not None and fault.kind in TIME_FAULTS
            if name.startswith("good "):
                if name != "good brisk":
                    _add(figures, f"{where}: decisions", use.decisions)
                    _most(figures, f"{where}: most charged, {name}, ms", use.max_ms)
                _add(figures, f"{where}: good bots' losses on time", int(late))
                _add(figures, f"{where}: good bots' other losses", int(bool(fault) and not late))
                continue
            _add(figures, f"{where}: overstayed", 1)
            if fault is None or fault.kind is not FaultKind.TIMEOUT:
                _add(figures, f"{where}: not caught, {name}", 1)
                continue
            _add(figures, f"{where}: caught", 1)
            over = fault.host.charged_ms - MOVE_S * 1000
            _most(figures, f"{where}: most over the limit, {name}, ms", over)
            _most(figures, f"{where}: most by the clock, {name}, ms", fault.host.wall_ms)
    return figures


def _add(figures: dict[str, float], name: str, value: float) -> None:
    figures[name] = figures.get(name, 0) + value


def _most(figures: dict[str, float], name: str, value: float) -> None:
    figures[name] = round(max(figures.get(name, value), value), 1)


def summed(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Of two runs."""
    found = dict(one)
    for name, value in other.items():
        (_most if ": most " in name else _add)(found, name, value)
    return found


def missed(figures: dict[str, float]) -> list[str]:
    """What isn't as it has to be."""
    found = [name for name in figures if "losses on time" in name and figures[name]]
    found += [name for name in figures if "not caught" in name]
    for where, most in MOST_OVER_MS.items():
        prefix = f"{where}: most over the limit"
        found += [name for name in figures if name.startswith(prefix) and figures[name] > most]
    return found


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--decisions", type=int, default=5_000, metavar="N")
    parser.add_argument("--times", type=int, default=TIMES, metavar="N")
    parser.add_argument("--into", type=Path, metavar="FILE")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        try:
            load = Load(stage)
            figures = counted("rest", *load.play(load.bad(options.times)))
            with hogs(HOGS):
                blocks = mixed(load.good(options.decisions), load.bad(options.times))
                figures = summed(figures, counted("hogs", *load.play(blocks)))
        finally:
            stage.close()
    figures["seconds"] = round(time.monotonic() - begun, 1)
    if options.into and options.into.exists():
        figures = summed(json.loads(options.into.read_text()), figures)
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:>10,.10g}")
    for name in missed(figures):
        print(f"MISSED: {name}")
    text = json.dumps(figures)
    if options.into:
        options.into.write_text(text)
    print(text)
    sys.exit(1 if missed(figures) else 0)


if __name__ == "__main__":
    main()
