"""The luck ledger: how much of a match's strokes was luck, seat by seat, from its record.

Theory of operation. At every stroke of chance (a peek, the first card of the pile, a tee-off, a
draw, a flip, a card that no seat knew going to the pile, the final reveal) a seat's luck is

    V(after) - E[V(after)]

where V is the arena's own estimate of the strokes that the seat will have, and E the exact mean
over all cards that could have come, conditional on what the seats together know. So each entry has
expectation zero, for any V and any play; V decides only how much variance is removed. Its
coefficients, whole numbers that bench/train_luck writes, are frozen in this package; version and
digest identify those that a ledger was made with. LUCK.md beside this file explains the measure.

What counts: the finished holes among the nine, as in totals; neither a playoff nor the hole in
which a forfeit ended the match. A seat that the game's fallback plays for counts like any other.

Invariant: pure; the same record, deals and coefficients give the same bits on every machine, in any
order of records. Luck is in thousandths of a stroke; below zero is good luck, as with strokes.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from math import fsum
from typing import NamedTuple

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.games.descriptor import named
from arena.luck.walk import UNIT, LuckKind, LuckWalk, Noted, Tables
from arena.model import Frozen, MatchRecord, Settings, UntrueError, UserError, sha256_hex
from arena.referee import HOLES

_TO_THOUSANDTHS = UNIT // 1000


class Coefficients(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    version: int  # increases with any change that alters the luck of a match
    weights: dict[str, int]  # by kind of weight, in hundredths
    rows: tuple[tuple[int, ...], ...]
    """Hundredths of a stroke; the game's module says in which order."""


class Measure(Frozen, frozen=True):
    """How the luck of a game is measured: what `Descriptor.luck` names."""

    file: str
    tables: Callable[..., Tables]  # from rows and weights
    walk: Callable[..., LuckWalk]  # one hole: `walk(hole, seats=…, order=…, deck=…, tables=…)`


class LuckEntry(NamedTuple):
    """The luck of one seat in one chance event."""

    hole: int  # from 1
    move: int  # the move of the hole that it came with, from 1; 0 before the first
    kind: LuckKind
    seat: int
    luck: int  # rounded by itself, so sums of entries are off by some thousandths


def evaluator_name(game: Game) -> str:
    """For `Settings.evaluator`: which coefficients these are; empty for a game that has none."""
    if not game.about.luck:
        return ""
    frozen, digest = read(_measure(game.about.luck).file)
    return f"{game.name}/{frozen.version}-{digest[:12]}"


def entries(
    record: MatchRecord, *, game: Game, deals: Deals, settings: Settings
) -> Iterator[LuckEntry]:
    """In the order of play. UntrueError if a record's moves don't lead to its scores."""
    for hole, noted in enumerate(_noted(record, game, deals, settings), 1):
        for move, kind, seat, luck in noted:
            yield LuckEntry(hole, move, kind, seat, round(luck / _TO_THOUSANDTHS))


def sums(record: MatchRecord, *, game: Game, deals: Deals, settings: Settings) -> tuple[int, ...]:
    """The luck of a match by seat, exact before it is rounded. UntrueError as `entries`."""
    noted = [entry for hole in _noted(record, game, deals, settings) for entry in hole]
    return tuple(
        round(fsum([luck for _, _, seat, luck in noted if seat == mine]) / _TO_THOUSANDTHS)
        for mine in range(len(record.seats))
    )


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


def _measure(path: str) -> Measure:
    measure: Measure = named(path)
    return measure


@functools.cache
def read(name: str) -> tuple[Coefficients, str]:
    """A file's numbers and the SHA-256 of the very bytes they come from."""
    text = (files("arena.luck") / name).read_bytes()
    return msgspec.json.decode(text, type=Coefficients), sha256_hex(text)


@functools.cache
def tables(measure: Measure) -> Tables:
    frozen, _ = read(measure.file)
    return measure.tables(frozen.rows, frozen.weights)
