"""Examine one bot: start fresh processes of it for the checks, and collect what they show."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from arena import registry
from arena.bots.folder import SnapshotError, open_folder
from arena.check.conversation import Conversation, Delivery, MistakeError, StillSilentError, whole
from arena.check.mistakes import Facts, Mistake, Trigger
from arena.engine.single_bot import Solo
from arena.model import Bot, Limits, Settings
from arena.sandbox.environment import INSIDE

# At the start, a bot that is silent and uses no processor is probed after this; the second time, in
# another process, at another moment, when a bot that was just about to write won't write.
PATIENCE_S, SUSPECTS_S = 2.0, 0.7
SCRIPT_BYTES = 65_536  # of a script that is searched for Windows line ends


class CheckWarning(Exception):  # noqa: N818 - a result, not an error
    """A weakness that is no fault."""

    def __init__(self, mistake: Mistake, found: str, detail: str = "") -> None:
        super().__init__(found)
        self.mistake, self.found, self.detail = mistake, found, detail


class CheckSkipped(Exception):  # noqa: N818 - a result, not an error
    """A check that could not be made, for a reason that another check reports."""


@dataclass
class Examination:
    """What all checks of one bot share, and what they have found out about it."""

    bot: Bot
    limits: Limits
    solo: Callable[[Bot], AbstractAsyncContextManager[Solo]]
    """Starts a command in the sandbox as the bot is started."""
    facts: Facts  # what is known of it before it says anything
    quick: bool
    alone_s: float = 0.0  # seconds before a silent bot is probed; see `MistakeError`
    ordinary: bool = False  # lines are delivered as a referee does, whatever a check wants to try
    known: dict[Mistake, str] = field(default_factory=dict)
    """Mistakes that were reported, with the title of the check that met each first."""
    times: list[float] = field(default_factory=list)
    spent: float = 0.0  # seconds of the longest match
    memory_mb: float = 0.0
    idle: float = 0.0  # share of a core that it used while it owed no answer
    ready_s: float = 0.0
    unplayed: tuple[str, MistakeError] | None = None
    """The game that it could not play to its end in the check of whether it is quiet."""
    not_played: set[str] = field(default_factory=set)  # games that it says it does not play
    slow: bool = False  # its start takes longer than a bot is given before it is probed

    @asynccontextmanager
    async def talk(
        self, game: str, seats: int = 0, *, playoff: bool = False
    ) -> AsyncIterator[Conversation]:
        """Start a fresh process and wait until it is ready; `seats`: by default the fewest."""
        rules = registry.game(game)
        settings = Settings(
            game=game,
            seats=seats or rules.min_seats,
            turn_cap=rules.turn_cap,
            playoff=playoff,
            limits=self.limits,
        )
        async with AsyncExitStack() as stack:
            yield await self._ready(stack, settings)

    async def _ready(self, stack: AsyncExitStack, settings: Settings) -> Conversation:
        """Probe a bot that is silent at the start early, twice; then wait its whole time."""
        if not (self.slow or self.alone_s):
            suspect = Trigger.NOTHING
            for patience in (PATIENCE_S, SUSPECTS_S):
                try:
                    starting = self._start(settings, patience=patience, suspect=suspect)
                    return await stack.enter_async_context(starting)
                except StillSilentError as silent:
                    suspect = silent.trigger
                if suspect is Trigger.NOTHING:
                    break
            self.slow = True
        return await stack.enter_async_context(self._start(settings))

    @asynccontextmanager
    async def _start(
        self, settings: Settings, *, patience: float = math.inf, suspect: Trigger = Trigger.NOTHING
    ) -> AsyncIterator[Conversation]:
        async with self.solo(self.bot) as solo:
            talk = Conversation(solo, settings, self.facts, alone_s=self.alone_s)
            try:
                self.ready_s = await talk.start(patience=patience, suspect=suspect)
                yield talk
            finally:
                if talk.deliver is whole:  # longer lines, or pieces, take longer to answer
                    self.times += talk.times
                    self.spent = max([self.spent, *talk.spent])
                self.memory_mb = max(self.memory_mb, (await solo.kill()).memory_mb)

    def deliver(self, talk: Conversation, delivery: Delivery) -> None:
        if not self.ordinary:
            talk.deliver = delivery


def has_windows_lines(bot: Bot) -> bool:
    with suppress(SnapshotError), open_folder(Path(bot.root)) as folder:
        for word in bot.run:
            beginning = b""
            # A word may be any text, and the bot's build may have made a link.
            with suppress(SnapshotError, ValueError):
                found = folder.find(word.removeprefix(f"{INSIDE}/"))
                beginning = folder.read(found, SCRIPT_BYTES) if found and found.is_file else b""
            if b"\r\n" in beginning and b"\0" not in beginning:
                return True
    return False
