"""What Dask costs an event: the same one by local workers and by a cluster's, in turns.

`python bench/on_a_cluster.py [--turns N] [--series N] [--deals N] [--jobs N]`. A small and a large
event of two bots are played by `--jobs N`, then by `--on dask local:N`, and so on. What starting
takes is in both sizes, so the difference of their times is what the matches between them took.
Told are the medians, and the overhead of each turn, which has what else the machine did then in
both. The cluster's scheduler, and the parent that feeds it, run on the same cores as the bots.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOTS = Path(__file__).parents[1] / "example_bots"
SMALL = 0.1


def seconds(folder, where, deals, series):
    """How long an event takes, from the command to its end."""
    begun = time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, "-P", "-m", "arena", "run", BOTS / "greedy", BOTS / "matcher"),
            *("--deals", str(deals), "--series", str(series), "--seed", "bench", "--quiet"),
            *(*where, "--out", tempfile.mkdtemp(dir=folder) + "/event"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    )
    return time.perf_counter() - begun


def main():
    """Take turns, and tell."""
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--turns", type=int, default=5)
    flags.add_argument("--series", type=int, default=10)
    flags.add_argument("--deals", type=int, default=1000)
    flags.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    given = flags.parse_args()
    ways = {
        "local": ("--jobs", str(given.jobs)),
        "cluster": ("--on", "dask", f"local:{given.jobs}"),
    }
    small = round(given.deals * SMALL)
    matches = 2 * (given.deals - small)
    rates = {way: [] for way in ways}
    starts = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(given.turns):
            for way in sorted(ways, reverse=bool(turn % 2)):
                little = seconds(folder, ways[way], small, given.series)
                took = seconds(folder, ways[way], given.deals, given.series) - little
                rates[way].append(matches / took)
                starts[way].append(little - took * small / (given.deals - small))
            lost = 1 - rates["cluster"][-1] / rates["local"][-1]
            shown = ", ".join(f"{way} {rates[way][-1]:.0f}/s" for way in ways)
            print(f"turn {turn + 1}: {shown}, {lost:+.1%}", flush=True)
    for way in ways:
        rate, start = statistics.median(rates[way]), statistics.median(starts[way])
        work = 1000 * given.series * given.jobs / rate
        print(f"{way}: {rate:.0f} matches/s, a series {work:.0f} ms, start and end {start:.1f} s")
    lost = [1 - there / here for there, here in zip(rates["cluster"], rates["local"], strict=True)]
    print(f"overhead, median of turns: {statistics.median(lost):+.1%}")


if __name__ == "__main__":
    main()
