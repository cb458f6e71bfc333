"""A view as numbers, and moves as numbers: the same in training and in a bot.

It needs the standard library alone, so that a copy of this file can lie beside a bot:
`observe(message["view"])` there is what the policy was trained on.

An observation is a list of small whole numbers, its fields in the order of `fields(game, seats)`.
Seats come in the order of play from the observer's own on, clockwise. A card is a code: 0 is none
or unknown; -5 is 1 and n is n + 2 in a game that has such cards, else n is n.

Invariant: a function of the view alone, so it tells nothing that its seat may not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, combinations
from typing import Any, NamedTuple


class Shape(NamedTuple):
    """What a game's views and moves are made of: all that a game adds to this file."""

    cards: int  # of one seat
    codes: int  # different cards; their codes are 1 to this
    shift: int  # from a card to its code
    known: bool  # whether views say who knows a card
    moves: tuple[str, ...]  # an action is the index of its move


def _at(word: str, cards: int) -> list[str]:
    return [f"{word} {at}" for at in range(cards)]


_TEES = [f"tee {a} {b}" for a, b in combinations(range(8), 2)]
_NINE = (*_TEES, *_at("take", 8), "draw", *_at("swap", 8), *_at("flip", 8), "skip")
_FOUR = (*_at("take", 4), "draw", *_at("swap", 4), "discard", "knock")
SHAPES: Mapping[str, Shape] = {
    "play-nine": Shape(8, 14, 2, known=False, moves=_NINE),
    "four-card-golf": Shape(4, 13, 0, known=True, moves=_FOUR),
}
MOVES: Mapping[str, tuple[str, ...]] = {game: shape.moves for game, shape in SHAPES.items()}

PHASES = ("tee", "turn", "drawn")
LETTERS = "nora"
"""Letters of `known` in a view, for a card known to: no seat, its owner (r: see `fields`), all."""

_BY_VIEW = {(shape.cards, shape.known): shape for shape in SHAPES.values()}
_ACTIONS = {game: {move: at for at, move in enumerate(moves)} for game, moves in MOVES.items()}


def encode(game: str, move: str) -> int:
    return _ACTIONS[game][move]


def decode(game: str, action: int) -> str:
    return MOVES[game][action]


def mask(game: str, legal: Iterable[str]) -> list[int]:
    """By action: 1 if it is among the `legal` moves, else 0."""
    actions = _ACTIONS[game]
    allowed = [0] * len(actions)
    for move in legal:
        allowed[actions[move]] = 1
    return allowed


def fields(game: str, seats: int) -> dict[str, slice]:
    """Where what is in an observation.

    `phase`: 0 tee-off, 1 turn, 2 a card is drawn. `discard`, `drawn`: codes. `stock`: how many
    cards. `place`: how many play before the observer in a round. `ended`: who ended the hole,
    0 no seat, 1 the seat to the observer's left, 2 the next, …, last the observer. `turns`: begun,
    by seat. `grids`: codes by seat and position. `known`, if views have it: who knows the card,
    0 no seat, 1 its owner, 2 its owner and it is from the present, reshuffled stock, 3 all. `pile`,
    `recycled`: how many cards of each code, from code 1 on.
    """
    shape = SHAPES[game]
    cards, codes = seats * shape.cards, shape.codes
    widths = dict.fromkeys(("phase", "discard", "drawn", "stock", "place", "ended"), 1)
    widths |= {"turns": seats, "grids": cards, **({"known": cards} if shape.known else {})}
    widths |= {"pile": codes, "recycled": codes}
    ends = [*accumulate(widths.values())]
    return {name: slice(end - widths[name], end) for name, end in zip(widths, ends, strict=True)}


def size(game: str, seats: int) -> int:
    return int(fields(game, seats)["recycled"].stop)


def observe(view: Mapping[str, Any]) -> list[int]:
    """A view, as `act` carries it, as numbers."""
    known: Sequence[str] | None = view.get("known")
    cards, codes, shift, *_ = _BY_VIEW[max(map(len, view["grids"])), known is not None]
    seat, order, ended_by = view["seat"], view["order"], view["ended_by"]
    seats = len(view["turns"])
    clockwise = [*range(seat, seats), *range(seat)]

    def code(card: int | None) -> int:
        return 0 if card is None else 1 if card < 0 else card + shift

    def counts(held: Iterable[int]) -> list[int]:
        number = [0] * (codes + 1)
        for card in held:
            number[code(card)] += 1
        return number[1:]

    numbers = [
        PHASES.index(view["phase"]),
        code(view["discard"]),
        code(view["drawn"]),
        view["stock"],
        order.index(seat),
        0 if ended_by is None else (ended_by - seat - 1) % seats + 1,
        *(view["turns"][other] for other in clockwise),
    ]
    for other in clockwise:  # a seat that sits out a playoff has no cards
        numbers += map(code, view["grids"][other] or [None] * cards)
    if known is not None:
        for other in clockwise:
            numbers += map(LETTERS.index, known[other] or LETTERS[0] * cards)
    return [*numbers, *counts(view["pile"]), *counts(view["recycled"])]
