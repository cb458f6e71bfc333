"""Split the moves of a recorded hole into turns, without dealing it again.

A turn is one move, or `draw` and the move that uses the card; a tee-off is a turn.

Invariant: moves that no rules would allow raise no error; `arena verify` is for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.model import HoleRecord


def turns(hole: HoleRecord) -> Iterator[tuple[int, str, str]]:
    """(seat, first move, last move) for each completed turn."""
    order = hole.order
    place = 0
    moves = iter(hole.moves.split(",") if order else ())
    for first in moves:
        last = next(moves, "") if first == "draw" else first
        if last:
            yield order[place], first, last
            place = (place + 1) % len(order)
