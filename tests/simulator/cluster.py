"""A Dask cluster: the product's executor, crew and tasks, with `distributed` replaced.

Theory of operation. A node is a Dask worker: a process that runs `arena.executors.dask_tasks` as
the product has it (a copy of the module a node, since its events are the module's), each task on a
stack of its own. `Client` has what the product uses of a `distributed.Client`, with the faults that
Dask documents: a worker that dies or is out of reach takes its tasks with it, one that comes back
to an address may be another, a task may run twice or be late, its result may be lost, torn or
another's, a scheduler that is gone cancels every future. What a node says of itself is what
`arena.event.admission` says there; its cores are probed by the product on a clock of their own.
"""

import importlib.util
import math
import os
import types
from contextlib import nullcontext
from pathlib import Path

import trio

from arena.event import admission
from arena.executors import core_probe, dask_tasks
from tests.simulator.loop import KilledError, Thread, Threading, here, within
from tests.simulator.programs import Overlay, Process

_SPEC = importlib.util.find_spec(dask_tasks.__name__)
_free = []
ADDRESS = "127.0.0.1:8786"
# A client that has not reached its scheduler for so long gives up.
_GIVES_UP_S = 20.0


def _tasks(world):
    """A copy of the module, as a process of its own has it."""
    if _free:
        module = _free.pop()
    else:
        module = types.ModuleType(_SPEC.name)
        module.__file__ = _SPEC.origin
        exec(_SPEC.loader.get_code(_SPEC.name), module.__dict__)  # the product's own
    module._events = {}
    module._process = world.token(8)
    module.threading = Threading(world.loop)
    module.in_use = lambda _: nullcontext()
    module.default_cache = lambda: Path("/cache")
    module.unpack = lambda name, *_, **__: here().cache.add(name)
    module.inherited_limits = types.SimpleNamespace(raise_open_files=lambda: None)
    return module


class KilledWorker(Exception):  # noqa: N818 - the name that distributed gives it
    pass


class CancelledError(Exception):
    pass


class Node(Process):
    """A Dask worker."""

    def __init__(self, world, address: str, threads: int) -> None:
        super().__init__(world, address)
        self.address = address
        self.threads = threads
        self.tasks = _tasks(world)
        self.cache = set()
        """Names of the bots there."""
        self.strange = False
        """It answers as another version of the arena, or as no arena at all."""
        self.reachable = True
        self.excused = False
        """The parent may take it for dead although it lives."""

    def die(self, code: int) -> None:
        if self.code is None:
            super().die(code)
            for child in self.children:
                child.die(-9)
            if not self.strange:
                _free.append(self.tasks)


class Future:
    def __init__(self, client, node=None) -> None:
        self._client = client
        self.node = node
        self.words = ()
        """Of its task."""
        self.status = "pending"
        self.value = None
        self.error = None
        self.lines = b""
        """Records in its result."""
        self.released = False
        self._callbacks = []
        client.futures.append(self)

    def add_done_callback(self, call) -> None:
        if self.status != "pending":
            call(self)
        else:
            self._callbacks.append(call)

    def settle(self, status: str, value=None, error=None) -> None:
        if self.status == "pending" and not self.released:
            self.status, self.value, self.error = status, value, error
            for call in self._callbacks:
                call(self)

    def result(self):
        if self.status == "error":
            raise self.error
        if self.status != "finished":
            raise CancelledError
        return self.value

    def release(self) -> None:
        if not self.released:
            self.released = True
            self._client.futures.remove(self)
            self._client.cluster.world.released(self)


class Client:
    """What the product uses of `distributed.Client`."""

    def __init__(self, cluster) -> None:
        self.cluster = cluster
        self.futures = []
        self._closed = False
        cluster.clients.append(self)

    @property
    def status(self) -> str:
        cluster = self.cluster
        if cluster.up:
            return "closed" if self._closed else "running"
        if cluster.world.loop.now() > cluster.down_since + _GIVES_UP_S:
            self.close()
        return "closed" if self._closed else "connecting"

    def nthreads(self) -> dict:
        self.cluster.world.loop.sleep(0.005)
        if not self.cluster.up:
            raise OSError("no scheduler")
        return {node.address: node.threads for node in self.cluster.present()}

    def scheduler_info(self, **_):
        return {"address": f"tcp://{'0.0.0.0' if self.cluster.take('exposed') else ADDRESS}"}

    def submit(self, function, *words, workers, key=None, **_):
        del key
        if not self.cluster.up:
            raise OSError("no scheduler")
        if function is bytes:
            future = Future(self)
            future.settle("finished", words[0])
            return future
        node = self.cluster.nodes.get(workers[0])
        future = Future(self, node)
        future.words = words
        if node is not None:
            self.cluster.begin(node, future)
        return future

    async def _run(self, function, event, *, workers, **_):
        for address in workers:
            node = self.cluster.nodes.get(address)
            if node is not None and node.reachable:
                # A thread of the node's loop: before all tasks.
                task = getattr(node.tasks, function.__name__)
                Thread(node.world.loop, node, task, (event,)).start()

    def sync(self, function, *words, **options) -> None:
        try:
            function(*words, **options).send(None)
        except StopIteration:
            return

    def close(self, **_) -> None:
        self._closed = True
        if self in self.cluster.clients:
            self.cluster.clients.remove(self)


class Cluster:
    def __init__(self, world, sizes) -> None:
        self.world = world
        self.nodes = {}
        self.clients = []
        self.up = True
        self._sizes = sizes
        self._number = 0
        self._back = []  # (time, what happens then)
        self.down_since = -math.inf
        self.busy = self.slow = self.exposed = self.silent = 0
        for threads in sizes:
            self.join(threads)

    def join(self, threads: int, address: str = "", *, far: bool = False) -> None:
        self._number += 1
        address = address or f"tcp://{'10.0.0.1' if far else '127.0.0.1'}:{40_000 + self._number}"
        self.nodes[address] = Node(self.world, address, threads)

    def present(self):
        self._due()
        return [node for node in self.nodes.values() if node.reachable and node.alive]

    def staff(self) -> None:
        """Do what a person does before the event goes on: bring up the scheduler and workers."""
        self.up = True
        self._back = []
        self.busy = self.slow = self.exposed = self.silent = 0
        for node in list(self.nodes.values()):
            node.reachable = True
            if node.strange or "//10." in node.address:
                self.kill(node, "gone")
        if not self.nodes:
            for threads in self._sizes:
                self.join(threads)

    def replace(self, sizes) -> None:
        """Kill all workers, and start others."""
        for node in list(self.nodes.values()):
            self.kill(node, "gone")
        for threads in sizes:
            self.join(threads)

    def later(self, seconds: float, call) -> None:
        self._back.append((self.world.loop.now() + seconds, call))
        if self.world.loop.nursery is not None:
            within(self.world.parent).run(self.world.loop.nursery.start_soon, self._wake, seconds)

    async def _wake(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self._due()

    def _due(self) -> None:
        now = self.world.loop.now()
        due = [entry for entry in self._back if entry[0] <= now]
        self._back = [entry for entry in self._back if entry[0] > now]
        for _, call in due:
            call()

    def forget_clients(self) -> None:
        """Close the clients of a process that has ended."""
        for client in list(self.clients):
            client.futures.clear()
            client.close()

    # ---- faults

    def take(self, what: str) -> bool:
        """Whether a fault that lasts for so many questions strikes this one."""
        left = getattr(self, what)
        if left:
            setattr(self, what, left - 1)
            self.world.faults.met += 1
        return left > 0

    def kill(self, node: Node, how: str) -> None:
        if self.nodes.get(node.address) is not node:
            return
        del self.nodes[node.address]
        node.die(-9)
        self._lose(node)
        if how == "again":
            self.later(2.0, lambda: self._back_again(node))

    def part(self, node: Node, seconds: float) -> None:
        """It is out of reach for a while, and lives on."""
        node.reachable = False
        node.excused = True
        self._lose(node)

        def back() -> None:
            node.reachable = True
            self._go_on(node)

        self.later(seconds, back)

    def _back_again(self, node: Node) -> None:
        """A new process takes the address of a worker that was killed."""
        self.join(node.threads, node.address)
        self._go_on(self.nodes[node.address])

    def _go_on(self, node: Node) -> None:
        """What was to be done at this address is begun again."""
        if self.world.loop.nursery is None:
            return
        for client in self.clients:
            for future in client.futures:
                old = future.node
                if old is not None and old.address == node.address and future.status == "pending":
                    future.node = node
                    self.begin(node, future)

    def lose_scheduler(self, seconds: float) -> None:
        if not self.up:
            return
        self.up = False
        self.down_since = self.world.loop.now()
        for node in self.nodes.values():
            node.excused = True
        for client in self.clients:
            for future in list(client.futures):
                future.settle("cancelled")
                if future.status == "finished":
                    future.status = "cancelled"

        def back() -> None:
            self.up = True

        self.later(seconds, back)

    def _lose(self, node: Node) -> None:
        """A result that was not fetched is lost with the worker; its tasks wait for its return."""
        for client in self.clients:
            for future in client.futures:
                if future.node is node and future.status == "finished":
                    future.status = "cancelled"

    # ---- tasks

    def begin(self, node: Node, future: Future) -> None:
        words = [word.value if isinstance(word, Future) else word for word in future.words]
        nursery = self.world.loop.nursery
        within(node).run(nursery.start_soon, self._task, node, future, words)

    async def _task(self, node: Node, future: Future, words) -> None:
        plan = self.world.task_faults()
        await trio.sleep(0.002 + plan.late)
        status, value, error = "finished", None, None
        for _ in range(plan.times):
            if not node.alive or not node.reachable:
                return
            thread = Thread(self.world.loop, node, node.tasks.do, tuple(words))
            thread.start()
            await thread.over.wait()
            value, error = thread.result, thread.error
        if not node.alive:
            return
        if error is not None:
            if isinstance(error, KilledError):
                return
            status = "error"
        if plan.error is not None:
            status, error = "error", plan.error
        await trio.sleep(0.002 + plan.late_result)
        if node.alive and node.reachable and self.up:
            if words[0] == "play" and status == "finished":
                value = plan.spoil(value)
                future.lines = value[1] if isinstance(value[1], bytes) else b""
            future.settle(status, value, error)


class Plan:
    """How a task goes."""

    def __init__(self) -> None:
        self.late = self.late_result = 0.0
        self.times = 1
        self.error = None
        self.spoilt = ""

    def suits(self, fault) -> bool:
        """Take in a fault of a task; whether it is one."""
        if fault.kind == "late task":
            self.late = float(fault.how)
        elif fault.kind == "late result":
            self.late_result = float(fault.how)
        elif fault.kind == "doubled task":
            self.times = 2
        elif fault.kind in {"torn result", "wrong result"}:
            self.spoilt = fault.how or "torn"
        elif fault.kind == "failed task":
            self.error = _ERRORS[fault.how]()
        else:
            return False
        return True

    def spoil(self, value):
        trouble, lines = value
        if not isinstance(lines, bytes) or not self.spoilt:
            return value
        if self.spoilt == "torn":
            return trouble, lines[: len(lines) * 2 // 3]
        if self.spoilt == "nothing":
            return trouble, b""
        if self.spoilt == "swapped":
            return trouble, b"\n".join(reversed(lines.splitlines())) + b"\n"
        return trouble, None


_ERRORS = {"killed": KilledWorker, "unloaded": ImportError, "odd": ValueError}


def node_command(world, order: bytes) -> bytes:
    """What `arena node` answers on a node."""
    return admission.admit(order, lambda _: None)


def strange(node: Node, how: str) -> None:
    """From now on it answers as another version of the arena, or as no arena at all."""
    node.strange = True
    answers = {"old": lambda: ["0.1", "3.0"], "other": lambda: None}
    if how in answers:
        node.tasks.versions = answers[how]
    else:
        node.tasks.look = lambda _: b'{"type": "tried", "trials": []}' if how == "mixed" else b"?"


class _CoreClock:
    """The time of a core's trial: each look at the clock but the first two is a batch later."""

    def __init__(self, *, share: float, slow: bool) -> None:
        self._share, self._batch, self._looks = share, 0.05 if slow else 0.01, 0

    def monotonic(self) -> float:
        self._looks += 1
        return max(0, self._looks - 2) * self._batch / self._share

    def thread_cpu(self) -> float:
        return max(0, self._looks - 2) * self._batch

    def sleep(self, _) -> None:
        self._looks = 0


class _Trials:
    """Stands for `multiprocessing` in the probe of cores: a process that is done at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._share = 0.5 if cluster.take("busy") else 1.0
        self._slow = here() is not cluster.world.parent and cluster.take("slow")
        self._silent = cluster.take("silent")

    def get_context(self, _):
        return self

    def Pipe(self, *, duplex):  # noqa: N802 - the module's name
        del duplex
        sent = []

        def recv():
            if not sent:
                raise EOFError
            return sent.pop()

        ends = types.SimpleNamespace(recv=recv, send=sent.append, close=lambda: None)
        return ends, ends

    def Process(self, *, target, args):  # noqa: N802
        def start() -> None:
            core_probe.clock = _CoreClock(share=self._share, slow=self._slow)
            if not self._silent:
                target(*args)

        return types.SimpleNamespace(start=start, join=lambda: None)


def try_cores(cluster: Cluster, real):
    """The product's probe of cores, with processes that are none."""

    def tried(cores):
        core_probe.multiprocessing = _Trials(cluster)
        return real(cores)

    return tried


def core_names(world) -> list:
    """What takes the place of what where cores are probed."""
    if world.cluster is None:
        return []
    return [
        (core_probe, "clock", core_probe.clock),
        (core_probe, "multiprocessing", core_probe.multiprocessing),
        (core_probe, "signal", Overlay(core_probe.signal, signal=lambda *_: None)),
        (core_probe, "os", Overlay(os, sched_setaffinity=lambda *_: None)),
        (core_probe, "try_cores", try_cores(world.cluster, core_probe.try_cores)),
    ]


class Distributed:
    """Stands for the module `distributed`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def Client(self, address, **_):  # noqa: N802
        cluster = self._cluster
        cluster.world.count("connect")
        if not cluster.up:
            raise OSError(f"Timed out trying to connect to {address}") from TimeoutError()
        return Client(cluster)

    def Security(self, **given):  # noqa: N802
        def arguments(_) -> dict:
            if "bad" in str(given.get("tls_client_cert", "")):
                raise ValueError("no certificate")
            return {}

        names = ("tls_ca_file", "tls_client_cert")
        known = {name: given.get(name) for name in names}
        return types.SimpleNamespace(**known, get_connection_args=arguments)

    def LocalCluster(self, *, n_workers, **_):  # noqa: N802
        cluster = self._cluster
        cluster.world.count("spawn")
        if error := cluster.world.faults.error("spawn"):
            raise RuntimeError("Nanny failed to start.") from error
        cluster.replace((1,) * n_workers)
        return types.SimpleNamespace(
            scheduler_address=f"tcp://{ADDRESS}", close=lambda **_: cluster.replace(())
        )


def dask_module():
    return types.SimpleNamespace(config=types.SimpleNamespace(set=lambda _: nullcontext()))
