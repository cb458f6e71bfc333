"""A game that somebody looks on at: plays as another one does, and tells what is played.

For watching a match, and for going through a recorded one. Where each card lies, whoever knows it,
follows from the deck and the moves; the games themselves give it away to nobody.

Invariant: what is played is what would be played without an onlooker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from arena.games import Game, Hole, HoleDeck
from arena.model import Frozen


class Moved(Frozen, frozen=True, kw_only=True):
    """One move, as somebody sees it who sees all cards."""

    seat: int
    move: str
    drawn: int | None
    """The card in hand: the one that was used, or that was drawn just now."""
    top: int
    """The top of the pile before it."""
    before: int | None
    """What lay at the move's position, if it names one, and has left it or been turned."""


class Onlooker(Protocol):
    """Follows a match while it is played."""

    def moved(self, followed: Followed, moved: Moved) -> None:
        """A move has been played."""

    def fallen(self, seat: int) -> None:
        """A seat has forfeited; what is played for it from now on is the game's fallback."""


class Followed:
    """A `Game`; `moved` is called after each move, `hole` is the one in play."""

    def __init__(self, game: Game, moved: Callable[[Followed, Moved], None] | None = None) -> None:
        self.about = game.about
        self.name = game.name
        self.version = game.version
        self.min_seats = game.min_seats
        self.max_seats = game.max_seats
        self.turn_cap = game.turn_cap
        self.view_type = game.view_type
        self.pack = game.pack
        self._game = game
        self._moved = moved
        self.holes = 0
        """Holes that have begun."""
        self.order: Sequence[int] = ()
        self.cards: list[list[int]] = []
        """By seat and position, face up or down."""
        self.moves: list[str] = []
        """Of the hole in play."""
        self.hole: Hole | None = None

    def start(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> Hole:
        """Deal a hole that is followed."""
        hole = self._game.start(seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        size = max(map(len, hole.view(order[0]).grids))
        dealt, players = len(order) * size, len(order)
        self.cards = [[] for _ in range(seats)]
        for place, seat in enumerate(order):
            self.cards[seat] = list(deck.cards[place:dealt:players])
        self.holes += 1
        self.order = tuple(order)
        self.moves = []
        self.hole = hole
        return _FollowedHole(hole, self)

    def note(self, seat: int, move: str, top: int, drawn: int | None) -> None:
        """A move has been played."""
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
        if self._moved is not None:
            self._moved(self, Moved(seat=seat, move=move, drawn=drawn, top=top, before=before))


class _FollowedHole:
    """A `Hole` that tells of each move."""

    def __init__(self, hole: Hole, follower: Followed) -> None:
        self._hole = hole
        self._follower = follower
        self.to_act = hole.to_act
        self.legal = hole.legal
        self.fallback = hole.fallback
        self.drawn = hole.drawn
        self.events = hole.events
        self.scores = hole.scores
        self.grids = hole.grids

    def view(self, seat: int) -> Any:  # noqa: ANN401 - as in the contract
        """What the seat may know."""
        return self._hole.view(seat)

    def apply(self, seat: int, move: str) -> None:
        """Play a move, then tell of it."""
        hole = self._hole
        drawn, top = hole.drawn(seat), hole.view(seat).discard
        hole.apply(seat, move)
        self._follower.note(seat, move, top, drawn)
