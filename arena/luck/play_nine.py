"""The luck of a hole of Play Nine: the value of a grid, and how chance events change it.

A seat's grid is worth the sum of its columns. The value of a column was learned from games: by its
two cards (or face-down places), and by the horizon, how much time is left: the face-down cards of
the seat itself and the fewest of any other. A card that is turned is worth what its column then is,
one that is drawn its best use, a hidden one that goes to the pile what it gains for the next seat
over the mean of a draw. Another column of a value that is already matched counts by `BONUS`.

Cards by kind: 0 to 12 are themselves, 13 is a Hole-in-One, 14 is face down.
"""

from collections.abc import Sequence
from operator import mul, sub
from typing import Any, Final

from arena.games import Hole
from arena.games.play_nine import CARDS, COLUMNS
from arena.luck import Measure
from arena.luck.walk import LuckKind, LuckWalk

KINDS: Final = 14
DOWN: Final = KINDS
SQUARE: Final = KINDS + 1

PACK: Final = (*[8] * 13, 4)
KIND: Final = (*range(13), 13, 13, 13, 13, 13)
"""By card; a Hole-in-One, -5, is the fifth from the end."""

OWN_DOWN: Final = 5
OTHER_DOWN: Final = 4  # more face-down cards than these are no other horizon
OVER: Final = 0  # the horizon of a seat that has no turn left
HORIZONS: Final = 1 + OWN_DOWN * OTHER_DOWN

BONUS: Final = (0, -1000, -500, -500)
"""What one more matched column adds to that many of the same value."""

_TEED: Final = CARDS - 2


def horizon(down: int, others: int) -> int:
    """The horizon of a seat with `down` face-down cards; the fewest of any other are `others`."""
    if not down:
        return OVER
    return 1 + (min(down, OWN_DOWN) - 1) * OTHER_DOWN + min(others, OTHER_DOWN) - 1


_HORIZON: Final = [[horizon(d, max(1, o)) for o in range(CARDS + 1)] for d in range(CARDS + 1)]


class ColumnTables:
    """What columns are worth, and lookups derived from it. A column has a key either way round."""

    def __init__(self, rows: Sequence[Sequence[int]], weights: dict[str, int]) -> None:
        *horizons, self.first = rows
        self.own, self.out = weights["own"], weights["out"]
        pairs = [(a, b) for a in range(SQUARE) for b in range(a, SQUARE)]
        size = SQUARE * SQUARE
        self.value: list[list[int]] = []  # by horizon and key: of the column
        for row in horizons:
            square = [row[0]] * size
            for (a, b), value in zip(pairs, row, strict=True):
                square[SQUARE * a + b] = square[SQUARE * b + a] = value
            self.value.append(square)
        starts = range(0, size, SQUARE)
        self.beside = [[square[at : at + KINDS] for at in starts] for square in self.value]
        """By horizon and neighbour: of the column, by the card that comes there."""
        self.over: list[list[list[int]]] = []
        """By horizon and key: what a card changes at most that comes onto a face-up one."""
        self.under: list[list[list[int]]] = []
        """The same, onto a face-down one, which it may also leave to be turned."""
        whole = sum(PACK)
        for square, beside in zip(self.value, self.beside, strict=True):
            means = [sum(map(mul, row, PACK)) // whole for row in beside]
            flips = list(map(sub, means, square[SQUARE * DOWN :]))
            overs, unders = [], []
            for key, value in enumerate(square):
                column = divmod(key, SQUARE)
                shown = [beside[b] for a, b in (column, column[::-1]) if a != DOWN]
                overs.append([min(worth) - value for worth in zip(*shown, strict=True)])
                hidden = [b for a, b in (column, column[::-1]) if a == DOWN][:1]
                unders.append([min(flips[b], worth - value) for b in hidden for worth in beside[b]])
            self.over.append(overs)
            self.under.append(unders)


class PlayNineWalk(LuckWalk):
    _size, _kinds, _pack = CARDS, KIND, PACK

    def __init__(self, hole: Hole, *, seats: int, **dealt: Any) -> None:  # noqa: ANN401 - the rest
        super().__init__(hole, seats=seats, **dealt)
        self._down = [CARDS] * seats
        self._columns = [[SQUARE * DOWN + DOWN] * COLUMNS for _ in range(seats)]
        """By seat, the key of each column: 15 times the upper card and the lower one."""
        self._matched: list[dict[int, int]] = [{} for _ in range(seats)]
        """By seat and value, how many columns are matched."""
        self._uses_of: list[dict[int, list[int]]] = [{} for _ in range(seats)]
        """By seat: what `_uses` has found, as long as its grid stays as it is."""
        self._others_of = {seat: [o for o in self._order if o != seat] for seat in self._order}

    def _begin(self) -> None:
        self._first(self._tables.own, self._tables.first)

    def _drawn(self, seat: int, card: int) -> None:
        uses = self._uses(seat, 0 if self._ended is not None else self._others(seat))
        self._note(LuckKind.DRAW, self._tables.own, seat, uses, card, self._stock)

    def _move(self, seat: int, move: str) -> None:
        super()._move(seat, move)
        if self._ended is None and not self._down[seat]:
            self._ended = seat

    def _act(self, seat: int, word: str, place: str) -> None:
        if word == "tee":
            # Nobody's tee-off knows another's; each card is noted given those before it.
            for at in place.split(" "):
                self._turn(seat, int(at), LuckKind.TEE)
            return
        self._pile.append(self._hand)
        if word == "flip":
            self._turn(seat, int(place), LuckKind.FLIP)

    def _turned(self, seat: int, at: int, kind: LuckKind) -> list[int]:
        horizon = OVER
        if kind is LuckKind.TEE:
            horizon = _HORIZON[_TEED][_TEED]
        elif kind is LuckKind.FLIP:
            horizon = self._horizon(seat, 1)
        beside = self._known[seat][at ^ COLUMNS]
        values: list[int] = self._tables.beside[horizon][beside]
        if columns := self._matched[seat].get(beside):
            values = values.copy()
            values[beside] += BONUS[columns]
        return values

    def _show(self, seat: int, at: int, card: int) -> None:
        known = self._known[seat]
        before, beside, matched = known[at], known[at ^ COLUMNS], self._matched[seat]
        self._down[seat] -= before == DOWN
        known[at] = card
        column = at % COLUMNS
        self._columns[seat][column] = SQUARE * known[column] + known[column + COLUMNS]
        self._uses_of[seat].clear()
        if before == beside != DOWN:
            matched[beside] -= 1
        if card == beside:
            matched[card] = matched.get(card, 0) + 1

    def _others(self, seat: int) -> int:
        """The fewest face-down cards that another seat has."""
        down = self._down
        return min([down[other] for other in self._others_of[seat]])

    def _horizon(self, seat: int, turned: int = 0) -> int:
        """The horizon of a seat behind its move, which turns so many more cards."""
        if self._ended is not None:
            return OVER
        return _HORIZON[self._down[seat] - turned][self._others(seat)]

    def _gains(self, seat: int, before: int) -> list[int]:
        last = self._ended is not None or not self._down[before]
        return self._above_draw(self._uses(seat, 0 if last else self._others(seat)))

    def _uses(self, seat: int, others: int) -> list[int]:
        """By card: what changes if the seat makes the best of it. `others`: the fewest face-down
        cards of another seat, 0 if this turn is the last.
        """
        found = self._uses_of[seat].get(others)
        if found is None:
            self._uses_of[seat][others] = found = self._best(seat, others)
        return found

    def _best(self, seat: int, others: int) -> list[int]:
        """As `_uses`. All is counted from the grid as it is, at the horizon of one card less."""
        columns, tables, down = self._columns[seat], self._tables, self._down[seat]
        now = _HORIZON[down][others] if others else OVER
        after = _HORIZON[down - 1][others] if others else OVER
        before, value = tables.value[now], tables.value[after]
        step = sum([before[key] - value[key] for key in columns])
        unders, overs = tables.under[after], tables.over[now]
        rows = [row for key in columns if (row := unders[key])]
        best = list(map(min, *rows)) if len(rows) > 1 else rows[0]
        rows = [row for key in columns if (row := overs[key])]
        if len(rows) > 1:
            least = map(min, *rows)
            best = [x if x < (y := z + step) else y for x, z in zip(best, least, strict=True)]
        if down == 1:  # it may skip
            best = [min(x, step) for x in best]
        for matched, many in self._matched[seat].items():
            if many:
                best = self._bonus(seat, best, matched, BONUS[many], (now, after, step))
        return best

    def _bonus(
        self, seat: int, best: list[int], matched: int, bonus: int, horizons: tuple[int, int, int]
    ) -> list[int]:
        """`best`, if one more column of a value that is matched counts less by the bonus."""
        now, after, step = horizons
        known, tables = self._known[seat], self._tables
        best = best.copy()
        for at, beside in enumerate(known):
            if beside == matched != (card := known[at ^ COLUMNS]):
                key = SQUARE * card + beside
                if card == DOWN:
                    gained = tables.beside[after][beside][matched] - tables.value[after][key]
                else:
                    gained = tables.beside[now][beside][matched] - tables.value[now][key] + step
                best[matched] = min(best[matched], gained + bonus)
        return best


MEASURE: Final = Measure("play_nine.json", ColumnTables, PlayNineWalk)
