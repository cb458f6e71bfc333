"""Coefficients that leave the least variance: ridge regression of holes on their luck.

A walk on `Linear` numbers gives the luck of a hole as a linear form of the coefficients, as long as
the best use of a card stays the same. The difference of two seats' strokes is regressed on the
difference of their luck, with a penalty on the distance from where the coefficients were; then the
best uses are looked up anew, and so on. Solved by conjugate gradients over sparse rows, sums
in the order of the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from linear import Linear, expand, value_of

PENALTY = 30.0
STEPS = 80


class Course(Protocol):
    """What the trainer has to know of a game."""

    name: str
    weights: dict[str, float]
    linear: frozenset[str]
    """The weights that are 1: their luck is linear in the coefficients."""
    walk: Any
    tables: Any

    def means(self, played: Any) -> Any:
        """Coefficients to begin with: means of what was counted in the end."""

    def rows(self, theta: Any) -> list[Any]:
        """The coefficients as the file has them."""


def tracing(walk: Any) -> Any:
    """The walk, on `Linear` numbers, that keeps what its luck is made of."""

    class Tracing(walk):  # type: ignore[misc]
        def __init__(self, *args: Any, seats: int, **named: Any) -> None:
            super().__init__(*args, seats=seats, **named)
            self.own: list[dict[int, float]] = [{} for _ in range(seats)]
            self.luck = [0.0] * seats
            self.others: list[dict[str, float]] = [defaultdict(float) for _ in range(seats)]

        def _note(  # noqa: PLR0917 - as the walk calls it
            self,
            kind: Any,  # noqa: ARG002
            weight: str,
            seat: int,
            values: Sequence[Any],
            card: int,
            pool: Sequence[int],
        ) -> None:
            left = sum(pool)
            shares = [-many / left for many in pool]
            shares[card] += 1
            parts = zip(shares, values, strict=True)
            luck = sum(share * value_of(value) for share, value in parts) / 100
            if weight in self.fitted:
                self.luck[seat] += luck
                into = self.own[seat]
                for share, value in zip(shares, values, strict=True):
                    if share:
                        expand(value, share, into)
            else:
                self.others[seat][weight] += luck

    return Tracing


def fit(course: Course, played: Any, theta: Any, weights: dict[str, float]) -> Any:
    """Better coefficients and weights, and how much variance was left by those given."""
    names = [name for name in weights if name not in course.linear]
    size = len(theta)
    leaves = [
        Linear(round(float(100 * value)), (), {index: 1.0}) for index, value in enumerate(theta)
    ]
    traced = tracing(course.walk)
    traced.fitted = course.linear
    tables = course.tables(course.rows(leaves), {name: name for name in weights})
    columns: list[Any] = []
    entries: list[Any] = []
    lengths: list[int] = []
    extra: list[list[float]] = []
    strokes: list[float] = []
    known: list[float] = []
    groups: dict[Any, list[int]] = defaultdict(list)
    for record, hole, walk in played.walks(traced, tables):
        walk.walk(hole.moves.split(","))
        first, second = sorted(range(2), key=record.seats.__getitem__)
        row = dict(walk.own[first])
        for leaf, part in walk.own[second].items():
            row[leaf] = row.get(leaf, 0.0) - part
        columns.append(np.fromiter(row.keys(), np.int32, len(row)))
        entries.append(np.fromiter(row.values(), np.float64, len(row)))
        lengths.append(len(row))
        extra.append([walk.others[first][name] - walk.others[second][name] for name in names])
        known.append(walk.luck[first] - walk.luck[second])
        pair = record.seats[first], record.seats[second], hole.order[0] == first
        groups[pair].append(len(strokes))
        strokes.append(hole.scores[first] - hole.scores[second])
    target = np.array(strokes, np.float64)
    for rows in groups.values():
        target[rows] -= target[rows].mean()
    whole = (target * target).sum()
    target -= np.array(known)
    others = np.array(extra)
    index, values = np.concatenate(columns), np.concatenate(entries)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))

    def ahead(vector: Any) -> Any:
        table = np.add.reduceat(values * vector[index], starts)
        return table + (others * vector[size:]).sum(1)

    def back(rows: Any) -> Any:
        table = np.bincount(index, values * np.repeat(rows, lengths), size)
        return np.concatenate((table, (others * rows[:, None]).sum(0)))

    penalty = np.concatenate((np.full(size, PENALTY), np.full(len(names), 1e-3)))
    change = solved(lambda v: back(ahead(v)) + penalty * v, back(target))
    left = target - ahead(change)
    found = dict(weights)
    found.update(zip(names, (float(weight) for weight in change[size:]), strict=True))
    shares = f"holes explained {1 - (left * left).sum() / whole:.3f} in the sample"
    return theta + change[:size], found, shares


def solved(matrix: Any, right: Any) -> Any:
    """Conjugate gradients, a fixed number of steps."""
    solution = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    power = (residual * residual).sum()
    for _ in range(STEPS):
        image = matrix(direction)
        step = power / (direction * image).sum()
        solution += step * direction
        residual -= step * image
        power, before = (residual * residual).sum(), power
        direction = residual + power / before * direction
    return solution
