"""Talk to one bot in the sandbox line by line, without judging what it says.

It is confined, read and killed as in a match, without session, referee and match clock.

Invariant: the memory used for the bot stays bounded, whatever it writes; when the context of
`open_solo` is left, none of its processes is.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from arena.engine.pipes import Pipes
from arena.model import Bot, Limits
from arena.sandbox import Backend, Exited
from arena.system import clock, processes


class BotLine(msgspec.Struct, frozen=True):
    """A whole line, without its newline but with whatever stands before it (a carriage return)."""

    data: bytes
    at: float  # when it was read, as clock.monotonic() tells


class Silence(msgspec.Struct, frozen=True):
    """No whole line within the time."""

    held: bytes  # the unfinished line


class Flood(msgspec.Struct, frozen=True):
    """More than `line_bytes` without a newline; no more is read."""

    held: bytes


class OutputEnd(msgspec.Struct, frozen=True):
    rest: bytes  # output after the last newline
    status: str  # how its process ended: "exit 1", "signal SIGSEGV"; empty while it runs on
    exited: Exited | None


Output = BotLine | Silence | Flood | OutputEnd


class Solo:
    """A bot's process and the conversation with it; made by `open_solo`."""

    def __init__(self, pipes: Pipes, bot: Bot, backend: Backend, limits: Limits) -> None:
        self.began = clock.monotonic()
        self._pipes = pipes
        self.bot = pipes.start(bot, backend, limits)
        self._line_bytes = limits.line_bytes

    def send(self, data: bytes) -> None:
        """Write these bytes, which needn't be one line. What the pipe can't take follows later."""
        self._pipes.send(self.bot, data)

    def close_input(self) -> None:
        """End its standard input; it can still read what is in the pipe."""
        self._pipes.end_input(self.bot)

    @property
    def unread(self) -> bool:
        """Whether something sent is not read yet."""
        bot = self.bot
        return bool(bot.out) or (bot.stdin >= 0 and processes.unread(bot.stdin) > 0)

    async def line(self, seconds: float) -> Output:
        """Wait for its next line, or for what came instead of one, at most so many seconds."""
        session, deadline = self.bot.session, clock.monotonic() + seconds
        while True:
            line, newline, rest = session.held.partition(b"\n")
            if newline and len(line) <= self._line_bytes:
                session.held = rest
                return BotLine(line, self.bot.heard)
            if session.full:
                return Flood(session.held)
            if session.ended:
                await self._pipes.status(self.bot)
                return OutputEnd(session.held, self.bot.status(), self.bot.exited)
            self._pipes.ask(self.bot, b"")  # listen again, where it was full
            if (left := deadline - clock.monotonic()) <= 0:
                return Silence(session.held)
            await self._pipes.wait(left)

    async def rest(self, seconds: float) -> None:
        """Let time pass; what comes meanwhile is kept for `line`."""
        await self._pipes.until(lambda: False, seconds)

    async def left(self, seconds: float) -> Exited | None:
        """Wait for the end of its process; None: it is still there."""
        await self._pipes.status(self.bot, seconds)
        return self.bot.exited

    async def kill(self) -> Exited:
        """Kill its processes, if they are still there, and read the rest of its stderr."""
        await self._pipes.kill([self.bot])
        assert self.bot.exited is not None
        return self.bot.exited


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
