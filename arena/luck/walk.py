"""Replay a hole move by move and note the luck of each chance event: common to all games.

Theory of operation. The rules play the moves again; the walk keeps what all seats together know:
which cards lie face down or in the stock, as a multiset. Of that multiset every unknown place is an
equally likely draw, whatever was played. After a reshuffle there are two multisets: the new stock
is what the pile was, and what was still face down stays a pool of its own. At each chance event a
game's walk computes what every card that could have come would be worth to a seat (`values`, from
what is known before the card is), and `_note` records by how much the card that did come differs
from the mean over the pool.

Invariant: whole numbers up to a single division an entry, so the same record gives the same bits
everywhere. A card leaves the pool only after it was noted.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from operator import mul

from arena.games import Hole, HoleDeck, IllegalMoveError


class LuckKind(enum.StrEnum):
    PEEK = "peek"
    FIRST = "first"
    TEE = "tee"
    DRAW = "draw"
    FLIP = "flip"
    OUT = "out"
    REVEAL = "reveal"


UNIT = 10_000
"""Of an entry's luck in a stroke: values are hundredths, and so are weights."""

Noted = tuple[int, LuckKind, int, float]
"""Move, kind, seat, luck."""


class LuckWalk:
    """The part of a walk that is common to all games. Cards are numbered by kind, from 0."""

    def __init__(
        self,
        hole: Hole,
        *,
        seats: int,
        order: Sequence[int],
        deck: HoleDeck,
        size: int,
        kinds: Sequence[int],
        pack: Sequence[int],
    ) -> None:
        dealt, players = len(order) * size, len(order)
        cards = [kinds[card] for card in deck.cards]
        self._hole = hole
        self._kinds = kinds
        self._order = order
        self._following = dict(zip(order, (*order[1:], order[0]), strict=True))
        """By seat, the next one to play."""
        self._cards: list[list[int]] = [[] for _ in range(seats)]
        for place, seat in enumerate(order):
            self._cards[seat] = cards[place:dealt:players]
        self._pile = [cards[dealt]]
        self._hidden = list(pack)
        """By kind, how many cards that no seat knows are face down (or in the stock, while
        that is the first one)."""
        self._stock = self._hidden
        """The same of the stock; another list once there was a reshuffle."""
        self._left = len(cards) - dealt - 1
        self._hand = 0
        self._ended: int | None = None
        self._at = 0
        self.noted: list[Noted] = []

    def walk(self, moves: Sequence[str]) -> tuple[int, ...]:
        """All of a hole; its scores by the rules. IllegalMoveError if it isn't a whole hole."""
        hole, move = self._hole, self._move
        self._begin()
        for played in moves:
            acting = hole.to_act()
            if not acting:
                raise IllegalMoveError(f"{played!r} after the end of the hole")
            self._at += 1
            move(acting[0], played)
        if hole.to_act():
            raise IllegalMoveError("the hole was not played to its end")
        self._reveal()
        return hole.scores()

    def _begin(self) -> None:
        """What chance does before the first move."""
        raise NotImplementedError

    def _move(self, seat: int, move: str) -> None:
        raise NotImplementedError

    def _reveal(self) -> None:
        """What chance does after the last move."""
        raise NotImplementedError

    def _note(  # noqa: PLR0917 - called some four hundred times a match
        self,
        kind: LuckKind,
        weight: int,
        seat: int,
        values: Sequence[int],
        card: int,
        pool: Sequence[int],
    ) -> None:
        """`card` has come out of `pool`, which still has it."""
        left = sum(pool)
        luck = weight * (values[card] * left - sum(map(mul, values, pool))) / left
        self.noted.append((self._at, kind, seat, luck))

    def _draw(self, seat: int) -> int:
        """The kind of the card that the seat draws; the stock still counts it."""
        if not self._left:
            self._reshuffle()
        self._hole.apply(seat, "draw")
        card = self._hole.drawn(seat)
        assert card is not None
        self._hand = hand = self._kinds[card]
        return hand

    def _drawn(self, card: int) -> None:
        """The card has left the stock."""
        self._stock[card] -= 1
        self._left -= 1

    def _reshuffle(self) -> None:
        """All of the pile but its top is the new stock; what is face down stays hidden."""
        *rest, top = self._pile
        self._pile = [top]
        self._stock = [0] * len(self._hidden)
        for card in rest:
            self._stock[card] += 1
        self._left = len(rest)
