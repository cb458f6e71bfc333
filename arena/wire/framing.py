"""Bytes in, lines out: any split of the same bytes gives the same lines. Sans-IO.

Invariant: at most `limit` bytes of a line are ever kept; a longer one is reported once, as
`TooLong`, and the framer takes nothing more.
"""

from __future__ import annotations

import enum


class Framing(enum.Enum):
    """What a framer says when it has no line to give."""

    NEED_DATA = enum.auto()
    TOO_LONG = enum.auto()


class Framer:
    """Splits a stream at newlines."""

    __slots__ = ("_buffer", "_limit", "_scanned")

    def __init__(self, limit: int) -> None:
        self._buffer = bytearray()
        self._limit = limit
        self._scanned = 0  # no newline before this index: long lines cost linear time

    def feed(self, data: bytes) -> None:
        """Take in bytes; the caller stops reading when `full`."""
        self._buffer += data

    @property
    def full(self) -> bool:
        """True when more is held than any legal line needs: leave the rest in the pipe."""
        return len(self._buffer) > self._limit

    @property
    def held(self) -> bytes:
        """What waits unread, for messages."""
        return bytes(self._buffer)

    def next_line(self) -> bytes | Framing:
        """One line without its newline (and without a carriage return before it)."""
        buffer = self._buffer
        end = buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(buffer)
            return Framing.TOO_LONG if len(buffer) > self._limit else Framing.NEED_DATA
        if end > self._limit:
            return Framing.TOO_LONG
        line = bytes(buffer[:end])
        del buffer[: end + 1]
        self._scanned = 0
        return line.removesuffix(b"\r")
