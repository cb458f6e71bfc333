"""Data types of the luck ledger.

Pure data. Invariant: luck is in whole thousandths of a stroke; below zero is good luck, as with
strokes.
"""

from __future__ import annotations

import enum

from arena.model import Frozen


class LuckKind(enum.StrEnum):
    """A kind of chance event."""

    PEEK = "peek"
    """The cards that a seat looks at before play."""
    FIRST = "first"
    """The first card of the pile."""
    TEE = "tee"
    """The cards that a tee-off turned."""
    DRAW = "draw"
    """The card that came from the stock."""
    FLIP = "flip"
    """The card that a flip turned."""
    OUT = "out"
    """An unknown card, replaced and laid onto the pile."""
    REVEAL = "reveal"
    """The cards that were still unknown when the hole was over."""


class LuckEntry(Frozen, frozen=True, kw_only=True):
    """The luck of one seat in one chance event."""

    hole: int
    """From 1."""
    move: int
    """The move of the hole that it came with, from 1; 0 before the first."""
    kind: LuckKind
    seat: int
    luck: int
    """Thousandths of a stroke, below zero good; rounded by itself, so sums of entries are off by
    some thousandths."""


class Ledger(Frozen, frozen=True, kw_only=True):
    """The luck of a match. All luck by seat, in thousandths of a stroke, below zero good."""

    evaluator: str
    """`Evaluator.name` of the measure."""
    totals: tuple[int, ...]
    """Of the match: strokes less this are luck-adjusted strokes."""
    kinds: tuple[tuple[LuckKind, tuple[int, ...]], ...]
    """By kind of event, for the kinds that the game has."""
    holes: tuple[tuple[int, ...], ...]
    """By hole, of the finished ones among the nine."""
    entries: tuple[LuckEntry, ...]
    """In the order of play."""


class Evaluator(Frozen, frozen=True, kw_only=True):
    """The measure of a game's luck: frozen, and published with everything derived from it."""

    game: str
    version: int
    digest: str
    """SHA-256 of its coefficients, as they stand in the package."""

    @property
    def name(self) -> str:
        """For people: game, version and the beginning of the digest."""
        return f"{self.game}/{self.version}-{self.digest[:12]}"
