"""The trainer's knowledge of play-nine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from arena.luck.play_nine import (
    DOWN,
    HORIZONS,
    KINDS,
    MEASURE,
    OVER,
    PACK,
    SQUARE,
    ColumnTables,
    PlayNineWalk,
)

NUMBER = (*range(13), -5)
PAIRS = [(a, b) for a in range(SQUARE) for b in range(a, SQUARE)]
PLACE = {SQUARE * a + b: at for at, pair in enumerate(PAIRS) for a, b in (pair, pair[::-1])}
LIKE = 5.0
"""So many columns at the mean of the pack are added to those that were seen."""


def counted(top: int, bottom: int) -> int:
    """Strokes of a column, alone."""
    return NUMBER[top] + NUMBER[bottom] if top != bottom or top == KINDS - 1 else 0


def chance(card: int) -> list[tuple[int, float]]:
    """What lies there, and how likely."""
    whole = sum(PACK)
    return [(card, 1.0)] if card != DOWN else [(c, PACK[c] / whole) for c in range(KINDS)]


PLAIN = [
    sum(p * q * counted(x, y) for (x, p), (y, q) in product(chance(a), chance(b))) for a, b in PAIRS
]
"""A column as it lies, unknown cards being any of the pack."""


class Watching(PlayNineWalk):
    """A walk that remembers its columns after every turn, and weighs nothing."""

    def __init__(self, *args: Any, seats: int, **named: Any) -> None:
        super().__init__(*args, seats=seats, **named)
        self.seen: list[tuple[int, int, int, int]] = []
        """Seat, horizon, column, place of its pair."""

    def _note(self, *args: Any) -> None:
        """Not wanted here."""

    def _best(self, seat: int, others: int) -> Any:  # noqa: ARG002
        return [0] * KINDS

    def ends(self) -> list[list[int]]:
        """What each column counts, by seat, once the hole is over."""
        return [[counted(*divmod(key, SQUARE)) for key in keys] for keys in self._columns]

    def _move(self, seat: int, move: str) -> None:
        super()._move(seat, move)
        if move == "draw" or self._ended is not None:
            return
        for other in self._order:
            if self._down[other] < 8:
                horizon = self._horizon(other)
                for column, key in enumerate(self._columns[other]):
                    self.seen.append((other, horizon, column, PLACE[key]))


class Nine:
    """Play-nine as a `Course`."""

    name = MEASURE.file
    weights = {"own": 1.0, "out": 1.0}  # noqa: RUF012
    linear = frozenset({"own"})
    walk = PlayNineWalk
    tables = ColumnTables

    def means(self, played: Any) -> Any:
        """By horizon and column: the mean of what it counted in the end."""
        plain = np.array(PLAIN)
        total = np.tile(LIKE * plain, (HORIZONS, 1))
        number = np.full(total.shape, LIKE)
        tables = ColumnTables(
            [[0] * len(PAIRS)] * HORIZONS + [[0] * KINDS], dict.fromkeys(self.weights, 1)
        )
        for _, hole, walk in played.walks(Watching, tables):
            walk.walk(hole.moves.split(","))
            ends = walk.ends()
            for seat, horizon, column, place in walk.seen:
                total[horizon, place] += ends[seat][column]
                number[horizon, place] += 1
        means = total / number
        means[OVER] = plain
        return np.concatenate((means.ravel(), np.zeros(KINDS)))

    def rows(self, theta: Sequence[Any]) -> list[Any]:
        """A row a horizon, and one for the first card of the pile."""
        size = len(PAIRS)
        tables = [list(theta[at * size : (at + 1) * size]) for at in range(HORIZONS)]
        return [*tables, list(theta[HORIZONS * size :])]


NINE = Nine()
