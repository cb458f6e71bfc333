"""The luck of a hole of four-card golf: the value of a hand, and how chance events change it.

The state is what all seats together know: each hand, four cards that are known or not. Its value
was learned from games, by the hand and by the class of the best hand among the others: the seat
that is ahead knocks. After a knock a hand is worth its cards, an unknown one counting as a mean
card. What a card makes of a hand also changes what the others are worth, by their class; a card
that no seat knew, when it goes to the pile, is worth to the next seat what it gains over the mean
of a draw.

Cards by kind are their points, 0 to 10; 11 is an unknown card. A hand is coded by how many it has
of each kind, three bits a kind.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations_with_replacement
from operator import mul
from typing import Final

from arena.games import Hole, HoleDeck
from arena.games.four_card_golf import CARDS, ONE_PACK
from arena.luck import Measure
from arena.luck.walk import LuckKind, LuckWalk

KINDS: Final = 11
UNKNOWN: Final = KINDS
KIND: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)
"""By rank; there is no rank 0."""
PACK: Final = (*[4] * 10, 12)
NEAR: Final = (2, 3)

POINTS: Final = (*range(0, 1100, 100), 654)
"""By kind, in hundredths; an unknown card is worth the pack's mean."""
CODE: Final = tuple(8**kind for kind in range(KINDS + 1))
CLASSES: Final = (500, 800, 1100, 1500, 2000)
"""A hand is of the first class whose number it doesn't exceed, or of one more."""
LAST: Final = len(CLASSES) + 1
"""The class for whom this turn is the last."""

_PLAIN: Final = {
    sum(CODE[kind] for kind in hand): sum(POINTS[kind] for kind in hand)
    for hand in combinations_with_replacement(range(KINDS + 1), CARDS)
}
HANDS: Final = tuple(_PLAIN)
CLASS: Final = {hand: bisect_left(CLASSES, points) for hand, points in _PLAIN.items()}
_NONE: Final = CARDS * CODE[UNKNOWN]

Best = tuple[list[int], list[int]]
"""By card that comes: what the hand is then worth, and the hand."""


class HandTables:
    def __init__(self, rows: Sequence[Sequence[int]], weights: dict[str, int]) -> None:
        self.own, self.cross = weights["own"], weights["cross"]
        self.out, self.first = weights["out"], weights["first"]
        self.value = [*(dict(zip(HANDS, row, strict=True)) for row in rows), _PLAIN]
        """By class and hand."""
        self.by_class = {hand: [value[hand] for value in self.value[:LAST]] for hand in HANDS}
        """By hand and class."""
        self._best: dict[tuple[int, int], Best] = {}
        """What was asked for: at most seven thousand, 600 bytes each."""

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
    def __init__(
        self, hole: Hole, *, seats: int, order: Sequence[int], deck: HoleDeck, tables: HandTables
    ) -> None:
        packs = 1 if seats <= ONE_PACK else 2
        super().__init__(
            hole,
            seats=seats,
            order=order,
            deck=deck,
            size=CARDS,
            kinds=KIND,
            pack=[packs * cards for cards in PACK],
        )
        self._tables = tables
        self._known = [[UNKNOWN] * CARDS for _ in range(seats)]
        self._hands = [_NONE] * seats

    def _begin(self) -> None:
        tables = self._tables
        for seat in self._order:
            for at in NEAR:
                hands = self._turned(seat)
                value = tables.value[self._class(seat)]
                card = self._cards[seat][at]
                worth = [value[hand] for hand in hands]
                self._note(LuckKind.PEEK, tables.own, seat, worth, card, self._hidden)
                self._cross(LuckKind.PEEK, seat, hands, card, self._hidden)
                self._know(seat, at, card)
        (card,) = self._pile
        first = self._order[0]
        self._note(LuckKind.FIRST, tables.first, first, self._gains(first), card, self._hidden)
        self._hidden[card] -= 1

    def _move(self, seat: int, move: str) -> None:
        if move == "draw":
            self._draws(seat)
            return
        self._hole.apply(seat, move)
        word, _, place = move.partition(" ")
        if word == "knock":
            self._ended = seat
        elif word == "discard":
            self._pile.append(self._hand)
        else:
            self._replace(seat, int(place), self._hand if word == "swap" else self._pile.pop())

    def _reveal(self) -> None:
        for seat in self._order:
            for at, known in enumerate(self._known[seat]):
                if known == UNKNOWN:
                    worth = [_PLAIN[hand] for hand in self._turned(seat)]
                    card = self._cards[seat][at]
                    self._note(LuckKind.REVEAL, self._tables.own, seat, worth, card, self._hidden)
                    self._know(seat, at, card)

    def _draws(self, seat: int) -> None:
        card = self._draw(seat)
        tables, stock = self._tables, self._stock
        worth, hands = tables.best(self._class(seat), self._hands[seat])
        self._note(LuckKind.DRAW, tables.own, seat, worth, card, stock)
        self._cross(LuckKind.DRAW, seat, hands, card, stock)
        self._drawn(card)

    def _replace(self, seat: int, at: int, card: int) -> None:
        cards, known = self._cards[seat], self._known[seat]
        out, was = cards[at], known[at]
        self._hands[seat] += CODE[card] - CODE[was]
        cards[at] = known[at] = card
        if was == UNKNOWN:
            following = self._following[seat]
            if following != self._ended:
                gains = self._gains(following)
                self._note(LuckKind.OUT, self._tables.out, following, gains, out, self._hidden)
            self._hidden[out] -= 1
        self._pile.append(out)

    def _turned(self, seat: int) -> list[int]:
        """By card, the seat's hand if an unknown card of it is that one."""
        without = self._hands[seat] - CODE[UNKNOWN]
        return [without + code for code in CODE[:KINDS]]

    def _know(self, seat: int, at: int, card: int) -> None:
        """A card becomes known to at least one seat."""
        self._hidden[card] -= 1
        self._known[seat][at] = card
        self._hands[seat] += CODE[card] - CODE[UNKNOWN]

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

    def _gains(self, seat: int) -> list[int]:
        """By card, what the seat gains if it lies on the pile in its turn: over the mean draw."""
        worth, _ = self._tables.best(self._class(seat), self._hands[seat])
        stock: Sequence[int] = self._stock if self._left else PACK
        mean = sum(map(mul, worth, stock)) // sum(stock)
        return [value - mean if value < mean else 0 for value in worth]


MEASURE: Final = Measure("four_card_golf.json", HandTables, FourCardWalk)
