"""Replay a recorded match through the referee, which says what its moves and faults come to.

Theory of operation. The record's moves and faults are reported to a fresh referee as outcomes, in
their order; the record that the referee then writes is the true one. To look at the match, pass a
game that is `ObservedGame`, or a `Witness`, which is called at each question.

Invariant: pure; `ReplayError` is the only way in which a record can make it fail, if it has as many
seats as the event.
"""

from collections.abc import Mapping, Sequence

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
        self.move = move  # its number in the hole, from 1
        self.expected = expected
        self.found = found


class Witness:
    """Is called while a match is replayed; by itself it only discards the referee's notices."""

    def round(self, referee: Referee) -> None:
        """Before each round of questions, and at the end: the referee may have notices."""
        referee.take_notices()

    def outcome(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        """Before a seat's outcome is reported. Neither fault nor move: the answer is not in the
        log, since it was judged together with the fault that ended the match.
        """


def replay_moves(
    record: MatchRecord,
    *,
    game: Game,
    deals: Deals,
    settings: Settings,
    witness: Witness | None = None,
) -> MatchRecord:
    """What its moves and faults make; no digest, and of the host's fields only the decisions."""
    referee = Referee(spec_of(record), game=game, deals=deals, settings=settings)
    return _Replay(record, referee, witness).play()


def replay_for(
    record: MatchRecord, *, game: Game, deals: Deals, settings: Settings, witness: Witness
) -> None:
    """Replay a record for a witness. UntrueError if its moves make another record."""
    try:
        again = replay_moves(record, game=game, deals=deals, settings=settings, witness=witness)
    except ReplayError:
        again = None
    if again is None or again.computed_digest() != record.digest:
        raise UntrueError(
            f"{record.id}: its moves, played again, give another digest: the log and the "
            "secret don't belong together, or another version of arena wrote them"
        )


def spec_of(record: MatchRecord) -> MatchSpec:
    return msgspec.convert(record, MatchSpec, from_attributes=True)


class _Replay:
    def __init__(self, record: MatchRecord, referee: Referee, witness: Witness | None) -> None:
        self._record = record
        self._referee = referee
        self._quick = witness is None
        self._witness = witness or Witness()
        self._due: dict[int, dict[int, Fault]] = {}  # faults by question and seat
        for fault in record.faults:
            self._due.setdefault(fault.turn, {})[fault.seat] = fault
        self._known = len(self._due.get(0, ()))
        """How many of the referee's faults have been checked."""
        self._asked = [0] * len(record.seats)

    def play(self) -> MatchRecord:
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
            witness.round(referee)
            if self._quick and turn not in due and len(referee.wanted) == 1:
                turn = self._answer(turn, moves)
            else:
                self._report(due.get(turn, {}), moves)
        witness.round(referee)
        use = tuple(SeatUse(decisions=asked) for asked in self._asked)
        return msgspec.structs.replace(referee.record(), use=use)

    def _answer(self, turn: int, moves: Sequence[str]) -> int:
        """The fast path, without a witness: answers of one seat each, up to a question's number."""
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
        referee, hole = self._referee, self._referee.hole
        # The moves include those that were played for forfeiters.
        places = {seat: at for at, seat in enumerate(referee.wanted, len(referee.moves))}
        for seat in referee.asked:
            self._asked[seat] += 1
            fault, at = due.get(seat), places[seat]
            move = moves[at] if at < len(moves) else None
            if move is None and not due:
                raise _ended(hole, at, seat)
            self._witness.outcome(referee, seat, fault, move)
            if fault is not None:
                referee.fail(seat, _failure(fault))
            else:
                # Judged together with the fault that ended the match: any answer will do.
                referee.answer(seat, referee.legal(seat)[0] if move is None else move)
        self._refuse_illegal(hole, places, due)

    def _refuse_illegal(self, hole: int, at: Mapping[int, int], due: Mapping[int, Fault]) -> None:
        faults = self._referee.faults
        for fault in faults[self._known :]:
            if fault.seat not in due:
                raise ReplayError(
                    hole, at[fault.seat] + 1, expected="a legal move", found=fault.message
                )
        self._known = len(faults)


def _moves(record: MatchRecord, hole: int) -> Sequence[str]:
    moves = record.holes[hole - 1].moves if hole <= len(record.holes) else ""
    return moves.split(",") if moves else ()


def _failure(fault: Fault) -> Failure:
    return Failure(kind=fault.kind, message=fault.message, line=fault.line, status=fault.status)


def _ended(hole: int, at: int, seat: int) -> ReplayError:
    return ReplayError(hole, at + 1, expected=f"a move of seat {seat}", found="none")
