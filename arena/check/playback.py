"""Feed a recorded transcript to a bot, and compare its answers with those recorded (`arena feed`).

Theory of operation. The recorded lines are sent to a fresh process of the bot. After each question
its next line is read and judged by a `BotSession`, as in a match. While the answers are the
recorded ones, the conversation is the recorded one. After the first other move the rest of the
transcript no longer follows from the bot's answers, so playback stops there, unless `go_on`.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from arena.engine.recorder import Tap, open_tapped_pipes
from arena.engine.single_bot import BotLine, Flood, Silence, Solo, open_solo
from arena.model import Bot, FaultKind, Limits, UserError
from arena.referee import Failure
from arena.replay.transcripts import Exchange, Script, expect_answer
from arena.reports.escape import Legible, sentence
from arena.sandbox import Backend
from arena.wire.messages import Act, Answer, Bye, Hello, MatchStart, Next, Ready
from arena.wire.session import BotSession, Pending, WireFault

QUIET_S = 2.0  # where the recorded bot was silent: so long we wait before we say that we wait
PATIENT_S = 5.0  # the same where the recorded bot answered
BYE_S = 1.0  # after `bye`, as in a match

_TIME = frozenset({FaultKind.START, FaultKind.TIMEOUT, FaultKind.BANK})


class FeedOutput(NamedTuple):
    line: Callable[[str], None]  # what it has found, a line at a time
    stderr: BinaryIO  # what the bot writes to its standard error


class _StderrTap(Tap):
    """Passes a bot's stderr on; `confined`: only text, tabs and newlines."""

    def __init__(self, out: BinaryIO, *, confined: bool) -> None:
        self._out = out
        self._legible = Legible() if confined else None

    def logged(self, data: bytes) -> None:
        self._pass_on(self._legible(data) if self._legible else data)

    def close(self) -> None:
        """Flush an incomplete character at the end."""
        if self._legible:
            self._pass_on(self._legible(b"", last=True))

    def _pass_on(self, data: bytes) -> None:
        self._out.write(data)
        self._out.flush()


@dataclass
class Feeder:
    spoken: Callable[..., Script]
    echo: FeedOutput
    notify: Callable[[str], None]
    seconds: float
    go_on: bool
    trusted: bool  # what runs is the user's own tool, which may colour what it writes
    _match: int = 0
    _hole: int = 0
    _asked: int = 0
    _same: int = 0
    _others: int = 0
    _first: str = ""  # the first answer that was another one

    def __post_init__(self) -> None:
        self._script = self.spoken(lean=False)

    async def run(self, bot: Bot, backend: Backend, limits: Limits) -> bool:
        """Start the bot and play the transcript back; returns whether it answered as recorded."""
        with closing(_StderrTap(self.echo.stderr, confined=not self.trusted)) as tap:
            async with (
                open_tapped_pipes(lambda _: tap) as table,
                open_solo(table, bot, backend, limits) as solo,
            ):
                return await self._converse(solo, BotSession(limits.line_bytes))

    async def _converse(self, solo: Solo, session: BotSession) -> bool:
        at = 0
        while at < len(self._script.steps):
            step = self._script.steps[at]
            at += 1
            last = at == len(self._script.steps)
            if isinstance(step.message, MatchStart):
                self._match += 1
            elif isinstance(step.message, Act):
                self._hole = step.message.hole
            solo.send(step.line)
            if not step.wants_answer:
                continue
            expect_answer(session, step.message)
            outcome = await self._outcome(solo, session, step, last=last)
            if isinstance(outcome, Ready):
                # Its own log doesn't say whether it asks for less; it does.
                self._script = self.spoken(lean=outcome.lean)
                steps = self._script.steps
                if not outcome.lean and any(isinstance(s.message, Next) for s in steps):
                    raise UserError(
                        "the transcript is of a bot that asks for `next`, and this one doesn't: "
                        "it would wait for an `act`"
                    )
            if isinstance(outcome, Failure):
                return self._failed(step, outcome, last=last)
            same = self._answered(step, outcome, last=last) if isinstance(outcome, Answer) else None
            if same is not None:
                return same
        return await self._over(solo)

    async def _outcome(
        self, solo: Solo, session: BotSession, step: Exchange, *, last: bool
    ) -> Ready | Answer | Failure:
        self._asked += isinstance(step.message, Act | Next)
        silent = last and self._script.kind in _TIME and step.said is None
        starting = isinstance(step.message, Hello)
        seconds = self._patience(step)
        ways_out = "waiting (Ctrl-C ends it; --timeout 2s sets a limit)"
        if silent and seconds > QUIET_S:
            self.notify(f"{self._where(step)}: here it said nothing in time; {ways_out}")
        patient = min(seconds, PATIENT_S)
        while (event := session.next_event()) is Pending.NEED_DATA:
            heard = await solo.line(patient)
            if isinstance(heard, Silence) and patient < seconds:
                patient = seconds - patient
                if not silent:
                    self.notify(f"{self._where(step)}: no answer yet; {ways_out}")
            elif isinstance(heard, BotLine):
                session.receive(heard.data + b"\n")
            elif isinstance(heard, Flood):
                session.receive(heard.held)
            elif isinstance(heard, Silence):
                kind = FaultKind.START if starting else FaultKind.TIMEOUT
                message = f"no answer within {seconds * 1000:.0f} ms"
                if heard.held:
                    message += f"; {len(heard.held)} bytes without a newline were received"
                return Failure(kind=kind, message=message)
            else:
                return solo.bot.end(starting=starting)
        if isinstance(event, WireFault):
            return Failure(
                kind=event.kind, message=event.message, line=event.line, status=solo.bot.status()
            )
        assert isinstance(event, Ready | Answer)
        return event

    def _patience(self, step: Exchange) -> float:
        """Seconds for an answer; what started when it was recorded may take as long as then."""
        if isinstance(step.message, Hello) and self._script.kind is not FaultKind.START:
            return max(self.seconds, step.message.limits.start_ms / 1000)
        return self.seconds

    def _answered(self, step: Exchange, answer: Answer, *, last: bool) -> bool | None:
        """Compare an answer with the recorded one; None: go on."""
        recorded = step.said
        legal = step.message.legal if isinstance(step.message, Act) else None
        illegal = legal is not None and answer.move not in legal
        same = not isinstance(recorded, Answer) or recorded.move == answer.move
        if last and self._script.kind is not None:
            meant = self._script.kind is FaultKind.ILLEGAL and isinstance(recorded, Answer)
            if meant and (same or illegal):
                what = "illegal" if same else "illegal, another move"
                return self._verdict(f"{what}: {answer.move!r}", same=True, step=step)
            return self._verdict(f"it answered {answer.move!r}", same=False, step=step)
        if same:
            self._same += 1
            return None
        if illegal:
            return self._verdict(f"illegal: {answer.move!r}", same=False, step=step)
        self._others += 1
        if not self._first:
            assert isinstance(recorded, Answer)
            moves = f"recorded {recorded.move!r}, now {answer.move!r}"
            self._first = f"{self._where(step)}: another answer: {moves}"
            self._tell(self._first)
            after = "what follows in the transcript no longer follows from its answers"
            self._tell(f"  {after}{'' if self.go_on else '; stopped (--go-on goes on)'}")
        return None if self.go_on else False

    def _failed(self, step: Exchange, failure: Failure, *, last: bool) -> bool:
        status = f" ({failure.status})" if failure.status else ""
        what = f"{failure.kind}: {failure.message}{status}"
        if failure.line:
            what += f"\n  its line: {sentence(failure.line)}"
        spoken = self._script
        same = last and failure.kind is spoken.kind
        if same and spoken.status and spoken.status != failure.status:
            what += f"\n  recorded: {spoken.status}"
            same = False
        return self._verdict(what, same=same, step=step)

    def _verdict(self, what: str, *, same: bool, step: Exchange) -> bool:
        self._tell(f"{self._where(step)}: {what}")
        spoken = self._script
        if same:
            self._tell(f"reproduced: {spoken.kind}, after {self._same} answers as recorded")
            return True
        recorded = "no fault"
        if spoken.kind is not None:
            status = f" ({spoken.status})" if spoken.status else ""
            recorded = f"{spoken.kind}{status} in line {spoken.steps[-1].number}"
        self._tell(f"not as recorded: there it was {recorded}")
        return False

    async def _over(self, solo: Solo) -> bool:
        spoken = self._script
        if spoken.kind is not None:
            self._tell(f"not as recorded: there it was {spoken.kind} after the last line")
            return False
        if isinstance(spoken.steps[-1].message, Bye):
            solo.close_input()
            await solo.left(BYE_S)
        status = solo.bot.status() or "still running"
        others = f", {self._others} others, none illegal" if self._others else ""
        self._tell(
            f"{self._same} of {self._asked} answers as recorded{others}; at the end: {status}"
        )
        return not self._first

    def _where(self, step: Exchange) -> str:
        message = step.message
        if isinstance(message, Hello):
            return f"line {step.number}, at the start"
        assert isinstance(message, Act | Next)
        return f"line {step.number}, match {self._match}, hole {self._hole}, turn {message.turn}"

    def _tell(self, text: str) -> None:
        for line in text.splitlines():
            self.echo.line(
                sentence(line) if not line.startswith("  ") else f"  {sentence(line[2:])}"
            )
