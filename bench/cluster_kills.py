"""A worker killed every few seconds: what it costs an event on a cluster, and whether it shows.

`python bench/cluster_kills.py [--workers N] [--every S] [--deals N] [--seed S]`. One event of three
bots is played by `--jobs 1`; by a cluster that is left alone; and by the same cluster while one of
its workers, drawn by lot, is killed (SIGKILL) every so many seconds, and another started in its
place. As root scheduler, workers and command have a network namespace and a host name each, and
speak TLS; otherwise they are plain processes on the loopback. All share this machine's cores.

Tells how many were killed, how many series were played again and what both cost. An event that
stops, as a series was void four times, is gone on with, and kills go on too. Ends with exit 1 if a
byte of canonical log or tables differs; the last line of the output is JSON.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "event"))

from clusters import Cluster, certificates  # noqa: E402 - its folder is no package
from machines import Network, impossible  # noqa: E402

BOTS = [REPOSITORY / "example_bots" / name for name in ("greedy", "matcher", "random")]
STOPPED = 4
FORMATS = ("text", "md", "csv", "json")
# The cores are shared, so no bot is to time out for that.
FLAGS = ("--move-time", "60s", "--start-time", "60s")


class Stage:
    """A cluster, on machines of its own or on this one."""

    def __init__(self, folder, options):
        self.folder = folder
        self._options = options
        self._draw = random.Random(options.seed)
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        self._cluster = Cluster(folder, self._environment)
        self._network = None if impossible() else Network(folder)
        self.apart = self._network is not None
        self._mine = None
        self._nodes = [None] * options.workers
        self._theirs = ()
        self._workers = []
        self._where = ()

    def begin(self):
        """Start the cluster, and wait until all of it is there."""
        head, tls = None, []
        theirs = ["--host", "127.0.0.1"]
        if self._network:
            self._network.begin()
            self._mine, head = (self._network.machine(name) for name in ("mine", "head"))
            self._nodes = [
                self._network.machine(f"node-{number + 1}") for number in range(len(self._nodes))
            ]
            tls, flags = certificates(self.folder / "certificates")
            self._theirs = ("--protocol", "tls", *flags)
            theirs = [*self._theirs, "--host", head.address]
        self._cluster.begin(*theirs, machine=head)
        self._where = ("--on", "dask", self._cluster.file, *tls, "--no-pin")
        self._workers = [self._add(node) for node in self._nodes]
        self._settle()

    def _add(self, node):
        return self._cluster.add(*self._theirs, machine=node)

    def _settle(self):
        for worker in self._workers:
            self._cluster.joined(worker)

    def end(self):
        """Kill everything."""
        self._cluster.end()
        if self._network:
            self._network.end()

    def alone(self):
        """The event by `--jobs 1`."""
        return self._event("alone", ("--jobs", "1"), machine=None, every=None)

    def spared(self):
        """The event by the cluster."""
        return self._event("spared", self._where, machine=self._mine, every=None)

    def killed(self):
        """The event by the cluster whose workers are killed."""
        self._settle()
        return self._event("killed", self._where, machine=self._mine, every=self._options.every)

    def _event(self, out, where, *, machine, every):
        options = self._options
        words = ["run", *BOTS, "--deals", options.deals, "--series", options.series]
        words += ["--seed", "kills", *FLAGS, "--out", self.folder / out]
        told = Told()
        killer = threading.Thread(target=self._kill, args=(told, every))
        killer.start()
        try:
            while self._command(told, [*words, *where], machine) == STOPPED:
                told.stops += 1
                words = ["resume", self.folder / out]
        finally:
            told.over.set()
            told.begun.set()
            killer.join()
        return told

    def _command(self, told, words, machine):
        there, theirs = (machine.words, machine.environment) if machine else ((), {})
        with tempfile.TemporaryFile("w+") as stderr:
            process = subprocess.Popen(
                [*there, sys.executable, "-P", "-m", "arena", *map(str, words), "--json"],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env={**self._environment, **theirs},
                start_new_session=True,
            )
            try:
                told.listen(process.stdout)
                code = process.wait()
                stderr.seek(0)
                said = stderr.read()
            finally:
                process.kill()
        if code not in {0, STOPPED}:
            raise SystemExit(f"exit {code}: {said}")
        if code:
            print(f"stopped: {said.splitlines()[-1]}", flush=True)
        return code

    def _kill(self, told, every):
        told.begun.wait()
        while every and not told.over.wait(every):
            number = self._draw.randrange(len(self._workers))
            self._workers[number].kill()
            self._workers[number].wait()
            self._workers[number] = self._add(self._nodes[number])
            told.kills += 1
            if told.kills % 10 == 0:
                print(f"{told.kills} kills, {told.matches} matches, {told.voids} void", flush=True)

    def canonical(self, out):
        """What must not differ."""
        words = [["log", "--canonical"]]
        words += [["table", "--canonical", "--format", kind] for kind in FORMATS]
        return [
            subprocess.check_output(
                [sys.executable, "-P", "-m", "arena", command, self.folder / out, *flags]
            )
            for command, *flags in words
        ]


class Told:
    """What the commands of an event tell, counted; and what was done to it."""

    def __init__(self):
        self.begun, self.over = threading.Event(), threading.Event()
        self.matches = self.voids = self.kills = self.stops = 0
        self._first = self._last = 0.0

    def listen(self, lines):
        """Count until there are no more."""
        for line in lines:
            event = json.loads(line)["event"]
            if event == "match":
                self._last = time.perf_counter()
                self._first = self._first or self._last
                self.matches += 1
                self.begun.set()
            elif event == "void":
                self.voids += 1

    @property
    def rate(self):
        """Matches a second, from the first to the last."""
        return (self.matches - 1) / (self._last - self._first)


def main():
    """Play it thrice, and tell."""
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--workers", type=int, default=4)
    flags.add_argument("--every", type=float, default=3.0, help="seconds between two kills")
    flags.add_argument("--deals", type=int, default=1000, help="each makes six matches")
    flags.add_argument("--series", type=int, default=10)
    flags.add_argument("--seed", type=int, default=1, help="of who is killed")
    options = flags.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-cluster-kills-") as folder:
        stage = Stage(Path(folder), options)
        try:
            stage.begin()
            where = "network namespaces" if stage.apart else "one machine"
            print(f"{options.workers} workers in {where}", flush=True)
            alone = stage.alone()
            print(f"--jobs 1: {alone.matches} matches, {alone.rate:.0f}/s", flush=True)
            spared = stage.spared()
            print(f"left alone: {spared.rate:.0f}/s, {spared.voids} void", flush=True)
            killed = stage.killed()
        finally:
            stage.end()
        right = stage.canonical("alone")
        same = right == stage.canonical("spared") == stage.canonical("killed")
    lost = 1 - killed.rate / spared.rate
    print(f"killed: {killed.rate:.0f}/s, {lost:.0%} less, {killed.stops} stops")
    print(f"{killed.kills} kills, {killed.voids} series played again")
    print("the bytes are those of --jobs 1" if same else "THE BYTES DIFFER")
    figures = {
        "apart": stage.apart,
        "workers": options.workers,
        "every_s": options.every,
        "seed": options.seed,
        "matches": alone.matches,
        "kills": killed.kills,
        "series_again": killed.voids,
        "stops": killed.stops,
        "matches_a_second": [round(each.rate, 1) for each in (alone, spared, killed)],
        "lost": round(lost, 3),
        "same": same,
    }
    print(json.dumps(figures))
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
