"""From the rounds' numbers to figures: medians with their middle half, ratios, what has moved.

Two runs are compared by ratios: each time is divided by the unit's of its own round, each rate
multiplied by it, so that a slower machine, or a slower hour, is not taken for slower code. Noise is
judged from the runs themselves: a figure has moved if it differs by more than half the widths of
both runs' middle halves together, and by more than 3 %. What was measured once knows nothing of its
noise: 10 %, but 1 % of a count of instructions, which repeats itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from measures import COUNTS, RATE, TIMES, UNIT, Row

LEAST = 0.03
LEAST_ONCE = 0.10
LEAST_COUNT = 0.01
# Of fewer values than this a middle half says nothing.
FEW = 4

Round = Mapping[str, float]


class Spread(msgspec.Struct, frozen=True):
    """A median, and the middle half of what was seen; all of it where that is little."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one value or more."""
        if len(values) < FEW:
            return cls(statistics.median(values), min(values), max(values))
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)

    def rounded(self) -> Spread:
        """With as many digits as anybody reads."""
        return Spread(*(float(f"{value:.5g}") for value in (self.median, self.low, self.high)))


class Figure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row's outcome."""

    unit: str
    value: Spread
    relative: Spread
    """In units of the same round's ping-pong, if it is a time or a rate: what is compared."""
    ratio: Spread | None = None
    goal: float | None = None
    met: bool | None = None
    rounds: int


def relative(row: Row, value: float, unit: float) -> float:
    """A number freed from the machine's speed, if it depends on that."""
    if row.unit in TIMES:
        return value / unit
    return value * unit if row.unit == RATE else value


def figure(row: Row, rounds: Iterable[Round]) -> Figure | None:
    """The figure of a row; None if no round has it."""
    seen = [each for each in rounds if row.key in each and (not row.of or row.of in each)]
    if not seen:
        return None
    value = Spread.of([each[row.key] for each in seen])
    ratio = Spread.of([each[row.key] / each[row.of] for each in seen]) if row.of else None
    reached = (ratio or value).median
    met = None
    if row.goal is not None:
        met = reached >= row.goal if row.upwards else reached <= row.goal
    return Figure(
        unit=row.unit,
        value=value.rounded(),
        relative=Spread.of([relative(row, each[row.key], each[UNIT]) for each in seen]).rounded(),
        ratio=ratio and ratio.rounded(),
        goal=row.goal,
        met=met,
        rounds=len(seen),
    )


class Move(msgspec.Struct, frozen=True):
    """A figure that differs from an earlier run's by more than the noise."""

    key: str
    by: float
    """0.1: a tenth more."""
    noise: float
    better: bool


def moved(key: str, row: Row, old: Figure, new: Figure) -> Move | None:
    """Whether a figure has moved; see the module's docstring."""
    before, after = (each.ratio or each.relative for each in (old, new))
    if old.unit != new.unit or (old.ratio is None) != (new.ratio is None) or not before.median:
        return None
    by = after.median / before.median - 1
    half_widths = (before.high - before.low + after.high - after.low) / 2
    once = min(old.rounds, new.rounds) == 1
    least = LEAST_COUNT if row.unit in COUNTS else LEAST_ONCE if once else LEAST
    noise = max(half_widths / before.median, least)
    if abs(by) <= noise:
        return None
    return Move(key, by, noise, better=(by > 0) == row.upwards)


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """bench/figures.json."""

    machine: Mapping[str, str | int]
    rounds: int
    others: float = 0.0
    """Cores that other programs kept busy meanwhile: of a machine at rest about 0."""
    figures: Mapping[str, Figure]


def compared(rows: Mapping[str, Row], old: Published, new: Published) -> list[Move]:
    """Everything that has moved, in the order of the table."""
    both = [key for key in rows if key in old.figures and key in new.figures]
    moves = (moved(key, rows[key], old.figures[key], new.figures[key]) for key in both)
    return [move for move in moves if move is not None]
