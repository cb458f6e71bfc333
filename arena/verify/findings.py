"""Differences between a folder and what follows from it: the place, the expected, the found."""

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.model import Frozen
from arena.reports.escape import plain

LOG = "matches.jsonl"
EVENT = "event.json"
_LONGEST = 100  # characters of a value that are shown: enough for a hash
_BEFORE = 20
_BAD = "backslashreplace"


class Difference(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    file: str
    line: int = 0  # from 1; 0: the file as a whole
    byte: int | None = None  # where the line begins, from 0
    match: str = ""
    hole: int = 0
    move: int = 0  # its number in the hole, from 1
    what: str
    expected: str
    found: str

    @property
    def where(self) -> str:
        line = f", line {self.line}" if self.line else ""
        byte = "" if self.byte is None else f" (byte {self.byte})"
        match = f", match {plain(self.match)}" if self.match else ""
        hole = f", hole {self.hole}" if self.hole else ""
        move = f", move {self.move}" if self.move else ""
        return f"{self.file}{line}{byte}{match}{hole}{move}"

    @property
    def text(self) -> str:
        return f"{self.what}: expected {plain(self.expected)}, found {plain(self.found)}"


def differs(what: str, expected: object, found: object, **place: Any) -> Difference:  # noqa: ANN401 - fields
    """A difference in the log, unless `place` names another file."""
    return Difference(
        **{"file": LOG} | place, what=what, expected=shown(expected), found=shown(found)
    )


class DiffersError(Exception):
    def __init__(self, difference: Difference) -> None:
        super().__init__(f"{difference.where}: {difference.text}")
        self.difference = difference


def refused(what: str, expected: object, found: object, **place: Any) -> DiffersError:  # noqa: ANN401 - as above
    return DiffersError(differs(what, expected, found, **place))


def shown(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return clipped(text)


def clipped(text: str) -> str:
    """Cut in the middle if it is long, since both ends may matter."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def unlike_bytes(right: bytes, found: bytes) -> tuple[str, str]:
    """A piece of each around the first difference; they must not be equal."""
    at = max(0, first_unlike(right, found) - _BEFORE)
    piece = slice(at, at + _LONGEST // 2)
    return right[piece].decode(errors=_BAD), found[piece].decode(errors=_BAD)


def first_unlike(one: Sequence[object], other: Sequence[object]) -> int:
    """The index of the first element that differs; they must not be equal."""
    for at, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return at
    return min(len(one), len(other))
