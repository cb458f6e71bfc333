"""What is known of a bot that went wrong, and what its mistake is called. Pure data."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from arena.check.causes import CAUSES, Cause
from arena.check.languages import language

# Of a core: above this a bot computes, below it waits. Little enough for one that shares the
# core with many others, and far more than waiting takes.
SPINS = 0.1


class Wanted(enum.Enum):
    """What a bot owed when it went wrong."""

    READY = enum.auto()
    MOVE = enum.auto()
    NOTHING = enum.auto()


class Woken(enum.Enum):
    """What made a silent bot answer after all; see `Talk`."""

    NOTHING = enum.auto()
    TIME = enum.auto()
    LINE = enum.auto()
    BLOCK = enum.auto()
    END = enum.auto()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a bot that went wrong."""

    wanted: Wanted
    after: str = ""
    """The type of the last message before it owed anything: hello, match, hole_end, …"""
    line: bytes | None = None
    """The whole line that was wrong; None: no line came."""
    more: Sequence[bytes] = ()
    """What came right after it."""
    rest: bytes = b""
    """What came without a newline."""
    flood: bool = False
    ended: bool = False
    """Its output has ended."""
    woken: Woken = Woken.NOTHING
    left: bool = False
    """Whether it was gone when its input had been closed."""
    busy: float = 0.0
    """Share of a core that it used while it owed an answer."""
    spent: bool = False
    """Whether what was left of its time for the match was less than a decision may take."""
    late: float = 0.0
    """Seconds that it was waited for beyond its time."""
    sent: bytes = b""
    """As it was written; several lines, if it may have died of any of them."""
    turn: str = ""
    earlier: Sequence[str] = ()
    """Turn ids of questions before."""
    legal: Sequence[str] = ()
    status: str = ""
    overstepped: str = ""
    stderr: str = ""
    run: Sequence[str] = ()
    files: Sequence[str] = ()
    windows: bool = False
    """A script that `run` names has the line ends of Windows."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake by its name, and what of it is peculiar to this bot."""

    cause: Cause
    found: str = ""
    """One sentence; empty if the title says it all."""

    @property
    def title(self) -> str:
        """What it is: follows on the bot's name."""
        return CAUSES[self.cause].title

    def advice(self, run: Sequence[str], files: Sequence[str] = ()) -> str:
        """What to do, in the bot's language."""
        spoken = language(run, files)
        text = CAUSES[self.cause].advice
        for key, value in (("flush", spoken.flush), ("log", spoken.log), ("read", spoken.read)):
            text = text.replace(f"{{{key}}}", value)
        return text.strip()


def unnamed_lock(files: Sequence[str]) -> str:
    """A lock file that lies beside a bot counts only where bot.toml names it."""
    if (file := "requirements.txt") not in files:
        return ""
    return f' There is a {file} beside it: lock = "{file}" in bot.toml makes it count.'


def mistake(cause: Cause, found: str = "") -> Diagnosis:
    """A diagnosis."""
    return Diagnosis(cause=cause, found=found)
