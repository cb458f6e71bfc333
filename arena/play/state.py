"""Convert a desk to JSON, for the person's page.

Pure. Invariant: everything in it is the desk's; a card that the seat doesn't know is null.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import msgspec

from arena import registry
from arena.model import Play
from arena.play.desk import Desk
from arena.referee import HOLES
from arena.site.pages.frame import sheets_of


class SeatState(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page is sent."""

    number: int
    """Of the state: each has a higher one than that before it."""
    match: int
    """Of the evening's matches, from 1."""
    commitment: str
    wanted: str
    """move, hole (all cards are turned: go on?), over (another match?), gone, or nothing."""
    turn: str
    """Identifies the question: an answer has to name it."""
    kept: str = ""
    """Where the match is, once it is over."""
    game: str
    about: dict[str, Any]
    """What the page has to know of the game: `Descriptor.for_scripts`, and the languages of its
    rules."""
    names: Sequence[str]
    seat: int
    """The person's."""
    hole: int
    holes: int = HOLES
    order: Sequence[int] = ()
    phase: str = ""
    """tee, turn or drawn."""
    legal: Sequence[str] = ()
    cards: Sequence[Sequence[int | None]] = ()
    """By seat and position; null where the person doesn't know it."""
    known: Sequence[str] = ()
    """A letter a position: a all know it, o the person alone, h the person doesn't."""
    discard: int | None = None
    pile: int = 0
    stock: int = 0
    drawn: int | None = None
    acting: int | None = None
    ended_by: int | None = None
    plays: Sequence[Play] = ()
    """Of the hole, as the person may see them."""
    totals: Sequence[int] = ()
    scores: Sequence[Sequence[int | None]] = ()
    """By finished hole and seat."""
    fallen: dict[int, str] = {}
    """Seats that have forfeited, and by what."""
    places: Sequence[int] = ()


def state_of(
    desk: Desk,
    *,
    number: int,
    match: int,
    commitment: str,
    wanted: str = "",
    turn: str = "",
    kept: str = "",
) -> SeatState:
    seats = range(len(desk.names))
    cards = [desk.cards(seat) for seat in seats]
    view, open_ = desk.view, not (desk.grids or desk.places)
    acting = desk.acting()
    return SeatState(
        number=number,
        match=match,
        commitment=commitment,
        wanted=wanted,
        turn=turn,
        kept=kept,
        game=desk.game,
        about=_about(desk.game),
        names=desk.names,
        seat=desk.seat,
        hole=desk.hole,
        order=tuple(desk.order),
        phase="" if view is None else desk.phase,
        legal=desk.legal,
        cards=[[value for value, _ in row] for row in cards],
        known=["".join(map(_letter, row)) for row in cards],
        discard=view.discard if view is not None and open_ else None,
        pile=len(view.pile) if view is not None and open_ else 0,
        stock=view.stock if view is not None and open_ else 0,
        drawn=desk.drawn,
        acting=acting[0] if acting else None,
        ended_by=view.ended_by if view is not None and open_ else None,
        plays=desk.plays,
        totals=desk.totals,
        scores=desk.scores,
        fallen={seat: kind.value for seat, kind in desk.fallen.items()},
        places=desk.places,
    )


@functools.cache
def _about(game: str) -> dict[str, Any]:
    rules = registry.game(game)
    about = rules.about.for_scripts(rules.pack(rules.max_seats))
    return {**about, "sheets": sheets_of(game)}


def _letter(card: tuple[int | None, bool]) -> str:
    value, public = card
    return "h" if value is None else "a" if public else "o"
