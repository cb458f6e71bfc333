"""Run an event's tasks within a worker process of a Dask cluster.

Theory of operation. Tasks are functions of this module, sent by name, with texts and bytes as
arguments and results: there is nothing to unpickle but builtins. The sandbox, the bots and trio's
loop stay out of Dask's process: `arena node` examines the machine and enters the bots, a worker
process plays the series, and we hold the other end of the input of both, so that the bots end with
Dask's process, however it is killed.

Invariant: one worker process a slot, and no record is kept after the task that returned it; an
event without a task for IDLE_S is forgotten.
"""

import contextlib
import os
import platform
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from arena import __version__
from arena.bots import Bundle, default_cache, in_use, unpack
from arena.executors import SERIES_END, Job, WorkerConfig
from arena.executors.core_probe import CoreTrial
from arena.executors.local import not_started, start_worker
from arena.model import Bot, Confinement, Entrant, Frozen, HostError, Machine, Settings, UserError
from arena.sandbox import inherited_limits
from arena.system import clock, processes, randomness

_encode = msgspec.json.Encoder().encode
_jobs = msgspec.json.Decoder(tuple[Job, ...]).decode
# A client that was killed says no goodbye. A worker that was idle for so long is configured anew.
IDLE_S = 300.0
# For a worker whose input has ended to kill its bots.
END_S = 5.0
_ERROR_BYTES = 2000


class Ask(Frozen, frozen=True, kw_only=True, tag="event"):
    """A question to `arena node`: whether it can play this event."""

    settings: Settings
    entrants: tuple[Entrant, ...]
    sandbox: str  # as in `--sandbox`
    enter: bool = False  # also build and start its bots


class AskCores(Frozen, frozen=True, kw_only=True, tag="cores"):
    """A question to `arena node`: how fast these cores are, all at the same time."""

    cores: tuple[int | None, ...]


class NodeUnfit(Frozen, frozen=True, kw_only=True, tag="unfit"):
    trouble: str


class NodeFit(Frozen, frozen=True, kw_only=True, tag="fit"):
    host: str  # identifies the machine, or the container, that a worker runs on
    cache: str  # identifies the cache: containers of one name may have caches of their own
    machine: Machine
    sandbox: str
    confinement: Confinement
    cores: tuple[int, ...]
    room: int  # matches at a time that have a core each and all that their bots are promised
    missing: tuple[str, ...] = ()
    """Bots, and packages of those that are there, that aren't in the cache: their paths in it."""
    bots: tuple[Bot, ...] = ()  # as they are run here, once they are entered


class CoreTrials(Frozen, frozen=True, kw_only=True, tag="tried"):
    trials: tuple[CoreTrial, ...]


NodeAnswer = NodeUnfit | NodeFit | CoreTrials
answer = msgspec.json.Decoder(NodeAnswer).decode


def do(task: str, *arguments: object) -> tuple[str, object]:
    """Run a task: why it failed, or nothing, and its result. Not every exception can be sent."""
    try:
        return "", globals()[task](*arguments)
    except Exception as error:  # noqa: BLE001 - returned, with its name
        kind = "" if isinstance(error, UserError | HostError) else f"{type(error).__name__}: "
        return f"{kind}{error}", None


def versions() -> list[str]:
    return [__version__, ".".join(platform.python_version_tuple()[:2])]


def look(ask: bytes) -> bytes:
    return _node(ask)


def try_cores(cores: Sequence[int | None]) -> bytes:
    return _node(_encode(AskCores(cores=tuple(cores))))


def take(name: str, total: str, bundle: bytes) -> None:
    """Put a bot or packages with this checksum into the cache."""
    unpack(name, Bundle(total, bundle), cache=default_cache())


def enter(ask: bytes) -> bytes:
    """Build the bots: how they are run here."""
    asked = msgspec.json.decode(ask, type=Ask)
    return _node(_encode(replace(asked, enter=True)))


def keep(event: str, config: bytes) -> str:
    """Keep the config of an event: the id of this process."""
    inherited_limits.raise_open_files()
    leave(event)  # bots, and their sandbox, may be others than they were
    _events[event] = _Event(event, msgspec.json.decode(config, type=WorkerConfig))
    return _process


def play(event: str, slot: int, core: int | None, jobs: bytes) -> bytes | str:
    """Play some series: the worker's lines; the id of this process if it doesn't know the event."""
    if (known := _events.get(event)) is None:
        return _process
    return b"".join(line for job in _jobs(jobs) for line in known.play(slot, core, job))


def leave(event: str) -> None:
    """Forget an event: its processes end, and the bots with them."""
    if (known := _events.pop(event, None)) is not None:
        known.close()


def dask_setup(_worker: object) -> None:
    """Called by Dask, as a preload of a cluster of our own: Ctrl-C is for the parent alone."""
    os.setsid()


def _node(ask: bytes) -> bytes:
    """Run `arena node`, since a process that starts programs must have its main thread only."""
    node = [sys.executable, "-P", "-m", "arena", "node"]
    done = processes.run(node, input=ask, capture_output=True, start_new_session=True, check=False)
    if done.returncode:
        end = done.stderr[-_ERROR_BYTES:].decode(errors="replace")
        raise RuntimeError(f"`arena node` has failed ({done.returncode}):\n{end}")
    return done.stdout


class _Event:
    """An event that is played here, and its worker processes."""

    def __init__(self, name: str, config: WorkerConfig) -> None:
        self._name = name
        self._config = config
        self._processes: dict[int, _Process] = {}
        self._playing = 0
        self._lock = threading.Lock()
        # A task that was given up may still be at work in a slot when the next one comes.
        self._turns: dict[int, threading.Lock] = defaultdict(threading.Lock)
        self._closed = threading.Event()
        self._used = clock.monotonic()
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(in_use(default_cache()))
        threading.Thread(target=self._expire, name="arena-expire", daemon=True).start()

    def play(self, slot: int, core: int | None, job: Job) -> Iterator[bytes]:
        with self._lock:
            self._playing += 1
        try:
            with self._turns[slot]:
                yield from self._lines(slot, core, job)
        finally:
            with self._lock:
                self._playing -= 1
                self._used = clock.monotonic()

    def _lines(self, slot: int, core: int | None, job: Job) -> Iterator[bytes]:
        try:
            if (process := self._processes.get(slot)) is None:
                process = self._processes[slot] = _Process(replace(self._config, core=core))
                if self._closed.is_set():  # meanwhile
                    process.close()
            yield from process.play(job)
        except OSError as error:
            # It couldn't be started, or was gone before it got the job.
            yield _line(not_started(job, error))
            self._end(slot)
        except EOFError:
            how = self._end(slot)
            yield _line(job.end(f"a worker process ended unexpectedly (exit {how})"))

    def _end(self, slot: int) -> int | None:
        process = self._processes.pop(slot, None)
        return process.close() if process else None

    def close(self) -> None:
        self._closed.set()
        for process in list(self._processes.values()):
            threading.Thread(target=process.close, name="arena-end", daemon=True).start()
        self._stack.close()

    def _expire(self) -> None:
        while not self._closed.wait(IDLE_S / 10):
            with self._lock:
                idle = not self._playing and clock.monotonic() - self._used > IDLE_S
            if idle:
                leave(self._name)


class _Process:
    """A worker process, for threads that wait for it."""

    def __init__(self, config: WorkerConfig) -> None:
        self._process, self._input, self._output = start_worker(stderr=processes.DEVNULL)
        self._first = _line(config)

    def play(self, job: Job) -> Iterator[bytes]:
        try:
            self._input.write(self._first + _line(job))
            self._input.flush()
        except BrokenPipeError:
            raise EOFError from None
        self._first = b""
        while (line := self._output.readline()).endswith(b"\n"):
            yield line
            if line.startswith(SERIES_END):
                return
        raise EOFError

    def close(self) -> int | None:
        """End its input, and wait: it kills what it started. Kill it if it doesn't end."""
        with contextlib.suppress(OSError, ValueError):
            self._input.close()
        try:
            return self._process.wait(END_S)
        except processes.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _line(message: msgspec.Struct) -> bytes:
    return _encode(message) + b"\n"


_events: dict[str, _Event] = {}
_process = randomness.token_hex(8)
