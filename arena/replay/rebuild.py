"""Rebuild the transcript that one bot process saw, from the log's records.

The same outcomes bring the same questions, to the byte. The log has neither an answer's spelling
nor the time left at each question: an answer is shown in its plainest form, and `bank_ms` is
interpolated from the match's total. Nor does it say whether a bot asked for lean questions.

Pure. Invariant: a record whose replay has another digest is refused.
"""

from collections.abc import Iterator, Sequence

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.model import Fault, FaultKind, MatchRecord, Settings
from arena.referee import Referee, hello
from arena.replay.moves import Witness, replay_for
from arena.replay.transcripts import comment_line, failure_lines, received_line, sent_line
from arena.wire.messages import Answer, Bye, Ready
from arena.wire.session import encode


def rebuild_lines(
    records: Sequence[MatchRecord],
    entrant: str,
    *,
    settings: Settings,
    game: Game,
    deals: Deals,
    lean: bool,
) -> Iterator[str]:
    """Of a process that played these matches. UntrueError if their moves make other records."""
    yield comment_line(f"{entrant} in {records[-1].id}, from the log; bank_ms is interpolated.")
    yield sent_line(encode(hello(settings)))
    for fault in records[0].faults:
        if fault.turn == 0 and records[0].seats[fault.seat] == entrant:
            yield from _ended(fault, fault.line)
            return
    yield received_line(_written(Ready(lean)) if lean else b'{"type":"ready"}\n')
    for record in records:
        match = _Match(record, entrant, settings, lean=lean)
        replay_for(record, game=game, deals=deals, settings=settings, witness=match)
        yield from match.lines
        if match.failed:
            return
    yield sent_line(encode(Bye()))


class _Match(Witness):
    def __init__(self, record: MatchRecord, bot: str, settings: Settings, *, lean: bool) -> None:
        self.lines: list[str] = []
        self.failed = False
        self._record = record
        self._seat = record.seats.index(bot)
        self._lean = lean
        self._settings = settings
        self._decisions = 0

    def round(self, referee: Referee) -> None:
        notices = referee.take_notices()
        self.failed = self._seat in referee.failed
        if not self.failed:
            self.lines += [sent_line(encode(notice)) for to, notice in notices if to == self._seat]

    def outcome(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        if seat != self._seat:
            return
        question = referee.question(seat, bank_ms=self._bank_ms(), lean=self._lean)
        self.lines.append(sent_line(encode(question)))
        self._decisions += 1
        if fault is not None and fault.kind is FaultKind.ILLEGAL:
            # Of the offending line the log has the move alone.
            offending = _written(Answer(question.turn, fault.line)).decode().removesuffix("\n")
            self.lines += _ended(fault, offending)
        elif fault is not None:
            self.lines += _ended(fault, fault.line)
        elif move is not None:
            self.lines.append(received_line(_written(Answer(question.turn, move))))
        else:
            self.lines.append(comment_line("It answered; the log does not say what."))

    def _bank_ms(self) -> int:
        """The time left, as if all decisions had taken equally long."""
        spent = 0.0
        if self._record.use:
            mine = self._record.use[self._seat]
            spent = mine.think_ms * self._decisions / max(1, mine.decisions)
        return max(0, int(self._settings.limits.match_ms - spent))


def _written(message: Answer | Ready) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _ended(fault: Fault, line: str) -> Iterator[str]:
    if line and (fault.kind is FaultKind.FLOOD or line.endswith("…")):
        yield comment_line(f"Its line began: {' '.join(line.split())}")
    elif line:
        yield received_line(line.encode("utf-8", "surrogatepass") + b"\n")
    yield from failure_lines(fault.kind, fault.status)
