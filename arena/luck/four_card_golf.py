"""The luck of a hole of four-card golf: the value of a hand, and how chance events change it.

The value of a hand, four cards that some seat knows or not, was learned from games, by the hand and
by the class of the best hand among the others: the seat that is ahead knocks. After a knock a hand
is worth its cards, an unknown one counting as a mean card. What a card makes of a hand also changes
what the others are worth, by their class; a card that no seat knew, when it goes to the pile, is
worth to the next seat what it gains over the mean of a draw.

Cards by kind are their points, 0 to 10; 11 is an unknown card. A hand is coded by how many it has
of each kind, three bits a kind.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, Final

from arena.games import Hole
from arena.games.four_card_golf import CARDS
from arena.luck import Measure
from arena.luck.walk import LuckKind, LuckWalk

KINDS: Final = 11
UNKNOWN: Final = KINDS
KIND: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)  # by rank; there is no rank 0
PACK: Final = (*[4] * 10, 12)
NEAR: Final = (2, 3)

POINTS: Final = (*range(0, 1100, 100), 654)
"""By kind, in hundredths; an unknown card is worth the pack's mean."""
CODE: Final = tuple(8**kind for kind in range(KINDS + 1))
CLASSES: Final = (500, 800, 1100, 1500, 2000)
"""A hand is of the first class whose number it doesn't exceed, or of one more."""
LAST: Final = len(CLASSES) + 1  # the class for whom this turn is the last

_PLAIN: Final = {
    sum(CODE[kind] for kind in hand): sum(POINTS[kind] for kind in hand)
    for hand in combinations_with_replacement(range(KINDS + 1), CARDS)
}
HANDS: Final = tuple(_PLAIN)
CLASS: Final = {hand: bisect_left(CLASSES, points) for hand, points in _PLAIN.items()}
_NONE: Final = CARDS * CODE[UNKNOWN]

Best = tuple[list[int], list[int]]  # by card that comes: what the hand is then worth, and the hand


class HandTables:
    def __init__(self, rows: Sequence[Sequence[int]], weights: dict[str, int]) -> None:
        self.own, self.cross = weights["own"], weights["cross"]
        self.out, self.first = weights["out"], weights["first"]
        self.value = [*(dict(zip(HANDS, row, strict=True)) for row in rows), _PLAIN]  # by class
        self.by_class = {hand: [value[hand] for value in self.value[:LAST]] for hand in HANDS}
        self._best: dict[tuple[int, int], Best] = {}  # at most seven thousand, 600 bytes each

    def best(self, group: int, hand: int) -> Best:
        """What each card does to a hand that makes the best of it."""
        if found := self._best.get((group, hand)):
            return found
        value = self.value[group]
        kinds = [kind for kind in range(KINDS + 1) if hand // CODE[kind] % 8]
        worth, hands = self._best[group, hand] = [], []
        for card in range(KINDS):
            least, best = value[hand], hand
            for kind in kinds:
                other = hand - CODE[kind] + CODE[card]
                if value[other] < least:
                    least, best = value[other], other
            worth.append(least)
            hands.append(best)
        return worth, hands


class FourCardWalk(LuckWalk):
    _size, _kinds, _pack = CARDS, KIND, PACK

    def __init__(self, hole: Hole, *, seats: int, **dealt: Any) -> None:  # noqa: ANN401 - the rest
        super().__init__(hole, seats=seats, **dealt)
        self._hands = [_NONE] * seats

    def _begin(self) -> None:
        for seat in self._order:
            for at in NEAR:
                hands, card = self._with_each(seat), self._cards[seat][at]
                self._cross(LuckKind.PEEK, seat, hands, card, self._hidden)
                self._turn(seat, at, LuckKind.PEEK)
        first = self._order[0]
        self._first(self._tables.first, self._gains(first, first))

    def _act(self, seat: int, word: str, place: str) -> None:  # noqa: ARG002 - the others' interface
        if word == "knock":
            self._ended = seat
        else:
            self._pile.append(self._hand)

    def _drawn(self, seat: int, card: int) -> None:
        tables, stock = self._tables, self._stock
        worth, hands = tables.best(self._class(seat), self._hands[seat])
        self._note(LuckKind.DRAW, tables.own, seat, worth, card, stock)
        self._cross(LuckKind.DRAW, seat, hands, card, stock)

    def _turned(self, seat: int, at: int, kind: LuckKind) -> list[int]:  # noqa: ARG002 - any place is alike
        value = self._tables.value[self._class(seat)] if kind is LuckKind.PEEK else _PLAIN
        return [value[hand] for hand in self._with_each(seat)]

    def _with_each(self, seat: int) -> list[int]:
        """By card, the seat's hand if an unknown card of it is that one."""
        without = self._hands[seat] - CODE[UNKNOWN]
        return [without + code for code in CODE[:KINDS]]

    def _show(self, seat: int, at: int, card: int) -> None:
        known = self._known[seat]
        self._hands[seat] += CODE[card] - CODE[known[at]]
        known[at] = card

    def _class(self, seat: int) -> int:
        """The class of the best hand among the others."""
        if self._ended is not None:
            return LAST
        hands = self._hands
        return min([CLASS[hands[other]] for other in self._order if other != seat])

    def _cross(
        self, kind: LuckKind, seat: int, hands: Sequence[int], card: int, pool: Sequence[int]
    ) -> None:
        """What a card does to the others, by card the seat's hand being one of `hands`."""
        if self._ended is not None:
            return
        classes = [CLASS[hand] for hand in hands]
        tables, order = self._tables, self._order
        for other in [each for each in order if each != seat]:
            worth = tables.by_class[self._hands[other]]
            thirds = [CLASS[self._hands[third]] for third in order if third not in (seat, other)]
            limit = min(thirds, default=LAST)
            values = [worth[min(limit, group)] for group in classes]
            self._note(kind, tables.cross, other, values, card, pool)

    def _gains(self, seat: int, before: int) -> list[int]:  # noqa: ARG002 - whoever it is
        worth, _ = self._tables.best(self._class(seat), self._hands[seat])
        return self._above_draw(worth)


MEASURE: Final = Measure("four_card_golf.json", HandTables, FourCardWalk)
