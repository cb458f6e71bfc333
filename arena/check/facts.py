"""The evidence (`Facts`) on a bot that made a mistake, and the `Diagnosis` made from it. Pure data.

`conversation.py` gathers the evidence, `diagnosis.py` turns it into a diagnosis.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from arena.check.mistakes import Mistake

# Share of a core above which a bot computes, and below which it waits: little enough for a bot that
# shares the core with many others, and far more than waiting takes.
SPINS = 0.1


class Expected(enum.Enum):
    """What the bot owed when it went wrong."""

    READY = enum.auto()
    MOVE = enum.auto()
    NOTHING = enum.auto()


class Trigger(enum.Enum):
    """Which probe made a silent bot answer after all; see `conversation.py`."""

    NOTHING = enum.auto()
    TIME = enum.auto()
    LINE = enum.auto()
    BLOCK = enum.auto()
    END = enum.auto()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    expected: Expected
    after: str = ""
    """The type of the last message before the bot owed anything: hello, match, hole_end, …"""
    line: bytes | None = None
    """The whole line that was wrong; None: no line came."""
    more: Sequence[bytes] = ()
    """Lines right after it."""
    rest: bytes = b""
    """Output without a newline at its end."""
    flood: bool = False
    ended: bool = False
    """Its output has ended."""
    trigger: Trigger = Trigger.NOTHING
    left: bool = False
    """It exited when its input was closed."""
    busy: float = 0.0
    """Share of a core that it used while it owed an answer."""
    spent: bool = False
    """It had less time left for the match than one decision may take."""
    late: float = 0.0
    """Seconds that the check waited beyond the bot's time."""
    sent: bytes = b""
    """What we sent last; several lines if each of them may be the one that made the bot exit."""
    turn: str = ""
    earlier: Sequence[str] = ()
    """Turn ids of earlier questions."""
    legal: Sequence[str] = ()
    status: str = ""
    overstepped: str = ""
    stderr: str = ""
    run: Sequence[str] = ()
    files: Sequence[str] = ()
    windows: bool = False
    """A script that `run` names has Windows line ends."""


class Diagnosis(NamedTuple):
    mistake: Mistake
    detail: str = ""
    """One sentence about this bot; empty if the title says it all."""


def unnamed_lock(files: Sequence[str]) -> str:
    """A hint for a bot with a requirements.txt that bot.toml does not name."""
    if (file := "requirements.txt") not in files:
        return ""
    return f' There is a {file} beside it: add lock = "{file}" to bot.toml.'
