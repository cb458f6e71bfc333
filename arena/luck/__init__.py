"""The luck ledger: how much of a match's strokes was luck, seat by seat, from its record.

Theory of operation. At every stroke of chance (a peek, the first card of the pile, a tee-off, a
draw, a flip, a card that no seat knew going to the pile, the final reveal) a seat's luck is

    V(after) - E[V(after)]

where V is the arena's own estimate of the strokes that the seat will have, and E the exact mean
over all cards that could have come, conditional on what the seats together know. So each entry has
expectation zero, for any V and any play, and `strokes - luck` has the expectation of the strokes. V
decides only how much variance is removed. Its coefficients are frozen in this package; version and
digest identify those that a ledger was made with. LUCK.md beside this file explains the measure.

`play_nine` and `four_card_golf` value cards, `walk` plays a hole and keeps the account, `entries`
defines a ledger, `coefficients` reads the frozen numbers. A game names its `Measure` in
`Descriptor.luck`, or has none.

What counts: the finished holes among the nine, as in totals. Playoff holes and the hole in which a
forfeit ended the match are left out. A seat that the game's fallback plays for counts like any
other.

Invariant: pure; the same record, deals and coefficients give the same bits on every machine, in any
order of records.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Sequence
from math import fsum

from arena.deals import Deals
from arena.games import Game
from arena.luck.coefficients import Measure, read, tables
from arena.luck.entries import Evaluator, Ledger, LuckEntry, LuckKind
from arena.luck.walk import UNIT, Noted
from arena.model import MatchRecord, Settings, UntrueError, UserError
from arena.referee import HOLES

__all__ = [
    "Evaluator",
    "Ledger",
    "LuckEntry",
    "LuckKind",
    "Measure",
    "evaluator",
    "evaluator_name",
    "ledger",
    "sums",
]

_TO_THOUSANDTHS = UNIT // 1000


def evaluator(game: Game) -> Evaluator | None:
    """What measures the luck of a game; None if the game has no measure."""
    if not game.about.luck:
        return None
    frozen, digest = read(_measure(game.about.luck).file)
    return Evaluator(game=game.name, version=frozen.version, digest=digest)


def evaluator_name(game: Game) -> str:
    """The value for `Settings.evaluator`; empty if the game has no measure of luck."""
    found = evaluator(game)
    return found.name if found else ""


def ledger(record: MatchRecord, *, game: Game, deals: Deals, settings: Settings) -> Ledger:
    """All luck of a match. UntrueError if its moves don't lead to its scores."""
    seats = len(record.seats)
    holes = list(_noted(record, game, deals, settings))
    entries = [(hole, *noted) for hole, all_noted in enumerate(holes, 1) for noted in all_noted]
    kinds = [kind for kind in LuckKind if any(entry[2] is kind for entry in entries)]
    return Ledger(
        evaluator=evaluator_name(game),
        totals=_summed(seats, [entry[1:] for entry in entries]),
        kinds=tuple(
            (kind, _summed(seats, [entry[1:] for entry in entries if entry[2] is kind]))
            for kind in kinds
        ),
        holes=tuple(_summed(seats, noted) for noted in holes),
        entries=tuple(
            LuckEntry(
                hole=hole, move=move, kind=kind, seat=seat, luck=round(luck / _TO_THOUSANDTHS)
            )
            for hole, move, kind, seat, luck in entries
        ),
    )


def sums(record: MatchRecord, *, game: Game, deals: Deals, settings: Settings) -> tuple[int, ...]:
    """The luck of a match by seat: the `totals` of its ledger, without the rest."""
    noted = [entry for hole in _noted(record, game, deals, settings) for entry in hole]
    return _summed(len(record.seats), noted)


def _noted(
    record: MatchRecord, game: Game, deals: Deals, settings: Settings
) -> Iterator[Sequence[Noted]]:
    """The entries of each hole that counts."""
    if not game.about.luck:
        raise UserError(f"there is no measure of luck for {game.name!r}")
    measure, seats = _measure(game.about.luck), len(record.seats)
    lookup, pack = tables(measure), game.pack(seats)
    for number, hole in enumerate(record.holes[:HOLES], 1):
        if not hole.scores:
            return
        deck = deals.deck(record.pairing, record.deal, number, pack)
        try:
            start = game.start(seats=seats, order=hole.order, deck=deck, turn_cap=settings.turn_cap)
            walk = measure.walk(start, seats=seats, order=hole.order, deck=deck, tables=lookup)
            scores = walk.walk(hole.moves.split(","))
        except ValueError:
            scores = ()
        if scores != hole.scores:
            raise UntrueError(
                f"{record.id}: hole {number}, played again, comes to another end: the log and the "
                "secret don't belong together, or another version of arena wrote them"
            )
        yield walk.noted


@functools.cache
def _measure(path: str) -> Measure:
    module, _, name = path.partition(":")
    found: Measure = getattr(importlib.import_module(module), name)
    return found


def _summed(seats: int, noted: Sequence[Noted]) -> tuple[int, ...]:
    """By seat, in thousandths of a stroke. The sums are exact before they are rounded."""
    return tuple(
        round(fsum([luck for _, _, seat, luck in noted if seat == mine]) / _TO_THOUSANDTHS)
        for mine in range(seats)
    )
