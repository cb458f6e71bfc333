"""Find bots that leave good discards to one neighbour, at tables of three and more.

How often a discard is taken depends on giver and taker. Both are fitted, as factors of a rate, to
all pairs of neighbours (a deal's cyclic order is drawn by lot, so each bot sits behind each other);
the residual of a pair is how much more often it happens between these two.

By chance alone a cell's residual could as well have had the other sign. What the fit would take out
of such a draw is taken out of each cell beforehand, as far as it is linear. Only what goes beyond
TOLERATED is tested.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import msgspec

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_deals import RatedDeal, full_holes
from arena.audit.report import Feeding
from arena.games.descriptor import Descriptor
from arena.games.table import turns
from arena.model import HoleRecord
from arena.ratings.outcomes import Pair

TOLERATED = 0.03  # of the discards, what a pair may take beyond what both do with others
_STEPS = 100
_CLOSE = 1e-9
_MANY = 2000  # from so many pairs on, one pair hardly moves the fit, and draws are not refitted


class _Pair(msgspec.Struct):
    left: array[int]
    taken: array[int]


class Discards:
    def __init__(self, about: Descriptor, cells: int) -> None:
        self._about = about
        self._cells = cells
        none = array("l", [0]) * cells
        self._pairs: dict[Pair, _Pair] = defaultdict(lambda: _Pair(none[:], none[:]))

    def add(self, rated: RatedDeal) -> None:
        cell = cell_of(rated.pairing, rated.deal, self._cells)
        for record in rated.records:
            seats = record.seats
            for hole in full_holes(record):
                for giver, taker, took in offers(self._about, hole):
                    if taker == (giver + 1) % len(seats):
                        pair = self._pairs[seats[giver], seats[taker]]
                        pair.left[cell] += 1
                        pair.taken[cell] += took

    def rows(self, seed: bytes) -> list[Feeding]:
        pairs = dict(sorted(self._pairs.items()))
        left = {pair: float(sum(found.left)) for pair, found in pairs.items()}
        taken = {pair: float(sum(found.taken)) for pair, found in pairs.items()}
        # Discards taken if each rate were a giver's factor times a taker's, with the same sums.
        givers, takers = _fit(pairs, 1.0, lambda pair, factor: (taken[pair], left[pair] * factor))
        expected = {pair: left[pair] * givers[pair[0]] * takers[pair[1]] for pair in pairs}
        rates = {pair: expected[pair] / left[pair] for pair in pairs}

        def refit(cell: int) -> dict[Pair, float]:
            """By how much the expected would move with a cell's residuals, to first order."""
            more = {
                pair: found.taken[cell] - rates[pair] * found.left[cell]
                for pair, found in pairs.items()
            }
            givers, takers = _fit(
                pairs, 0.0, lambda pair, part: (more[pair] - expected[pair] * part, expected[pair])
            )
            return {pair: expected[pair] * (givers[pair[0]] + takers[pair[1]]) for pair in pairs}

        fits = list(map(refit, range(self._cells))) if len(pairs) < _MANY else []
        questions = [
            sign_flips(
                found.taken[cell]
                - (rates[pair] + TOLERATED) * found.left[cell]
                - (fits[cell][pair] if fits else 0.0)
                for cell in range(self._cells)
            )
            for pair, found in pairs.items()
        ]
        return [
            Feeding(
                giver=pair[0],
                taker=pair[1],
                left=round(left[pair]),
                taken=round(taken[pair]),
                expected=round(expected[pair], 6),
                **answer,
            )
            for pair, answer in zip(pairs, permutation_test(questions, seed, ways=2), strict=True)
        ]


def _fit(
    pairs: Iterable[Pair], start: float, share: Callable[[Pair, float], tuple[float, float]]
) -> tuple[dict[str, float], dict[str, float]]:
    """A number for each giver and taker: by turns, the ratio of its pairs' sums of two shares."""
    sides = {giver: start for giver, _ in pairs}, {taker: start for _, taker in pairs}
    for _ in range(_STEPS):  # pragma: no branch - it comes close before
        change = 0.0
        for side in (0, 1):
            shown, due = dict.fromkeys(sides[side], 0.0), dict.fromkeys(sides[side], 0.0)
            for pair in pairs:
                more, weight = share(pair, sides[1 - side][pair[1 - side]])
                shown[pair[side]] += more
                due[pair[side]] += weight
            for name, sum_ in shown.items():
                new = sum_ / due[name] if due[name] else 0.0
                change = max(change, abs(new - sides[side][name]))
                sides[side][name] = new
        if change < _CLOSE:
            break
    return sides


def offers(about: Descriptor, hole: HoleRecord) -> Iterator[tuple[int, int, bool]]:
    """(giver, taker, whether it took the card) of each discard that is left to the next turn."""
    leaves = {word: about.move(word).discards for word in about.moves}
    left_by: int | None = None
    for seat, first, _ in turns(hole):
        if left_by is not None:
            yield left_by, seat, first.startswith("take")
        left_by = seat if leaves.get(first.split(" ", 1)[0], True) else None
