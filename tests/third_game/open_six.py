"""Open Six: six open cards a player, two rows of three; three equal cards in a row count nothing.

A toy that differs from the arena's games in everything that a descriptor can say: another grid and
pack, no hidden card, no tee-off and no knock, a move of its own (`pass`), no measure of luck, rules
in English alone, no training in batches. A hole ends when a player's cards count at most GOAL.

Pure. Invariant: as in `arena.games.table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from arena.games import Game, HoleDeck
from arena.games.descriptor import Descriptor, Move
from arena.games.table import CardTable
from arena.model import HoleRecord, Play, RatingSettings

CARDS: Final = 6
ACROSS: Final = 3
WILD: Final = 0
GOAL: Final = 12

_TAKE: Final = {f"take {at}": at for at in range(CARDS)}
_SWAP: Final = {f"swap {at}": at for at in range(CARDS)}
_LEGAL_TURN: Final = (*_TAKE, "draw", "pass")
_LEGAL_DRAWN: Final = (*_SWAP, "discard")


class OpenSixView(msgspec.Struct, frozen=True):
    """Everything that there is to know, which everybody does."""

    seat: int
    order: tuple[int, ...]
    phase: Literal["turn", "drawn"]
    grids: tuple[tuple[int, ...], ...]
    discard: int
    pile: tuple[int, ...]
    stock: int
    recycled: tuple[int, ...]
    drawn: int | None
    turns: tuple[int, ...]
    ended_by: int | None


def score_grid(grid: Sequence[int]) -> int:
    """Strokes: the sum of the cards, without rows of three equal ones."""
    rows = [grid[at : at + ACROSS] for at in range(0, len(grid), ACROSS)]
    return sum(sum(row) for row in rows if len(set(row)) > 1)


class OpenSixHole(CardTable):
    """One hole of Open Six in play."""

    def __init__(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> None:
        super().__init__(size=CARDS, seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        self._begin_turn(0)

    def legal(self, seat: int) -> Sequence[str]:
        if seat not in self._acting:
            return ()
        return _LEGAL_TURN if self._hand is None else _LEGAL_DRAWN

    def fallback(self, seat: int) -> str:
        """Pass; a drawn card is discarded."""
        if seat not in self._acting:
            raise self._illegal(seat, "")
        return self.legal(seat)[-1]

    def apply(self, seat: int, move: str) -> None:
        if move not in self.legal(seat):
            raise self._illegal(seat, move)
        if move == "draw":
            self._draw(seat)
        elif move == "pass":
            self._complete(Play(seat, move))
        elif move == "discard":
            assert self._hand is not None
            self._pile.append(self._hand)
            self._complete(Play(seat, move, None, self._hand, (), self._reshuffled))
        else:
            card = self._pile.pop() if self._hand is None else self._hand
            at = int(move.split()[1])
            out, self._cards[seat][at] = self._cards[seat][at], card
            self._pile.append(out)
            self._complete(Play(seat, move, card, out, (), self._reshuffled))

    def _complete(self, play: Play) -> None:
        if self._ended_by is None and score_grid(self._cards[play.seat]) <= GOAL:
            self._ended_by = play.seat
        self._finish(play)

    def view(self, seat: int) -> OpenSixView:
        return OpenSixView(
            seat,
            self._order,
            "turn" if self._hand is None else "drawn",
            tuple(map(tuple, self._cards)),
            self._pile[-1],
            tuple(self._pile),
            self._stock_left,
            self._recycled_for(seat),
            self.drawn(seat),
            tuple(self._turns),
            self._ended_by,
        )

    def events(self, seat: int, start: int) -> Sequence[Play]:
        """Plays from number `start` on; a card that was drawn and laid is open."""
        return self._plays[start:]

    def scores(self) -> tuple[int, ...]:
        return tuple(map(score_grid, self.grids()))


def _reached_the_goal(hole: HoleRecord) -> bool:
    return min(hole.scores[seat] for seat in hole.order) <= GOAL


DESCRIPTOR: Final = Descriptor(
    name="open-six",
    title="Open Six",
    cards=CARDS,
    across=ACROSS,
    labels={WILD: "W"},
    strokes=int,
    moves=("take", "draw", "pass", "swap", "discard"),
    own_moves={
        "pass": Move(
            phase="turn",
            now="lets the turn pass",
            past="let the turn pass",
            brief="passed",
            shape="pass",
            offer="no card at all",
            discards=False,
        )
    },
    was_ended=_reached_the_goal,
    rules="""\
Six open cards in two rows of three; fewest strokes in nine holes win. In turn
take the pile's card or draw one, and lay it onto any of yours; or pass. Three
equal cards in a row count nothing. A hole ends one turn after somebody's cards
count 12 or less.""",
    rating=RatingSettings(draw_probability=0.02, forfeit_margin=90.0, event_sd=15.0),
)


def pack(seats: int) -> tuple[int, ...]:
    """Six each of 1 to 9 and two wild ones (0); twice that for more than two players."""
    packs = 1 if seats == 2 else 2
    return (WILD,) * 2 * packs + tuple(card for card in range(1, 10) for _ in range(6 * packs))


GAME: Final = Game(
    about=DESCRIPTOR,
    version=1,
    min_seats=2,
    max_seats=4,
    turn_cap=30,
    view_type=OpenSixView,
    pack=pack,
    deal=OpenSixHole,
)
