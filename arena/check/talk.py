"""A conversation with one bot that explains itself when it goes wrong.

Theory of operation. A `Talk` speaks over an `arena.engine.single_bot`.
A real session judges each line; what
it finds wrong, and silence, becomes a `Stumble` with everything that is known. Of a silent bot it
is tried out what makes it speak: more time, one more line, a block of input, the end of input.
What was tried when it spoke need not be why it spoke, and of several lines any may be the one that
it died of: such a `Stumble` has `again`, how long it has to be left alone in another process before
anything is tried there; and there it has time to die after each line.

Invariant: a Talk that has stumbled has killed its bot and is of no further use.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

import msgspec

from arena.check.causes import Cause
from arena.check.evidence import finding_of
from arena.check.facts import SPINS, Facts, Wanted, Woken
from arena.check.report import Finding
from arena.engine.single_bot import BotLine, Flood, Output, OutputEnd, Silence, Solo
from arena.model import Bot, Limits
from arena.wire.messages import Answer, Hello, Question, Ready
from arena.wire.session import BotSession

# What follows a wrong line within this belongs to it.
MORE_S = 0.05
MORE_LINES = 20
# After an answer to an earlier question that to the present one comes within this, if it does.
OLD_S = 0.5
# A bot that answers as soon as it is given what it waits for does so within this.
WAKES_S = 0.2
# How much later than allowed an answer is still waited for, to tell slow from silent.
GRACE_S = (0.3, 2.0)
# The second time it is left alone for so long after what made it speak the first time, and for
# so much more if nothing did: who sleeps or computes for seconds is slow, not silent.
MARGIN_S, PATIENT_S = 0.3, 10.0
# And after each line that wants no answer, for so long: who dies of it does so within this.
DIES_S = 0.1
# A bot leaves within a second after its input has ended.
LEAVES_S = 1.0
# Between the pieces of a line.
PIECE_S = 0.001
# Of the turn ids that it was sent, to tell an old one from an invented one.
TURNS_KEPT = 2_000
_LINE = b'{"type":"check","text":"this wants no answer"}\n'
# More than any reader takes in at once.
_BLOCK = (b'{"type":"check","text":"%s"}\n' % (b"x" * 960)) * 140

_SPOKEN = {Cause.UNASKED, Cause.TWO_ANSWERS, Cause.PRINT, Cause.ECHO, Cause.EMPTY_LINE}

Dress = Callable[[bytes], Sequence[bytes]]
"""How a line is written: the pieces to be written one after another."""


def as_it_is(line: bytes) -> Sequence[bytes]:
    """In one piece, as a referee writes."""
    return (line,)


class Stumble(Exception):  # noqa: N818 - a bot's, not ours
    """A bot went wrong; carries what was found of it."""

    def __init__(
        self, finding: Finding, *, again: float = 0.0, spoke: bool = False, declined: bool = False
    ) -> None:
        super().__init__(finding.title)
        self.finding = finding
        self.again = again
        """Seconds to leave it alone when this is tried again; 0: it is proven as it is."""
        self.spoke = spoke
        """It wrote what nobody had asked for."""
        self.declined = declined
        """It left with an error status when it had read `hello`: it may play other games."""


class StillSilentError(Exception):
    """It was disturbed before its time was over, so what woke it proves nothing yet."""

    def __init__(self, woken: Woken) -> None:
        super().__init__(woken)
        self.woken = woken


class _Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What came of trying to make a silent bot speak."""

    woken: Woken
    event: Output
    busy: float
    took: float
    """Seconds from when its time was over."""
    stderr: str
    """From before its input was tampered with."""
    left: bool = False


class Talk:
    """See the module's theory of operation."""

    def __init__(
        self,
        solo: Solo,
        bot: Bot,
        limits: Limits,
        files: Sequence[str],
        *,
        windows: bool = False,
        alone: float = 0.0,
    ) -> None:
        self._windows = windows
        self.solo = solo
        self._alone = alone
        self.dress: Dress = as_it_is
        self.join = False
        """Whether what wants no answer is written together with the next question."""
        self.times: list[float] = []
        """Seconds that its answers took."""
        self.spent: list[float] = []
        """Seconds that its answers took in each whole match."""
        self.moves: list[str] = []
        """Its answers, as far as they are the game's."""
        self.lean = False
        self._bot = bot
        self._files = files
        self._limits = limits
        self._judge = BotSession(limits.line_bytes)
        self._held = b""
        self._sent = b""
        self._since: list[bytes] = []
        self._after = ""
        self._turns: list[str] = []
        self._used = 0.0

    # ---- the conversation

    async def start(
        self, hello: Hello, *, patience: float = math.inf, suspect: Woken = Woken.NOTHING
    ) -> float:
        """Say hello and hear that it is ready; how many seconds that took.

        A bot that does nothing is looked into after `patience`, though its time is not over; what
        wakes it then is believed only if it is what is suspected already.
        """
        allowed = self._limits.start_ms / 1000
        early = patience < allowed
        self._sent, self._after = self._judge.hello(hello), "hello"
        self.solo.send(self._sent)
        event = await self.solo.line(min(patience, allowed))
        if isinstance(event, Silence):
            if early and self.solo.cpu() > SPINS * patience:
                raise StillSilentError(Woken.NOTHING)
            tried = await self._try(event, WAKES_S)
            if early and tried.woken is Woken.TIME:
                event = tried.event
            elif early and (tried.woken is Woken.NOTHING or tried.woken is not suspect):
                raise StillSilentError(tried.woken)
            else:
                await self._stumble(Wanted.READY, tried.event, tried=tried, proven=early)
        if not isinstance(event, BotLine):
            await self._stumble(Wanted.READY, event)
        self._judge.receive(event.data + b"\n")
        ready = self._judge.next_event()
        if not isinstance(ready, Ready):
            await self._stumble(Wanted.READY, event)
        self.lean = ready.lean
        return event.at - self.solo.began

    def new_match(self) -> None:
        """Its bank is full again."""
        self._used = 0.0

    def match_over(self) -> None:
        """It was played to its end."""
        self.spent.append(self._used)

    @property
    def bank_ms(self) -> int:
        """What is left of it."""
        return max(0, self._limits.match_ms - int(self._used * 1000))

    async def tell(self, line: bytes) -> None:
        """Send a line that wants no answer."""
        self._after = str(msgspec.json.decode(line)["type"])
        if self.join:
            self._held += line
            return
        await self._write(self.dress(line))
        if self._alone:
            await self.silence(DIES_S)

    async def ask(self, question: Question, legal: Sequence[str]) -> str:
        """Ask for a move: one that is legal, and in time."""
        line = bytes(self._judge.ask(question))
        pieces = self.dress(line)
        if self._held:
            pieces, self._held = (self._held + b"".join(pieces),), b""
        await self._write(pieces)
        asked = time.monotonic()
        event = await self.solo.line(min(self._limits.move_ms, self.bank_ms) / 1000)
        if isinstance(event, Silence):
            tried = await self._try(event, min(max(GRACE_S[0], self._limits.move_ms / 1000), 2.0))
            await self._stumble(Wanted.MOVE, tried.event, question.turn, legal, tried=tried)
        if not isinstance(event, BotLine):
            await self._stumble(Wanted.MOVE, event, question.turn, legal)
        took = max(0.0, event.at - asked)
        self._used += took
        self._judge.receive(event.data + b"\n")
        answer = self._judge.next_event()
        if not isinstance(answer, Answer) or answer.move not in legal:
            await self._stumble(Wanted.MOVE, event, question.turn, legal)
        self.times.append(took)
        self.moves.append(answer.move)
        self._turns = [*self._turns[-TURNS_KEPT:], question.turn]
        self._since = []
        self._after = "act"
        return answer.move

    async def silence(self, seconds: float) -> None:
        """See that it writes nothing for so long, and stays."""
        event = await self.solo.line(seconds)
        if not isinstance(event, Silence) or event.held:
            await self._stumble(Wanted.NOTHING, event)

    async def flush(self) -> None:
        """Send what was held back."""
        held, self._held = self._held, b""
        self.solo.send(held)

    async def _write(self, pieces: Sequence[bytes]) -> None:
        self._sent = b"".join(pieces)
        self._since.append(self._sent)
        for number, piece in enumerate(pieces):
            if number:
                await self.solo.rest(PIECE_S)
            self.solo.send(piece)

    # ---- what went wrong

    async def _try(self, silence: Silence, grace: float) -> _Tried:
        """Find out what makes a silent bot speak."""
        solo = self.solo
        began, before = time.monotonic(), solo.cpu()
        event = await solo.line(max(grace, self._alone, WAKES_S))
        took = time.monotonic() - began
        busy = (solo.cpu() - before) / took
        stderr = solo.stderr
        if not isinstance(event, Silence):
            woken = Woken.TIME if isinstance(event, BotLine) else Woken.NOTHING
            return _Tried(woken=woken, event=event, busy=busy, took=took, stderr=stderr)
        for woken, data in ((Woken.LINE, _LINE), (Woken.BLOCK, _BLOCK)):
            solo.send(data)
            event = await solo.line(WAKES_S)
            if not isinstance(event, Silence):
                return _Tried(
                    woken=woken if isinstance(event, BotLine) else Woken.NOTHING,
                    event=event,
                    busy=busy,
                    took=time.monotonic() - began,
                    stderr=stderr,
                )
        solo.close_input()
        event = await solo.line(LEAVES_S)
        spoke = isinstance(event, BotLine) or (
            isinstance(event, OutputEnd) and event.rest != silence.held
        )
        return _Tried(
            woken=Woken.END if spoke else Woken.NOTHING,
            event=event if spoke else silence,
            busy=busy,
            took=time.monotonic() - began,
            stderr=stderr,
            left=isinstance(event, OutputEnd) and event.exited is not None,
        )

    async def _stumble(
        self,
        wanted: Wanted,
        event: Output,
        turn: str = "",
        legal: Sequence[str] = (),
        *,
        tried: _Tried | None = None,
        proven: bool = False,
    ) -> NoReturn:
        """Raise what is known of a bot that went wrong; it is dead afterwards."""
        solo = self.solo
        more: list[bytes] = []
        old = isinstance(event, BotLine) and any(t.encode() in event.data for t in self._turns[-1:])
        pause = max(OLD_S, MORE_S) if old and wanted is Wanted.MOVE else MORE_S
        while len(more) < MORE_LINES and isinstance(next_ := await solo.line(pause), BotLine):
            more.append(next_.data)
            pause = MORE_S
        exited = await solo.left(0)
        status = solo.status if exited else ""
        await solo.kill()
        line = event.data if isinstance(event, BotLine) else None
        # Where it wasn't given time to die after each of them, it died of any.
        several = isinstance(event, OutputEnd) and len(self._since) > 1 and not self._alone
        rest = event.rest if isinstance(event, OutputEnd) else b""
        rest = event.held if isinstance(event, Silence | Flood) else rest
        facts = Facts(
            wanted=wanted,
            after=self._after,
            line=line,
            more=more,
            rest=rest,
            flood=isinstance(event, Flood),
            ended=isinstance(event, OutputEnd),
            woken=tried.woken if tried else Woken.NOTHING,
            left=tried.left if tried else False,
            busy=tried.busy if tried else 0.0,
            spent=wanted is Wanted.MOVE and self.bank_ms < self._limits.move_ms,
            late=tried.took if tried else 0.0,
            sent=b"".join(self._since) if several and wanted is Wanted.MOVE else self._sent,
            turn=turn,
            earlier=self._turns,
            legal=legal,
            status=status,
            overstepped=exited.overstepped if exited else "",
            stderr=tried.stderr if tried else solo.stderr,
            run=self._bot.run,
            files=self._files,
            windows=self._windows,
        )
        received = b"\n".join([line if line is not None else rest, *more])
        again = 0.0
        if tried and not proven and not self._alone and tried.woken is not Woken.TIME:
            unmoved = isinstance(tried.event, Silence)
            again = tried.took + (PATIENT_S if unmoved else MARGIN_S)
        elif several:
            again = MARGIN_S
        finding = finding_of(facts, received)
        spoke = wanted is Wanted.NOTHING and not facts.ended
        declined = wanted is Wanted.READY and facts.ended and re.fullmatch(r"exit [1-9]\d*", status)
        raise Stumble(
            finding,
            again=again,
            spoke=spoke or finding.cause in _SPOKEN,
            declined=bool(declined),
        )
