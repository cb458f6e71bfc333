"""Where a batch's decks come from: numpy's random numbers, or an event's deals.

A deck is a row of card codes (ranks among all cards that there are) in the order of dealing.
Invariant: both are uniform over all orders of the pack.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.deals import Deals
from arena.games import HoleDeck
from arena.rl.aec import PAIRING

Ints = NDArray[Any]

# Decks shuffled at a time: enough to make numpy's cost a call negligible; at most 110 KB.
_POOL = 1024
_CODE_BITS = 4
_CODE = np.uint32((1 << _CODE_BITS) - 1)


class RandomDecks:
    """Decks from numpy's default generator."""

    def __init__(self, pack: Sequence[int], seed: int | None) -> None:
        self.size = len(pack)
        self._rng = np.random.default_rng(seed)
        self._codes = (np.searchsorted(np.unique(pack), pack) + 1).astype(np.uint32)
        self._pool = np.empty((0, len(pack)), np.int8)

    def deal(self, rows: Ints, deals: Ints, holes: Ints) -> Ints:  # noqa: ARG002 - see DealtDecks
        while len(self._pool) < len(rows):
            self._pool = np.concatenate((self._pool, self._shuffled()))
        dealt, self._pool = self._pool[: len(rows)], self._pool[len(rows) :]
        return dealt

    def reshuffle(self, row: int, number: int, codes: Ints) -> Ints:  # noqa: ARG002 - see DealtDecks
        return np.asarray(self._rng.permutation(codes))

    def _shuffled(self) -> Ints:
        """Sort numbers of random key and code, four times as fast as numpy's shuffle. Decks with
        two equal keys (2 in 10,000) are dropped, so that every order is as likely as any other.
        """
        shape = (_POOL, len(self._codes))
        keys = self._rng.integers(0, 1 << 32, shape, np.uint32, endpoint=False)
        keys &= ~_CODE
        keys |= self._codes
        keys.sort(axis=1)
        order = keys >> _CODE_BITS
        distinct = (order[:, 1:] != order[:, :-1]).all(axis=1)
        shuffled: Ints = (keys[distinct] & _CODE).astype(np.int8)
        return shuffled


class DealtDecks:
    """The decks of `arena.deals`, under the pairing "practice"."""

    def __init__(self, pack: Sequence[int], deals: Deals) -> None:
        self._pack, self.size = tuple(pack), len(pack)
        self._cards = np.unique(pack)
        self._deals = deals
        self._decks: dict[int, HoleDeck] = {}  # by row of the batch

    def deal(self, rows: Ints, deals: Ints, holes: Ints) -> Ints:
        """The decks of these deals and holes, which begin in these rows of the batch."""
        names = zip(rows.tolist(), deals.tolist(), holes.tolist(), strict=True)
        dealt = np.empty((len(rows), len(self._pack)), np.int64)
        for at, (row, deal, hole) in enumerate(names):
            self._decks[row] = deck = self._deals.deck(PAIRING, deal, hole, self._pack)
            dealt[at] = deck.cards
        return np.searchsorted(self._cards, dealt) + 1

    def reshuffle(self, row: int, number: int, codes: Ints) -> Ints:
        """A new order for `codes` (ascending), for reshuffle `number` of the row's hole."""
        cards = self._decks[row].reshuffle(number, self._cards[codes - 1].tolist())
        return np.searchsorted(self._cards, cards) + 1


Decks = RandomDecks | DealtDecks
