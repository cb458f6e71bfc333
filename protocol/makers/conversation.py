"""One bot's conversation as a golden transcript; transcripts/README.md has the format.

The referee and the session are the arena's own. Processes and the clock are not: a policy says what
the bot in the recorded seat writes, and what becomes of its process and of the time meanwhile.

Invariant: a transcript follows from its arguments alone, and ends with the fault, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from arena.deals import Deals, secret_from_seed
from arena.games import Game
from arena.model import FaultKind, Limits, MatchSpec, Settings
from arena.referee import Failure, Referee, hello
from arena.wire.messages import Answer, Bye, Question, Ready
from arena.wire.session import BotSession, Pending, WireFault

SECRET = secret_from_seed("protocol")
PAIRING = "0123456789ab"
READY = ('< {"type":"ready"}',)

Policy = Callable[[Question], Sequence[str]]
"""What the recorded bot does when it is asked, as lines of a transcript."""
Mover = Callable[[Any], str | Failure]
"""What another seat plays."""


def answer(question: Question, move: str) -> str:
    """A right answer, as a transcript's line."""
    fields = {"turn": question.turn, "move": move}
    return "< " + msgspec.json.encode(fields).decode()


def says(mover: Callable[[Any], str]) -> Policy:
    """Answer with what `mover` chooses."""
    return lambda question: [answer(question, mover(question))]


def first(question: Any) -> str:
    """The first legal move."""
    move: str = question.legal[0]
    return move


class Conversation:
    """What is said between the referee and the bot that sits in seat 0 of the first match."""

    def __init__(
        self,
        game: Game,
        about: str,
        policy: Policy,
        *,
        seats: int = 2,
        others: Mover = first,
        deals: Sequence[int] = (0,),
        playoff: bool = False,
        unready: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._game = game
        self._policy = policy
        self._others = others
        self._numbers = deals
        self._unready = unready
        self._settings = Settings(
            game=game.name,
            seats=seats,
            turn_cap=game.turn_cap,
            playoff=playoff,
            limits=limits or Limits(),
        )
        self._limits = self._settings.limits
        self._deals = Deals(SECRET)
        self._session = BotSession(self._limits.line_bytes)
        self._bank = 0
        self.lines = [f"# {about}"]

    def text(self, ready: Sequence[str] = READY) -> str:
        """The whole of it."""
        fault = self._talk(ready)
        if fault is not None:
            self.lines.append(f"! {fault.value}")
        return "\n".join(self.lines) + "\n"

    def _talk(self, ready: Sequence[str]) -> FaultKind | None:
        self._to_bot(self._session.hello(hello(self._settings)))
        event = self._hear(ready, self._limits.start_ms, late=FaultKind.START)
        if not isinstance(event, Ready):
            return FaultKind.START
        for rotation, deal in enumerate(self._numbers):
            fault = self._match(deal, rotation)
            if fault is not None:
                return fault
        self._to_bot(self._session.send(Bye()))
        return None

    def _match(self, deal: int, rotation: int) -> FaultKind | None:
        seats = self._settings.seats
        mine = -rotation % seats
        spec = MatchSpec(
            id=f"{PAIRING}-{deal:06d}-{rotation}",
            series=f"{PAIRING}-000000-s0",
            pairing=PAIRING,
            deal=deal,
            rotation=rotation,
            seats=tuple(f"bot{(seat + rotation) % seats}@1" for seat in range(seats)),
        )
        referee = Referee(spec, game=self._game, deals=self._deals, settings=self._settings)
        self._bank = self._limits.match_ms
        early = Failure(kind=FaultKind.START, message="")
        referee.begin(() if self._unready is None else [(self._unready, early)])
        while True:
            for seat, notice in referee.take_notices():
                if seat == mine:
                    self._to_bot(self._session.send(notice))
            if not referee.asked:
                return None
            for seat in referee.asked:
                if seat == mine:
                    outcome = self._ask(referee, seat)
                else:
                    outcome = self._others(referee.question(seat, bank_ms=self._limits.match_ms))
                if isinstance(outcome, Failure):
                    referee.fail(seat, outcome)
                else:
                    referee.answer(seat, outcome)
            if mine in referee.failed:
                return next(f.kind for f in referee.record().faults if f.seat == mine)

    def _ask(self, referee: Referee, seat: int) -> str | Failure:
        session = self._session
        question = referee.question(seat, bank_ms=self._bank, lean=session.lean)
        self._to_bot(session.ask(question))
        budget = min(self._bank, self._limits.move_ms)
        late = FaultKind.BANK if self._bank < self._limits.move_ms else FaultKind.TIMEOUT
        # A line too many may have waited for this question.
        event = session.next_event()
        if event is Pending.NEED_DATA:
            event = self._hear(self._policy(question), budget, late=late)
        if isinstance(event, Answer):
            return event.move
        kind = event.kind if isinstance(event, WireFault) else event
        return Failure(kind=kind, message="")

    def _hear(
        self, lines: Sequence[str], budget: int, *, late: FaultKind
    ) -> Ready | Answer | WireFault | FaultKind:
        """Write down what the bot does; what it comes to."""
        event: object = Pending.NEED_DATA
        spent = 0
        for line in lines:
            self.lines.append(line)
            mark, rest = line[:2], line[2:]
            if mark == "< ":
                self._session.receive(rest.encode() + b"\n")
            elif mark == "- ":
                self._session.receive(rest.encode())
            elif rest.endswith(" ms"):
                spent += int(rest.removesuffix(" ms"))
                self._bank -= int(rest.removesuffix(" ms"))
                if spent >= budget:
                    return late
            else:
                return ENDS[rest]
            if event is Pending.NEED_DATA:
                event = self._session.next_event()
        assert isinstance(event, Ready | Answer | WireFault), lines
        return event

    def _to_bot(self, data: bytes | bytearray) -> None:
        self.lines.append("> " + data.decode().rstrip("\n"))


ENDS = {
    "exit 0": FaultKind.EXIT,
    "closed": FaultKind.EXIT,
    "exit 1": FaultKind.CRASH,
    "signal SIGSEGV": FaultKind.CRASH,
    "killed memory": FaultKind.MEMORY,
    "killed tasks": FaultKind.LIMIT,
}
"""What may become of a process, and whose fault kind it is while it is asked."""
