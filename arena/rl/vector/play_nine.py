"""Play Nine in columns. The rules are those of `arena.games.play_nine`.

A state is 0 in the tee-off, 1 at the start of a turn, 2 + m with a card drawn, where bit i of m
says that the seat's card i is face down. A tee-off is turned at once, but no view shows it
before the last seat has chosen.
"""

from itertools import combinations

import numpy as np

from arena.rl.observation import SHAPES
from arena.rl.vector.table import DRAW, Ints, VectorEnv

_NAME = "play-nine"
_SIZE, _CODES, *_, _MOVES = SHAPES[_NAME]
_KINDS = {"tee": 0, "draw": DRAW, "take": 2, "swap": 3, "flip": 4, "skip": 5}
_TAKE, _SWAP = _KINDS["take"], _KINDS["swap"]
_TEE, _TURN, _DRAWN = 0, 1, 2
_ALL_DOWN = (1 << _SIZE) - 1


def _legal() -> Ints:
    legal = np.zeros((_DRAWN + _ALL_DOWN + 1, len(_MOVES)), np.bool_)
    for action, move in enumerate(_MOVES):
        kind, *at = move.split()
        legal[_TEE, action] = kind == "tee"
        legal[_TURN, action] = kind in ("take", "draw")
        for down in range(_ALL_DOWN + 1):
            legal[_DRAWN + down, action] = (
                kind == "swap"
                or (kind == "flip" and down >> int(at[0]) & 1)
                or (kind == "skip" and down.bit_count() == 1)
            )
    return legal


_UP = [sum(1 << int(at) for at in move.split()[1:]) for move in _MOVES]  # what a move turns up
_LEFT_DOWN = np.array([_ALL_DOWN & ~up for up in _UP])
_TEES = np.array(list(combinations(range(_SIZE), 2))).T  # positions of the two cards, by action

_COLUMNS = _SIZE // 2
_VALUE = np.array([0, -5, *range(_CODES - 1)])  # by code
_HOLE_IN_ONE = 1
_PAIRS = np.array(list(combinations(range(_COLUMNS), 2))).T
_BONUS = np.array([0, -10, -20, -15, 0, 0, -20])
"""By how many pairs of matched columns are alike: one pair, two different ones, three columns (3
pairs), four (6)."""


class PlayNineEnv(VectorEnv):
    name = _NAME
    kinds = tuple(_KINDS[move.split()[0]] for move in _MOVES)
    legal_by_state = _legal()
    first_state = _TEE

    def _lay_out(self) -> None:
        self._shown: Ints = np.zeros_like(self._cards)
        self._down: Ints = np.zeros(self.batch * self.seats, np.intp)

    def _deal_cards(self, rows: Ints) -> None:
        self._shown.reshape(self.batch, -1)[rows] = 0
        self._down.reshape(self.batch, -1)[rows] = _ALL_DOWN

    def _observe(self, seen: Ints, cells: Ints) -> None:
        teed = self._state > _TEE
        drawn = self._state >= _DRAWN
        seen[:, self.fields["phase"].start] = teed.astype(np.int16) + drawn
        seen[:, self.fields["drawn"].start] = np.where(drawn, self._held, 0)
        seen[:, self.fields["turns"]] *= teed[:, None]
        seen[:, self.fields["grids"]] = self._shown.take(cells)
        if not teed.all():
            seen[np.flatnonzero(~teed), self.fields["grids"]] = 0

    def _play(self, actions: Ints, kinds: Ints) -> Ints:
        drawing = np.flatnonzero(kinds == DRAW)
        if drawing.size:
            self._draw(drawing)
            down = self._down.take(drawing * self.seats + self._place.take(drawing))
            self._state[drawing] = down + _DRAWN
        teeing = np.flatnonzero(kinds < DRAW)
        if teeing.size:
            self._tee_off(teeing, actions.take(teeing))
        rows = np.flatnonzero(kinds > DRAW)
        chosen, kinds, places = actions.take(rows), kinds.take(rows), self._place.take(rows)
        cells = self._row_cells.take(rows) + self._cell.take(places * self._actions + chosen)
        held = self._held.take(rows)
        lying = self._cards.take(cells)
        replaces = kinds <= _SWAP
        self._cards[cells] = self._shown[cells] = np.where(replaces, held, lying)
        self._discard(rows, np.where(replaces, lying, held), kinds == _TAKE, 1)
        down = self._turn_up(rows, places, chosen)
        ended = self._ended.take(rows)
        ended = np.where((down == 0) & (ended < 0), places, ended)
        self._state[rows] = _TURN
        return self._pass_on(rows, places, ended)

    def _turn_up(self, rows: Ints, places: Ints, actions: Ints) -> Ints:
        """Mark what the actions turn up; the masks of what is still down."""
        masks = rows * self.seats + places
        down: Ints = self._down.take(masks) & _LEFT_DOWN.take(actions)
        self._down[masks] = down
        return down

    def _tee_off(self, rows: Ints, actions: Ints) -> None:
        places = self._place.take(rows)
        for position in _TEES:
            at = self._row_cells.take(rows) + places * _SIZE + position.take(actions)
            self._shown[at] = self._cards.take(at)
        self._turn_up(rows, places, actions)
        following = self._next_place.take(places)
        self._place[rows] = following
        self._state[rows[following == 0]] = _TURN

    def _score(self, grids: Ints) -> Ints:
        top, bottom = grids[..., :_COLUMNS], grids[..., _COLUMNS:]
        matched = top == bottom
        strokes = _VALUE.take(top) + _VALUE.take(bottom)
        strokes *= ~matched | (top == _HOLE_IN_ONE)
        # A column that does not match is like no other.
        alike = np.where(matched, top, -np.arange(1, _COLUMNS + 1))
        pairs = (alike[..., _PAIRS[0]] == alike[..., _PAIRS[1]]).sum(axis=-1)
        return np.asarray(strokes.sum(axis=-1) + _BONUS.take(pairs))
