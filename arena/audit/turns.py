"""Find capped holes and offered discards from the moves of a hole, without dealing it again.

Invariant: moves that no rules would allow raise no error; `arena verify` is for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.games.descriptor import Descriptor
from arena.games.turns import turns
from arena.model import HoleRecord


def at_cap(about: Descriptor, hole: HoleRecord, cap: int) -> bool:
    """Whether the turn cap ended a hole that was played to its end."""
    # As many turns as the cap allows are at least as many moves, so nearly all holes stop here.
    if hole.moves.count(",") + 1 < cap * len(hole.order):
        return False
    return not about.was_ended(hole)


def offers(about: Descriptor, hole: HoleRecord) -> Iterator[tuple[int, int, bool]]:
    """(giver, taker, whether it took the card) for each discard that a turn leaves to the next."""
    leaves = {word: about.move(word).discards for word in about.moves}
    left_by: int | None = None
    for seat, first, _ in turns(hole):
        if left_by is not None:
            yield left_by, seat, first.startswith("take")
        left_by = seat if leaves.get(first.split(" ", 1)[0], True) else None
