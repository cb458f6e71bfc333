"""The rules of the games, as a library: deal a hole, ask for legal moves, apply, view, score.

A game is a `Game`; a hole in play is an object with the `Hole` interface. Both know nothing of
processes, messages, clocks or tournaments, and are importable
on their own (training a bot needs no more than this package and `arena.deals`).

Invariants, tested for every registered game:
- cards are conserved: the pack is the multiset union of all grids, the pile, the stock and
  the card in hand, after every move;
- while `to_act()` is not empty, every seat in it has at least one legal move;
- every hole ends, by the rules or by the turn cap;
- `view(seat)` and `events(seat, …)` never depend on a card that the seat can't know. They
  are the only ways out for card values before the hole is over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from arena.games.descriptor import Descriptor
from arena.model import Play


class IllegalMoveError(ValueError):
    """The move is not among `legal(seat)`."""


class HoleDeck(Protocol):
    """The randomness of one hole; `arena.deals` makes real ones, tests make their own."""

    @property
    def cards(self) -> Sequence[int]:
        """The shuffled pack in the order of dealing."""

    def reshuffle(self, number: int, cards: Sequence[int]) -> Sequence[int]:
        """A new order for `cards` (given ascending), for reshuffle `number` = 1, 2, … of it."""


class Hole(Protocol):
    """One hole in play. Mutable; not shared between matches."""

    def to_act(self) -> tuple[int, ...]:
        """Seats whose decision is wanted now; several when simultaneous; () when over.

        A seat leaves the tuple as soon as its move is applied; what a simultaneous move
        turned is not visible to others before all have been applied.
        """

    def legal(self, seat: int) -> Sequence[str]:
        """Every legal move of a seat in `to_act()`, in a fixed order."""

    def apply(self, seat: int, move: str) -> None:
        """Play a move; IllegalMoveError (and no change) when it is not legal."""

    def fallback(self, seat: int) -> str:
        """The always-legal move of a seat whose bot has failed."""

    def view(self, seat: int) -> Any:  # noqa: ANN401 - each game has its own msgspec Struct
        """Everything that the seat is entitled to know with perfect memory."""

    def drawn(self, seat: int) -> int | None:
        """The card that the seat has drawn and is to use now."""

    def events(self, seat: int, start: int) -> Sequence[Play]:
        """Plays from number `start` on, as `seat` may see them, its own included."""

    def scores(self) -> tuple[int, ...]:
        """Strokes by seat (0 for seats that take no part); only when the hole is over."""

    def grids(self) -> tuple[tuple[int, ...], ...]:
        """All cards of every seat as revealed at the end; only when the hole is over."""


@dataclass(eq=False, kw_only=True)
class Game:
    """A game of nine holes; what a match is (totals, playoff) is the referee's business."""

    about: Descriptor  # everything about it but its rules
    version: int  # goes up with any change of the rules by which a recorded game would go otherwise
    min_seats: int
    max_seats: int
    turn_cap: int  # the default one
    view_type: type  # the Struct that `Hole.view` returns; the protocol's schema is made from it
    pack: Callable[[int], tuple[int, ...]]
    """The unshuffled pack for a match of that many seats, ascending."""
    deal: Callable[..., Hole]  # deals a hole, with the arguments of `start`

    @property
    def name(self) -> str:
        return self.about.name

    def start(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> Hole:
        """Deal a hole. `order`: the seats that play, the dealer last; in a playoff not all."""
        return self.deal(seats=seats, order=order, deck=deck, turn_cap=turn_cap)
