"""The trainer's knowledge of four-card golf."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from arena.luck.four_card_golf import (
    CARDS,
    HANDS,
    KINDS,
    LAST,
    MEASURE,
    POINTS,
    FourCardWalk,
    HandTables,
)

WAYS = list(combinations_with_replacement(range(KINDS + 1), CARDS))
PLACE = {hand: at for at, hand in enumerate(HANDS)}
PLAIN = [sum(POINTS[kind] for kind in hand) / 100 for hand in WAYS]
LIKE = 30.0
"""So many hands as a line through all hands would have them are added to those that were seen."""


class Watching(FourCardWalk):
    """A walk that remembers the hands before every turn."""

    def __init__(self, *args: Any, seats: int, **named: Any) -> None:
        super().__init__(*args, seats=seats, **named)
        self.seen: list[tuple[int, int, int]] = []
        """Seat, class, place of its hand."""

    def _note(self, *args: Any) -> None:
        """Not wanted here."""

    def _move(self, seat: int, move: str) -> None:
        if self._ended is None and move in {"draw", "knock", *(f"take {at}" for at in range(4))}:
            for other in self._order:
                self.seen.append((other, self._class(other), PLACE[self._hands[other]]))
        super()._move(seat, move)


class Four:
    """Four-card golf as a `Course`."""

    name = MEASURE.file
    weights = {"own": 1.0, "cross": 1.0, "out": 1.0, "first": 1.0}  # noqa: RUF012
    linear = frozenset({"own", "cross"})
    walk = FourCardWalk
    tables = HandTables

    def means(self, played: Any) -> Any:
        """By class and hand: the mean of what it counted in the end."""
        plain = [round(100 * value) for value in PLAIN]
        tables = HandTables([plain] * LAST, dict.fromkeys(self.weights, 1))
        total = np.zeros((LAST, len(HANDS)))
        number = np.zeros((LAST, len(HANDS)))
        for _, hole, walk in played.walks(Watching, tables):
            scores = walk.walk(hole.moves.split(","))
            for seat, group, place in walk.seen:
                total[group, place] += scores[seat]
                number[group, place] += 1
        marks = np.zeros((len(HANDS), KINDS + 2))
        for at, hand in enumerate(WAYS):
            for kind in hand:
                marks[at, kind] += 1
            marks[at, -1] = max(POINTS[kind] for kind in hand) / 100
        means = np.zeros(total.shape)
        for group in range(LAST):
            weighed = marks * number[group][:, None]
            square = (weighed[:, :, None] * marks[:, None, :]).sum(0) + np.eye(KINDS + 2)
            right = (marks * total[group][:, None]).sum(0)
            line = (marks * np.linalg.solve(square, right)).sum(1)
            means[group] = (total[group] + LIKE * line) / (number[group] + LIKE)
        return means.ravel()

    def rows(self, theta: Sequence[Any]) -> list[Any]:
        """A row a class."""
        size = len(HANDS)
        return [list(theta[at * size : (at + 1) * size]) for at in range(LAST)]


FOUR = Four()
