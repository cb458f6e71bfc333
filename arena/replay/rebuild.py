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
from arena.model import Fault, FaultKind, MatchRecord, Settings
from arena.referee import Referee, hello
from arena.replay.moves import witnessed
from arena.replay.transcripts import comment, failed, said, sent
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
        self.fallen = False
        self._record = record
        self._seat = record.seats.index(entrant)
        self._lean = lean
        self._settings = settings
        self._decisions = 0
        witnessed(record, game=game, deals=deals, settings=settings, witness=self)

    def told(self, referee: Referee) -> None:
        """As a `Witness`: what everybody is told goes to our seat too."""
        notices = referee.take_notices()
        self.fallen = self._seat in referee.failed
        if not self.fallen:
            self.lines += [sent(encode(notice)) for to, notice in notices if to == self._seat]

    def asked(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        """As a `Witness`: our seat's question, and what came of it."""
        if seat != self._seat:
            return
        turn = self._question(referee)
        if fault is not None:
            self.lines += _ended(fault, _offending(fault, turn))
        elif move is not None:
            self.lines.append(said(_answer(turn, move)))
        else:
            self.lines.append(comment("It answered; the log does not say what."))

    def _question(self, referee: Referee) -> str:
        """What our seat is asked; its turn id."""
        question = referee.question(self._seat, bank_ms=self._bank_ms(), lean=self._lean)
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
