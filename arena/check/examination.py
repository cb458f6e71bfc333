"""One bot under examination: fresh processes of it, and what they have shown so far."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from arena import registry
from arena.bots.commands import INSIDE
from arena.bots.folder import SnapshotError, opened
from arena.check.causes import Cause
from arena.check.facts import Woken
from arena.check.matches import settings_for
from arena.check.packages import Borrowed, borrowed
from arena.check.talk import Dress, StillSilentError, Stumble, Talk, as_it_is
from arena.engine.pipes import Pipes
from arena.engine.single_bot import open_solo
from arena.model import Bot, Limits, Settings
from arena.referee import hello
from arena.sandbox import Backend

# At the start, silence that uses no processor is looked into after this; the second time, in
# another process, at another moment: a bot that was just about to say something won't then.
PATIENCE_S, SUSPECTS_S = 2.0, 0.7


# Of a script that is looked into for the line ends of Windows.
SCRIPT_BYTES = 65_536


class Warned(Exception):  # noqa: N818 - no error of ours
    """A check that found something that is no fault."""

    def __init__(self, cause: Cause, found: str, detail: str = "") -> None:
        super().__init__(found)
        self.cause, self.found, self.detail = cause, found, detail


class Unfinished(Exception):  # noqa: N818 - no error of ours
    """A check that couldn't be made, for a reason that is told elsewhere."""


class Examination:
    """One bot, and what is known of it so far."""

    def __init__(
        self,
        table: Pipes,
        bot: Bot,
        backend: Backend,
        limits: Limits,
        *,
        files: Sequence[str],
        quick: bool,
    ) -> None:
        self.bot = bot
        self.limits = limits
        self.files = files
        self.quick = quick
        self.alone = 0.0
        """Seconds that a silent bot is left alone before it is tried what makes it speak."""
        self.plain = False
        """Lines are written as a referee writes them, whatever a check wants to try."""
        self.known: dict[Cause, str] = {}
        """The mistakes that have been told, by the check that met each first."""
        self.times: list[float] = []
        self.spent = 0.0
        """Seconds of the longest match."""
        self.memory_mb = 0.0
        self.idle = 0.0
        """Share of a core that it used while nobody asked it."""
        self.ready_s = 0.0
        self.fell: tuple[str, Stumble] | None = None
        """The game that it couldn't play to its end where it was seen whether it is quiet."""
        self.not_played: set[str] = set()
        """Games that it says it doesn't play."""
        self._windows = _windows(bot)
        self._table = table
        self._slow = False
        self._backend = backend

    @asynccontextmanager
    async def talk(self, settings: Settings) -> AsyncIterator[Talk]:
        """A fresh process that has said that it is ready."""
        async with AsyncExitStack() as stack:
            talk = await self._ready(stack, settings)
            yield talk

    async def _ready(self, stack: AsyncExitStack, settings: Settings) -> Talk:
        """Silence at the start is looked into early, and again; then its whole time is waited."""
        if self._slow or self.alone:
            return await stack.enter_async_context(self._talk(settings))
        try:
            return await stack.enter_async_context(self._talk(settings, patience=PATIENCE_S))
        except StillSilentError as silent:
            suspect = silent.woken
        if suspect is not Woken.NOTHING:
            with suppress(StillSilentError):
                return await stack.enter_async_context(
                    self._talk(settings, patience=SUSPECTS_S, suspect=suspect)
                )
        self._slow = True
        return await stack.enter_async_context(self._talk(settings))

    @asynccontextmanager
    async def _talk(
        self, settings: Settings, *, patience: float = math.inf, suspect: Woken = Woken.NOTHING
    ) -> AsyncIterator[Talk]:
        async with open_solo(self._table, self.bot, self._backend, self.limits) as solo:
            talk = Talk(
                solo, self.bot, self.limits, self.files, windows=self._windows, alone=self.alone
            )
            try:
                self.ready_s = await talk.start(hello(settings), patience=patience, suspect=suspect)
                yield talk
            finally:
                if talk.dress is as_it_is:  # longer lines, or pieces, are nobody's ordinary time
                    self.times += talk.times
                    self.spent = max([self.spent, *talk.spent])
                ended = await solo.kill()
                self.memory_mb = max(self.memory_mb, ended.memory_mb)

    def dress(self, talk: Talk, dress: Dress) -> None:
        """Have lines written otherwise from now on."""
        if not self.plain:
            talk.dress = dress

    async def borrowed(self) -> list[Borrowed]:
        """The host's packages that it imports."""
        return await borrowed(self._table, self.bot, self._backend, self.limits)

    def settings(self, game: str, seats: int = 0) -> Settings:
        """Of a match of two, unless said otherwise."""
        return settings_for(game, seats or registry.game(game).min_seats, self.limits)


def _windows(bot: Bot) -> bool:
    """Whether a script that it is run by has the line ends of Windows."""
    with suppress(SnapshotError), opened(Path(bot.root)) as folder:
        for word in bot.run:
            beginning = b""
            with suppress(
                SnapshotError, ValueError
            ):  # any text; and its build may have made a link
                found = folder.find(word.removeprefix(f"{INSIDE}/"))
                beginning = folder.read(found, SCRIPT_BYTES) if found and found.is_file else b""
            if b"\r\n" in beginning and b"\0" not in beginning:
                return True
    return False
