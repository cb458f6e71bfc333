"""A recorded match, played again by its moves: what the deals and the rules make of them.

Theory of operation. The referee is asked for nothing but its verdict: the record's moves and
faults are reported to it as outcomes, in their order, and what it then writes is the record as it
should be. Whoever compares the two knows whether the record is true; whoever wants to see the
match gives a game that is `ObservedGame`, or a witness, who hears of each question.

Invariant: pure; a record can't make it fail in any other way than `ReplayError`, if its seats are
as many as the event's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.model import Fault, MatchRecord, MatchSpec, SeatUse, Settings, UntrueError
from arena.referee import Failure, Referee


class ReplayError(ValueError):
    """The moves can't be played: `found` stands where the rules ask for `expected`."""

    def __init__(self, hole: int, move: int, *, expected: str, found: str) -> None:
        super().__init__(f"hole {hole}, move {move}: expected {expected}, found {found}")
        self.hole = hole
        self.move = move
        """Its number in the hole, from 1."""
        self.expected = expected
        self.found = found


class Witness(Protocol):
    """Whoever listens while a match is played again."""

    def told(self, referee: Referee) -> None:
        """Before each round of questions, and at the end: the referee may have notices."""

    def asked(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        """Before a seat's outcome is reported. Without fault and move: the log does not say
        what it answered, because it was judged together with the fault that ended the match.
        """


def replayed(
    record: MatchRecord,
    *,
    game: Game,
    deals: Deals,
    settings: Settings,
    witness: Witness | None = None,
) -> MatchRecord:
    """The record that the moves and faults of a record make, without digest and host's fields, but
    for the number of decisions of each seat.
    """
    return _Replay(record, game, deals, settings, witness).play()


def witnessed(
    record: MatchRecord, *, game: Game, deals: Deals, settings: Settings, witness: Witness
) -> None:
    """Play a record again before a witness. UntrueError if its moves don't make it what it is."""
    try:
        again = replayed(record, game=game, deals=deals, settings=settings, witness=witness)
    except ReplayError:
        again = None
    if again is None or again.computed_digest() != record.digest:
        raise UntrueError(
            f"{record.id}: its moves, played again, give another digest: the log and the "
            "secret don't belong together, or another version of arena wrote them"
        )


def spec_of(record: MatchRecord) -> MatchSpec:
    """What was to be played."""
    return MatchSpec(
        id=record.id,
        series=record.series,
        pairing=record.pairing,
        deal=record.deal,
        rotation=record.rotation,
        seats=record.seats,
    )


class _Replay:
    def __init__(
        self,
        record: MatchRecord,
        game: Game,
        deals: Deals,
        settings: Settings,
        witness: Witness | None,
    ) -> None:
        self._record = record
        self._referee = Referee(spec_of(record), game=game, deals=deals, settings=settings)
        self._witness = witness
        self._due: dict[int, dict[int, Fault]] = {}
        """Faults by question and seat."""
        for fault in record.faults:
            self._due.setdefault(fault.turn, {})[fault.seat] = fault
        self._known = len(self._due.get(0, ()))
        """Of the referee's faults."""
        self._asked = [0] * len(record.seats)
        """How often, by seat."""

    def play(self) -> MatchRecord:
        """Play it to its end."""
        referee, due, witness = self._referee, self._due, self._witness
        at_the_start = due.get(0, {})
        for seat in at_the_start:
            if not 0 <= seat < len(self._record.seats):
                raise ReplayError(0, 0, expected="a fault of a seat", found=f"one of seat {seat}")
        referee.begin([(seat, _failure(fault)) for seat, fault in at_the_start.items()])
        turn = hole = 0
        moves: Sequence[str] = ()
        while referee.asked:
            turn += 1
            if hole != referee.hole:
                hole = referee.hole
                moves = _moves(self._record, hole)
            if witness is not None:
                witness.told(referee)
            elif referee.news:
                referee.take_notices()
            if witness is None and turn not in due and len(referee.wanted) == 1:
                turn = self._answer(turn, moves)
            else:
                self._report(due.get(turn, {}), moves)
        if witness is not None:
            witness.told(referee)
        use = tuple(SeatUse(decisions=asked) for asked in self._asked)
        return msgspec.structs.replace(referee.record(), use=use)

    def _answer(self, turn: int, moves: Sequence[str]) -> int:
        """What most questions come to: one seat's move after the other, and nobody listens.

        The number of the last question answered.
        """
        referee, due, hole = self._referee, self._due, self._referee.hole
        played, answer, asked = referee.moves, referee.answer, self._asked
        while True:
            (seat,) = referee.wanted
            asked[seat] += 1
            at = len(played)
            if at >= len(moves):
                raise _ended(hole, at, seat)
            answer(seat, moves[at])
            if referee.news:
                self._refuse_illegal(hole, {seat: at}, {})
                return turn
            if turn + 1 in due or len(referee.wanted) > 1:
                return turn
            turn += 1

    def _report(self, due: Mapping[int, Fault], moves: Sequence[str]) -> None:
        """The outcomes of a question to one seat or to several."""
        referee, hole = self._referee, self._referee.hole
        # Forfeiters are played for: what they were made to do is among the moves.
        places = {seat: at for at, seat in enumerate(referee.wanted, len(referee.moves))}
        for seat in referee.asked:
            self._asked[seat] += 1
            fault, at = due.get(seat), places[seat]
            move = moves[at] if at < len(moves) else None
            if move is None and not due:
                raise _ended(hole, at, seat)
            if self._witness is not None:
                self._witness.asked(referee, seat, fault, move)
            if fault is not None:
                referee.fail(seat, _failure(fault))
            else:
                # Judged together with the fault that ended the match: any answer will do.
                referee.answer(seat, referee.legal(seat)[0] if move is None else move)
        self._refuse_illegal(hole, places, due)

    def _refuse_illegal(
        self, hole: int, places: Mapping[int, int], due: Mapping[int, Fault]
    ) -> None:
        """What was recorded as a move must not have become a fault."""
        faults = self._referee.faults
        for fault in faults[self._known :]:
            if fault.seat not in due:
                raise ReplayError(
                    hole, places[fault.seat] + 1, expected="a legal move", found=fault.message
                )
        self._known = len(faults)


def _moves(record: MatchRecord, hole: int) -> Sequence[str]:
    """The recorded ones of a hole."""
    moves = record.holes[hole - 1].moves if hole <= len(record.holes) else ""
    return moves.split(",") if moves else ()


def _failure(fault: Fault) -> Failure:
    return Failure(kind=fault.kind, message=fault.message, line=fault.line, status=fault.status)


def _ended(hole: int, at: int, seat: int) -> ReplayError:
    return ReplayError(hole, at + 1, expected=f"a move of seat {seat}", found="none")
