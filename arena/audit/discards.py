"""Find bots that leave good discards to one neighbour, at tables of three and more.

How often a discard is taken depends on the giver and on the taker. Both are fitted, as factors of a
rate, to all pairs of neighbours; the residual of a pair is how much more often it happens between
these two. The cyclic order of a deal is drawn by lot, so each bot sits behind each other.

By chance alone the residual of a cell could as well have had the other sign. What the fit would
take out of such a draw is taken out of each cell beforehand, as far as it is linear. Styles that
suit each other have a small residual too: only what goes beyond TOLERATED is tested.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import msgspec

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_events import RatedEvent, full_holes
from arena.audit.report import Feeding
from arena.audit.turns import offers
from arena.games.descriptor import Descriptor

TOLERATED = 0.03
"""Of the discards, what a pair may take beyond what both do with others."""
_STEPS = 100
_CLOSE = 1e-9
_MANY = 2000
"""From so many pairs on, one pair hardly moves the fit, and draws are not refitted."""

Pair = tuple[str, str]


class _Pair(msgspec.Struct):
    left: array[int]
    """Discards by cell."""
    taken: array[int]


class Discards:
    def __init__(self, about: Descriptor, cells: int) -> None:
        self._about = about
        self._cells = cells
        self._pairs: dict[Pair, _Pair] = {}

    def add(self, event: RatedEvent) -> None:
        cell = cell_of(event.pairing, event.deal, self._cells)
        for record in event.records:
            seats = len(record.seats)
            left, taken = [0] * seats, [0] * seats
            for hole in full_holes(record):
                for giver, taker, took in offers(self._about, hole):
                    if taker == (giver + 1) % seats:
                        left[giver] += 1
                        taken[giver] += took
            for seat, many in enumerate(left):
                if many:
                    pair = self._pair(record.seats[seat], record.seats[(seat + 1) % seats])
                    pair.left[cell] += many
                    pair.taken[cell] += taken[seat]

    def _pair(self, giver: str, taker: str) -> _Pair:
        if (giver, taker) not in self._pairs:
            self._pairs[giver, taker] = _Pair(*(array("l", [0]) * self._cells for _ in range(2)))
        return self._pairs[giver, taker]

    def rows(self, seed: bytes) -> list[Feeding]:
        """All pairs of neighbours; `p` is corrected for all of them."""
        pairs = dict(sorted(self._pairs.items()))
        left = {pair: float(sum(found.left)) for pair, found in pairs.items()}
        taken = {pair: float(sum(found.taken)) for pair, found in pairs.items()}
        expected = _expected(taken, left)
        rates = {pair: expected[pair] / left[pair] for pair in pairs}
        fits: list[dict[Pair, float]] = []
        if len(pairs) < _MANY:
            fits = [
                _linear_refit(
                    {
                        pair: found.taken[cell] - rates[pair] * found.left[cell]
                        for pair, found in pairs.items()
                    },
                    expected,
                )
                for cell in range(self._cells)
            ]
        questions = [
            sign_flips(
                found.taken[cell]
                - (rates[pair] + TOLERATED) * found.left[cell]
                - (fits[cell][pair] if fits else 0.0)
                for cell in range(self._cells)
            )
            for pair, found in pairs.items()
        ]
        answers = permutation_test(questions, seed, ways=2)
        return [
            Feeding(
                giver=pair[0],
                taker=pair[1],
                left=round(left[pair]),
                taken=round(taken[pair]),
                expected=round(expected[pair], 6),
                p_alone=answer.alone,
                p=answer.family,
            )
            for pair, answer in zip(pairs, answers, strict=True)
        ]


def _expected(taken: Mapping[Pair, float], left: Mapping[Pair, float]) -> dict[Pair, float]:
    """Discards taken if each rate were a giver's factor times a taker's, with the same sums."""
    factors = _ones(left)
    for _ in range(_STEPS):  # pragma: no branch - it comes close before
        change = 0.0
        for side in (0, 1):
            shown, due = dict.fromkeys(factors[side], 0.0), dict.fromkeys(factors[side], 0.0)
            for pair, many in left.items():
                shown[pair[side]] += taken[pair]
                due[pair[side]] += many * factors[1 - side][pair[1 - side]]
            for name, sum_ in shown.items():
                new = sum_ / due[name] if sum_ else 0.0
                change = max(change, abs(new - factors[side][name]))
                factors[side][name] = new
        if change < _CLOSE:
            break
    return {pair: many * factors[0][pair[0]] * factors[1][pair[1]] for pair, many in left.items()}


def _linear_refit(
    values: Mapping[Pair, float], expected: Mapping[Pair, float]
) -> dict[Pair, float]:
    """By how much the expected would move with these values added, to first order."""
    parts = _ones(expected)
    many = [dict.fromkeys(side, 0.0) for side in parts]
    for pair, weight in expected.items():
        for side in (0, 1):
            many[side][pair[side]] += weight
            parts[side][pair[side]] = 0.0
    for _ in range(_STEPS):  # pragma: no branch - it comes close before
        change = 0.0
        for side in (0, 1):
            shown = dict.fromkeys(parts[side], 0.0)
            for pair, weight in expected.items():
                shown[pair[side]] += values[pair] - weight * parts[1 - side][pair[1 - side]]
            for name, sum_ in shown.items():
                new = sum_ / many[side][name] if many[side][name] else 0.0
                change = max(change, abs(new - parts[side][name]))
                parts[side][name] = new
        if change < _CLOSE:
            break
    return {
        pair: weight * (parts[0][pair[0]] + parts[1][pair[1]]) for pair, weight in expected.items()
    }


def _ones(pairs: Mapping[Pair, float]) -> tuple[dict[str, float], dict[str, float]]:
    return {giver: 1.0 for giver, _ in pairs}, {taker: 1.0 for _, taker in pairs}
