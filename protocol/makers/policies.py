"""How the bots of the transcripts play: a function of the question alone, or by a seeded lot."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from arena.model import FaultKind
from arena.referee import Failure
from arena.wire.messages import Act, Next


def by_lot(seed: int) -> Callable[[Act], str]:
    """A uniformly random, legal move."""
    draw = random.Random(seed)
    return lambda question: draw.choice(question.legal)


def lean(seed: int) -> Callable[[Act | Next], str]:
    """Moves that are always legal, for a bot that isn't told which are."""
    draw = random.Random(seed)

    def move(question: Act | Next) -> str:
        if isinstance(question, Act):
            return draw.choice(question.legal)
        if question.drawn is None:
            return draw.choice(["draw", "take 0", "take 1", "take 2", "take 3"])
        return f"swap {draw.randrange(4)}"

    return move


def plain(question: Any) -> str:
    """Play like a beginner who knows just the rules."""
    view = question.view
    if view.phase == "tee":
        return "tee 0 4"
    card = view.discard if view.drawn is None else view.drawn
    if hasattr(view, "known"):
        at, instead = _of_four(view, card, question.legal)
    else:
        at, instead = _of_eight(view.grids[view.seat], card)
    if at is not None:
        return f"{'take' if view.drawn is None else 'swap'} {at}"
    return "draw" if instead not in question.legal else instead


def _of_eight(grid: tuple[int | None, ...], card: int) -> tuple[int | None, str]:
    """Where to put a card, and what to do without it: keep matches and low cards."""
    down = grid.index(None)
    for at, other in enumerate(grid):
        if other == card and grid[(at + 4) % 8] != card:
            return (at + 4) % 8, ""
    return (down if card <= 3 else None), f"flip {down}"


def _of_four(view: Any, card: int, legal: Any) -> tuple[int | None, str]:
    """The same: replace what counts most, knock with few points."""
    points = [5.5 if rank is None else _points(rank) for rank in view.grids[view.seat]]
    if "knock" in legal and sum(points) <= 15:
        return None, "knock"
    worst = points.index(max(points))
    return (worst if _points(card) + 2 < points[worst] else None), "discard"


def _points(rank: int) -> int:
    return 0 if rank == 13 else min(rank, 10)


def stalling(question: Any) -> str:
    """On the first hole draw until the pile has been reshuffled; else play plainly."""
    view = question.view
    if question.hole == 1 and not view.recycled and view.phase != "tee":
        return "draw" if view.drawn is None else "swap 0"
    return plain(question)


def failing(question: Any) -> str | Failure:
    """The last seat doesn't answer on hole 3; else everybody plays plainly."""
    view = question.view
    if question.hole == 3 and view.seat == len(view.grids) - 1 and view.phase == "drawn":
        return Failure(kind=FaultKind.TIMEOUT, message="")
    return plain(question)
