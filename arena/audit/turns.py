"""Turns and discards out of the moves of a hole, without dealing it again.

In both games a turn is one `take`, or `draw` and what is done with the card, or `knock`; in
play-nine every seat tees off before. So turns can be counted without a card being known.

Invariant: moves that no rules would allow make no error; `arena verify` is for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from arena.games.play_nine import CARDS, GAME
from arena.model import HoleRecord

_ALL_UP: Final = (1 << CARDS) - 1
_TURNED_UP: Final = {
    **{f"{word} {at}": 1 << at for word in ("take", "swap", "flip") for at in range(CARDS)},
    **{f"tee {a} {b}": 1 << a | 1 << b for a, b in combinations(range(CARDS), 2)},
}
"""By move of play-nine, which cards lie face up after it, as bits."""


def turns(hole: HoleRecord) -> Iterator[tuple[int, str, str]]:
    """(seat, how its turn began, how it ended) for each whole turn; a tee-off is one."""
    order = hole.order
    place = 0
    moves = iter(hole.moves.split(",") if order else ())
    for first in moves:
        last = next(moves, "") if first == "draw" else first
        if last:
            yield order[place], first, last
            place = (place + 1) % len(order)


def at_cap(game: str, hole: HoleRecord, cap: int) -> bool:
    """Whether nobody ended a hole that was played to its end, so that the turn cap did."""
    # As many turns as the cap allows are at least as many moves: hardly a hole is looked at.
    if hole.moves.count(",") + 1 < cap * len(hole.order):
        return False
    if game != GAME.name:
        return "knock" not in hole.moves
    up = dict.fromkeys(hole.order, 0)
    for seat, _, last in turns(hole):
        up[seat] |= _TURNED_UP.get(last, 0)
    return _ALL_UP not in up.values()


def offers(hole: HoleRecord) -> Iterator[tuple[int, int, bool]]:
    """(who left a discard, who came next, whether that one took it) for each turn.

    What lay there when the hole began was nobody's; who tees off or knocks leaves nothing.
    """
    left_by: int | None = None
    for seat, first, _ in turns(hole):
        if left_by is not None:
            yield left_by, seat, first.startswith("take")
        left_by = None if first.startswith(("tee", "knock")) else seat
