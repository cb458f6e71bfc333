"""How far an event on a cluster goes: what scheduler and parent take a worker, task and match.

`python bench/cluster_scale.py [--known N ...] [--predicted N ...] [--seconds S]`. For each number
of workers a real `dask scheduler`, so many simulated workers (`simulated_workers.py`: real servers
of `distributed` in a few processes, whose tasks sleep and answer with real records), and a real
`arena run --on dask`, which decodes, counts and logs what they answer. Told is the CPU of scheduler
and parent, which depends less on what else the machine does than the clock; their memory; the log.

What a worker, a task and a match cost follows from the runs with `--known` workers; the others are
predicted by it, and compared with what they took. Then it is told what that makes of 1,000
workers and 10,000,000 matches.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import cloudpickle
import distributed
import msgspec
from distributed.scheduler import heartbeat_interval
from simulated_workers import Counts, Pace

from arena.executors.cluster import Cluster
from arena.executors.dask import BATCH_S, MOST_MATCHES, MOST_SERIES, POLL_S
from arena.store import read_records

BENCH = Path(__file__).parent
BOTS = 10
PAIRINGS = BOTS * (BOTS - 1) // 2
BUNDLE_BYTES = 100_000
# Each has some twenty connections, and a process has so many thousand files at most.
WORKERS_A_HOST = 125
SAMPLE_S = 0.5
WAIT_S = 600
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MB = 1e6
# Of an event, by its log: what lies between is steady.
STEADY = (0.25, 0.85)
POLLS_A_SECOND = 1 / POLL_S


class Load(NamedTuple):
    """What an event asks of a cluster: series of so many matches, of so many seconds each."""

    series: int
    match_s: float


class Used(NamedTuple):
    """Of a process."""

    cpu: float
    main: float
    """Of that, its main thread's."""
    memory: float


class Took(NamedTuple):
    """What an event took, a second, where it was steady."""

    workers: int
    slots: int
    load: Load
    tasks: float
    matches: float
    scheduler: float
    """Seconds of CPU a second; here `parent`'s too."""
    parent: float
    main: float
    hosts: float
    others: float
    """Cores that were busy with something else."""
    logged: float
    sent: float
    """Bytes between scheduler and workers by match, the whole event over; between scheduler and
    parent go as many again."""
    admitted: float
    """Seconds until the last worker was told of the event."""
    parent_memory: float
    scheduler_memory: float
    grown: float
    """Bytes of the scheduler's memory by task, those of coming in left out."""


class Idle(NamedTuple):
    """A cluster that plays nothing."""

    workers: int
    came: float
    """Seconds until all were there."""
    scheduler: float
    memory: float
    files: int
    """That the scheduler has open."""
    poll_scheduler: float
    """Seconds of CPU to say who is there; `poll_parent` to be told."""
    poll_parent: float
    poll_bytes: float
    bundled: float
    """Seconds until each worker had a bot of BUNDLE_BYTES."""
    bundle_scheduler: float
    bundle_parent: float
    bundle_bytes: float


def used(pid):
    """CPU and memory of a process so far."""
    at = Path("/proc", str(pid))
    try:
        return Used(
            _ticks(at / "stat"),
            _ticks(at / "task" / str(pid) / "stat"),
            int((at / "statm").read_text().split()[1]) * PAGE,
        )
    except OSError:
        return None


def busy():
    """Seconds that the machine's cores have been at work."""
    user, nice, system, _, _, interrupts, soft = map(int, _first("/proc/stat").split()[1:8])
    return (user + nice + system + interrupts + soft) / TICK


def _first(path):
    with Path(path).open() as lines:
        return next(lines)


def _ticks(stat):
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def traffic(dask_scheduler=None):  # noqa: ARG001 - what its process is told
    """Bytes that went through the connections of a scheduler that are open: it runs there."""
    whole = 0
    for file in Path("/proc/self/fd").iterdir():
        try:
            if not str(file.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(file.name))) as end:
                told = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
                whole += sum(struct.unpack_from("QQ", told, 120))
        except (OSError, struct.error):
            continue
    return whole


class Stage:
    """A scheduler, simulated workers, and the folder that they share."""

    def __init__(self, folder, workers, threads):
        self.folder = folder
        self.workers = workers
        self._environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(folder.parent / "cache"),
            "DASK_TEMPORARY_DIRECTORY": str(folder / "dask"),
        }
        self._running = []
        self.threads = threads
        self.address = ""
        self.scheduler = 0

    def __enter__(self):
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self):
        self.pace(1.0)
        shutil.copy(self.folder.parent / "records.jsonl", self.folder)
        file = self.folder / "scheduler.json"
        self.scheduler = self._start(
            *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", file),
        ).pid
        _until(lambda: _told(file), "the scheduler")
        self.address = _told(file)
        hosts = -(-self.workers // WORKERS_A_HOST)
        for host in range(hosts):
            count = self.workers // hosts + (host < self.workers % hosts)
            self._start(
                BENCH / "simulated_workers.py", self.address, count, self.folder, f"host-{host}"
            )
        _until(lambda: self.counts().workers == self.workers, "the workers")

    def __exit__(self, *_):
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def pace(self, match_s):
        """How long a match takes from now on."""
        pace = Pace(match_s=match_s, threads=self.threads)
        (self.folder / "pace.json").write_bytes(msgspec.json.encode(pace))

    def counts(self):
        """What all workers have done."""
        each = [
            msgspec.json.decode(file.read_bytes(), type=Counts)
            for file in self.folder.glob("host-*.json")
        ]
        return Counts(
            *(sum(getattr(one, name) for one in each) for name in Counts.__struct_fields__[:5]),
            looked_first=min((one.looked_first for one in each if one.looked_first), default=0.0),
            kept_last=max((one.kept_last for one in each), default=0.0),
            bundles=sum(one.bundles for one in each),
        )

    def hosts(self):
        """CPU of the processes of the workers."""
        return sum(used(process.pid).cpu for process in self._running[1:])

    def arena(self, *words):
        """Start a command."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    def _start(self, *words):
        with (self.folder / f"{len(self._running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *map(str, words)],
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )
        self._running.append(process)
        return process


def _told(file):
    """The address in a scheduler's file, once it is there and written."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


def _until(there, what):
    deadline = time.monotonic() + WAIT_S
    while not there():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} did not come")
        time.sleep(0.05)


def prepare(folder):
    """Bots, and the records of matches that they really played."""
    bots = folder / "bots"
    for number in range(BOTS):
        model = BENCH.parent / "example_bots" / ("greedy", "matcher")[number % 2]
        to = bots / f"bot-{number}"
        shutil.copytree(model, to)
        manifest = (to / "bot.toml").read_text().splitlines()
        kept = [line for line in manifest if not line.startswith("name")]
        (to / "bot.toml").write_text("\n".join([f'name = "bot-{number}"', *kept]) + "\n")
    played = folder / "played"
    subprocess.run(
        [
            *(sys.executable, "-P", "-m", "arena", "run", *sorted(bots.iterdir())),
            *("--deals", "1", "--seed", "template", "--quiet", "--out", played),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
    )
    lines = [msgspec.json.encode(record) for record in read_records(played)]
    (folder / "records.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return sorted(bots.iterdir())


def at_rest(stage, came, seconds):
    """What so many workers take that do nothing; then polls, and a bot for each."""
    with distributed.Client(stage.address, set_as_default=False) as client:
        cluster = Cluster(stage.address, lambda: client)
        _until(lambda: len(cluster.peers()) == stage.workers, "the workers' names")
        before, begun = used(stage.scheduler), time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - begun
        after = used(stage.scheduler)
        still = (after.cpu - before.cpu) / passed
        sent, before, mine, begun = traffic_of(client), after, used(os.getpid()), time.monotonic()
        polls = max(50, 3000 // stage.workers)
        for _ in range(polls):
            cluster.peers()
        passed = time.monotonic() - begun
        poll = (used(stage.scheduler).cpu - before.cpu - still * passed) / polls
        poll_mine = (used(os.getpid()).cpu - mine.cpu) / polls
        poll_bytes = (traffic_of(client) - sent) / polls
        peers = cluster.peers()
        before, mine = used(stage.scheduler), used(os.getpid())
        sent, begun = traffic_of(client), time.monotonic()
        held = cluster.hold("bench", os.urandom(BUNDLE_BYTES), peers[0])
        there = threading.Semaphore(0)
        each = [cluster.submit(len, held, peer=peer, then=there.release) for peer in peers]
        for _ in each:
            there.acquire()
        bundled = time.monotonic() - begun
        bundle = used(stage.scheduler).cpu - before.cpu - still * bundled
        bundle_mine = used(os.getpid()).cpu - mine.cpu
        bundle_bytes = traffic_of(client) - sent
        return Idle(
            workers=stage.workers,
            came=came,
            scheduler=still,
            memory=before.memory,
            files=len(list(Path(f"/proc/{stage.scheduler}/fd").iterdir())),
            poll_scheduler=poll,
            poll_parent=poll_mine,
            poll_bytes=poll_bytes,
            bundled=bundled,
            bundle_scheduler=bundle,
            bundle_parent=bundle_mine,
            bundle_bytes=bundle_bytes,
        )


def traffic_of(client):
    """What the scheduler of a client has sent and heard."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return client.run_on_scheduler(traffic)


def event(stage, bots, load, seconds):
    """Play one, and tell what it took where it was steady."""
    out = stage.folder / f"event-{load.series}-{load.match_s:g}"
    stage.pace(load.match_s)
    rate = stage.workers * stage.threads / load.match_s
    deals = max(1, round(rate * seconds / (2 * PAIRINGS * load.series))) * load.series
    planned = 2 * PAIRINGS * deals
    rows = []
    with distributed.Client(stage.address, set_as_default=False) as client:
        sent = traffic_of(client)
    begun = time.time()
    process = stage.arena(
        *("run", *bots, "--deals", deals, "--series", load.series, "--seed", "scale", "--quiet"),
        *("--on", "dask", stage.address, "--out", out),
    )
    log = out / "matches.jsonl"
    while process.poll() is None:
        time.sleep(SAMPLE_S)
        now, size = time.monotonic(), log.stat().st_size if log.exists() else 0
        parent, scheduler = used(process.pid), used(stage.scheduler)
        if parent:
            rows.append((now, size, stage.counts(), parent, scheduler, stage.hosts(), busy()))
    if process.returncode:
        raise SystemExit(f"exit {process.returncode}: {process.stderr.read()[-3000:]}")
    with distributed.Client(stage.address, set_as_default=False) as client:
        sent = traffic_of(client) - sent
    after, size = stage.counts(), log.stat().st_size
    steady = [row for row in rows if STEADY[0] * size <= row[1] <= STEADY[1] * size]
    if len(steady) < 2:
        raise SystemExit(f"{len(steady)} samples of {len(rows)}: more --seconds are needed")
    (t0, size0, counts0, parent0, scheduler0, hosts0, busy0), *_, last = steady
    t1, size1, counts1, parent1, scheduler1, hosts1, busy1 = last
    passed = t1 - t0
    ours = scheduler1.cpu - scheduler0.cpu + parent1.cpu - parent0.cpu + hosts1 - hosts0
    return Took(
        workers=stage.workers,
        slots=stage.workers * stage.threads,
        load=load,
        tasks=(counts1.tasks - counts0.tasks) / passed,
        matches=(size1 - size0) / (size / planned) / passed,
        scheduler=(scheduler1.cpu - scheduler0.cpu) / passed,
        parent=(parent1.cpu - parent0.cpu) / passed,
        main=(parent1.main - parent0.main) / passed,
        hosts=(hosts1 - hosts0) / passed,
        others=(busy1 - busy0 - ours) / passed,
        logged=size / planned,
        sent=sent / planned,
        admitted=after.kept_last - begun,
        parent_memory=max(row[3].memory for row in rows),
        scheduler_memory=max(row[4].memory for row in rows),
        grown=(rows[-1][4].memory - scheduler0.memory) / (after.tasks - counts0.tasks),
    )


class Line(NamedTuple):
    """What grows evenly."""

    base: float
    each: float

    def at(self, x):
        """Its height there."""
        return self.base + self.each * x


def line(points):
    """By least squares; through the one point there is, from nothing."""
    if len({x for x, _ in points}) == 1:
        return Line(0.0, statistics.mean(y for _, y in points) / points[0][0])
    fit = statistics.linear_regression(*zip(*points, strict=True))
    return Line(fit.intercept, fit.slope)


def shares(rows):
    """How much of each y is for a task and for a match, by least squares: rows of both and y."""
    tt = sum(t * t for t, _, _ in rows)
    tm = sum(t * m for t, m, _ in rows)
    mm = sum(m * m for _, m, _ in rows)
    ty = sum(t * y for t, _, y in rows)
    my = sum(m * y for _, m, y in rows)
    whole = tt * mm - tm * tm
    return (ty * mm - my * tm) / whole, (my * tt - ty * tm) / whole


def beats(workers):
    """Heartbeats a second of so many workers: not more than 200."""
    return workers / heartbeat_interval(workers)


class Model(NamedTuple):
    """Seconds of CPU: of the scheduler by heartbeat, and by worker and poll; by task and match."""

    rest: Line
    poll_scheduler: Line
    poll_parent: Line
    scheduler_task: float
    scheduler_match: float
    parent_task: float
    parent_match: float

    def scheduler(self, workers, tasks, matches):
        """Cores that it takes; tasks and matches are a second's."""
        return (
            self.rest.at(beats(workers))
            + POLLS_A_SECOND * self.poll_scheduler.at(workers)
            + self.scheduler_task * tasks
            + self.scheduler_match * matches
        )

    def parent(self, workers, tasks, matches):
        """Cores that it takes."""
        return (
            POLLS_A_SECOND * self.poll_parent.at(workers)
            + self.parent_task * tasks
            + self.parent_match * matches
        )


def fitted(idles, tooks):
    """A model of these."""
    model = Model(
        line([(beats(idle.workers), idle.scheduler) for idle in idles]),
        line([(idle.workers, idle.poll_scheduler) for idle in idles]),
        line([(idle.workers, idle.poll_parent) for idle in idles]),
        *(0.0,) * 4,
    )
    scheduler = shares(
        [(t.tasks, t.matches, t.scheduler - model.scheduler(t.workers, 0, 0)) for t in tooks]
    )
    parent = shares([(t.tasks, t.matches, t.parent - model.parent(t.workers, 0, 0)) for t in tooks])
    return Model(*model[:3], *scheduler, *parent)


def tasks_of(workers, rate, series):
    """Tasks a second of workers that play so many matches a second each."""
    together = max(1, min(MOST_SERIES, int(min(BATCH_S * rate, MOST_MATCHES) / series)))
    return workers * rate / (series * together)


class Size(NamedTuple):
    """A cluster, and the events that are played there."""

    workers: int
    threads: int
    loads: tuple[Load, ...]
    known: bool
    """The model is made of these; the others it has to predict."""


def sizes(known, unknown):
    """What is played: tasks and matches a second are chosen so that two cores are enough."""
    for workers in known:
        yield Size(workers, 1, (Load(1, workers / 150), Load(20, workers / 1500)), known=True)
    for workers in unknown:
        yield Size(workers, 1, (Load(10, workers / 2000),), known=False)
    # Thousands of tasks at a time; and thousands of matches a second.
    yield Size(max(known), 10, (Load(5, max(known) / 150),), known=False)
    yield Size(30, 1, (Load(25, 0.005),), known=False)


def row(*cells):
    """A line of a table."""
    print(" ".join(f"{cell:>10}" for cell in cells), flush=True)


def tell_idle(each):
    """A cluster at rest, and what a bot takes that all of its workers want."""
    row("workers", "came, s", "idle, %", "MB", "files", "poll, ms", "of us, ms", "poll, kB")
    for idle in each:
        row(
            *(idle.workers, f"{idle.came:.0f}", f"{100 * idle.scheduler:.1f}"),
            *(f"{idle.memory / MB:.0f}", idle.files, f"{1000 * idle.poll_scheduler:.2f}"),
            *(f"{1000 * idle.poll_parent:.2f}", f"{idle.poll_bytes / 1000:.0f}"),
        )
    print("\na bot of 100 kB for each; what went through the scheduler")
    row("workers", "s", "sched., s", "of us, s", "MB")
    for idle in each:
        row(
            *(idle.workers, f"{idle.bundled:.1f}", f"{idle.bundle_scheduler:.2f}"),
            *(f"{idle.bundle_parent:.2f}", f"{idle.bundle_bytes / MB:.1f}"),
        )


def tell_events(tooks):
    """What each event took."""
    heads = (
        "workers",
        "slots",
        "series",
        "tasks/s",
        "matches/s",
        "scheduler",
        "parent",
        "its main",
    )
    row(*heads, "log, B", "wire, B", "enter, s", "MB", "sched. MB", "B a task", "others")
    for took in tooks:
        row(
            *(took.workers, took.slots, took.load.series, f"{took.tasks:.0f}"),
            *(f"{took.matches:.0f}", f"{took.scheduler:.3f}", f"{took.parent:.3f}"),
            *(f"{took.main:.3f}", f"{took.logged:.0f}", f"{took.sent:.0f}"),
            *(f"{took.admitted:.0f}", f"{took.parent_memory / MB:.0f}"),
            *(f"{took.scheduler_memory / MB:.0f}", f"{took.grown:.0f}", f"{took.others:.2f}"),
        )


def tell_model(model, unknown):
    """The constants, and how far off they are where they weren't made."""
    print("\nthe model, CPU")
    print(f"scheduler: {1e3 * model.rest.base:.1f} ms a second", end="")
    print(f", {1e6 * model.rest.each:.0f} µs a heartbeat", end="")
    print(f", {1e6 * model.poll_scheduler.each:.2f} µs a worker and poll", end="")
    print(f", {1e6 * model.scheduler_task:.0f} µs a task", end="")
    print(f", {1e6 * model.scheduler_match:.1f} µs a match")
    print(f"parent: {1e6 * model.poll_parent.each:.2f} µs a worker and poll", end="")
    print(f", {1e6 * model.parent_task:.0f} µs a task, {1e6 * model.parent_match:.0f} µs a match")
    print("\npredicted, and measured")
    row(
        "workers",
        "slots",
        "tasks/s",
        "matches/s",
        "scheduler",
        "was",
        "off",
        "parent",
        "was",
        "off",
    )
    for took in unknown:
        asked = took.workers, took.tasks, took.matches
        scheduler, parent = model.scheduler(*asked), model.parent(*asked)
        row(
            *(took.workers, took.slots, f"{took.tasks:.0f}", f"{took.matches:.0f}"),
            *(
                f"{scheduler:.3f}",
                f"{took.scheduler:.3f}",
                f"{scheduler / took.scheduler - 1:+.0%}",
            ),
            *(f"{parent:.3f}", f"{took.parent:.3f}", f"{parent / took.parent - 1:+.0%}"),
        )


def tell_far(model, logged, workers, matches):
    """What the model makes of a large event."""
    print(f"\n{workers:,} workers, {matches:,} matches, a log of {logged * matches / 1e9:.0f} GB")
    heads = ("a worker/s", "series", "tasks/s", "matches/s", "scheduler", "parent", "log, MB/s")
    row(*heads, "first", "workers", "matches/s", "hours")
    for series in (25, 1):
        for rate in (0.1, 1, 3, 10, 100):
            tasks, whole = tasks_of(workers, rate, series), workers * rate
            scheduler = model.scheduler(workers, tasks, whole)
            parent = model.parent(workers, tasks, whole)
            most = _most(model, rate, series)
            played = min(whole, most * rate)
            row(
                *(f"{rate:g}", series, f"{tasks:.0f}", f"{whole:.0f}", f"{scheduler:.2f}"),
                *(f"{parent:.2f}", f"{played * logged / MB:.1f}"),
                *("parent" if parent > scheduler else "scheduler", most, f"{most * rate:.0f}"),
                f"{matches / played / 3600:.1f}",
            )


def _most(model, rate, series):
    """So many workers of one kind have scheduler and parent a core each."""
    few, many = 1, 1 << 20
    while many - few > 1:
        some = (few + many) // 2
        asked = some, tasks_of(some, rate, series), some * rate
        if max(model.scheduler(*asked), model.parent(*asked)) > 1:
            many = some
        else:
            few = some
    return few


def main():
    """Play, fit, predict, tell."""
    flags = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    flags.add_argument("--known", type=int, nargs="+", default=[100, 300])
    flags.add_argument("--predicted", type=int, nargs="*", default=[1000])
    flags.add_argument("--seconds", type=float, default=30.0)
    given = flags.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idles, tooks, known = [], [], []
    with tempfile.TemporaryDirectory(prefix="arena-scale-") as name:
        folder = Path(name)
        bots = prepare(folder)
        for number, size in enumerate(sizes(given.known, given.predicted)):
            stage = folder / f"stage-{number}"
            stage.mkdir()
            begun = time.monotonic()
            with Stage(stage, size.workers, size.threads) as running:
                came = time.monotonic() - begun
                if size.threads == 1:
                    idles.append(at_rest(running, came, given.seconds / 2))
                for load in size.loads:
                    tooks.append(event(running, bots, load, given.seconds))
                    if size.known:
                        known.append(tooks[-1])
                    print(tooks[-1], file=sys.stderr, flush=True)
            shutil.rmtree(stage)
    tell_idle(idles)
    print()
    tell_events(tooks)
    model = fitted([idle for idle in idles if idle.workers in given.known], known)
    tell_model(model, [took for took in tooks if took not in known])
    tell_far(model, statistics.mean(took.logged for took in tooks), 1000, 10_000_000)


if __name__ == "__main__":
    main()
