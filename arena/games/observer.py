"""A game that reports every move to an observer, with all cards of the table.

For watching a match and for going through a recorded one. Where each card lies follows from the
deck and the moves; the games themselves reveal no hidden card.

Invariant: an observed match is played as it would be without an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Protocol

from arena.games import Game, Hole, HoleDeck
from arena.model import Frozen


class ObservedMove(Frozen, frozen=True, kw_only=True):
    """One move, with the cards that its seat or others may not know."""

    seat: int
    move: str
    drawn: int | None  # the card in hand: the one that was used, or that was drawn just now
    top: int  # the top of the pile before the move
    before: int | None
    """The card at the move's position, if it names one: it has been replaced or turned."""


class Observer(Protocol):
    def moved(self, game: ObservedGame, move: ObservedMove) -> None:
        """A move has been played."""

    def fallen(self, seat: int) -> None:
        """A seat has forfeited; from now on the game's fallback plays for it."""


class ObservedGame(Game):
    """A `Game` that calls `report` after each move; `hole` is the one in play."""

    def __init__(
        self, game: Game, report: Callable[[ObservedGame, ObservedMove], None] | None = None
    ) -> None:
        super().__init__(**{field.name: getattr(game, field.name) for field in fields(Game)})
        self._report = report
        self.holes = 0  # how many holes have begun
        self.order: Sequence[int] = ()
        self.cards: list[list[int]] = []  # by seat and position, face up or down
        self.moves: list[str] = []  # of the hole in play
        self.hole: Hole | None = None

    def start(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> Hole:
        hole = super().start(seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        dealt, players = len(order) * self.about.cards, len(order)
        self.cards = [[] for _ in range(seats)]
        for place, seat in enumerate(order):
            self.cards[seat] = list(deck.cards[place:dealt:players])
        self.holes += 1
        self.order = tuple(order)
        self.moves = []
        self.hole = hole
        return _ObservedHole(hole, self)

    def note(self, seat: int, move: str, top: int, drawn: int | None) -> None:
        assert self.hole is not None
        self.moves.append(move)
        word, *places = move.split(" ")
        cards = self.cards[seat]
        before = cards[int(places[0])] if len(places) == 1 else None
        if word == "take":
            cards[int(places[0])] = top
        elif word == "swap":
            assert drawn is not None
            cards[int(places[0])] = drawn
        elif word == "draw":
            drawn = self.hole.drawn(seat)
        if self._report is not None:
            seen = ObservedMove(seat=seat, move=move, drawn=drawn, top=top, before=before)
            self._report(self, seen)


class _ObservedHole:
    def __init__(self, hole: Hole, game: ObservedGame) -> None:
        self._hole = hole
        self._game = game
        self.to_act = hole.to_act
        self.view = hole.view
        self.legal = hole.legal
        self.fallback = hole.fallback
        self.drawn = hole.drawn
        self.events = hole.events
        self.scores = hole.scores
        self.grids = hole.grids

    def apply(self, seat: int, move: str) -> None:
        hole = self._hole
        drawn, top = hole.drawn(seat), hole.view(seat).discard
        hole.apply(seat, move)
        self._game.note(seat, move, top, drawn)
