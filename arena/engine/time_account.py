"""Account for a seat's time: its bank, what it has used, and its allowance off turn.

No clock and no system here.
"""

from msgspec import UNSET, UnsetType

from arena.engine.stopwatch import PATIENCE_S
from arena.model import FaultKind, Limits, SeatUse

BURST_S = 1.0
"""A compiler of the JVM's has most of its work in a program's first seconds; in ours it took 0.25 s
off turn at most."""

SHARE = 0.1  # the most that a collector took was 0.04, of a bot that did nothing but allocate


class TimeAccount:
    """One seat of one match; all in seconds."""

    __slots__ = (
        "_decisions", "_longest", "_move", "_think",
        "allowance", "bank", "difference", "last", "patience", "stopped", "used", "waited",
    )  # fmt: skip

    def __init__(self, limits: Limits) -> None:
        self._move = limits.move_ms / 1000
        self.bank = limits.match_ms / 1000
        self.allowance = min(self._move, self.bank)  # for the decision at hand
        self.patience = min(PATIENCE_S, self.allowance)  # of it, charged by the clock
        self.last = 0.0  # what the last decision took
        self.difference = 0.0  # by how much CPU time differs from time, where it was read
        self.used = 0.0  # CPU time of the whole match
        self.waited = 0.0  # by the clock, and not charged
        self.stopped: int | UnsetType = UNSET  # after so many decisions
        self._decisions = 0
        self._think = 0.0
        self._longest = 0.0

    def charge(self, seconds: float) -> None:
        """Book a decision of that time, and as much CPU time unless `difference` says otherwise."""
        self.bank -= seconds
        self._decisions += 1
        self._think += seconds
        self.last = seconds
        if seconds > self._longest:  # noqa: PLR1730 - a call takes three times as long
            self._longest = seconds
        if self.bank < self._move:
            self.allowance = self.bank
            self.patience = min(PATIENCE_S, self.bank)

    def overrun(self) -> tuple[FaultKind, str]:
        """Which limit the decision at hand has exceeded; call it before `charge`."""
        if self.bank < self._move:
            return FaultKind.BANK, "the time for the match is used up"
        return FaultKind.TIMEOUT, f"no answer within {self._move * 1000:.0f} ms"

    def off_turn(self, used: float) -> float:
        """How much of this CPU time of the match it used off turn."""
        return max(0.0, used - self._think - self.difference)

    def stop(self) -> None:
        """From now on the bot is stopped whenever it isn't asked."""
        self.stopped = self._decisions

    def use(self) -> SeatUse:
        return SeatUse(
            decisions=self._decisions,
            think_ms=round(self._think * 1000, 3),
            max_ms=round(self._longest * 1000, 3),
            off_turn_ms=round(self.off_turn(self.used) * 1000, 3),
            waited_ms=round(self.waited * 1000, 3),
            stopped=self.stopped,
        )


class Allowance:
    """A bucket of seconds of CPU, full at first, filled up by SHARE of the time that passes. What
    the bot's tree uses off turn is taken out; once it is empty the bot is stopped whenever it isn't
    asked. Garbage collectors and compilers of honest runtimes stay within it.
    """

    __slots__ = ("_at", "_left", "_seen")

    def __init__(self, at: float) -> None:
        self._at = at
        self._left = BURST_S
        self._seen = 0.0

    def spend(self, used: float, at: float) -> bool:
        """It has `used` so much off turn since `begin`; whether the bucket is overdrawn."""
        self._left = min(BURST_S, self._left + SHARE * (at - self._at))
        self._at = at
        if used > self._seen:
            self._left -= used - self._seen
            self._seen = used
        return self._left < 0

    def begin(self) -> None:
        """Count `used` from 0 again."""
        self._seen = 0.0
