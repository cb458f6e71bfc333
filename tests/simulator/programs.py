"""Processes and pipes: the product's workers as tasks, each with a table of descriptors of its own.

Theory of operation. `start` stands for `subprocess.Popen`. What it starts runs the product's
`arena.executors.worker.serve` as a trio task of the run that goes on, within a context that says
whose code it is. A number of a closed descriptor is given out again, the lowest first, as a kernel
does: code that keeps a closed number reads another's data here, too. A pipe hands over what was
written in parts that the seed draws, and may be late.

A process that is killed does nothing more: whatever it asks of the simulator raises KilledError.
"""

import errno
import os
import subprocess
import types

import trio

from tests.simulator.loop import KilledError, Signal, here, within

CAPACITY = 1 << 16


class Pipe:
    def __init__(self, world) -> None:
        self._world = world
        self._data = bytearray()
        self._late = []
        self.flooded = False
        """Takes all: its writer stands still until it has written everything."""
        self.writers = self.readers = 0
        self._ended = False
        self.readable = Signal(lambda: bool(self._data) or self._ended)
        self.writable = Signal(lambda: self.room > 0 or not self.readers)

    @property
    def room(self) -> int:
        if self.flooded:
            return 1 << 40
        return CAPACITY - len(self._data) - sum(map(len, self._late))

    def put(self, data: bytes) -> None:
        if self._late:
            self._late.append(data)
        elif delay := self._world.pipe_delay():
            self._late.append(data)
            self._world.loop.nursery.start_soon(self._arrive, delay)
        else:
            self._data += data
            self.readable.ring()

    async def _arrive(self, delay: float) -> None:
        await trio.sleep(delay)
        self._data += b"".join(self._late)
        self._late = []
        self._end()
        self.readable.ring()

    def take(self, size: int) -> bytes:
        """A part of what is there; empty: its end."""
        size = min(size, len(self._data))
        if size > 1 and self._world.random.random() < 0.05:
            size = self._world.random.randrange(1, size)
        data = bytes(self._data[:size])
        del self._data[:size]
        self.flooded = False
        self.writable.ring()
        return data

    def left(self, *, writer: bool) -> None:
        """One of its ends was closed."""
        if writer:
            self.writers -= 1
        else:
            self.readers -= 1
            self.writable.ring()
        self._end()

    def _end(self) -> None:
        if not self.writers and not self._late:
            self._ended = True
            self.readable.ring()


class End:
    """An end of a pipe: a descriptor refers to it."""

    def __init__(self, pipe: Pipe, *, writer: bool) -> None:
        self.pipe = pipe
        self.writer = writer
        if writer:
            pipe.writers += 1
        else:
            pipe.readers += 1

    def again(self):
        return End(self.pipe, writer=self.writer)

    def close(self) -> None:
        self.pipe.left(writer=self.writer)


class Process:
    """A simulated process: the parent, a worker, or a cluster's worker."""

    def __init__(self, world, name: str) -> None:
        self.world = world
        self.name = name
        self.alive = True
        self.descriptors = {}
        self.children = []
        self.code = None
        self.over = Signal(lambda: self.code is not None)
        self.scope = None
        self.host = None
        """The cluster's worker whose child it is."""
        self.slow = 1.0
        self.bystander = False
        """Another command at the same folder: nothing strikes it."""

    def descriptor(self, end: End) -> int:
        number = 0
        while number in self.descriptors:
            number += 1
        self.descriptors[number] = end
        return number

    def close(self, number: int) -> None:
        if number not in self.descriptors:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self.descriptors.pop(number).close()

    def end(self, number: int) -> End:
        if not self.alive:
            raise KilledError
        if number not in self.descriptors:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self.descriptors[number]

    def die(self, code: int) -> None:
        """It ends, or is killed: its descriptors are closed."""
        if self.code is not None:
            return
        self.alive = False
        self.code = code
        for number in list(self.descriptors):
            self.close(number)
        self.world.buried(self)
        if self.scope is not None:
            self.scope.cancel()
        self.over.ring()


class PipeFile:
    """A pipe's end as a file object, as Popen has them."""

    def __init__(self, process: Process, end: End) -> None:
        self._process = process
        self._number = process.descriptor(end)
        self._buffer = bytearray()
        self.closed = False

    def fileno(self) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._number

    def write(self, data: bytes) -> int:
        left = bytes(data)
        while left:
            try:
                left = left[write(self.fileno(), left) :]
            except BlockingIOError:
                self._process.world.loop.wait(self._process.end(self._number).pipe.writable)
        return len(data)

    def flush(self) -> None:
        pass

    def readline(self) -> bytes:
        loop = self._process.world.loop
        while b"\n" not in self._buffer:
            pipe = self._process.end(self.fileno()).pipe
            loop.wait(pipe.readable)
            if not (data := pipe.take(CAPACITY)):
                break
            self._buffer += data
        end = self._buffer.find(b"\n") + 1 or len(self._buffer)
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if self._number in self._process.descriptors:
                self._process.close(self._number)


class Popen:
    def __init__(self, owner: Process, process: Process, inward: Pipe, outward: Pipe) -> None:
        self._world = owner.world
        self.process = process
        self.stdin = PipeFile(owner, End(inward, writer=True))
        self.stdout = PipeFile(owner, End(outward, writer=False))

    @property
    def returncode(self):
        return self.process.code

    def poll(self):
        return self.process.code

    def kill(self) -> None:
        self.process.die(-9)

    def wait(self, timeout=None):
        if not self._world.loop.wait(self.process.over, 1e6 if timeout is None else timeout):
            raise subprocess.TimeoutExpired("worker", timeout)
        return self.process.code

    def communicate(self):
        self.wait()
        self.stdin.close()
        self.stdout.close()
        return b"", b""


def start(world, words, **_) -> Popen:
    """Start a worker process: the child of the process whose code runs now."""
    assert words[-1] == "arena.executors.worker", words
    owner = here()
    if not owner.alive:
        raise KilledError
    world.count("spawn")
    if error := world.faults.error("spawn"):
        raise error
    process = Process(world, f"{owner.name} worker {len(owner.children)}")
    process.host = owner if owner is not world.parent else None
    owner.children.append(process)
    inward, outward = Pipe(world), Pipe(world)
    process.descriptor(End(inward, writer=False))
    process.descriptor(End(outward, writer=True))
    popen = Popen(owner, process, inward, outward)
    within(process).run(world.loop.nursery.start_soon, _live, world, process)
    return popen


async def _live(world, process: Process) -> None:
    """The life of a worker process."""
    from arena.executors import worker

    code = 0
    with trio.CancelScope() as process.scope:
        if process.code is not None:
            process.scope.cancel()
        try:
            world.count("start")
            await worker.serve(0, 1)
        except (KilledError, BrokenPipeError, BaseExceptionGroup):
            code = 1
        except Exception as error:  # noqa: BLE001 - a worker's own bug
            if process.alive:
                world.broken(f"{process.name} has failed: {error!r}")
            code = 1
    process.die(code)


def dup(number: int) -> int:
    process = here()
    return process.descriptor(process.end(number).again())


def read(number: int, size: int) -> bytes:
    end = here().end(number)
    if not end.pipe.readable.ready():
        raise BlockingIOError
    return end.pipe.take(size)


def write(number: int, data) -> int:
    process = here()
    pipe = process.end(number).pipe
    data = bytes(data)
    if not pipe.readers:
        raise BrokenPipeError
    if process.world.torn_line(process, pipe, data):
        raise KilledError
    if pipe.room <= 0:
        raise BlockingIOError
    data = data[: pipe.room]
    if len(data) > 1 and process.world.random.random() < 0.02:
        data = data[: process.world.random.randrange(1, len(data))]
    pipe.put(data)
    return len(data)


class FdStream:
    """Stands for `trio.lowlevel.FdStream`."""

    def __init__(self, number: int) -> None:
        self._process = here()
        self._number = number

    async def send_all(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        data = bytes(data)
        while data:
            if self._number is None:
                raise trio.ClosedResourceError
            try:
                pipe = self._process.end(self._number).pipe
                data = data[write(self._number, data) :]
            except BlockingIOError:
                await pipe.writable.wait()
            except BrokenPipeError:
                raise trio.BrokenResourceError from None

    async def receive_some(self, most: int) -> bytes:
        pipe = self._process.end(self._number).pipe
        await pipe.readable.wait()
        await trio.lowlevel.checkpoint()
        return pipe.take(most)

    async def aclose(self) -> None:
        number, self._number = self._number, None
        if number is not None and self._process.alive:
            self._process.close(number)
        await trio.lowlevel.checkpoint()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_) -> None:
        await self.aclose()


async def wait_readable(file) -> None:
    number = file if isinstance(file, int) else file.fileno()
    pipe = here().end(number).pipe
    await trio.lowlevel.checkpoint()
    await pipe.readable.wait()
    here().end(number)


class Overlay(types.ModuleType):
    """A module with some of its functions replaced."""

    def __init__(self, module, **functions) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(functions)
        self._module = module

    def __getattr__(self, name: str):
        return getattr(self._module, name)


def worker_os():
    """`os` for code that handles descriptors."""
    return Overlay(
        os,
        dup=dup,
        close=lambda number: here().close(number),
        set_blocking=lambda *_: None,
        sched_setaffinity=lambda *_: None,
        getpid=lambda: 1,
    )


def select(_, writers, __):
    """`select.select` for a worker that waits for its parent to read.

    A worker is a task here, which can't stand still; so the pipe takes all at once.
    """
    here().end(writers[0]).pipe.flooded = True
    return [], writers, []
