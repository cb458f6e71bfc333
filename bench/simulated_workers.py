"""Workers of a Dask cluster that play nothing: many in one process, for `cluster_scale.py`.

`python bench/simulated_workers.py SCHEDULER COUNT FOLDER NAME`. Each is a real server of
`distributed` with threads of its own; only what its tasks do is replaced: `versions`, `look`,
`enter` and `keep` answer at once what a fit machine would, and `play` sleeps for as long as its
matches would take and answers with real records (FOLDER/records.jsonl) under the ids that were
asked for. FOLDER/pace.json says how long a match takes, and is read when a worker is told of an
event. What was done is counted in FOLDER/NAME.json, a few times a second.

Two timers of a server are slowed down that look after its own process, twice and fifty times a
second: hundreds of them in one process would do nothing else.
"""

import argparse
import asyncio
import itertools
import os
import random
import threading
import time
from collections import defaultdict
from pathlib import Path

import dask
import msgspec
from distributed import Worker, get_worker

from arena.engine.match import FinishedMatch
from arena.executors import Job, SeriesEnd, WorkerConfig, dask_tasks
from arena.executors.core_probe import CoreTrial
from arena.executors.worker import report_line
from arena.model import Bot, Confinement, Machine, MatchRecord

QUIET = {
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.tick.interval": "5s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}
COUNT_S = 0.2
# Not all matches of a bot take as long.
UNEVEN = 0.2

_encode = msgspec.json.Encoder().encode
_jobs = msgspec.json.Decoder(tuple[Job, ...]).decode


class Pace(msgspec.Struct):
    """How the next event is played."""

    match_s: float
    threads: int = 1


class Counts(msgspec.Struct):
    """What the workers of a process have done, all in all."""

    workers: int = 0
    tasks: int = 0
    """Of `play`."""
    matches: int = 0
    answered: int = 0
    """Bytes of their records."""
    kept: int = 0
    """Workers that were told of an event."""
    looked_first: float = 0.0
    kept_last: float = 0.0
    bundles: int = 0
    """Bytes of bots that have arrived."""


class Canned:
    """What the tasks answer."""

    def __init__(self, folder):
        self._folder = folder
        decode = msgspec.json.Decoder(MatchRecord).decode
        lines = (folder / "records.jsonl").read_bytes().splitlines()
        self._records = [decode(line) for line in lines]
        self._next = itertools.count()
        self._arrived = defaultdict(set)
        self._lock = threading.Lock()
        self.match_s = 1.0
        self.counts = Counts()

    def do(self, task, *arguments):
        """In the place of `dask_tasks.do`."""
        return "", getattr(self, task)(*arguments)

    def versions(self):
        """Those that are installed."""
        with self._lock:
            self.counts.looked_first = self.counts.looked_first or time.time()
        return dask_tasks.versions()

    def look(self, ask):
        """A machine for each worker, without a bot in its cache."""
        asked = msgspec.json.decode(ask, type=dask_tasks.Ask)
        worker = get_worker()
        return _encode(
            dask_tasks.NodeFit(
                host=worker.address,
                cache="",
                machine=Machine(system="Linux", cpu="simulated", cores=worker.state.nthreads),
                sandbox="bwrap",
                confinement=Confinement(detail="simulated"),
                cores=tuple(range(worker.state.nthreads)),
                room=worker.state.nthreads,
                missing=tuple(
                    name
                    for each in asked.entrants
                    if (name := f"bots/{each.hash}") not in self._arrived[worker.address]
                ),
            )
        )

    def try_cores(self, cores):
        """As fast as can be asked for."""
        trials = tuple(CoreTrial(core=core, speed=10**6, share=1.0) for core in cores)
        return _encode(dask_tasks.CoreTrials(trials=trials))

    def take(self, name, _sum, bundle):
        """A bot has arrived."""
        self._arrived[get_worker().address].add(name)
        with self._lock:
            self.counts.bundles += len(bundle)

    def enter(self, ask):
        """The bots are ready."""
        asked = msgspec.json.decode(ask, type=dask_tasks.Ask)
        bots = tuple(
            Bot(entrant=each, root=f"/cache/{each.hash}", run=("python3", "bot.py"))
            for each in asked.entrants
        )
        fit = msgspec.json.decode(self.look(ask), type=dask_tasks.NodeFit)
        return _encode(msgspec.structs.replace(fit, missing=(), bots=bots))

    def keep(self, _event, config):
        """An event begins."""
        msgspec.json.decode(config, type=WorkerConfig)
        pace = msgspec.json.decode((self._folder / "pace.json").read_bytes(), type=Pace)
        with self._lock:
            self.match_s = pace.match_s
            self.counts.kept += 1
            self.counts.kept_last = time.time()

    def play(self, _event, _slot, _core, jobs):
        """Wait, and tell."""
        played = _jobs(jobs)
        matches = sum(len(job.series.matches) for job in played)
        even = random.Random(played[0].series.id).uniform(1 - UNEVEN, 1 + UNEVEN)
        time.sleep(matches * self.match_s * even)
        lines = b"".join(line for job in played for line in self._lines(job))
        with self._lock:
            self.counts.tasks += 1
            self.counts.matches += matches
            self.counts.answered += len(lines)
        return lines

    def _lines(self, job):
        for spec in job.series.matches:
            fields = {name: getattr(spec, name) for name in spec.__struct_fields__}
            model = self._records[next(self._next) % len(self._records)]
            record = msgspec.structs.replace(model, **fields, attempt=job.attempt)
            record = msgspec.structs.replace(record, digest=record.computed_digest())
            yield report_line(FinishedMatch(record=record))
        yield report_line(SeriesEnd(series=job.series.id, attempt=job.attempt))


async def hold(scheduler, count, folder, name):
    """Have so many workers until the scheduler is gone."""
    canned = Canned(folder)
    dask_tasks.do = canned.do
    pace = msgspec.json.decode((folder / "pace.json").read_bytes(), type=Pace)
    workers = [
        Worker(
            scheduler,
            nthreads=pace.threads,
            name=f"{name}-{number}",
            host="127.0.0.1",
            memory_limit=0,
            dashboard=False,
            local_directory=str(folder / "dask"),
        )
        for number in range(count)
    ]
    for some in range(0, count, 20):
        await asyncio.gather(*workers[some : some + 20])
    canned.counts.workers = count
    counted = folder / f"{name}.json"
    while os.getppid() != 1 and any(worker.status.name == "running" for worker in workers):
        counted.with_suffix(".new").write_bytes(_encode(canned.counts))
        counted.with_suffix(".new").replace(counted)
        await asyncio.sleep(COUNT_S)


def main():
    """Start them."""
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("scheduler")
    flags.add_argument("count", type=int)
    flags.add_argument("folder", type=Path)
    flags.add_argument("name")
    given = flags.parse_args()
    with dask.config.set(QUIET):
        asyncio.run(hold(given.scheduler, given.count, given.folder, given.name))


if __name__ == "__main__":
    main()
