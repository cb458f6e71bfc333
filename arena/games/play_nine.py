"""Play Nine: eight cards a player, two rows of four, matching columns cancel.

The rules are those of protocol/SPEC.md, section 4. Tee-offs are kept as moves until the last.

Invariant: `_shown` equals `_cards` where a card is face up and is None where it is face down;
bit i of `_down[seat]` says the same, and `_rows` is `_shown` as tuples for views, rebuilt when a
card is turned, since many views are made between two cards of one seat.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final, Literal

import msgspec

from arena.games import Game, HoleDeck
from arena.games.descriptor import Descriptor, text_of
from arena.games.table import CardTable, turns
from arena.model import HoleRecord, Play, RatingSettings

CARDS: Final = 8
COLUMNS: Final = 4
HOLE_IN_ONE: Final = -5

_MATCHED: Final = (0, 0, -10, -15, -20)
"""Strokes by the number of matched columns of one value; for a Hole-in-One, the bonus."""
_ALL_DOWN: Final = (1 << CARDS) - 1
_ALL_BUT: Final = tuple(_ALL_DOWN & ~(1 << at) for at in range(CARDS))

_TEE: Final = {f"tee {a} {b}": (a, b) for a, b in combinations(range(CARDS), 2)}
_TAKE: Final = {f"take {at}": at for at in range(CARDS)}
_SWAP: Final = {f"swap {at}": at for at in range(CARDS)}
_FLIP: Final = {f"flip {at}": at for at in range(CARDS)}
_LEGAL_TEE: Final = tuple(_TEE)
_LEGAL_TURN: Final = (*_TAKE, "draw")


def _legal_drawn(down: int) -> tuple[str, ...]:
    flips = [move for move, at in _FLIP.items() if down >> at & 1]
    return (*_SWAP, *flips, *(["skip"] if len(flips) == 1 else []))


_LEGAL_DRAWN: Final = tuple(map(_legal_drawn, range(_ALL_DOWN + 1)))
"""By the mask of face-down cards."""


class PlayNineView(msgspec.Struct, frozen=True):
    """What a seat knows; the fields are those of protocol/SPEC.md."""

    seat: int
    order: tuple[int, ...]
    phase: Literal["tee", "turn", "drawn"]
    grids: tuple[tuple[int | None, ...], ...]
    discard: int
    pile: tuple[int, ...]
    stock: int
    recycled: tuple[int, ...]
    drawn: int | None
    turns: tuple[int, ...]
    ended_by: int | None


def score_grid(grid: Sequence[int]) -> int:
    """Strokes of a grid of eight known cards (0 for the empty grid of a seat that sat out)."""
    strokes = sum(grid)
    matched: dict[int, int] = {}
    for top, bottom in zip(grid[:COLUMNS], grid[COLUMNS:], strict=True):
        if top == bottom:
            matched[top] = matched.get(top, 0) + 1
    for value, columns in matched.items():
        strokes += _MATCHED[columns]
        if value != HOLE_IN_ONE:
            strokes -= 2 * columns * value
    return strokes


class PlayNineHole(CardTable):
    def __init__(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> None:
        super().__init__(size=CARDS, seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        self._down = [_ALL_DOWN] * seats
        self._shown: list[list[int | None]] = [[None] * len(cards) for cards in self._cards]
        self._rows = [tuple(shown) for shown in self._shown]
        self._tees: dict[int, str] = {}
        self._teeing = True
        self._acting = self._order

    def legal(self, seat: int) -> Sequence[str]:
        if seat not in self._acting:
            return ()
        if self._teeing:
            return _LEGAL_TEE
        if self._hand is None:
            return _LEGAL_TURN
        return _LEGAL_DRAWN[self._down[seat]]

    def fallback(self, seat: int) -> str:
        """Tee off with the first two cards; draw, then flip the first face-down card."""
        legal = self.legal(seat)
        if not legal:
            raise self._illegal(seat, "")
        if self._teeing:
            return legal[0]
        if self._hand is None:
            return "draw"
        # The swaps come first; a seat that is to act has a face-down card left.
        return legal[CARDS]

    def apply(self, seat: int, move: str) -> None:
        if seat not in self._acting:
            raise self._illegal(seat, move)
        if self._teeing:
            self._tee_off(seat, move)
        elif self._hand is not None:
            self._use_drawn(seat, move, self._hand)
        elif move == "draw":
            self._draw(seat)
        elif (at := _TAKE.get(move)) is not None:
            self._replace(seat, move, at, self._pile.pop())
        else:
            raise self._illegal(seat, move)

    def view(self, seat: int) -> PlayNineView:
        hand = self._hand
        return PlayNineView(
            seat,
            self._order,
            "tee" if self._teeing else "turn" if hand is None else "drawn",
            tuple(self._rows),
            self._pile[-1],
            tuple(self._pile),
            self._stock_left,
            self._recycled_for(seat) if self._reshuffles else (),
            hand if seat in self._acting else None,
            tuple(self._turns),
            self._ended_by,
        )

    def events(self, seat: int, start: int) -> Sequence[Play]:  # noqa: ARG002 - the contract's
        """Plays from number `start` on: in this game the same for every seat."""
        return self._plays[start:]

    def scores(self) -> tuple[int, ...]:
        return tuple(map(score_grid, self.grids()))

    def _tee_off(self, seat: int, move: str) -> None:
        if move not in _TEE:
            raise self._illegal(seat, move)
        self._tees[seat] = move
        self._acting = tuple(other for other in self._acting if other != seat)
        if self._acting:
            return
        self._teeing = False
        for player in self._order:
            tee = self._tees[player]
            first, second = (self._turn_up(player, at) for at in _TEE[tee])
            self._plays.append(Play(player, tee, cards=(first, second)))
        self._begin_turn(0)

    def _use_drawn(self, seat: int, move: str, drawn: int) -> None:
        if (at := _SWAP.get(move)) is not None:
            self._replace(seat, move, at, drawn)
            return
        down = self._down[seat]
        if (at := _FLIP.get(move)) is not None and down >> at & 1:
            self._pile.append(drawn)
            self._reveal(seat, move, at, drawn)
        elif move == "skip" and down.bit_count() == 1:
            self._pile.append(drawn)
            self._finish(Play(seat, move, None, drawn, (), self._reshuffled))
        else:
            raise self._illegal(seat, move)

    def _replace(self, seat: int, move: str, at: int, card: int) -> None:
        """Lay a card face up; what lay there goes onto the pile, seen by all."""
        cards = self._cards[seat]
        self._pile.append(out := cards[at])
        cards[at] = card
        self._reveal(seat, move, at, out)

    def _reveal(self, seat: int, move: str, at: int, out: int) -> None:
        """Turn up what lies there now, which completes the turn; `out` has gone onto the pile."""
        card = self._turn_up(seat, at)
        if not self._down[seat] and self._ended_by is None:
            self._ended_by = seat
        self._finish(Play(seat, move, card, out, (), self._reshuffled))

    def _turn_up(self, seat: int, at: int) -> int:
        card = self._cards[seat][at]
        shown = self._shown[seat]
        shown[at] = card
        self._rows[seat] = tuple(shown)
        self._down[seat] &= _ALL_BUT[at]
        return card


_TURNED_UP: Final = {
    **{move: 1 << at for moves in (_TAKE, _SWAP, _FLIP) for move, at in moves.items()},
    **{move: 1 << a | 1 << b for move, (a, b) in _TEE.items()},
}
"""By move, which cards lie face up after it, as bits."""


def _went_out(hole: HoleRecord) -> bool:
    up = dict.fromkeys(hole.order, 0)
    for seat, _, last in turns(hole):
        up[seat] |= _TURNED_UP.get(last, 0)
    return _ALL_DOWN in up.values()


DESCRIPTOR: Final = Descriptor(
    name="play-nine",
    title="Play Nine",
    titles={"ja": "プレイナイン"},
    cards=CARDS,
    across=COLUMNS,
    strokes=int,
    moves=("tee", "take", "draw", "swap", "flip", "skip"),
    refusals={"knock": "no-knock", "discard": "flip-instead"},
    was_ended=_went_out,
    rules=text_of("rules/play-nine.txt"),
    # Between the greedy bot and the matcher 1.3 % of rated deals tie, and a match's difference has
    # a standard deviation of 35 strokes (41 between other bots, of which the margin is three);
    # event_sd is the median over all pairs of example bots, 22.6.
    rating=RatingSettings(draw_probability=0.01, forfeit_margin=123.0, event_sd=23.0),
    luck="arena.luck.play_nine:MEASURE",
    judge="arena.regret.play_nine:JUDGE",
    twins=((0.52, 100), (0.76, 1000)),
    vector="arena.rl.vector.play_nine:PlayNineEnv",
)


def pack(seats: int) -> tuple[int, ...]:  # noqa: ARG001 - one pack for any number
    """Four Hole-in-One, then eight each of Mulligan (0) to Out of Bounds (12)."""
    return (HOLE_IN_ONE,) * 4 + tuple(value for value in range(13) for _ in range(8))


GAME: Final = Game(
    about=DESCRIPTOR,
    version=1,
    min_seats=2,
    max_seats=6,
    turn_cap=60,
    view_type=PlayNineView,
    pack=pack,
    deal=PlayNineHole,
)
