"""Talk to one bot in the sandbox line by line, without judging what it says.

Theory of operation. `open_solo` starts a bot by `arena.engine.pipes`, so it is confined, read and
killed as in a match. `send()` writes bytes as they are; `line()` waits, up to a time, for what
comes next: a line, silence, more than a line may have, or the end. `close_input()` is what a bot
sees at the end of a series; `left()` waits for the end of its process. There is no session, no
referee and no match clock.

Invariant: the memory used for the bot stays bounded, whatever it writes; when the context is left,
none of its processes is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from arena.engine.contestant import Contestant
from arena.engine.pipes import Pipes
from arena.model import Bot, Limits
from arena.sandbox import Backend, Exited
from arena.system import clock, processes
from arena.wire.session import BotSession


class BotLine(msgspec.Struct, frozen=True):
    """A whole line, without its newline but with whatever stands before it (a carriage return)."""

    data: bytes
    at: float
    """When it was read, as clock.monotonic() tells."""


class Silence(msgspec.Struct, frozen=True):
    """No whole line within the time."""

    held: bytes
    """The unfinished line."""


class Flood(msgspec.Struct, frozen=True):
    """More than `line_bytes` without a newline; no more is read."""

    held: bytes


class OutputEnd(msgspec.Struct, frozen=True):
    """Its output has ended."""

    rest: bytes
    """Output after the last newline."""
    status: str
    """How its process ended: "exit 1", "signal SIGSEGV"; empty while it runs on."""
    exited: Exited | None


Output = BotLine | Silence | Flood | OutputEnd


class _Unjudged(BotSession):
    """Holds what a bot writes, as it is."""

    __slots__ = ("_limit", "came", "heard")

    def __init__(self, line_bytes: int) -> None:
        super().__init__(line_bytes)
        self._limit = line_bytes
        self.came = bytearray()  # bounded: the limit and one read
        self.heard = 0.0
        self.receive = self._keep

    def _keep(self, data: bytes) -> bool:
        self.came += data
        self.heard = clock.monotonic()
        return self.full

    @property
    def full(self) -> bool:
        """True when more is held than any legal line needs: leave the rest in the pipe."""
        return len(self.came) > self._limit

    @property
    def held(self) -> bytes:
        return bytes(self.came)

    def take(self) -> BotLine | Flood | None:
        end = self.came.find(b"\n")
        if end < 0 or end > self._limit:
            return Flood(self.held) if self.full else None
        line = BotLine(bytes(self.came[:end]), self.heard)
        del self.came[: end + 1]
        return line


class Solo:
    """A bot's process and the conversation with it; made by `open_solo`."""

    def __init__(self, pipes: Pipes, bot: Bot, backend: Backend, limits: Limits) -> None:
        self.began = clock.monotonic()
        self._pipes = pipes
        self._bot = pipes.start(bot, backend, limits)
        self._heard = _Unjudged(limits.line_bytes)
        self._bot.session = self._heard

    @property
    def contestant(self) -> Contestant:
        return self._bot

    # ---- towards the bot

    def send(self, data: bytes) -> None:
        """Write these bytes, which needn't be one line. What the pipe can't take follows later."""
        self._pipes.send(self._bot, data)

    def close_input(self) -> None:
        """End its standard input; it can still read what is in the pipe."""
        self._pipes.end_input(self._bot)

    @property
    def unread(self) -> bool:
        """Whether something sent is not read yet."""
        bot = self._bot
        return bool(bot.out) or (bot.stdin >= 0 and processes.unread(bot.stdin) > 0)

    # ---- from the bot

    async def line(self, seconds: float) -> Output:
        """Wait for its next line, or for what came instead of one, at most so many seconds."""
        deadline = clock.monotonic() + seconds
        while True:
            if (line := self._heard.take()) is not None:
                return line
            if self._heard.ended:
                await self._pipes.status(self._bot)
                return OutputEnd(self._heard.held, self._bot.status(), self._bot.exited)
            self._pipes.ask(self._bot, b"")  # listen again, where it was full
            left = deadline - clock.monotonic()
            if left <= 0:
                return Silence(self._heard.held)
            await self._pipes.wait(left)

    async def rest(self, seconds: float) -> None:
        """Let time pass; what comes meanwhile is kept for `line`."""
        deadline = clock.monotonic() + seconds
        while (left := deadline - clock.monotonic()) > 0:
            await self._pipes.wait(left)

    # ---- its process

    async def left(self, seconds: float) -> Exited | None:
        """Wait for the end of its process; None: it is still there."""
        deadline = clock.monotonic() + seconds
        while self._bot.exited is None and (left := deadline - clock.monotonic()) > 0:
            await self._pipes.wait(left)
        return self._bot.exited

    async def kill(self) -> Exited:
        """Kill its processes, if they are still there, and read the rest of its stderr."""
        await self._pipes.kill([self._bot])
        assert self._bot.exited is not None
        return self._bot.exited

    @property
    def stderr(self) -> str:
        """The end of what it has written to stderr, capped."""
        return bytes(self._bot.stderr[-self._bot.stderr_cap :]).decode("utf-8", "backslashreplace")

    @property
    def status(self) -> str:
        """How its process ended, if it did."""
        return self._bot.status()

    def cpu(self) -> float:
        """Seconds of CPU that all its processes have used so far."""
        return self._bot.cpu()


@asynccontextmanager
async def open_solo(
    pipes: Pipes, bot: Bot, backend: Backend, limits: Limits
) -> AsyncIterator[Solo]:
    """Start a bot; what is left of it at the end is killed."""
    solo = Solo(pipes, bot, backend, limits)
    try:
        yield solo
    finally:
        await solo.kill()
