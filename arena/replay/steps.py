"""Unfold a recorded match into steps: each move, with all cards as they lie and who knows them.

The steps are what the terminal's viewer and the pages show (protocol/schema/match-steps.json). A
hole says how it begins and each step what it changes, so a viewer needs no rules.

Pure. Invariant: a record whose replay has another digest is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from arena.deals import Deals, with_beacon
from arena.games import Game, Hole, HoleDeck
from arena.games.observer import ObservedGame, ObservedMove
from arena.luck import entries, evaluator_name
from arena.model import Entrant, Event, Fault, Frozen, MatchRecord, SeatUse, Settings, UntrueError
from arena.referee import HOLES, Referee
from arena.replay.moves import Witness, replay_for

FORMAT = 1

NOBODY, OWNER, ALL = "n", "o", "a"
_AS_RECORDED = (
    *("id", "series", "pairing", "deal", "rotation", "attempt"),
    *("totals", "places", "faults", "use", "digest", "ended"),
)
_AS_DEALT = ("cards", "known", "discard", "stock")
_LETTERS = {"n": NOBODY, "o": OWNER, "r": OWNER, "a": ALL}


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One move. What it doesn't say is as it was before it."""

    seat: int  # whose move
    move: str  # in the protocol's notation
    turn: int
    """The number of the match's last question by then, as faults count: seats that tee off
    share it."""
    unasked: bool = False  # its bot had failed: the game's fallback, which is always legal
    drawn: int | None = None
    """The card in hand: drawn by this move, or drawn before and used by it."""
    cards: tuple[int, ...] = ()  # the seat's cards by position, face up or down
    known: tuple[tuple[int, str], ...] = ()
    """(seat, letters): who knows that seat's cards now, as at the beginning of the hole."""
    discard: int | None = None  # the top of the pile
    pile: int | None = None  # cards in the pile
    stock: int | None = None  # cards in the stock
    reshuffled: bool = False  # before it the pile, but for its top, became a new stock
    ends: bool = False
    """With it the seat went out or knocked: each of the others has one more turn."""
    luck: tuple[int, ...] = ()
    """By seat, thousandths of strokes that chance cost it with this move, less than nothing where
    it was kind; none where it had no part. With the last move of a hole: its final reveal too."""
    best: str = ""
    """The move that was worth more, if regrets were asked for and there is one."""
    regret: int = 0
    """Thousandths of strokes that it was worth more, by the opinion of a frozen evaluator."""


class HoleSteps(Frozen, frozen=True, kw_only=True):
    """One hole."""

    hole: int  # from 1; from the tenth on a playoff
    order: tuple[int, ...]
    """The seats that play it, in the order of play; the last is the dealer."""
    deck: tuple[int, ...]
    """The pack in the order of dealing; protocol/DEALS.md says who draws which of the stock."""
    cards: tuple[tuple[int, ...], ...]
    """As dealt, by seat and position; none for a seat that does not play."""
    known: tuple[str, ...]
    """By seat, one letter a position: n no player knows the card, o its owner alone, a all."""
    discard: int  # the first card of the pile
    stock: int  # cards in the stock
    steps: tuple[Step, ...]  # the moves in the order of play
    luck: tuple[int, ...] = ()
    """By seat, what the deal itself cost it; empty without a ledger, as are the steps' then."""
    scores: tuple[int, ...] = ()
    """Strokes by seat; empty when a forfeit ended the match within this hole."""
    totals: tuple[int, ...] = ()  # by seat, after this hole; a playoff adds nothing


class MatchSteps(Frozen, frozen=True, kw_only=True):
    """A match, move by move."""

    format: int = FORMAT
    """The version of this description; fields may be added without a new number."""
    id: str  # PAIRING-DEAL-ROTATION
    series: str  # the series that it was played in
    pairing: str  # the set of its entrants: 12 hex digits, see DEALS.md
    deal: int  # which of the pairing's deals, from 0
    rotation: int  # by how many seats the deal's circle of entrants is turned
    attempt: int  # which playing of its series this belongs to
    commitment: str  # of the event: published before its first match
    settings: Settings  # of the event
    seats: tuple[Entrant, ...]  # by seat
    holes: tuple[HoleSteps, ...]  # in the order of play
    totals: tuple[int, ...]  # strokes of the nine holes by seat
    places: tuple[int, ...]  # 1 is best; equal numbers share a place; forfeiters come last
    faults: tuple[Fault, ...]
    """In the order in which they fell. Each lies before the first step of its hole with its turn
    or a later one, or behind the hole's last."""
    use: tuple[SeatUse, ...]  # what each seat used
    digest: str  # of the record
    ended: float  # seconds since the epoch


def unfold(record: MatchRecord, event: Event, *, game: Game, secret: bytes) -> MatchSteps:
    """The steps of a match. UntrueError if its moves, replayed, make another record."""
    entrants = {entrant.id: entrant for entrant in event.entrants}
    if len(record.seats) != event.settings.seats or not entrants.keys() >= set(record.seats):
        raise UntrueError(f"{record.id}: its seats are not those of this event")
    deals = Deals(with_beacon(secret, event.beacon))
    unfolding = _Unfolding(game, record.faults)
    replay_for(record, game=unfolding, deals=deals, settings=event.settings, witness=unfolding)
    return MatchSteps(
        commitment=event.commitment,
        settings=event.settings,
        seats=tuple(entrants[seat] for seat in record.seats),
        holes=unfolding.holes_of(record, _luck(record, event.settings, game, deals)),
        **{name: getattr(record, name) for name in _AS_RECORDED},
    )


def _luck(
    record: MatchRecord, settings: Settings, game: Game, deals: Deals
) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """What chance cost each seat, by (hole, move)."""
    if not settings.evaluator or settings.evaluator != evaluator_name(game):
        return {}  # luck by another evaluator can't be told here
    found: dict[tuple[int, int], list[int]] = {}
    none = [0] * len(record.seats)
    for entry in entries(record, game=game, deals=deals, settings=settings):
        found.setdefault((entry.hole, entry.move), none[:])[entry.seat] += entry.luck
    return {place: tuple(luck) for place, luck in found.items() if any(luck)}


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    cards: tuple[tuple[int, ...], ...] = ()
    known: tuple[str, ...] = ()
    """By seat a letter a position: NOBODY, OWNER or ALL know the card."""
    discard: int = 0  # the top of the pile
    pile: int = 0  # cards in the pile
    stock: int = 0
    ended_by: int | None = None


def table_state(game: ObservedGame) -> TableState:
    assert game.hole is not None
    view = game.hole.view(game.order[0])
    return TableState(
        cards=tuple(map(tuple, game.cards)),
        known=_known(view),
        discard=view.discard,
        pile=len(view.pile),
        stock=view.stock,
        ended_by=view.ended_by,
    )


class _Unfolding(ObservedGame, Witness):
    def __init__(self, game: Game, faults: Sequence[Fault]) -> None:
        super().__init__(game, self._step)
        self._fell = {fault.seat: fault.turn for fault in faults}
        self._turn = 0
        self._holes: list[tuple[Sequence[int], TableState, list[Step]]] = []
        """Deck, table as dealt, moves."""
        self._table: TableState

    def start(self, *, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int) -> Hole:
        hole = super().start(seats=seats, order=order, deck=deck, turn_cap=turn_cap)
        self._table = table_state(self)
        self._holes.append((deck.cards, self._table, []))
        return hole

    def round(self, referee: Referee) -> None:  # noqa: ARG002 - the witness's interface
        self._turn += 1

    def holes_of(
        self, record: MatchRecord, luck: Mapping[tuple[int, int], tuple[int, ...]]
    ) -> tuple[HoleSteps, ...]:
        totals = [0] * len(record.seats)
        holes = []
        played = zip(record.holes, self._holes, strict=True)
        for number, (hole, (deck, begun, steps)) in enumerate(played, 1):
            if hole.scores and number <= HOLES:
                totals = [a + b for a, b in zip(totals, hole.scores, strict=True)]
            holes.append(
                HoleSteps(
                    hole=number,
                    order=hole.order,
                    deck=tuple(deck),
                    **{name: getattr(begun, name) for name in _AS_DEALT},
                    steps=tuple(
                        msgspec.structs.replace(step, luck=luck.get((number, at), ()))
                        for at, step in enumerate(steps, 1)
                    ),
                    luck=luck.get((number, 0), ()),
                    scores=hole.scores,
                    totals=tuple(totals),
                )
            )
        return tuple(holes)

    def _step(self, _: ObservedGame, moved: ObservedMove) -> None:
        before, now, seat = self._table, table_state(self), moved.seat
        self._table = now
        self._holes[-1][2].append(
            Step(
                seat=seat,
                move=moved.move,
                turn=self._turn,
                unasked=self._fell.get(seat, self._turn + 1) <= self._turn,
                drawn=moved.drawn,
                cards=now.cards[seat] if now.cards != before.cards else (),
                known=tuple(
                    (at, letters)
                    for at, letters in enumerate(now.known)
                    if letters != before.known[at]
                ),
                discard=now.discard if now.discard != before.discard else None,
                pile=now.pile if now.pile != before.pile else None,
                stock=now.stock if now.stock != before.stock else None,
                reshuffled=moved.move == "draw" and now.pile < before.pile,
                ends=now.ended_by is not None and before.ended_by is None,
            )
        )


def _known(view: Any) -> tuple[str, ...]:  # noqa: ANN401 - each game has its own
    if hasattr(view, "known"):
        return tuple("".join(_LETTERS[letter] for letter in letters) for letters in view.known)
    return tuple("".join(NOBODY if card is None else ALL for card in cards) for cards in view.grids)
