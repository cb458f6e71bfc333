"""Four-card golf in columns. The rules are those of `arena.games.four_card_golf`.

A state is 0 at the start of a turn, 1 at the start of a last turn, 2 with a card drawn. Who
knows a card is kept beside it, as the number of its letter in "nora".
"""

import numpy as np

from arena.rl.observation import LETTERS, SHAPES
from arena.rl.vector.table import DRAW, Ints, VectorEnv

_NAME = "four-card-golf"
_SIZE, _CODES, *_, _MOVES = SHAPES[_NAME]
_KINDS = {"draw": DRAW, "take": 2, "swap": 3, "discard": 4, "knock": 5}
_TAKE, _SWAP, _KNOCK = _KINDS["take"], _KINDS["swap"], _KINDS["knock"]
_TURN, _LAST_TURN, _DRAWN = 0, 1, 2
_NOBODY, _OWNER, _OWNER_RECYCLED, _ALL = (LETTERS.index(letter) for letter in "nora")
_PEEKED = (_NOBODY, _NOBODY, _OWNER, _OWNER)

_POINTS = np.array([0, *range(1, _CODES - 2), 10, 10, 0])  # by rank, which is the code

_WHEN = {
    "take": (True, True, False),
    "draw": (True, True, False),
    "knock": (True, False, False),
    "swap": (False, False, True),
    "discard": (False, False, True),
}
"""By state, whether a move is legal."""


class FourCardEnv(VectorEnv):
    name = _NAME
    kinds = tuple(_KINDS[move.split()[0]] for move in _MOVES)
    legal_by_state = np.array([_WHEN[move.split()[0]] for move in _MOVES]).T.copy()
    first_state = _TURN

    def _lay_out(self) -> None:
        self._known: Ints = np.zeros_like(self._cards)

    def _deal_cards(self, rows: Ints) -> None:
        self._known.reshape(self.batch, -1)[rows, :-1] = _PEEKED * self.seats

    def _observe(self, seen: Ints, cells: Ints) -> None:
        drawn = self._state == _DRAWN
        seen[:, self.fields["phase"].start] = drawn + np.int16(1)
        seen[:, self.fields["drawn"].start] = np.where(drawn, self._held, 0)
        known, cards = self._known.take(cells), self._cards.take(cells)
        visible = known == _ALL
        visible[:, :_SIZE] = known[:, :_SIZE] != _NOBODY
        seen[:, self.fields["grids"]] = cards * visible
        seen[:, self.fields["known"]] = known
        again = np.flatnonzero(self._reshuffles)
        if again.size:
            # What others placed from the present stock is, to the seat, as good as in it.
            hidden = known[again] == _OWNER_RECYCLED
            hidden[:, :_SIZE] = False
            which, cell = hidden.nonzero()
            first = self.fields["recycled"].start - 1
            np.add.at(seen, (again[which], first + cards[again[which], cell]), 1)

    def _play(self, actions: Ints, kinds: Ints) -> Ints:
        drawing = np.flatnonzero(kinds == DRAW)
        if drawing.size:
            self._draw(drawing)
            self._state[drawing] = _DRAWN
        rows = np.flatnonzero(kinds > DRAW)
        chosen, kinds, places = actions.take(rows), kinds.take(rows), self._place.take(rows)
        cells = self._row_cells.take(rows) + self._cell.take(places * self._actions + chosen)
        held = self._held.take(rows)
        lying = self._cards.take(cells)
        taken = kinds == _TAKE
        replaces = kinds <= _SWAP
        self._cards[cells] = np.where(replaces, held, lying)
        own = np.where(self._reshuffles.take(rows) > 0, _OWNER_RECYCLED, _OWNER)
        self._known[cells] = np.where(taken, _ALL, own)
        knocks = kinds == _KNOCK
        # A seat that knocks holds the top of the pile, which stays there.
        self._discard(rows, np.where(replaces, lying, held), taken, ~knocks)
        ended = np.where(knocks, places, self._ended.take(rows))
        self._state[rows] = ended >= 0
        return self._pass_on(rows, places, ended)

    def _reshuffle(self, row: int) -> None:
        super()._reshuffle(row)
        known = self._known.reshape(self.batch, -1)[row]
        known[known == _OWNER_RECYCLED] = _OWNER

    def _score(self, grids: Ints) -> Ints:
        return np.asarray(_POINTS.take(grids).sum(axis=-1))
