"""Run seeds: `python -m tests.simulator --seeds 100000`, or for a night `--hours 8`.

Each worker takes every so many seeds. A seed that breaks a promise is shrunk to few faults and
printed with the command that repeats it; the exit code is 1 if one did.
"""

import argparse
import itertools
import multiprocessing
import os
import sys
import time

from tests.simulator.shrink import shrink
from tests.simulator.simulate import simulate

_REPORT_S = 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--seed", type=int, help="this one alone, with all that is known of it")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, help="how many (without --hours: 1000)")
    parser.add_argument("--hours", type=float, help="go on for so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--computed", action="store_true", help="play by the rules, not by records")
    parser.add_argument("--keep-going", action="store_true", help="not only to the first failure")
    asked = parser.parse_args()
    if asked.seed is not None:
        run = simulate(asked.seed, computed=asked.computed)
        print(run)
        print(run.trace, end="")
        return bool(run.violations)
    if asked.seeds is None and asked.hours is None:
        asked.seeds = 1000
    return _many(asked)


def _many(asked) -> int:
    results = multiprocessing.SimpleQueue()
    workers = [
        multiprocessing.Process(target=_work, args=(asked, number, results), daemon=True)
        for number in range(asked.jobs)
    ]
    begun = reported = time.monotonic()
    for worker in workers:
        worker.start()
    seeds = matches = faults = lives = failed = 0
    left = len(workers)
    while left:
        found = results.get()
        if found is None:
            left -= 1
            continue
        run, text = found
        seeds, matches, lives = seeds + 1, matches + run[0], lives + run[1]
        faults += run[2]
        if text:
            failed += 1
            print(text, flush=True)
            if not asked.keep_going:
                break
        if time.monotonic() - reported > _REPORT_S:
            reported = time.monotonic()
            print(_line(seeds, matches, faults, lives, failed, begun), file=sys.stderr, flush=True)
    for worker in workers:
        worker.terminate()
    print(_line(seeds, matches, faults, lives, failed, begun))
    return bool(failed)


def _line(seeds, matches, faults, lives, failed, begun) -> str:
    took = time.monotonic() - begun
    return (
        f"{seeds:,} seeds, {matches:,} matches, {faults:,} faults, {lives:,} lives "
        f"in {took:.0f} s: {failed} broke a promise"
    )


def _work(asked, number: int, results) -> None:
    end = time.monotonic() + 3600 * asked.hours if asked.hours else None
    seeds = range(asked.seeds) if asked.seeds else itertools.count()
    for seed in itertools.islice(seeds, number, None, asked.jobs):
        if end and time.monotonic() > end:
            break
        run = simulate(asked.first + seed, computed=asked.computed)
        text = ""
        if run.violations:
            small = shrink(run, computed=asked.computed)
            again = f"python -m tests.simulator --seed {run.seed}"
            text = f"{small}\n  again: {again}{' --computed' if asked.computed else ''}"
        results.put(((run.matches, run.lives, len(run.struck)), text))
    results.put(None)


if __name__ == "__main__":
    raise SystemExit(main())
