"""Replay a hole move by move and note the luck of each chance event: common to all games.

Theory of operation. The rules play the moves again; the walk keeps what all seats together know:
which cards lie face down or in the stock, as a multiset of which every unknown place is an equally
likely draw, whatever was played. After a reshuffle there are two: the new stock is what the pile
was, and what was still face down stays a pool of its own. At each chance event a game's walk
computes what every card that could have come would be worth to a seat (`values`, from what is known
before the card is); `_note` records how far the card that did come is from the pool's mean.

Invariant: whole numbers up to a single division an entry, so the same record gives the same bits
everywhere. A card leaves the pool only after it was noted.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import mul
from typing import Any, ClassVar

from arena.games import Hole, HoleDeck, IllegalMoveError


class LuckKind(enum.StrEnum):
    PEEK = "peek"
    FIRST = "first"
    TEE = "tee"
    DRAW = "draw"
    FLIP = "flip"
    OUT = "out"
    REVEAL = "reveal"


UNIT = 10_000  # of an entry's luck in a stroke: values are hundredths, and so are weights

Noted = tuple[int, LuckKind, int, float]  # move, kind, seat, luck
Tables = Any  # what a game makes of its coefficients: each has its own


class LuckWalk(ABC):
    """The part of a walk that is common to all games. Cards are numbered by kind, from 0."""

    _size: ClassVar[int]  # cards of a seat
    _kinds: ClassVar[Sequence[int]]  # by card
    _pack: ClassVar[Sequence[int]]  # by kind, how many cards

    def __init__(
        self, hole: Hole, *, seats: int, order: Sequence[int], deck: HoleDeck, tables: Tables
    ) -> None:
        dealt, players = len(order) * self._size, len(order)
        cards = [self._kinds[card] for card in deck.cards]
        packs = len(cards) // sum(self._pack)
        self._hole = hole
        self._tables = tables
        self._order = order
        self._following = dict(zip(order, (*order[1:], order[0]), strict=True))
        """By seat, the next one to play."""
        self._cards: list[list[int]] = [[] for _ in range(seats)]
        for place, seat in enumerate(order):
            self._cards[seat] = cards[place:dealt:players]
        self._unknown = len(self._pack)
        self._known = [[self._unknown] * self._size for _ in range(seats)]
        self._pile = [cards[dealt]]
        self._hidden = [packs * cards for cards in self._pack]
        """By kind, cards that no seat knows: face down, or in the stock while it is the first."""
        self._stock = self._hidden  # the same of the stock; another list once there was a reshuffle
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
            if not (acting := hole.to_act()):
                raise IllegalMoveError(f"{played!r} after the end of the hole")
            self._at += 1
            move(acting[0], played)
        if hole.to_act():
            raise IllegalMoveError("the hole was not played to its end")
        for seat in self._order:
            for at, card in enumerate(self._known[seat]):
                if card == self._unknown:
                    self._turn(seat, at, LuckKind.REVEAL)
        return hole.scores()

    @abstractmethod
    def _begin(self) -> None:
        """Note what chance does before the first move."""

    @abstractmethod
    def _drawn(self, seat: int, card: int) -> None:
        """Note the luck of a draw; the stock still counts the card."""

    @abstractmethod
    def _act(self, seat: int, word: str, place: str) -> None:
        """A move that neither draws nor replaces a card."""

    @abstractmethod
    def _turned(self, seat: int, at: int, kind: LuckKind) -> Sequence[int]:
        """By card, what the seat's cards are worth if that is the one that is turned there."""

    @abstractmethod
    def _show(self, seat: int, at: int, card: int) -> None:
        """At least one seat knows the card at a position now."""

    @abstractmethod
    def _gains(self, seat: int, before: int) -> Sequence[int]:
        """By card, what the seat gains if `before` it leaves that one on the pile."""

    def _move(self, seat: int, move: str) -> None:
        if move == "draw":
            if not self._left:
                self._reshuffle()
            self._hole.apply(seat, move)
            card = self._hole.drawn(seat)
            assert card is not None
            self._hand = hand = self._kinds[card]
            self._drawn(seat, hand)
            self._stock[hand] -= 1
            self._left -= 1
            return
        self._hole.apply(seat, move)
        word, _, place = move.partition(" ")
        if word == "swap":
            self._replace(seat, int(place), self._hand)
        elif word == "take":
            self._replace(seat, int(place), self._pile.pop())
        else:
            self._act(seat, word, place)

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

    def _first(self, weight: int, values: Sequence[int]) -> None:
        """Note the luck of the first card of the pile."""
        (card,) = self._pile
        self._note(LuckKind.FIRST, weight, self._order[0], values, card, self._hidden)
        self._hidden[card] -= 1

    def _turn(self, seat: int, at: int, kind: LuckKind) -> None:
        card = self._cards[seat][at]
        values = self._turned(seat, at, kind)
        self._note(kind, self._tables.own, seat, values, card, self._hidden)
        self._hidden[card] -= 1
        self._show(seat, at, card)

    def _replace(self, seat: int, at: int, card: int) -> None:
        out, was = self._cards[seat][at], self._known[seat][at]
        self._cards[seat][at] = card
        self._show(seat, at, card)
        if was == self._unknown:
            following = self._following[seat]
            if following != self._ended:
                gains = self._gains(following, seat)
                self._note(LuckKind.OUT, self._tables.out, following, gains, out, self._hidden)
            self._hidden[out] -= 1
        self._pile.append(out)

    def _above_draw(self, uses: Sequence[int]) -> list[int]:
        """By card, what its use gains over the mean of a draw."""
        stock = self._stock if self._left else self._pack
        mean = sum(map(mul, uses, stock)) // sum(stock)
        return [use - mean if use < mean else 0 for use in uses]

    def _reshuffle(self) -> None:
        """All of the pile but its top is the new stock; what is face down stays hidden."""
        *rest, top = self._pile
        self._pile = [top]
        self._stock = [0] * len(self._hidden)
        for card in rest:
            self._stock[card] += 1
        self._left = len(rest)
