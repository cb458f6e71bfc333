"""What `arena check` has found, as data: `--json` writes this, the terminal shows it. Pure.

Invariant: every text is capped where it comes from, and holds a bot's bytes only in escaped form.
"""

from __future__ import annotations

import enum

from arena.check.causes import Cause
from arena.model import Frozen

VERSION = 1
# Of a line that was sent or received: the longest legal question.
LINE_KEPT = 32_768
# Of stderr: its beginning and, mostly, its end; far more than a traceback has.
STDERR_KEPT = 32_768


class Status(enum.StrEnum):
    """What a check came to."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    SKIPPED = "skipped"


class Finding(Frozen, frozen=True, kw_only=True):
    """A mistake: by its name, in words, with the evidence."""

    cause: Cause
    title: str
    """What it is, as the end of a sentence that begins with the bot."""
    found: str = ""
    """What is peculiar to this bot; may be empty."""
    rule: str
    section: str
    """Heading in protocol/SPEC.md."""
    advice: str
    sent: str = ""
    """The line that it went wrong with, as it was written; all since its last answer, if any of
    them may be it."""
    received: str = ""
    """What came instead of what was wanted; escaped."""
    status: str = ""
    """How its process ended, if it did by itself: "exit 1", "signal SIGSEGV"."""
    stderr: str = ""
    """Of its standard error, the beginning and the end."""


class Checked(Frozen, frozen=True, kw_only=True):
    """One check and what it came to."""

    name: str
    """For machines: "start", "quiet", "play-nine-2"."""
    title: str
    """What a bot that passes does."""
    section: str
    """Heading in protocol/SPEC.md that it stands on."""
    status: Status
    detail: str = ""
    """Figures; or why it was skipped."""
    finding: Finding | None = None


class Times(Frozen, frozen=True, kw_only=True):
    """Of its answers, in milliseconds of wall time."""

    answers: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    max_ms: float = 0.0


class Report(Frozen, frozen=True, kw_only=True):
    """One bot."""

    bot: str
    """name@version; what the path ends in, where it could not be entered."""
    path: str
    status: Status
    """The worst of its checks."""
    checks: tuple[Checked, ...] = ()
    times: Times = Times()
    memory_mb: float = 0.0
    """Peak of all its processes together, as far as it was seen."""


class Reports(Frozen, frozen=True, kw_only=True):
    """All bots: the object that `--json` writes."""

    v: int = VERSION
    passed: bool
    sandbox: str
    """Empty: no bot got as far as to need one."""
    bots: tuple[Report, ...]


def worst(statuses: list[Status]) -> Status:
    """Of several."""
    for status in (Status.FAILED, Status.WARNED):
        if status in statuses:
            return status
    return Status.PASSED
