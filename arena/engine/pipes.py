"""Start bots and move bytes through their pipes, without ever blocking on one bot.

Theory of operation. `Pipes` holds a spawner and an epoll of everything its bots write; `wait()`
moves whatever bytes can be moved. `exchange()` is the short way for a decision that takes no time.
What the bytes mean is the session's business (`arena.wire.session`).

Invariant: whatever a bot writes, reads, closes or leaves undone, the memory used for it
stays bounded, and no other bot waits for it.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress

import trio

from arena.engine.contestant import Contestant
from arena.model import Bot, HostError, Limits
from arena.sandbox import Backend, Exited, Launch, Started
from arena.sandbox.client import Spawner
from arena.sandbox.delays import Core, Reading
from arena.system import clock, processes
from arena.wire.messages import Bye
from arena.wire.session import SessionState, WireEvent

READ_BYTES = 65_536  # a read takes at most this: one pipe's worth
# How long the epoll is polled before the event loop is entered: re-arming a shorter timeout costs
# more than it saves, and nothing else runs in a worker while a bot thinks.
LOOK_S = 0.005
CHECKPOINT_S = 0.002  # how long other tasks may be kept waiting while bots answer without a pause
# How often the CPU time of bots off turn is read: 0.05 % of a core for a bot in Python.
OVERSEE_S = 0.1
# After its output has ended, a process gets this long to be seen ending: its status tells a
# crash from an exit.
STATUS_GRACE_S = 1.0
BYE_S = 1.0  # after `bye`
# A bot that writes has been started; a spawner that doesn't report it by then is stuck.
STARTED_S = 10.0
KILL_S = 10.0  # a killed tree that is still there after this is the machine's trouble


class Pipes:
    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._epoll = processes.poller()
        self._poll = self._epoll.poll
        self._by_id: dict[int, Contestant] = {}
        self._by_fd: dict[int, tuple[Contestant, str, Callable[[Contestant], None]]] = {}
        """Whose it is, as what, and what is done when it is ready."""
        self.due = clock.monotonic() + CHECKPOINT_S  # when other trio tasks get their turn
        self.core = Core()
        self.waited = 0.0  # what this thread had waited for its core at the last checkpoint
        self.overseer: Callable[[], None] | None = None  # every OVERSEE_S, and between decisions
        self.aside = 0.0  # seconds that the overseer has taken; no bot is charged for them
        self._oversee_at = 0.0
        self._epoll.register(spawner.fileno(), processes.READABLE)

    def close(self) -> None:
        """Close everything but the spawner, which its opener closes."""
        for contestant in list(self._by_id.values()):
            self._forget(contestant)
        self._epoll.close()
        self.core.close()

    def reading(self, contestant: Contestant, at: float | None = None) -> Reading:
        """What its processes have used and waited; dated `at`, if that is given."""
        cpu, tasks = contestant.cpu(), contestant.tasks()
        self.waited = self.core.waited()
        return Reading(clock.monotonic() if at is None else at, cpu, self.waited, tasks)

    def taken(self, contestant: Contestant) -> float:
        """Seconds of each core that the trees of all other bots have used so far."""
        others = (other for other in self._by_id.values() if other is not contestant)
        return sum(other.cpu() for other in others) / self.core.cores

    def most_taken(self, contestant: Contestant, at: float) -> float:
        """The most that `taken` can have been at `at`, by the last readings."""
        used, known_at = 0.0, at
        for other in self._by_id.values():
            if other is not contestant:
                used += other.known_cpu
                known_at = min(known_at, other.known_at)
        return used / self.core.cores + (at - known_at)

    def start(
        self, bot: Bot, backend: Backend, limits: Limits, *, freeze: bool = False
    ) -> Contestant:
        """Start a bot's process; `freeze`: it is going to be stopped and continued."""
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
        contestant = Contestant(process, limits, rests=freeze)
        self._by_id[process.id] = contestant
        self._by_fd[process.stdin] = (contestant, "stdin", self._flush)
        self._by_fd[process.stdout] = (contestant, "stdout", self._hear)
        self._by_fd[process.stderr] = (contestant, "errors", self._log)
        for fd in (process.stdout, process.stderr):
            self._epoll.register(fd, processes.READABLE)
        return contestant

    async def started(self, contestant: Contestant) -> None:
        """Wait until the spawner has reported the root of the bot's process tree."""
        if not await self.until(lambda: contestant.rooted or contestant.exited, STARTED_S):
            raise HostError("the spawner did not say where a bot's processes are")

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        """Kill whole trees and wait for their end."""
        for contestant in contestants:
            if contestant.exited is None:
                self._spawner.kill(contestant.id)
        if not await self.until(lambda: all(each.exited for each in contestants), KILL_S):
            raise HostError("a killed bot's processes would not end")
        for contestant in contestants:
            self._drain(contestant)
            self._forget(contestant)

    async def dismiss(self, contestants: Sequence[Contestant]) -> None:
        """Send `bye`, wait up to BYE_S for their end, then kill."""
        for contestant in contestants:
            contestant.thaw()
            if contestant.session.state is SessionState.IDLE:
                self.send(contestant, contestant.session.send(Bye()))
            contestant.session.close()

        def gone() -> bool:
            for contestant in contestants:
                if not contestant.out:
                    self._close(contestant.stdin)
            return all(contestant.exited for contestant in contestants)

        await self.until(gone, BYE_S)
        await self.kill(contestants)

    def give_up(self, contestant: Contestant) -> None:
        """Kill it without waiting; the end of its output follows."""
        self._spawner.kill(contestant.id)

    def end_input(self, contestant: Contestant) -> None:
        """Close its standard input; discard what has not been written yet."""
        contestant.out.clear()
        self._close(contestant.stdin)

    def ask(self, contestant: Contestant, data: bytes | bytearray) -> None:
        """Send a message that wants an answer, and listen for it."""
        if not contestant.reading and contestant.stdout >= 0 and not contestant.session.full:
            self._epoll.register(contestant.stdout, processes.READABLE)
            contestant.reading = True
        self.send(contestant, data)

    def send(self, contestant: Contestant, data: bytes | bytearray) -> None:
        """Write what can be written now; the rest follows whenever the pipe has room."""
        if contestant.out:
            contestant.out += data
            return
        fd = contestant.stdin
        if fd < 0:
            return  # the bot has closed its input; the end of its output follows
        try:
            written = processes.write(fd, data)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            self._close(fd)
            return
        if written < len(data):
            contestant.out += data[written:]
            self._epoll.register(fd, processes.WRITABLE)

    def exchange(self, contestant: Contestant, question: bytearray) -> WireEvent:
        """Write a question and return the event. A bot on our core gets it by the yield, and has
        mostly answered when we have it back: so its output is read before it is polled for.
        """
        session = contestant.session
        if contestant.out or not contestant.reading or contestant.stdin < 0:
            self.ask(contestant, question)
            self.look(LOOK_S)
            return session.next_event()
        try:
            written = processes.write(contestant.stdin, question)
        except (BlockingIOError, BrokenPipeError):
            written = 0
        if written < len(question):
            self.send(contestant, question[written:])
        processes.yield_core()
        try:
            data = processes.read(contestant.stdout, READ_BYTES)
        except BlockingIOError:
            self.look(LOOK_S)
            return session.next_event()
        contestant.heard = clock.monotonic()
        if (answer := session.hear(data)) is not None:
            return answer
        self._take(contestant, data)
        return session.next_event()

    def _take(self, contestant: Contestant, data: bytes) -> None:
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
            data = processes.read(contestant.stdout, READ_BYTES)
        except BlockingIOError:
            return
        contestant.heard = clock.monotonic()
        self._take(contestant, data)

    async def status(self, contestant: Contestant, seconds: float = STATUS_GRACE_S) -> None:
        """Wait for the end of a process whose output has ended."""
        await self.until(lambda: contestant.exited, seconds)

    async def until(self, over: Callable[[], object], seconds: float) -> bool:
        """Move bytes until something is true; False: it isn't, and the time is over."""
        deadline = clock.monotonic() + seconds
        while not (found := over()) and (left := deadline - clock.monotonic()) > 0:
            await self.wait(left)
        return bool(found)

    async def wait(self, seconds: float) -> None:
        """Move bytes; returns after at least one event, or when the time is over."""
        if clock.monotonic() > self.due:
            await self.checkpoint()
        if not self.look(min(seconds, LOOK_S)) and seconds > LOOK_S:
            await self.rest(seconds - LOOK_S)
            self.look(0)

    def look(self, seconds: float) -> bool:
        """Poll: move bytes, blocking this process for at most so long; False: none moved."""
        events = self._poll(seconds)
        for fd, _ in events:
            if fd in self._by_fd:
                contestant, _, handle = self._by_fd[fd]
                handle(contestant)
            elif fd == self._spawner.fileno():
                self._reap()
        return bool(events)

    async def rest(self, seconds: float) -> None:
        """Let other tasks run until there is something to move, or the time is over."""
        with trio.move_on_after(seconds):
            await trio.lowlevel.wait_readable(self._epoll.fileno())
        self._go_on()

    async def checkpoint(self) -> None:
        await trio.lowlevel.checkpoint()
        self._go_on()

    def _go_on(self) -> None:
        self.waited = self.core.waited()
        now = clock.monotonic()
        if self.overseer is not None and now > self._oversee_at:
            self.overseer()
            begun, now = now, clock.monotonic()
            self.aside += now - begun
            self._oversee_at = now + OVERSEE_S
        self.due = now + CHECKPOINT_S

    def _log(self, contestant: Contestant) -> None:
        try:
            data = processes.read(contestant.errors, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._logged(contestant, data)
        else:
            self._close(contestant.errors)

    def _logged(self, contestant: Contestant, data: bytes) -> None:
        contestant.log(data)

    def _flush(self, contestant: Contestant) -> None:
        fd = contestant.stdin
        try:
            written = processes.write(fd, contestant.out)
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.end_input(contestant)
            return
        del contestant.out[:written]
        if not contestant.out:
            self._epoll.unregister(fd)

    def _reap(self) -> None:
        for message in self._spawner.receive():
            if (contestant := self._by_id.get(message.id)) is not None:
                if isinstance(message, Started):
                    contestant.take_root(message.tree)
                else:
                    contestant.exited = message
            if isinstance(message, Exited) and message.host_error:
                raise HostError(f"the sandbox could not run a bot: {message.host_error}")

    def _drain(self, contestant: Contestant) -> None:
        """Read what a dead process left in its stderr."""
        while contestant.errors >= 0:
            before = len(contestant.stderr)
            self._log(contestant)
            if len(contestant.stderr) <= before:
                return

    def _close(self, fd: int) -> None:
        if fd in self._by_fd:
            contestant, role, _ = self._by_fd.pop(fd)
            setattr(contestant, role, -1)
            with suppress(OSError):  # an input that was never full is not registered
                self._epoll.unregister(fd)
            processes.close(fd)

    def _forget(self, contestant: Contestant) -> None:
        for fd in (contestant.stdin, contestant.stdout, contestant.errors):
            self._close(fd)
        self._by_id.pop(contestant.id, None)
        contestant.forget()


@asynccontextmanager
async def open_pipes(kind: Callable[[Spawner], Pipes] = Pipes) -> AsyncIterator[Pipes]:
    """Pipes with a spawner of their own; no process that it starts outlives it."""
    with Spawner() as spawner, closing(kind(spawner)) as pipes:
        yield pipes
