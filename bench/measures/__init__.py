"""What the speed bench measures: one module a subject, each with its `MEASURES`.

Theory of operation. A measure is a function of the stage (compiled programs, bots ready to run,
workers that stay) that gives the numbers of one round by key. Rounds are interleaved: all measures
once, then all again, so that a machine whose speed drifts slows all of them alike. Whatever is told
as a ratio is divided within its round; medians are taken of the ratios, never of their parts.

A measure to be added is a function, a `Measure` with the rows that show its numbers, and a place in
`every.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

UNIT = "ping-pong.wall"
"""The key of the unit: the wall time of an exchange between two C programs on one core."""

TIMES = ("µs", "ms")
RATE = "/s"
COUNTS = ("instructions",)


class SkippedError(Exception):
    """This machine can't have the measure; the message says why, in one line."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table: a number that a measure gives under `key`."""

    key: str
    text: str
    unit: str
    of: str = ""
    """The key by which it is divided, round by round; the goal is then for the ratio."""
    goal: float | None = None
    more: bool = False
    """More is better, as with every rate."""

    @property
    def upwards(self) -> bool:
        """Whether more is better."""
        return self.more or self.unit == RATE


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A subject that is measured once a round."""

    name: str
    """As in `--only`."""
    about: str
    """The heading in the table."""
    run: Callable[[Any], Mapping[str, float]]
    rows: tuple[Row, ...]
    most: int = 1_000
    """Rounds that it takes part in at most: what is slow is measured less often."""
    warm: bool = True
    """Whether it takes part in the first round, which is thrown away."""
