"""Bytes in, lines out: any split of the same bytes gives the same lines. Sans-IO.

Invariant: at most `limit` bytes of a line are ever kept; a longer one is reported once, as
`TooLong`, and the framer takes nothing more.
"""

from __future__ import annotations

import enum


class Framing(enum.Enum):
    """Why a framer has no line to return."""

    NEED_DATA = enum.auto()
    TOO_LONG = enum.auto()


# A member of an Enum takes eight times as long to look up as a global name, and this is asked at
# every turn.
_NEED_DATA = Framing.NEED_DATA
_TOO_LONG = Framing.TOO_LONG


class Framer:
    __slots__ = ("_limit", "_scanned", "held")

    def __init__(self, limit: int) -> None:
        self.held = b""
        """What waits unread. Bytes that are replaced, not an array that grows: mostly one line."""
        self._limit = limit
        self._scanned = 0  # no newline before this index: long lines are scanned once

    def feed(self, data: bytes) -> bool:
        """Take in bytes. True: `full`, so the caller is to stop reading."""
        self.held = held = self.held + data if self.held else data
        return len(held) > self._limit

    @property
    def full(self) -> bool:
        """True when more is held than any legal line needs: leave the rest in the pipe."""
        return len(self.held) > self._limit

    def next_line(self) -> bytes | Framing:
        """One line without its newline (and without a carriage return before it)."""
        held = self.held
        end = held.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(held)
            return _TOO_LONG if len(held) > self._limit else _NEED_DATA
        if end > self._limit:
            return _TOO_LONG
        self.held = held[end + 1 :]
        self._scanned = 0
        return held[:end].removesuffix(b"\r")
