"""What a bot was told in an event, from the log: its transcript, made again.

The referee is pure, so the same outcomes bring the same questions, to the byte. The log keeps
neither how an answer was written nor the time left at each question: an answer is shown in its
plainest form, `bank_ms` is interpolated from what the match took in all. Nor is it in the log
whether a bot has asked for lean questions; the caller says.

Pure. Invariant: what was played again has the digest of its record, or it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.games.following import Followed
from arena.model import Fault, FaultKind, MatchRecord, MatchSpec, Settings, UserError
from arena.referee import Failure, Referee, hello
from arena.transcripts import comment, failed, said, sent
from arena.wire.messages import Answer, Bye, Ready
from arena.wire.session import encode


def retold(
    records: Sequence[MatchRecord],
    entrant: str,
    *,
    settings: Settings,
    game: Game,
    deals: Deals,
    lean: bool,
) -> Iterator[str]:
    """The lines of the transcript of a process that has played these matches, one after another.

    UserError if the records are not what the deals and the rules make of their moves.
    """
    yield comment(f"{entrant} in {records[-1].id}, from the log; bank_ms is interpolated.")
    yield sent(encode(hello(settings)))
    for fault in records[0].faults:
        if fault.turn == 0 and records[0].seats[fault.seat] == entrant:
            yield from _ended(fault, fault.line)
            return
    yield said(_written(Ready(lean)) if lean else b'{"type":"ready"}\n')
    for record in records:
        match = _Match(record, entrant, settings, game=game, deals=deals, lean=lean)
        yield from match.lines
        if match.fallen:
            return
    yield sent(encode(Bye()))


class _Match:
    """A match of the log, played again, as one seat has seen it."""

    def __init__(
        self,
        record: MatchRecord,
        entrant: str,
        settings: Settings,
        *,
        game: Game,
        deals: Deals,
        lean: bool,
    ) -> None:
        self.lines: list[str] = []
        self._record = record
        self._seat = record.seats.index(entrant)
        self._lean = lean
        self._settings = settings
        self._followed = Followed(game)
        self._referee = Referee(_spec(record), game=self._followed, deals=deals, settings=settings)
        self._faults = {(fault.turn, fault.seat): fault for fault in record.faults}
        self._decisions = 0
        self._play()
        self.fallen = self._seat in self._referee.failed

    def _play(self) -> None:
        referee, record = self._referee, self._record
        referee.begin([(f.seat, _failure(f)) for f in record.faults if f.turn == 0])
        turn = 0
        while True:
            notices = referee.take_notices()
            if self._seat not in referee.failed:
                self.lines += [sent(encode(told)) for to, told in notices if to == self._seat]
            if not referee.asked:
                break
            turn += 1
            for seat, move in self._moves().items():
                self._outcome(seat, self._faults.get((turn, seat)), move)
        if referee.record().computed_digest() != record.digest:
            raise UserError(
                f"{record.id}: its moves, played again, give another digest: the log and the "
                "secret don't belong together, or another version of arena wrote them"
            )

    def _moves(self) -> dict[int, str | None]:
        """By seat that is asked, in that order, its recorded move; None: it isn't in the log."""
        followed, holes = self._followed, self._record.holes
        assert followed.hole is not None
        recorded = holes[followed.holes - 1].moves if followed.holes <= len(holes) else ""
        rest = recorded.split(",")[len(followed.moves) :] if recorded else []
        # Forfeiters are played for: what they were made to do is among the moves.
        moves = dict(zip(followed.hole.to_act(), rest, strict=False))
        return {seat: moves.get(seat) for seat in self._referee.asked}

    def _outcome(self, seat: int, fault: Fault | None, move: str | None) -> None:
        """Put a question, and report what came of it."""
        turn = self._question() if seat == self._seat else None
        if fault is not None:
            if turn is not None:
                self.lines += _ended(fault, _offending(fault, turn))
            self._referee.fail(seat, _failure(fault))
            return
        if turn is not None:
            answered = comment("It answered; the log does not say what.")
            self.lines.append(said(_answer(turn, move)) if move is not None else answered)
        if move is None:
            # Judged together with the fault that ended the match: any answer will do.
            assert self._followed.hole is not None
            move = self._followed.hole.legal(seat)[0]
        self._referee.answer(seat, move)

    def _question(self) -> str:
        """What our seat is asked; its turn id."""
        question = self._referee.question(self._seat, bank_ms=self._bank_ms(), lean=self._lean)
        self.lines.append(sent(encode(question)))
        self._decisions += 1
        return question.turn

    def _bank_ms(self) -> int:
        """As if all its decisions had taken the same time."""
        spent, use = 0.0, self._record.use
        if use:
            mine = use[self._seat]
            spent = mine.think_ms * self._decisions / max(1, mine.decisions)
        return max(0, int(self._settings.limits.match_ms - spent))


def _spec(record: MatchRecord) -> MatchSpec:
    return MatchSpec(
        id=record.id,
        series=record.series,
        pairing=record.pairing,
        deal=record.deal,
        rotation=record.rotation,
        seats=record.seats,
    )


def _failure(fault: Fault) -> Failure:
    return Failure(kind=fault.kind, message=fault.message)


def _written(message: Answer | Ready) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _answer(turn: str, move: str) -> bytes:
    return _written(Answer(turn, move))


def _offending(fault: Fault, turn: str) -> str:
    """The line that was a fault, as far as the log has it: of an illegal one the move."""
    if fault.kind is FaultKind.ILLEGAL:
        return _answer(turn, fault.line).decode().removesuffix("\n")
    return fault.line


def _ended(fault: Fault, line: str) -> Iterator[str]:
    """The end of a bot."""
    if line and (fault.kind is FaultKind.FLOOD or line.endswith("…")):
        yield comment(f"Its line began: {' '.join(line.split())}")
    elif line:
        yield said(line.encode("utf-8", "surrogatepass") + b"\n")
    yield from failed(fault.kind, fault.status)
