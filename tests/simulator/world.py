"""The world of one seed: it replaces the product's seams, lets faults strike, and watches.

Theory of operation. `World` is a context in which the product's own code runs: the modules of
`arena.system`, trio's entry points and the few names beneath which real bots and machines begin are
replaced; all above is the product's. The command that runs is the process `parent`; when it dies,
whatever it still does raises KilledError until it has come back here.

Invariant: what happens follows from the scenario, the seed and the list of faults alone.
"""

import itertools
import math
import random
import shutil
import sys
import traceback
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import msgspec
import trio

from arena import registry
from arena.engine import match
from arena.event import (
    add_bots,
    compare,
    merge,
    prepare,
    results,
    resume,
    single_match,
    tournament,
    tune,
)
from arena.event import cluster as venue
from arena.executors import cluster as product_cluster
from arena.executors import local, worker
from arena.model import HostError, UserError
from arena.store import folder, lines, log_reader, log_writer, recovery, stderr
from arena.store.index import Index
from arena.store.lines import strip_checksum
from arena.system import clock, files, processes, randomness, replaced
from tests.simulator import bots, cluster, damage, play, programs, remembered
from tests.simulator.cluster import Cluster, Plan
from tests.simulator.disk import Disk
from tests.simulator.faults import SIGINT, SIGTERM, SIGUSR1, Faults
from tests.simulator.loop import KilledError, Loop, Signal, Thread, Threading, here, within
from tests.simulator.programs import Overlay, Process

# Half a second for others, the time of a sync, and a stall in between.
DURABLE_WITHIN_S = 1.0
_SIGNALS = {"int": SIGINT, "term": SIGTERM, "usr1": SIGUSR1}
# Modules that find, build and confine bots, or look at the machine.
_EVENT = (add_bots, compare, merge, prepare, resume, single_match, tournament, tune, venue)

# Limits that only large events would reach: what lies beyond them is met by small ones, too.
MOST_STDERR = 3_000
_SMALL = (
    (results, "LONG_LOG", 1 << 12),
    (log_reader, "_WORTH_AN_INDEX", 1 << 12),
    (lines, "LONGEST_LINE", 1 << 16),
    (recovery, "LONGEST_LINE", 1 << 16),
    (stderr, "STDERR_OF_EVENT", MOST_STDERR),
)


class World:
    def __init__(self, root: Path, seed: int, faults, *, computed: bool, nodes=()) -> None:
        self.random = random.Random(f"world {seed}")
        self.seed = seed
        self.computed = computed
        self.loop = Loop(seed)
        self.faults = Faults(faults)
        self.faults.world = self
        self.disk = Disk(root, self.faults)
        self.violations = []
        self.trace = ""
        """Of the last command's error."""
        self.repairable = True
        """Whether the command that goes on can repair what has rotted."""
        self.rotten = False
        """Whether a byte of a log has changed on the disk."""
        self.matches = 0
        self.lives = 0
        self.cut = ""
        """How the power was cut, in this life."""
        self._cut_at = 0.0
        self.parent = self.new_parent()
        self.cluster = None
        self._groups = {}
        self._spawners = {}
        self._delay = 0.0
        self._taken = 0
        self._unix = 1.7e9
        self._signals = None
        self._delays = 0.0
        """Seconds for which nothing could become durable."""
        self._written = {}
        """By log: (line, life, when, where it ends) of each line."""
        self._ends = {}
        self.disk.wrote = self._wrote
        self._torn = {}
        """By log: what it held after a power cut that has damaged it, and the damaged byte."""
        self._refused = False
        self.player = None
        self._somebodies = []
        self._copies = []
        """Of rotten files: (path, before, after)."""
        self.kept = {}
        """Earlier states of indexes: (of which log, what it held)."""
        self.skips_broken = False
        self.lost_bots = ()
        """Names of bots that are in no cache any more."""
        self._plain()
        if nodes:
            self.cluster = within(self.parent).run(Cluster, self, nodes)

    # ---- lives

    def new_parent(self) -> Process:
        self.lives += 1
        self.faults.end_life()
        self.cut = ""
        self.parent = Process(self, f"parent {self.lives}")
        self._signals = None
        self._plain()
        return self.parent

    def _plain(self) -> None:
        """A command begins, with nothing that is particular to it."""
        self.max_seconds = None
        self.closing = False
        self.sandbox = self.bundles = ""
        self.slow_start = self.start_fails = False
        self.asks = set()
        """What the command asks for."""

    def broken(self, what: str) -> None:
        """Note a broken promise."""
        self.violations.append(what)

    def live(self, command):
        """Run a command of the product in a new process: its result, or its error."""
        parent = self.new_parent()
        if self.cluster:
            self.cluster.staff()
        self.count("life")
        try:
            result = within(parent).run(command)
        except BaseException as error:  # noqa: BLE001 - judged by the caller
            if parent.alive:
                self.trace = "".join(traceback.format_exception(error))
            # An error holds the frames that it has passed, and these what they have open.
            traceback.clear_frames(error.__traceback__)
            result = error
        if not parent.alive:
            result = KilledError()
        else:
            self._left_behind(parent)
        self._end(parent)
        if self.cut:
            self._lose_power()
        return result

    def _end(self, parent: Process) -> None:
        """A command's process has ended, one way or the other."""
        parent.alive = False
        parent.code = 0
        nodes = self.cluster.nodes.values() if self.cluster else ()
        for process in (parent, *nodes):
            for child in process.children:
                child.die(-9)
        if self.cluster:
            self.cluster.forget_clients()
        for somebody in self._somebodies:
            somebody.alive = False
            self.disk.crash(somebody)
        self._somebodies.clear()
        self.disk.crash(parent)
        self.loop.bury()

    def close(self) -> None:
        """The end of the world: nothing of it is kept."""
        for node in list(self.cluster.nodes.values()) if self.cluster else ():
            node.die(-9)
        self.loop.bury()
        for file in list(self.disk.open):
            file.close()
        shutil.rmtree(self.disk.root, ignore_errors=True)

    def _left_behind(self, parent: Process) -> None:
        """What a command has left open at its end."""
        for file in self.disk.open:
            if file.process is parent:
                self.broken(f"left open: {file.name}")
        if parent.descriptors:
            self.broken(f"descriptors left open: {sorted(parent.descriptors)}")
        for child in parent.children:
            if child.alive:
                self.broken(f"left alive: {child.name}")
        for thread in self.loop.threads:
            if thread.process is parent and not thread.abandoned:
                self.broken("a thread was left")
        if self.cluster and self.cluster.clients:
            self.broken("a client of the cluster was left open")

    def _lose_power(self) -> None:
        logs = sorted(self.disk.root.glob("**/matches.jsonl"))
        now = self._cut_at
        durable = {}
        for path in logs:
            content = bytes(self.disk.inode(path).durable)
            durable[path] = _lines(content)
            for line, life, when, _ in self._written.get(str(path), ()):
                old = life == self.lives and now - when > DURABLE_WITHIN_S + self._delays
                if old and line not in durable[path]:
                    self.broken(f"written {now - when:.1f} s before a power cut, and not durable")
        self.disk.cut(self.cut, self.random)
        for path in logs:
            content = path.read_bytes() if path.exists() else b""
            if not durable[path] <= _lines(content):
                self.broken(f"{path.parent.name}: durable, but its folder's name is not")
            # Behind a line that the cut has damaged nothing was durable.
            whole = list(itertools.takewhile(_whole, content.splitlines()))
            self._torn[path] = content, sum(len(line) + 1 for line in whole)
            there = set(whole)
            known = self._written.get(str(path), ())
            self._written[str(path)] = [entry for entry in known if entry[0] in there]

    def _wrote(self, name: str, data: bytes, end: int) -> None:
        if name.endswith("matches.jsonl"):
            line = data[:-1]
            self._written.setdefault(name, []).append((line, self.lives, self.loop.now(), end))
            self._ends[_identity(line)] = name, end

    def lost(self, path: Path) -> int:
        """How many of the lines that were written to a log are not in it."""
        there = _lines(path.read_bytes())
        return sum(line not in there for line, *_ in self._written.get(str(path), ()))

    # ---- faults

    def count(self, place: str) -> None:
        process = here()
        if process is not None and process.bystander:
            return
        for fault in self.faults.count(place):
            self.strike(fault, place)

    def strike(self, fault, place: str) -> None:
        """Let a fault happen, here and now."""
        getattr(self, f"_{fault.kind.replace(' ', '_')}")(fault.how, place)

    def _kill_parent(self, how, place) -> None:
        self.parent.alive = False
        raise KilledError

    def _power_cut(self, how, place) -> None:
        self.cut, self._cut_at = how, self.loop.now()
        self._kill_parent(how, place)

    def _disk_error(self, how, place) -> None:
        self._delays = math.inf
        self.faults.last(place, how)

    def _no_process(self, how, place) -> None:
        self.faults.last(place, how)

    def _time(self, how, place) -> None:
        self.max_seconds = float(how)

    def _rot(self, how, place) -> None:
        if not self.repairable:
            return
        if (found := self.disk.rot(how, self.random)) is None:
            return
        self.rotten = True
        if how == "event.json":
            self._copies.append((*found, found[0].read_bytes()))
        for name in self._written:
            self.forget_untrusted(Path(name))

    def forget_untrusted(self, log: Path) -> None:
        """A log or its index has changed: no line is missed that the next writer can't trust."""
        known = self._written.get(str(log), ())
        there = _trusted(log)
        self._written[str(log)] = [entry for entry in known if entry[0] in there]

    def _rot_afterwards(self, how, place) -> None:
        """The log of an event that is over rots."""
        if not self.repairable:
            return
        self.rotten = self.player.mends = True
        for log in self.disk.root.glob("**/matches.jsonl"):
            if how == "gone":
                self.disk.forget(log)
                self._written.pop(str(log), None)
            else:
                data = bytearray(log.read_bytes())
                for _ in range(int(how)):
                    data[self.random.randrange(len(data))] ^= 1
                self.disk.restore(log, data)
                self.forget_untrusted(log)

    def _damage(self, how, place) -> None:
        if self.repairable or how in damage.INDEXES:
            damage.strike(self, how)

    def _sandbox(self, how, place) -> None:
        self.sandbox = how

    def _bundle(self, how, place) -> None:
        self.bundles = how

    def _slow_start(self, how, place) -> None:
        self.slow_start = True

    def _no_start(self, how, place) -> None:
        if how:
            raise KeyboardInterrupt
        self.start_fails = True

    def _asks(self, how, place) -> None:
        self.asks.add(how)

    def _wrong(self, how, place) -> None:
        self._somebody(lambda: self.player.wrong(how))

    def restore(self) -> None:
        """The owner restores what has rotted and can't be derived."""
        for path, before, rotten in self._copies:
            if path.exists() and path.read_bytes() == rotten:
                self.disk.restore(path, before)
        self._copies.clear()

    def _look(self, how, place) -> None:
        self._somebody(lambda: self.player.look(how))

    def _intrude(self, how, place) -> None:
        self._somebody(lambda: self.player.intrude(how))

    def _somebody(self, acts) -> None:
        """Run a command of another process, beside the one that is watched."""

        def body() -> None:
            try:
                acts()
            except Exception as error:  # noqa: BLE001 - any error is one
                rotten = self.rotten and isinstance(error, UserError)
                if not rotten and not self._tells_of_a_cut(error):
                    self.trace = "".join(traceback.format_exception(error))
                    self.broken(f"somebody else met {type(error).__name__}: {error}")
            for file in self.disk.open:
                if file.process is somebody:
                    self.broken(f"left open by somebody else: {file.name}")

        somebody = Process(self, "somebody")
        somebody.bystander = True
        self._somebodies.append(somebody)
        if self.loop.nursery is None:
            within(somebody).run(body)
        else:
            Thread(self.loop, somebody, body).start()

    def _tells_of_a_cut(self, error: Exception) -> bool:
        """Whether a reader was told which byte a power cut has damaged, before a command that goes
        on has truncated the log there.
        """
        return isinstance(error, UserError) and any(
            str(error).startswith(f"{log}: line ")
            and f" (byte {at}) is damaged" in str(error)
            and log.read_bytes() == content
            for log, (content, at) in self._torn.items()
            if log.exists()
        )

    def _spawner(self, how, place) -> None:
        self._spawners[place] = int(how)

    def _kill_worker(self, how, place) -> None:
        victim = here()
        if victim is not self.parent and not isinstance(victim, cluster.Node):
            victim.die(-9)
            raise KilledError

    def _stop(self, how, place) -> None:
        if self._signals is not None:
            self._signals += [_SIGNALS[word] for word in how.split()]
            self._signalled.ring()

    def _clock_jumps(self, how, place) -> None:
        self._unix += float(how)

    def _stall(self, how, place) -> None:
        self._delays += float(how)
        self.loop.advance(float(how))

    def _slow_disk(self, how, place) -> None:
        self._delays += float(how)
        self.loop.sleep(float(how))

    def _slow_worker(self, how, place) -> None:
        here().slow = float(how)

    def _late_pipe(self, how, place) -> None:
        self._delay = float(how)

    def _no_thread(self, how, place) -> None:
        self._refused = True

    def _scheduler(self, how, place) -> None:
        self.cluster.lose_scheduler(float(how))

    def _join_node(self, how, place) -> None:
        self.cluster.join(1, far=how == "far")

    def _slow_node(self, how, place) -> None:
        self.cluster.slow = int(how)

    def _no_trial(self, how, place) -> None:
        self.cluster.silent = int(how)

    def _exposed_scheduler(self, how, place) -> None:
        self.cluster.exposed = 1

    def _strange_node(self, how, place) -> None:
        if node := self._node():
            cluster.strange(node, how)

    def _busy_core(self, how, place) -> None:
        self.cluster.busy = int(how)
        self._taken = int(how) * 3

    def _node_unfit(self, how, place) -> None:
        self.sandbox = how

    def _kill_node(self, how, place) -> None:
        if node := self._node():
            self.cluster.kill(node, how)
            raise KilledError

    def _part_node(self, how, place) -> None:
        if node := self._node():
            self.cluster.part(node, float(how))

    @staticmethod
    def _node():
        """The node on which this happens, or whose worker's doing it is."""
        process = here()
        node = process.host or process
        return node if isinstance(node, cluster.Node) else None

    def task_faults(self) -> Plan:
        """How the task that a node begins now goes."""
        plan = Plan()
        for fault in self.faults.count("task"):
            if not plan.suits(fault):
                with suppress(KilledError):
                    self.strike(fault, "task")
        return plan

    def spawner_fails(self, place: str) -> None:
        if here().bystander:
            return
        if left := self._spawners.get(place, 0):
            self._spawners[place] = left - 1
            self.faults.met += 1
            raise HostError("the spawner has ended (signal 9)")

    def torn_line(self, process: Process, pipe, data: bytes) -> bool:
        """Whether the process is killed while it writes this, and half of it has arrived."""
        if process is self.parent or isinstance(process, cluster.Node):
            return False
        try:
            self.count("line")
        except KilledError:
            if pipe.readers:
                pipe.put(data[: self.random.randrange(len(data) + 1)])
            return True
        return False

    def pipe_delay(self) -> float:
        delay, self._delay = self._delay, 0.0
        return delay

    def core_taken(self) -> bool:
        if self._taken:
            self._taken -= 1
            return True
        return False

    # ---- bots

    def match_time(self) -> float:
        self.matches += 1
        return self.random.uniform(0.02, 0.3) * here().slow

    def bots_see(self, group, deal) -> None:
        group.deals.add(deal)
        other = self._groups.get(deal)
        if other is not None and other is not group:
            node = other.process.host
            if not (node is not None and node.excused):
                self.broken(f"bots that live at the same time have seen deal {deal}")
        self._groups[deal] = group

    def bots_gone(self, group) -> None:
        for deal in group.deals:
            if self._groups.get(deal) is group:
                del self._groups[deal]

    def spawner_gone(self, process) -> None:
        """All bots of a process end with its spawner."""
        for group in {id(group): group for group in self._groups.values()}.values():
            if group.process is process:
                self.bots_gone(group)

    def buried(self, process) -> None:
        self.spawner_gone(process)

    # ---- what is replaced

    def token(self, size: int) -> str:
        return self.random.randbytes(size).hex()

    def _unix_now(self) -> float:
        return self._unix + self.loop.now()

    async def _in_thread(self, function, *words, abandon_on_cancel=False, **_):
        thread = Thread(self.loop, here(), function, words)
        thread.abandoned = abandon_on_cancel
        thread.start()
        if abandon_on_cancel:
            await thread.over.wait()
        else:
            with trio.CancelScope(shield=True):
                await thread.over.wait()
        if thread.error is not None:
            raise thread.error
        return thread.result

    @contextmanager
    def _signal_receiver(self, *_):
        self._signals = waiting = []
        self._signalled = signalled = Signal(lambda: bool(waiting))

        async def numbers():
            while True:
                await signalled.wait()
                yield waiting.pop(0)

        yield numbers()
        self._signals = None

    def _refuse_thread(self) -> bool:
        self.count("thread")
        refused, self._refused = self._refused, False
        return refused

    @contextmanager
    def around(self):
        """Replace what lies beneath the product."""
        open_pipes, start_bots, match_class = play.replacements(self)
        backend = bots.Sandbox("bwrap")

        def node_command(_, *, input, **__):  # noqa: A002 - subprocess.run's name
            answer = cluster.node_command(self, input)
            return SimpleNamespace(returncode=0, stdout=answer, stderr=b"")

        beneath = {
            "load": bots.load,
            "restore": lambda entrants, **_: bots.restore(self.lost_bots, entrants),
            "count_bots": len,
            "in_use": lambda _: nullcontext(bots.CACHE),
            "default_cache": self._cache,
            "keep_bots": lambda *_, **__: [],
            "hand_over": lambda *_: None,
            "played_here": bots.played_here,
            "workers_of": lambda asked, *_: asked or 2,
            "open_pipes": open_pipes,
            "one_core": nullcontext,
        }
        names = [
            *_SMALL,
            (folder, "RESULTS", self.disk.root / "results"),
            *remembered.FUNCTIONS,
            *bots.Beneath(self).names(),
            *cluster.core_names(self),
            *(
                (module, name, value)
                for module in _EVENT
                for name, value in beneath.items()
                if hasattr(module, name)
            ),
            (log_writer, "threading", Threading(self.loop, self._refuse_thread)),
            (local, "os", programs.worker_os()),
            (local, "cores", lambda: list(range(4))),
            (worker, "os", programs.worker_os()),
            (worker, "select", SimpleNamespace(select=programs.select)),
            (worker, "open_pipes", open_pipes),
            (worker, "registry", Overlay(registry, backend=lambda _: backend)),
            (match, "start_bots", start_bots),
            (match, "Match", match_class),
            (product_cluster, "_library", lambda: cluster.Distributed(self.cluster)),
            (single_match, "_PolicyMatch", lambda _, *words: match_class(*words)),
            (trio, "run", self.loop.run),
            (trio, "open_signal_receiver", self._signal_receiver),
            (trio.to_thread, "run_sync", self._in_thread),
            (trio.lowlevel, "FdStream", programs.FdStream),
            (trio.lowlevel, "wait_readable", programs.wait_readable),
        ]
        with ExitStack() as stack:
            stack.enter_context(
                replaced(
                    clock,
                    monotonic=self.loop.now,
                    unix=self._unix_now,
                    sleep=self.loop.sleep,
                    local=lambda _: f"time-{self.lives}",
                )
            )
            stack.enter_context(replaced(files, **self.disk.functions()))
            stack.enter_context(
                replaced(
                    processes,
                    start=lambda words, **options: programs.start(self, words, **options),
                    run=node_command,
                    read=programs.read,
                    write=programs.write,
                )
            )
            stack.enter_context(
                replaced(randomness, token_bytes=self._secret, token_hex=self.token)
            )
            self._replace_dask(stack)
            before = [(module, name, getattr(module, name)) for module, name, _ in names]
            stack.callback(lambda: [setattr(*entry) for entry in before])
            for module, name, value in names:
                setattr(module, name, value)
            yield

    @staticmethod
    def _replace_dask(stack: ExitStack) -> None:
        before = sys.modules.get("dask")
        sys.modules["dask"] = cluster.dask_module()

        def back() -> None:
            del sys.modules["dask"]
            if before is not None:
                sys.modules["dask"] = before

        stack.callback(back)

    def _cache(self) -> Path:
        return Path("/other") if "another cache" in self.asks else bots.CACHE

    def _secret(self, size: int) -> bytes:
        """The same for all events: their results don't follow from a seed's faults."""
        return bytes(range(size))

    def released(self, future) -> None:
        """A task's result was released: its records have to be durable, or were never written."""
        if self.closing or not self.parent.alive:
            return
        for line in future.lines.splitlines():
            head = _identity(line.partition(b"\t")[0])
            name, end = self._ends.get(head, ("", 0))
            if name and len(self.disk.inode(Path(name)).durable) < end:
                self.broken(f"released before it was durable: {head}")


class _Head(msgspec.Struct):
    id: str = ""
    attempt: int = 0


_head = msgspec.json.Decoder(_Head).decode


def _identity(line: bytes):
    try:
        head = _head(line)
    except msgspec.DecodeError:
        return None
    return head.id, head.attempt


def _whole(line: bytes) -> bool:
    return strip_checksum(line) is not None


def _trusted(log: Path) -> set:
    """Lines that the next writer has to keep: after the synced mark it can't tell what has rotted
    from what a power cut has torn.
    """
    data = log.read_bytes()
    data = data[: data.rfind(b"\n") + 1]  # without its newline a line counts as torn
    mark = Index.load(log.parent).mark
    if mark is None or (mark and data[mark - 1 : mark] != b"\n"):
        mark = len(data)
    return _lines(data[:mark]) | set(itertools.takewhile(_whole, data[mark:].splitlines()))


def _lines(data: bytes) -> set:
    """The lines of a log whose checksums are right."""
    return set(filter(_whole, data.splitlines()))
