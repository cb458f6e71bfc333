"""A conversation with one bot that finds out why it goes wrong.

Theory of operation. A `Conversation` talks to one bot process of `arena.engine.single_bot`; the
session of an event judges each line. A wrong line, or silence, raises `MistakeError` with a
diagnosis. Before that, a silent bot is probed: more time, one more line, a block of input, the end
of the input.

One run may mislead: the bot may have answered for another reason than the last probe, and of
several unanswered lines it may have died of any. Such an error has `alone_s`: run the check again
in a fresh process, wait so long before the first probe, and let the bot die after each line.

Invariant: a `Conversation` that raised `MistakeError` has killed its bot and is of no further use.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec
from msgspec.structs import replace

from arena.check.diagnosis import diagnose
from arena.check.mistakes import SPINS, Expected, Facts, Mistake, Trigger
from arena.check.report import Finding, finding_of
from arena.engine.single_bot import BotLine, Flood, Output, OutputEnd, Silence, Solo
from arena.model import Settings
from arena.referee import hello
from arena.system import clock
from arena.wire.messages import Answer, Question, Ready
from arena.wire.session import BotSession

MORE_S = 0.05  # output within this time after a wrong line belongs to it
MORE_LINES = 20
# After an answer to the previous question, how long the answer to the present one may take.
OLD_S = 0.5
WAKES_S = 0.2  # a bot answers within this time after a probe that gave it what it waits for
# How much later than allowed an answer is still awaited, to tell slow from silent.
GRACE_S = (0.3, 2.0)
# In the second run the first probe comes this much later than what made the bot speak in the first
# run, or that much if nothing did: a bot that sleeps or computes for seconds is slow, not silent.
MARGIN_S, PATIENT_S = 0.3, 10.0
# And it has this time to die after each line that wants no answer, and gets the next line only once
# it has read that one, if it does so within the longer time.
DIES_S, READS_S = 0.1, 2.0
LEAVES_S = 1.0  # a bot exits within a second after its input has ended
PIECE_S = 0.001  # between the pieces of a line
TURNS_KEPT = 2_000  # turn ids, to tell an old id from an invented one
_LINE = b'{"type":"check","text":"this wants no answer"}\n'
# More than any reader takes in at once.
_BLOCK = (b'{"type":"check","text":"%s"}\n' % (b"x" * 960)) * 140

_UNWANTED = {Mistake.UNASKED, Mistake.TWO_ANSWERS, Mistake.PRINT, Mistake.ECHO, Mistake.EMPTY_LINE}

Delivery = Callable[[bytes], Sequence[bytes]]
"""How a line is delivered: from a line to the pieces that are written one after another."""


def whole(line: bytes) -> Sequence[bytes]:
    """In one piece, as a referee writes."""
    return (line,)


class MistakeError(Exception):
    def __init__(self, finding: Finding, *, alone_s: float, unwanted: bool, declined: bool) -> None:
        super().__init__(finding.title)
        self.finding = finding
        self.alone_s = alone_s  # seconds without a probe in a second run; 0: the finding is proven
        self.unwanted = unwanted  # it wrote something that no message asked for
        self.declined = declined
        """It exited with an error status after `hello`: it may play other games."""


class StillSilentError(Exception):
    """The bot was probed before its time was over, so its answer proves nothing yet."""

    def __init__(self, trigger: Trigger) -> None:
        super().__init__(trigger)
        self.trigger = trigger


@dataclass
class Conversation:
    solo: Solo
    settings: Settings
    facts: Facts  # what is known of the bot before it says anything
    alone_s: float
    deliver: Delivery = whole
    batch: bool = False  # notices are written together with the next question
    lean: bool = False
    times: list[float] = field(default_factory=list)  # seconds of each answer
    used: float = 0.0  # seconds of all answers of the match that is played
    spent: list[float] = field(default_factory=list)  # the same of each whole match before
    moves: list[str] = field(default_factory=list)
    _pending: bytes = b""
    _sent: bytes = b""
    _since: list[bytes] = field(default_factory=list)
    _after: str = ""
    _turns: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._limits = self.settings.limits
        self._session = BotSession(self._limits.line_bytes)

    async def start(
        self, *, patience: float = math.inf, suspect: Trigger = Trigger.NOTHING
    ) -> float:
        """Send `hello` and wait for `ready`; return the seconds that it took.

        A bot that does nothing is probed after `patience`, before its time is over; an answer to
        such an early probe counts only if the probe was the suspected one.
        """
        allowed = self._limits.start_ms / 1000
        early = patience < allowed
        self._sent, self._after = self._session.hello(hello(self.settings)), "hello"
        self.solo.send(self._sent)
        event = await self.solo.line(min(patience, allowed))
        if isinstance(event, Silence):
            if early and self.solo.bot.cpu() > SPINS * patience:
                raise StillSilentError(Trigger.NOTHING)
            event, probed = await self._probe(event, WAKES_S)
            if not early or (suspect is not Trigger.NOTHING and probed.trigger is suspect):
                await self._fail(Expected.READY, event, probed=probed, proven=early)
            if probed.trigger is not Trigger.TIME:
                raise StillSilentError(probed.trigger)
        if not isinstance(event, BotLine):
            await self._fail(Expected.READY, event)
        self._session.receive(event.data + b"\n")
        ready = self._session.next_event()
        if not isinstance(ready, Ready):
            await self._fail(Expected.READY, event)
        self.lean = ready.lean
        return event.at - self.solo.began

    @property
    def bank_ms(self) -> int:
        return max(0, self._limits.match_ms - int(self.used * 1000))

    async def notify(self, line: bytes) -> None:
        """Send a line that wants no answer."""
        self._after = str(msgspec.json.decode(line)["type"])
        if self.batch:
            self._pending += line
            return
        await self._write(self.deliver(line))
        if self.alone_s:
            until = clock.monotonic() + READS_S
            await self.expect_silence(DIES_S)
            while self.solo.unread and clock.monotonic() < until:
                await self.expect_silence(DIES_S)

    async def ask(self, question: Question, legal: Sequence[str]) -> str:
        line = bytes(self._session.ask(question))
        pieces = self.deliver(line)
        if self._pending:
            pieces, self._pending = (self._pending + b"".join(pieces),), b""
        await self._write(pieces)
        asked = clock.monotonic()
        event = await self.solo.line(min(self._limits.move_ms, self.bank_ms) / 1000)
        probed = None
        if isinstance(event, Silence):
            shortest, longest = GRACE_S
            grace = min(max(shortest, self._limits.move_ms / 1000), longest)
            event, probed = await self._probe(event, grace)
        if probed or not isinstance(event, BotLine):
            await self._fail(Expected.MOVE, event, question.turn, legal, probed=probed)
        took = max(0.0, event.at - asked)
        self.used += took
        self._session.receive(event.data + b"\n")
        answer = self._session.next_event()
        if not isinstance(answer, Answer) or answer.move not in legal:
            await self._fail(Expected.MOVE, event, question.turn, legal)
        self.times.append(took)
        self.moves.append(answer.move)
        self._turns = [*self._turns[-TURNS_KEPT:], question.turn]
        self._since = []
        self._after = "act"
        return answer.move

    async def expect_silence(self, seconds: float) -> None:
        event = await self.solo.line(seconds)
        if not isinstance(event, Silence) or event.held:
            await self._fail(Expected.NOTHING, event)

    def flush(self) -> None:
        pending, self._pending = self._pending, b""
        self.solo.send(pending)

    async def _write(self, pieces: Sequence[bytes]) -> None:
        self._sent = b"".join(pieces)
        self._since.append(self._sent)
        for number, piece in enumerate(pieces):
            if number:
                await self.solo.rest(PIECE_S)
            self.solo.send(piece)

    async def _probe(self, silence: Silence, grace: float) -> tuple[Output, Facts]:
        """Find out what makes a silent bot answer; with its standard error from before that."""
        solo = self.solo
        began, before = clock.monotonic(), solo.bot.cpu()
        event, tried = await solo.line(max(grace, self.alone_s, WAKES_S)), Trigger.TIME
        busy = (solo.bot.cpu() - before) / (clock.monotonic() - began)
        stderr = solo.bot.log_tail()
        for trigger, data in ((Trigger.LINE, _LINE), (Trigger.BLOCK, _BLOCK)):
            if isinstance(event, Silence):
                solo.send(data)
                event, tried = await solo.line(WAKES_S), trigger
        answered, left = isinstance(event, BotLine), False
        if isinstance(event, Silence):
            solo.close_input()
            last, tried = await solo.line(LEAVES_S), Trigger.END
            answered = isinstance(last, BotLine)
            if isinstance(last, OutputEnd):
                answered, left = last.rest != silence.held, last.exited is not None
            event = last if answered else silence
        return event, replace(
            self.facts,
            trigger=tried if answered else Trigger.NOTHING,
            left=left,
            busy=busy,
            late=clock.monotonic() - began,
            stderr=stderr,
        )

    async def _fail(
        self,
        expected: Expected,
        event: Output,
        turn: str = "",
        legal: Sequence[str] = (),
        *,
        probed: Facts | None = None,
        proven: bool = False,
    ) -> NoReturn:
        """Kill the bot, diagnose what is known of it, and raise."""
        solo = self.solo
        line = event.data if isinstance(event, BotLine) else None
        ended = isinstance(event, OutputEnd)
        rest = b""
        if not isinstance(event, BotLine):
            rest = event.rest if isinstance(event, OutputEnd) else event.held
        pause = MORE_S
        if expected is Expected.MOVE and any(t.encode() in (line or b"") for t in self._turns[-1:]):
            pause = max(OLD_S, MORE_S)
        more: list[bytes] = []
        while len(more) < MORE_LINES and isinstance(next_ := await solo.line(pause), BotLine):
            more.append(next_.data)
            pause = MORE_S
        exited = await solo.left(0)
        status = solo.bot.status() if exited else ""
        await solo.kill()
        # Without time to die after each line it may have died of any of them.
        several = ended and len(self._since) > 1 and not self.alone_s
        facts = replace(
            probed or replace(self.facts, stderr=solo.bot.log_tail()),
            expected=expected,
            after=self._after,
            line=line,
            more=more,
            rest=rest,
            flood=isinstance(event, Flood),
            ended=ended,
            spent=expected is Expected.MOVE and self.bank_ms < self._limits.move_ms,
            sent=b"".join(self._since) if several and expected is Expected.MOVE else self._sent,
            turn=turn,
            earlier=self._turns,
            legal=legal,
            status=status,
            overstepped=exited.overstepped if exited else "",
        )
        diagnosis = diagnose(facts)
        alone_s = 0.0
        if probed and not proven and not self.alone_s and probed.trigger is not Trigger.TIME:
            alone_s = probed.late + (PATIENT_S if isinstance(event, Silence) else MARGIN_S)
        elif several or (
            # Without time after each line it may have answered any of them.
            diagnosis.mistake is Mistake.UNASKED and len(self._since) > 1 and not self.alone_s
        ):
            alone_s = MARGIN_S
        declined = expected is Expected.READY and ended
        raise MistakeError(
            finding_of(diagnosis, facts, b"\n".join([rest if line is None else line, *more])),
            alone_s=alone_s,
            unwanted=(expected is Expected.NOTHING and not ended) or diagnosis.mistake in _UNWANTED,
            declined=declined and re.fullmatch(r"exit [1-9]\d*", status) is not None,
        )
