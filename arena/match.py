"""Referee x wire x sandbox: real processes, and the only clock in the project.

Theory of operation. `Table` holds a spawner and an epoll that watches everything its bots
write; `wait()` moves whatever bytes can be moved, without ever blocking on one bot. A
`Contestant` is one process with its session, its unwritten input and the tail of its stderr.
`play_series` starts the bots of a series, plays its matches one after another, and reports
each record when it is finished.

Every decision has one absolute deadline, from the moment its question is put to the moment
its line is complete: writing counts as well as reading, and nothing restarts it. Lateness is
judged by the time of the read.

Invariant: a bot's fault never leaves here as an exception; the host's trouble always does, as
HostError, and then no record of the match at hand exists.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec
import trio

from arena.deals import Deals
from arena.games import Game
from arena.model import (
    Bot,
    FaultKind,
    HostError,
    Limits,
    MatchRecord,
    MatchSpec,
    SeatUse,
    Series,
    Settings,
)
from arena.ratings.counting import FAULTS_IN_A_ROW
from arena.referee import Failure, Referee, hello
from arena.sandbox import Backend, Exited, Launch
from arena.sandbox.client import BotProcess, Spawner
from arena.wire.messages import Answer, Bye
from arena.wire.session import BotSession, Pending, State, WireFault

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
# A killed tree that is still there after this is the machine's trouble.
KILL_S = 10.0
# What a fault keeps of stderr; the whole tail goes to the bot's own log.
STDERR_IN_FAULT = 2_000


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What every series of an event shares."""

    settings: Settings
    game: Game
    deals: Deals
    bots: Mapping[str, Bot]
    backend: Backend


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One finished match and what its bots wrote to stderr meanwhile."""

    record: MatchRecord
    stderr: Mapping[str, str]


class Contestant:
    """One bot's process as its table sees it."""

    __slots__ = ("exited", "out", "process", "reading", "session", "stderr", "stderr_cap")

    def __init__(self, process: BotProcess, limits: Limits) -> None:
        self.process = process
        self.session = BotSession(limits.line_bytes)
        self.out = bytearray()  # bounded: one question and a hole's notices at most
        self.stderr = bytearray()
        self.stderr_cap = limits.stderr_bytes
        self.exited: Exited | None = None
        self.reading = True  # its output is registered with the epoll

    def log(self, data: bytes) -> None:
        """Keep the tail of stderr."""
        self.stderr += data
        if len(self.stderr) > 2 * self.stderr_cap:
            del self.stderr[: -self.stderr_cap]

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
        if ended is not None and ended.out_of_memory:
            return self.failure(FaultKind.MEMORY, "killed for using more memory than allowed")
        if starting:
            message = "ended before it was ready" if ended else "closed its output at the start"
            return self.failure(FaultKind.START, message)
        if ended is None:
            return self.failure(FaultKind.EXIT, "closed its output while it was asked")
        if ended.code == 0:
            return self.failure(FaultKind.EXIT, "left while it was asked")
        return self.failure(FaultKind.CRASH, "died while it was asked")


class Table:
    """The spawner, the epoll, and the contestants that are alive."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._epoll = select.epoll()
        self._by_id: dict[int, Contestant] = {}
        self._by_fd: dict[int, tuple[Contestant, str]] = {}
        self._checkpoint = time.monotonic()
        self._epoll.register(spawner.fileno(), select.EPOLLIN)

    def close(self) -> None:
        """Forget everything; the spawner is closed by whoever opened it."""
        for contestant in list(self._by_id.values()):
            self._forget(contestant)
        self._epoll.close()

    # ---- processes

    def start(self, bot: Bot, backend: Backend, limits: Limits) -> Contestant:
        """Start a bot's process."""
        launch = Launch(
            run=bot.run,
            root=bot.root,
            expose=bot.expose,
            memory_mb=limits.memory_mb,
            tasks=limits.tasks,
        )
        try:
            process = self._spawner.spawn(backend.plan(launch))
        except OSError as error:
            raise HostError(f"can't start a process: {error}") from error
        contestant = Contestant(process, limits)
        self._by_id[process.id] = contestant
        for fd, role in ((process.stdout, "stdout"), (process.stderr, "stderr")):
            self._by_fd[fd] = (contestant, role)
            self._epoll.register(fd, select.EPOLLIN)
        self._by_fd[process.stdin] = (contestant, "stdin")
        return contestant

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        """Kill whole trees and see them gone."""
        for contestant in contestants:
            if contestant.exited is None:
                self._spawner.kill(contestant.process.id)
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
            if contestant.session.state is State.IDLE:
                self.send(contestant, contestant.session.send(Bye()))
            contestant.session.close()
        deadline = time.monotonic() + BYE_S
        while True:
            for contestant in contestants:
                if not contestant.out:
                    self._close(contestant.process.stdin)
            left = deadline - time.monotonic()
            if left <= 0 or all(c.exited is not None for c in contestants):
                break
            await self.wait(left)
        await self.kill(contestants)

    # ---- bytes

    def send(self, contestant: Contestant, data: bytes) -> None:
        """Write what can be written now; the rest follows whenever the pipe has room."""
        fd = contestant.process.stdin
        if contestant.out:
            contestant.out += data
            return
        if fd not in self._by_fd:
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

    async def wait(self, seconds: float) -> None:
        """Move bytes; returns after at least one event, or when the time is over."""
        now = time.monotonic()
        if now - self._checkpoint > CHECKPOINT_S:
            self._checkpoint = now
            await trio.lowlevel.checkpoint()
        events = self._epoll.poll(min(seconds, LOOK_S))
        if not events and seconds > LOOK_S:
            with trio.move_on_after(seconds - LOOK_S):
                await trio.lowlevel.wait_readable(self._epoll.fileno())
            self._checkpoint = time.monotonic()
            events = self._epoll.poll(0)
        for fd, _ in events:
            if fd == self._spawner.fileno():
                self._reap()
            elif fd in self._by_fd:
                contestant, role = self._by_fd[fd]
                if role == "stdin":
                    self._flush(contestant)
                else:
                    self._read(contestant, fd, role)

    def _read(self, contestant: Contestant, fd: int, role: str) -> None:
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        if role == "stdout":
            contestant.session.receive(data)
            if contestant.session.full:
                # More than a line waits: the rest stays in the pipe until it is asked for,
                # which is never, since this line is a fault.
                self._epoll.unregister(fd)
                contestant.reading = False
        else:
            contestant.log(data)
        if not data:
            self._close(fd)

    def _flush(self, contestant: Contestant) -> None:
        fd = contestant.process.stdin
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
            if isinstance(message, Exited):
                contestant = self._by_id.get(message.id)
                if contestant is not None:
                    contestant.exited = message
                if message.host_error:
                    raise HostError(f"the sandbox could not start a bot: {message.host_error}")

    def _drain(self, contestant: Contestant) -> None:
        """Take what a dead process left in its stderr."""
        fd = contestant.process.stderr
        while fd in self._by_fd:
            before = len(contestant.stderr)
            self._read(contestant, fd, "stderr")
            if len(contestant.stderr) <= before:
                return

    def _close(self, fd: int) -> None:
        if self._by_fd.pop(fd, None) is not None:
            with suppress(OSError):  # an input that was never full is not registered
                self._epoll.unregister(fd)
            os.close(fd)

    def _forget(self, contestant: Contestant) -> None:
        process = contestant.process
        for fd in (process.stdin, process.stdout, process.stderr):
            self._close(fd)
        self._by_id.pop(process.id, None)


@asynccontextmanager
async def open_table() -> AsyncIterator[Table]:
    """A table with a spawner of its own; nothing that it started outlives it."""
    with Spawner() as spawner:
        table = Table(spawner)
        try:
            yield table
        finally:
            table.close()


# ---------------------------------------------------------------------------------- start-up


async def start_bots(
    table: Table, setting: Setting, entrants: Sequence[str]
) -> tuple[list[Contestant], dict[int, Failure]]:
    """Start one process for each entrant; the failures are of those that are not ready."""
    limits = setting.settings.limits
    contestants: list[Contestant] = []
    begun = time.monotonic()
    for entrant in entrants:
        contestant = table.start(setting.bots[entrant], setting.backend, limits)
        contestants.append(contestant)
        table.send(contestant, contestant.session.hello(hello(setting.settings)))
    deadline = begun + limits.start_ms / 1000
    failures: dict[int, Failure] = {}
    waiting = dict(enumerate(contestants))
    while waiting:
        for index, contestant in list(waiting.items()):
            event = contestant.session.next_event()
            if event is Pending.NEED_DATA:
                continue
            if event is Pending.END:
                await _await_status(table, contestant)
                failures[index] = contestant.end(starting=True)
            elif isinstance(event, WireFault):
                kind = FaultKind.START
                failures[index] = contestant.failure(kind, event.message, event.line)
            del waiting[index]
        left = deadline - time.monotonic()
        if left <= 0:
            for index, contestant in waiting.items():
                message = f"not ready within {limits.start_ms} ms"
                failures[index] = contestant.failure(FaultKind.START, message)
            break
        if waiting:
            await table.wait(left)
    return contestants, failures


async def _await_status(table: Table, contestant: Contestant) -> None:
    deadline = time.monotonic() + STATUS_GRACE_S
    while contestant.exited is None and (left := deadline - time.monotonic()) > 0:
        await table.wait(left)


async def try_start(table: Table, setting: Setting, entrant: str) -> tuple[Failure, str] | None:
    """Start a bot and dismiss it: None if it can, else why not, and the end of its stderr."""
    (contestant,), failures = await start_bots(table, setting, [entrant])
    await table.dismiss([contestant])
    return (failures[0], contestant.last_words()) if failures else None


# -------------------------------------------------------------------------------------- play


async def play_series(
    table: Table,
    setting: Setting,
    series: Series,
    attempt: int,
    report: Callable[[Played], None],
) -> None:
    """Play a series; after a fault the rest of it is played by fresh processes.

    Ends early when a bot has faulted three matches in a row: what would follow can't count.
    """
    rest = list(series.matches)
    in_a_row = dict.fromkeys(series.entrants, 0)
    while rest:
        entrants = rest[0].seats
        contestants, failures = await start_bots(table, setting, entrants)
        unready = {entrants[index]: failure for index, failure in failures.items()}
        at_table = dict(zip(entrants, contestants, strict=True))
        clean = True
        while rest and clean:
            spec = rest.pop(0)
            seated = [at_table[entrant] for entrant in spec.seats]
            early = [(s, unready[e]) for s, e in enumerate(spec.seats) if e in unready]
            record = await _play_match(table, setting, spec, seated, early)
            clean = not record.faults
            if not clean or not rest:
                await table.dismiss(contestants)
            stderr = {e: text for e, c in at_table.items() if (text := c.take_stderr())}
            record = msgspec.structs.replace(
                record, attempt=attempt, digest=record.computed_digest(), ended=time.time()
            )
            report(Played(record=record, stderr=stderr))
            fallen = {record.seats[seat] for seat in record.forfeits}
            for entrant in in_a_row:
                in_a_row[entrant] = in_a_row[entrant] + 1 if entrant in fallen else 0
            if any(count >= FAULTS_IN_A_ROW for count in in_a_row.values()):
                return


class _Clock:
    """What each seat has left of its match bank, and what it used."""

    def __init__(self, limits: Limits, seats: int) -> None:
        self._move = limits.move_ms / 1000
        self.bank = [limits.match_ms / 1000] * seats
        self._decisions = [0] * seats
        self._think = [0.0] * seats
        self._longest = [0.0] * seats

    def allowance(self, seat: int) -> float:
        """Seconds for the decision at hand."""
        return min(self._move, self.bank[seat])

    def charge(self, seat: int, seconds: float) -> None:
        """Book a decision."""
        self.bank[seat] -= seconds
        self._decisions[seat] += 1
        self._think[seat] += seconds
        self._longest[seat] = max(self._longest[seat], seconds)

    def overrun(self, seat: int) -> tuple[FaultKind, str]:
        """Which limit the decision at hand has run into; to be asked before it is charged."""
        if self.bank[seat] < self._move:
            return FaultKind.BANK, "the match's time is used up"
        return FaultKind.TIMEOUT, f"no complete line within {self._move * 1000:.0f} ms"

    def use(self) -> Iterator[SeatUse]:
        """For the record, by seat."""
        for decisions, think, longest in zip(
            self._decisions, self._think, self._longest, strict=True
        ):
            yield SeatUse(
                decisions=decisions,
                think_ms=round(think * 1000, 3),
                max_ms=round(longest * 1000, 3),
            )


async def _play_match(
    table: Table,
    setting: Setting,
    spec: MatchSpec,
    seated: Sequence[Contestant],
    early: Sequence[tuple[int, Failure]],
) -> MatchRecord:
    referee = Referee(spec, game=setting.game, deals=setting.deals, settings=setting.settings)
    clock = _Clock(setting.settings.limits, len(seated))
    referee.begin(early)
    last_words: dict[int, str] = {}
    while True:
        for seat, message in referee.take_notices():
            contestant = seated[seat]
            if contestant.session.state is State.IDLE:
                table.send(contestant, contestant.session.send(message))
        fallen = sorted(referee.failed - last_words.keys())
        await table.kill([seated[seat] for seat in fallen])
        # Only now has all been read that they had to say.
        last_words.update((seat, seated[seat].last_words()) for seat in fallen)
        if not referee.asked:
            break
        await _decide(table, referee, clock, seated)
    record = referee.record()
    faults = tuple(
        msgspec.structs.replace(fault, stderr=last_words[fault.seat]) for fault in record.faults
    )
    return msgspec.structs.replace(record, faults=faults, use=tuple(clock.use()))


async def _decide(
    table: Table, referee: Referee, clock: _Clock, seated: Sequence[Contestant]
) -> None:
    """Ask every seat that is wanted and report each one's outcome."""
    waiting: dict[int, tuple[float, float]] = {}  # seat -> (asked at, deadline)
    for seat in referee.asked:
        contestant = seated[seat]
        question = referee.question(seat, bank_ms=int(clock.bank[seat] * 1000))
        line = contestant.session.ask(question)
        asked = time.monotonic()
        waiting[seat] = (asked, asked + clock.allowance(seat))
        table.send(contestant, line)
    now = time.monotonic()
    while waiting:
        for seat, (asked, deadline) in list(waiting.items()):
            contestant = seated[seat]
            event = contestant.session.next_event()
            if now > deadline:
                # Late, whatever has come: a complete line a moment after the deadline is
                # judged like one that never came.
                kind, message = clock.overrun(seat)
                clock.charge(seat, deadline - asked)
                outcome: str | Failure = contestant.failure(kind, message)
            elif event is Pending.NEED_DATA:
                continue
            else:
                clock.charge(seat, now - asked)
                if isinstance(event, Answer):
                    outcome = event.move
                elif isinstance(event, WireFault):
                    outcome = contestant.failure(event.kind, event.message, event.line)
                else:
                    await _await_status(table, contestant)
                    outcome = contestant.end(starting=False)
            del waiting[seat]
            if isinstance(outcome, str):
                referee.answer(seat, outcome)
            else:
                contestant.session.close()
                referee.fail(seat, outcome)
        if waiting:
            nearest = min(deadline for _, deadline in waiting.values())
            await table.wait(max(0.0, nearest - time.monotonic()))
            now = time.monotonic()
