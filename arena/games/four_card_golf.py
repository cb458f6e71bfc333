"""Four-card golf: four face-down cards a player, kings are 0, a knock ends the hole.

The rules are those of protocol/SPEC.md, section 5. Each card is known to no player, to its owner
alone (peeked at, or placed from the stock) or to all (placed from the pile); which of these, the
letter in `known`, is public. A card that its owner placed from a reshuffled stock (letter r) is one
of those that everybody saw go in; it stays among the `recycled` of the others until it comes out.

Invariant: `_own` and `_public` equal `_cards` where the owner or everybody knows the card and
are None elsewhere; `_known` says which. They are rebuilt when a card is placed, in the form that
views show, since many views are made between two cards of one seat.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from arena.games import Game, HoleDeck
from arena.games.descriptor import Descriptor, text_of
from arena.games.table import CardTable
from arena.model import Play, RatingSettings

CARDS: Final = 4
RANKS: Final = 13
SUITS: Final = 4
ONE_PACK: Final = 4  # the most players that one pack serves
NOBODY, OWNER, OWNER_RECYCLED, ALL = "nora"

_FAR: Final = 2
_POINTS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)  # by rank; there is no rank 0

_TAKE: Final = {f"take {at}": at for at in range(CARDS)}
_SWAP: Final = {f"swap {at}": at for at in range(CARDS)}
_LEGAL_TURN: Final = (*_TAKE, "draw", "knock")
_LEGAL_LAST_TURN: Final = (*_TAKE, "draw")
_LEGAL_DRAWN: Final = (*_SWAP, "discard")


class FourCardView(msgspec.Struct, frozen=True):
    """What a seat knows; the fields are those of protocol/SPEC.md."""

    seat: int
    order: tuple[int, ...]
    phase: Literal["turn", "drawn"]
    grids: tuple[tuple[int | None, ...], ...]
    known: tuple[str, ...]
    discard: int
    pile: tuple[int, ...]
    stock: int
    recycled: tuple[int, ...]
    drawn: int | None
    turns: tuple[int, ...]
    ended_by: int | None


def score_grid(grid: Sequence[int]) -> int:
    """Points of known cards (0 for the empty grid of a seat that sat out)."""
    return sum(_POINTS[rank] for rank in grid)


class FourCardHole(CardTable):
    def __init__(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> None:
        super().__init__(size=CARDS, seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        self._own: list[tuple[int | None, ...]] = [()] * seats
        self._public: list[tuple[int | None, ...]] = [()] * seats
        self._known: list[str] = [""] * seats
        for seat in order:
            self._own[seat] = (None, None, *self._cards[seat][_FAR:])
            self._public[seat] = (None,) * CARDS
            self._known[seat] = NOBODY * _FAR + OWNER * (CARDS - _FAR)
        self._plays_own: list[Play] = []
        """The log again, each play as the seat that made it knows it."""
        self._begin_turn(0)

    def legal(self, seat: int) -> Sequence[str]:
        if seat not in self._acting:
            return ()
        if self._hand is not None:
            return _LEGAL_DRAWN
        return _LEGAL_TURN if self._ended_by is None else _LEGAL_LAST_TURN

    def fallback(self, seat: int) -> str:
        if seat not in self._acting:
            raise self._illegal(seat, "")
        return "draw" if self._hand is None else "discard"

    def apply(self, seat: int, move: str) -> None:
        if seat not in self._acting:
            raise self._illegal(seat, move)
        if self._hand is not None:
            self._use_drawn(seat, move, self._hand)
        elif move == "draw":
            self._draw(seat)
        elif (at := _TAKE.get(move)) is not None:
            card = self._pile.pop()
            out = self._place_card(seat, at, card, card, ALL)
            self._complete(Play(seat, move, card, out))
        elif move == "knock" and self._ended_by is None:
            self._ended_by = seat
            self._complete(Play(seat, move))
        else:
            raise self._illegal(seat, move)

    def view(self, seat: int) -> FourCardView:
        hand = self._hand
        grids = self._public.copy()
        grids[seat] = self._own[seat]
        return FourCardView(
            seat,
            self._order,
            "turn" if hand is None else "drawn",
            tuple(grids),
            tuple(self._known),
            self._pile[-1],
            tuple(self._pile),
            self._stock_left,
            self._recycled_for(seat, self._recycled_of_others(seat)) if self._reshuffles else (),
            hand if seat in self._acting else None,
            tuple(self._turns),
            self._ended_by,
        )

    def events(self, seat: int, start: int) -> Sequence[Play]:
        plays = zip(self._plays[start:], self._plays_own[start:], strict=True)
        return [own if own.seat == seat else public for public, own in plays]

    def scores(self) -> tuple[int, ...]:
        return tuple(map(score_grid, self.grids()))

    def _use_drawn(self, seat: int, move: str, drawn: int) -> None:
        if (at := _SWAP.get(move)) is not None:
            knows = OWNER_RECYCLED if self._reshuffles else OWNER
            out = self._place_card(seat, at, drawn, None, knows)
            self._complete(
                Play(seat, move, None, out, (), self._reshuffled),
                Play(seat, move, drawn, out, (), self._reshuffled),
            )
        elif move == "discard":
            self._pile.append(drawn)
            self._complete(Play(seat, move, None, drawn, (), self._reshuffled))
        else:
            raise self._illegal(seat, move)

    def _place_card(self, seat: int, at: int, card: int, public: int | None, knows: str) -> int:
        """Lay a card that its owner knows; what lay there goes onto the pile, seen by all."""
        cards, after = self._cards[seat], at + 1
        self._pile.append(out := cards[at])
        cards[at] = card
        own, shown, known = self._own[seat], self._public[seat], self._known[seat]
        self._own[seat] = (*own[:at], card, *own[after:])
        self._public[seat] = (*shown[:at], public, *shown[after:])
        self._known[seat] = known[:at] + knows + known[after:]
        return out

    def _complete(self, public: Play, own: Play | None = None) -> None:
        self._plays_own.append(own or public)
        self._finish(public)

    def _reshuffle(self, drawing: int) -> None:
        super()._reshuffle(drawing)
        self._known = [letters.replace(OWNER_RECYCLED, OWNER) for letters in self._known]

    def _recycled_of_others(self, seat: int) -> list[int]:
        """Cards that others placed from the present, reshuffled stock and that are still down."""
        return [
            card
            for other, letters in enumerate(self._known)
            if other != seat and OWNER_RECYCLED in letters
            for card, letter in zip(self._cards[other], letters, strict=True)
            if letter == OWNER_RECYCLED
        ]


DESCRIPTOR: Final = Descriptor(
    name="four-card-golf",
    title="Four-Card Golf",
    titles={
        "es": "Golf de cuatro cartas",
        "fr": "Golf à quatre cartes",
        "it": "Golf a quattro carte",
        "ja": "フォーカードゴルフ",
    },
    cards=CARDS,
    across=_FAR,
    labels={1: "A", 11: "J", 12: "Q", 13: "K"},
    strokes=_POINTS.__getitem__,
    moves=("take", "draw", "swap", "discard", "knock"),
    refusals={"tee": "no-tee", "flip": "no-flip", "skip": "discard-instead"},
    ended="knocked",
    was_ended=lambda hole: "knock" in hole.moves,
    rules=text_of("rules/four-card-golf.txt"),
    # Measured as play-nine's: 5 % ties, 19 strokes, 8.7.
    rating=RatingSettings(draw_probability=0.05, forfeit_margin=56.0, event_sd=9.0),
    luck="arena.luck.four_card_golf:MEASURE",
    judge="arena.regret.four_card_golf:JUDGE",
    twins=((0.68, 100), (0.86, 500)),
    vector="arena.rl.vector.four_card_golf:FourCardEnv",
)


def pack(seats: int) -> tuple[int, ...]:
    """Four each of ace (1) to king (13); twice that from five players on."""
    packs = 1 if seats <= ONE_PACK else 2
    return tuple(rank for rank in range(1, RANKS + 1) for _ in range(SUITS * packs))


GAME: Final = Game(
    about=DESCRIPTOR,
    version=1,
    min_seats=2,
    max_seats=8,
    turn_cap=30,
    view_type=FourCardView,
    pack=pack,
    deal=FourCardHole,
)
