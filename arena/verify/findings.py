"""What is found: a place in the folder, what should be there, and what is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.model import Frozen
from arena.reports.escape import plain

LOG = "matches.jsonl"
EVENT = "event.json"
_LONGEST = 100
"""Of a value that is shown: enough for a hash or what is at stake in a list."""
_BEFORE = 20
"""Bytes shown before the first that differs."""


class Difference(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """The folder is not what follows from it."""

    file: str
    line: int = 0
    """From 1; 0: the file as a whole."""
    byte: int | None = None
    """Where the line begins, from 0."""
    match: str = ""
    hole: int = 0
    move: int = 0
    """Its number in the hole, from 1."""
    what: str
    expected: str
    found: str

    @property
    def where(self) -> str:
        """The place, for people."""
        place = self.file
        if self.line:
            place += f", line {self.line}"
        if self.byte is not None:
            place += f" (byte {self.byte})"
        if self.match:
            place += f", match {plain(self.match)}"
        if self.hole:
            place += f", hole {self.hole}"
        if self.move:
            place += f", move {self.move}"
        return place

    @property
    def text(self) -> str:
        """What is wrong there, for people."""
        return f"{self.what}: expected {plain(self.expected)}, found {plain(self.found)}"


class DiffersError(Exception):
    """Something is not as it should be; `difference` tells what and where."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(f"{difference.where}: {difference.text}")
        self.difference = difference


def shown(value: Any) -> str:  # noqa: ANN401 - whatever a record may hold
    """A value as JSON, cut if it is long."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return clipped(text)


def clipped(text: str) -> str:
    """Cut in the middle if it is long: both ends may be at stake."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def unlike_bytes(right: bytes, found: bytes) -> tuple[str, str]:
    """What stands in each from where they differ first; they are not equal."""
    at = max(0, first_unlike(right, found) - _BEFORE)
    one, other = (
        each[at : at + _LONGEST // 2].decode("utf-8", "backslashreplace") for each in (right, found)
    )
    return one, other


def first_unlike(one: Sequence[object], other: Sequence[object]) -> int:
    """The place of the first that differs, in sequences that are not equal."""
    for at, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return at
    return min(len(one), len(other))
