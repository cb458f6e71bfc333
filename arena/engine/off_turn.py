"""Limit the CPU time that a bot uses while it isn't its turn.

Theory of operation. An `Allowance` is a bucket of seconds of CPU. It begins full, with BURST_S, and
fills up by SHARE of the time that passes; what the bot's tree uses off turn is taken out. Garbage
collectors and compilers of honest runtimes stay within it. Once it is empty the bot is stopped
whenever it isn't asked, until its processes end.

Invariant: no clock and no system here. What the bot may have used on its turns has been deducted
before, in its favour.
"""

from __future__ import annotations

BURST_S = 1.0
"""A compiler of the JVM's has most of its work in a program's first seconds; in ours it took 0.25 s
off turn at most."""

SHARE = 0.1
"""The most that a collector took was 0.04, of a bot in node that did nothing but allocate."""


class Allowance:
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
