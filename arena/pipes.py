"""Bots' processes and the pipes to them: bytes and their times, no meaning.

Theory of operation. `Table` holds a spawner and an epoll that watches everything its bots
write; `wait()` moves whatever bytes can be moved, without ever blocking on one bot. A
`Contestant` is one process with its session, its unwritten input, the tail of its stderr, the
time at which its output was last read and, once the spawner has said where the root of its tree
is, a meter of the tree's CPU time and a freezer that stops it.

Invariant: whatever a bot writes, reads, closes or leaves undone, what is held for it stays
bounded, and no other bot waits for it.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import trio

from arena.model import Bot, FaultKind, HostError, Limits
from arena.referee import Failure
from arena.sandbox import Backend, Exited, Launch, Started
from arena.sandbox.client import BotProcess, Spawner
from arena.sandbox.freezer import Freezer
from arena.sandbox.meter import Meter
from arena.wire.messages import Bye
from arena.wire.session import BotSession, Event, State, shown

# A read takes at most this: one pipe's worth.
READ_BYTES = 65_536
# A blocking look at the epoll before the event loop is asked: re-arming a shorter time-out
# costs more than it saves, and nothing else runs in a worker while a bot thinks.
LOOK_S = 0.005
# How long other tasks may be kept waiting while bots answer without a pause.
CHECKPOINT_S = 0.002
# After its output has ended, a process gets this long to be seen ending: its status tells a
# crash from an exit.
STATUS_GRACE_S = 1.0
# After `bye`.
BYE_S = 1.0
# A bot that speaks has been started; a spawner that doesn't say so by then is stuck.
STARTED_S = 10.0
# A killed tree that is still there after this is the machine's trouble.
KILL_S = 10.0
_OVERSTEPPED = {
    "memory": (FaultKind.MEMORY, "killed for using more memory than allowed"),
    "tasks": (FaultKind.LIMIT, "killed for running more processes and threads than allowed"),
    "disk": (FaultKind.LIMIT, "killed for writing more to its scratch folder than allowed"),
}
# What a fault keeps of stderr; the whole tail goes to the bot's own log.
STDERR_IN_FAULT = 2_000


class Contestant:
    """One bot's process as its table sees it."""

    __slots__ = (
        "_booked", "_freezer", "_meter", "errors", "exited", "frozen", "heard", "id", "out",
        "reading", "session", "stderr", "stderr_cap", "stdin", "stdout",
    )  # fmt: skip

    def __init__(self, process: BotProcess, limits: Limits) -> None:
        self.id = process.id
        # Our ends, -1 once they are closed: their numbers may be another's by then.
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.errors = process.stderr
        self._meter: Meter | None = None
        self._freezer: Freezer | None = None
        self.frozen = False
        self._booked = 0.0  # CPU time that has been accounted for
        self.session = BotSession(limits.line_bytes)
        self.out = bytearray()  # bounded: one question and a hole's notices at most
        self.stderr = bytearray()
        self.stderr_cap = limits.stderr_bytes
        self.exited: Exited | None = None
        self.reading = True  # its output is registered with the epoll
        self.heard = 0.0  # when its output was last read: lateness is judged by this

    # ---- its processes

    @property
    def rooted(self) -> bool:
        """Whether it is known where its processes are."""
        return self._meter is not None

    def take_root(self, pid: int) -> None:
        """The spawner has started it, and all of it stays below this process of the sandbox's."""
        self._meter = Meter(pid)
        self._freezer = Freezer(pid)

    def cpu(self) -> float:
        """Seconds of CPU that its whole tree has used so far, as far as it can still be told."""
        return self._meter.cpu() if self._meter else 0.0

    def used(self) -> float:
        """Seconds of CPU since the last call of this."""
        before, self._booked = self._booked, self.cpu()
        return self._booked - before

    def freeze(self) -> None:
        """Stop all its processes."""
        if self._freezer is not None and self.exited is None:
            self.frozen = True
            self._freezer.freeze()

    def thaw(self) -> None:
        """Let all its processes go on, if they were stopped."""
        if self._freezer is not None and self.frozen:
            self.frozen = False
            self._freezer.thaw()

    def forget(self) -> None:
        """It is gone: let go of what was held of its processes."""
        if self._meter is not None:
            self._meter.close()
        if self._freezer is not None:
            self._freezer.close()

    # ---- what it says

    def log(self, data: bytes) -> None:
        """Keep the tail of stderr."""
        self.stderr += data
        if len(self.stderr) > 2 * self.stderr_cap:
            del self.stderr[: -self.stderr_cap]

    def silence(self) -> str:
        """What a bot did instead of answering in time, as far as can be told."""
        if held := self.session.held:
            return f"{len(held)} bytes without a newline were received: {shown(held)!r}"
        return "nothing was received (too slow, or its output is not flushed after each line?)"

    def last_words(self) -> str:
        """The end of its stderr, for a fault."""
        return bytes(self.stderr[-STDERR_IN_FAULT:]).decode("utf-8", "backslashreplace")

    def take_stderr(self) -> str:
        """What it wrote to stderr since the last call, capped."""
        kept = bytes(self.stderr[-self.stderr_cap :])
        self.stderr.clear()
        return kept.decode("utf-8", "backslashreplace")

    def failure(self, kind: FaultKind, message: str, line: str = "") -> Failure:
        """A fault, with the status of the process if it has ended."""
        return Failure(kind=kind, message=message, line=line, status=self.status())

    def status(self) -> str:
        """How the process ended, if it did."""
        ended = self.exited
        if ended is None:
            return ""
        if ended.signal is not None:
            try:
                return f"signal {signal.Signals(ended.signal).name}"
            except ValueError:  # a real-time signal has no name
                return f"signal {ended.signal}"
        return f"exit {ended.code}"

    def end(self, *, starting: bool) -> Failure:
        """The fault of a bot whose output has ended, once its status is known or given up."""
        ended = self.exited
        if ended is not None and ended.overstepped:
            return self.failure(*_OVERSTEPPED[ended.overstepped])
        if starting:
            message = "ended before it was ready" if ended else "closed its output at the start"
            return self.failure(FaultKind.START, message)
        if ended is None:
            return self.failure(FaultKind.EXIT, "closed its output while it was asked")
        if ended.code == 0:
            message = "left, with status 0, while it was asked (did its read loop end?)"
            return self.failure(FaultKind.EXIT, message)
        return self.failure(FaultKind.CRASH, "died while it was asked")


class Table:
    """The spawner, the epoll, and the contestants that are alive."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._epoll = select.epoll()
        self._poll = self._epoll.poll
        self._by_id: dict[int, Contestant] = {}
        self._by_fd: dict[int, tuple[Contestant, str]] = {}
        self.due = time.monotonic() + CHECKPOINT_S
        """When other tasks have been kept waiting for long enough."""
        self._epoll.register(spawner.fileno(), select.EPOLLIN)

    def close(self) -> None:
        """Forget everything; the spawner is closed by whoever opened it."""
        for contestant in list(self._by_id.values()):
            self._forget(contestant)
        self._epoll.close()

    # ---- processes

    def start(
        self, bot: Bot, backend: Backend, limits: Limits, *, freeze: bool = False
    ) -> Contestant:
        """Start a bot's process; `freeze`: one that is going to be stopped and continued."""
        launch = Launch(
            run=bot.run,
            root=bot.root,
            expose=bot.expose,
            env=dict(bot.env),
            scratch_mb=bot.scratch_mb,
            memory_mb=limits.memory_mb,
            tasks=limits.tasks,
            freeze=freeze,
        )
        try:
            process = self._spawner.spawn(backend.plan(launch))
        except OSError as error:
            raise HostError(f"can't start a process: {error}") from error
        contestant = Contestant(process, limits)
        self._by_id[process.id] = contestant
        for fd, role in ((process.stdout, "stdout"), (process.stderr, "errors")):
            self._by_fd[fd] = (contestant, role)
            self._epoll.register(fd, select.EPOLLIN)
        self._by_fd[process.stdin] = (contestant, "stdin")
        return contestant

    async def started(self, contestant: Contestant) -> None:
        """Know where the processes of a bot are that has spoken."""
        deadline = time.monotonic() + STARTED_S
        while not contestant.rooted and contestant.exited is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise HostError("the spawner did not say where a bot's processes are")
            await self.wait(left)

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        """Kill whole trees and see them gone."""
        for contestant in contestants:
            if contestant.exited is None:
                self._spawner.kill(contestant.id)
        deadline = time.monotonic() + KILL_S
        while any(contestant.exited is None for contestant in contestants):
            left = deadline - time.monotonic()
            if left <= 0:
                raise HostError("a killed bot's processes would not end")
            await self.wait(left)
        for contestant in contestants:
            self._drain(contestant)
            self._forget(contestant)

    async def dismiss(self, contestants: Sequence[Contestant]) -> None:
        """Say `bye`, give them a moment to leave, then kill."""
        for contestant in contestants:
            contestant.thaw()
            if contestant.session.state is State.IDLE:
                self.send(contestant, contestant.session.send(Bye()))
            contestant.session.close()
        deadline = time.monotonic() + BYE_S
        while True:
            for contestant in contestants:
                if not contestant.out:
                    self._close(contestant.stdin)
            left = deadline - time.monotonic()
            if left <= 0 or all(c.exited is not None for c in contestants):
                break
            await self.wait(left)
        await self.kill(contestants)

    # ---- bytes

    def ask(self, contestant: Contestant, data: bytes | bytearray) -> None:
        """Send something that wants an answer, and listen for it."""
        if not contestant.reading and contestant.stdout >= 0 and not contestant.session.full:
            self._epoll.register(contestant.stdout, select.EPOLLIN)
            contestant.reading = True
        self.send(contestant, data)

    def send(self, contestant: Contestant, data: bytes | bytearray) -> None:
        """Write what can be written now; the rest follows whenever the pipe has room."""
        if contestant.out:
            contestant.out += data
            return
        fd = contestant.stdin
        if fd < 0:
            return  # the bot has closed its input; the end of its output will tell
        try:
            written = os.write(fd, data)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            self._close(fd)
            return
        if written < len(data):
            contestant.out += data[written:]
            self._epoll.register(fd, select.EPOLLOUT)

    def exchange(self, contestant: Contestant, question: bytearray) -> Event:
        """Ask, look, and say what has come of it: all that there is to most decisions.

        A bot that shares our core is given it at once, and has mostly answered when we have it
        back: so its output is read first, and only then waited for.
        """
        session = contestant.session
        if contestant.out or not contestant.reading or contestant.stdin < 0:
            self.ask(contestant, question)
            self.look(LOOK_S)
            return session.next_event()
        try:
            written = os.write(contestant.stdin, question)
        except (BlockingIOError, BrokenPipeError):
            written = 0
        if written < len(question):
            self.send(contestant, question[written:])
        os.sched_yield()
        try:
            data = os.read(contestant.stdout, READ_BYTES)
        except BlockingIOError:
            self.look(LOOK_S)
            return session.next_event()
        contestant.heard = time.monotonic()
        if (answer := session.hear(data)) is not None:
            return answer
        self._take(contestant, data)
        return session.next_event()

    def _take(self, contestant: Contestant, data: bytes) -> None:
        """Its output has been read."""
        if not data:
            contestant.session.end()
            self._close(contestant.stdout)
            contestant.reading = False
        elif contestant.session.receive(data):
            # More than a line waits: the rest stays in the pipe until the next question.
            self._epoll.unregister(contestant.stdout)
            contestant.reading = False

    def _hear(self, contestant: Contestant) -> None:
        try:
            data = os.read(contestant.stdout, READ_BYTES)
        except BlockingIOError:
            return
        contestant.heard = time.monotonic()
        self._take(contestant, data)

    async def status(self, contestant: Contestant) -> None:
        """Wait a moment for the end of a process whose output has ended."""
        deadline = time.monotonic() + STATUS_GRACE_S
        while contestant.exited is None and (left := deadline - time.monotonic()) > 0:
            await self.wait(left)

    async def wait(self, seconds: float) -> None:
        """Move bytes; returns after at least one event, or when the time is over."""
        if time.monotonic() > self.due:
            await self.checkpoint()
        if not self.look(min(seconds, LOOK_S)) and seconds > LOOK_S:
            await self.rest(seconds - LOOK_S)
            self.look(0)

    def look(self, seconds: float) -> bool:
        """Move bytes, blocking all of this process for at most so long; False: none moved."""
        events = self._poll(seconds)
        for fd, _ in events:
            self._move(fd)
        return bool(events)

    def _move(self, fd: int) -> None:
        if fd == self._spawner.fileno():
            self._reap()
        elif fd in self._by_fd:
            contestant, role = self._by_fd[fd]
            if role == "stdout":
                self._hear(contestant)
            elif role == "errors":
                self._log(contestant)
            else:
                self._flush(contestant)

    async def rest(self, seconds: float) -> None:
        """Let other tasks run until there is something to move, or the time is over."""
        with trio.move_on_after(seconds):
            await trio.lowlevel.wait_readable(self._epoll.fileno())
        self.due = time.monotonic() + CHECKPOINT_S

    async def checkpoint(self) -> None:
        """Let other tasks run."""
        await trio.lowlevel.checkpoint()
        self.due = time.monotonic() + CHECKPOINT_S

    def _log(self, contestant: Contestant) -> None:
        fd = contestant.errors
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            contestant.log(data)
        else:
            self._close(fd)

    def _flush(self, contestant: Contestant) -> None:
        fd = contestant.stdin
        try:
            written = os.write(fd, contestant.out)
        except BlockingIOError:
            return
        except BrokenPipeError:
            contestant.out.clear()
            self._close(fd)
            return
        del contestant.out[:written]
        if not contestant.out:
            self._epoll.unregister(fd)

    def _reap(self) -> None:
        for message in self._spawner.receive():
            contestant = self._by_id.get(message.id)
            if isinstance(message, Started):
                if contestant is not None:
                    contestant.take_root(message.tree)
            else:
                if contestant is not None:
                    contestant.exited = message
                if message.host_error:
                    raise HostError(f"the sandbox could not start a bot: {message.host_error}")

    def _drain(self, contestant: Contestant) -> None:
        """Take what a dead process left in its stderr."""
        while contestant.errors >= 0:
            before = len(contestant.stderr)
            self._log(contestant)
            if len(contestant.stderr) <= before:
                return

    def _close(self, fd: int) -> None:
        if fd in self._by_fd:
            contestant, role = self._by_fd.pop(fd)
            setattr(contestant, role, -1)
            with suppress(OSError):  # an input that was never full is not registered
                self._epoll.unregister(fd)
            os.close(fd)

    def _forget(self, contestant: Contestant) -> None:
        for fd in (contestant.stdin, contestant.stdout, contestant.errors):
            self._close(fd)
        self._by_id.pop(contestant.id, None)
        contestant.forget()


@asynccontextmanager
async def open_table() -> AsyncIterator[Table]:
    """A table with a spawner of its own; nothing that it started outlives it."""
    with Spawner() as spawner:
        table = Table(spawner)
        try:
            yield table
        finally:
            table.close()
