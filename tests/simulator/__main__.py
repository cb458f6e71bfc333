"""Run seeds: `python -m tests.simulator --seeds 100000`, or for a night `--hours 8`.

Each worker takes the next seed that none has begun. A seed that breaks a promise is shrunk to few
faults and printed with the command that repeats it. The run ends with the first such seed, or, for
a night or with --keep-going, goes on. At the end: what was played, what has struck, what the
workers needed, and which seeds have failed. From seed 1,000 on one in 20 is an event of thousands
of matches. One in 11 of the others, before that one in 19, plays its matches by the rules; all
other matches take recorded results. The exit code is 0 if every promise was kept, 1 if one was
broken.

A worker may hold MOST_MB of memory and no descriptor more than after its first seed: a run that
needs more of either has failed, too.
"""

import argparse
import gc
import math
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulator.shrink import shrink
from tests.simulator.simulate import simulate

_REPORT_S = 60
MOST_MB = 250
"""Of a worker: it keeps undisturbed events and its caches (`remembered.py`), no seed's world."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, help="this one alone, with all that is known of it")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, help="how many (without --hours: 1000)")
    parser.add_argument("--hours", type=float, help="go on for so long, whatever fails")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--computed", action="store_true", help="all matches by the rules")
    parser.add_argument("--keep-going", action="store_true", help="not only to the first failure")
    asked = parser.parse_args()
    if asked.seed is not None:
        run = simulate(asked.seed, computed=asked.computed or None)
        print(run)
        print(run.trace, end="")
        return bool(run.violations)
    if asked.seeds is None and asked.hours is None:
        asked.seeds = 1000
    return _many(asked)


@dataclass
class Figures:
    seeds: int = 0
    matches: int = 0
    """Matches that were played by recorded results."""
    computed: int = 0
    """Matches that were played by the rules."""
    lives: int = 0
    seconds: float = 0.0
    """Simulated."""
    struck: Counter = field(default_factory=Counter)
    memory: int = 0
    """The most megabytes of a worker."""
    descriptors: int = 0
    last: int = 0
    failed: list = field(default_factory=list)

    def add(self, run, memory: int, descriptors: int) -> None:
        self.seeds += 1
        if run.computed:
            self.computed += run.matches
        else:
            self.matches += run.matches
        self.lives += run.lives
        self.seconds += run.seconds
        self.struck.update(fault.kind for fault in run.struck)
        self.memory = max(self.memory, memory)
        self.descriptors = max(self.descriptors, descriptors)
        self.last = max(self.last, run.seed)

    def line(self, begun: float) -> str:
        return (
            f"{self.seeds:,} seeds, {self.matches:,} recorded and {self.computed:,} computed "
            f"matches, {self.struck.total():,} faults, {self.lives:,} lives "
            f"in {time.monotonic() - begun:.0f} s, {self.memory} MB: "
            f"{len(self.failed)} broke a promise"
        )

    def summary(self, begun: float) -> str:
        days = self.seconds / 86_400
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(self.struck.items()))
        held = f"a worker held {self.memory} MB and {self.descriptors} descriptors at most"
        lines = [
            f"struck: {kinds}",
            f"{days:,.1f} days of virtual time; the last seed is {self.last:,}; " + held,
            self.line(begun),
        ]
        if self.failed:
            lines.append(f"failed: {', '.join(map(str, self.failed))}")
        return "\n".join(lines)


def _many(asked) -> int:
    results = multiprocessing.SimpleQueue()
    begun_seeds = multiprocessing.Value("q", 0)
    workers = [
        multiprocessing.Process(target=_work, args=(asked, begun_seeds, results), daemon=True)
        for _ in range(asked.jobs)
    ]
    begun = reported = time.monotonic()
    for worker in workers:
        worker.start()
    figures = Figures()
    left = len(workers)
    while left:
        found = results.get()
        if found is None:
            left -= 1
            continue
        run, memory, descriptors, text = found
        figures.add(run, memory, descriptors)
        if text:
            figures.failed.append(run.seed)
            print(text, flush=True)
            if not (asked.keep_going or asked.hours):
                break
        if time.monotonic() - reported > _REPORT_S:
            reported = time.monotonic()
            print(figures.line(begun), file=sys.stderr, flush=True)
    for worker in workers:
        worker.terminate()
    print(figures.summary(begun))
    return bool(figures.failed)


def _left(asked, begun) -> Iterator[int]:
    """Seeds that no worker has begun."""
    end = time.monotonic() + 3600 * asked.hours if asked.hours else math.inf
    while time.monotonic() < end:
        with begun:
            number = begun.value
            begun.value += 1
        if asked.seeds and number >= asked.seeds:
            break
        yield asked.first + number


def _work(asked, begun, results) -> None:
    least = None
    gc.set_threshold(50_000)  # an event leaves few cycles
    gc.freeze()  # what was imported stays
    for seed in _left(asked, begun):
        run = simulate(seed, computed=asked.computed or None)
        gc.collect()  # its world is one of these cycles, and holds a disk
        text = ""
        if run.violations:
            small = shrink(run)
            again = f"python -m tests.simulator --seed {run.seed}"
            text = f"{small}\n  again: {again}{' --computed' if asked.computed else ''}"
        memory, descriptors = memory_mb(), open_descriptors()
        least = descriptors if least is None else least
        if memory > MOST_MB or descriptors > least:
            held = f"{memory} MB and {descriptors} descriptors, {least} after the first seed"
            text += f"\nseed {run.seed}: the simulator itself holds {held}"
        results.put((run.in_short(), memory, descriptors, text.strip()))
        if memory > MOST_MB:
            break
    results.put(None)


def memory_mb() -> int:
    """Megabytes that this process holds now; 0 where the system doesn't say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def open_descriptors() -> int:
    try:
        return len(list(Path("/proc/self/fd").iterdir()))
    except OSError:
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
