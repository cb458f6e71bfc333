r"""One bot's side of the conversation as a sans-IO state machine. Knows no game and no clock.

Theory of operation. The session starts NEW. `hello()` makes it STARTING: the next line must be
`ready`. Then it is IDLE; `ask()` makes it ASKED, and the next complete line, whether it came
before or after the question, is its answer: right, or a fault. A right answer makes it IDLE
again. A fault, or `close()`, makes it CLOSED for good.

    NEW --hello--> STARTING --ready--> IDLE --ask--> ASKED --answer--> IDLE
                       \------- any fault -------> CLOSED <------/

`send(...)` gives the bytes of a message that wants no answer. `receive()` takes whatever came,
`next_event()` says what it means; both may be called in any state.

Invariant (fuzzed): any bytes in any split give an event or a bot's fault, nothing else, and
the same ones whatever the split. Exactly one line is consumed a question.
"""

from __future__ import annotations

import enum

import msgspec

from arena.model import FaultKind
from arena.wire.framing import Framer, Framing
from arena.wire.messages import Act, Answer, Hello, Ready, ToBot

# An answer is flat; more brackets than this anywhere in a line are a fault, so that the
# decoder's own recursion limit, which differs between machines, is never met.
MAX_BRACKETS = 64

# What a fault keeps of the offending line.
LINE_KEPT = 200

_encode = msgspec.json.Encoder().encode
_decode_answer = msgspec.json.Decoder(Answer).decode
_decode_ready = msgspec.json.Decoder(Ready).decode


class State(enum.Enum):
    """Where a session stands."""

    NEW = enum.auto()
    STARTING = enum.auto()
    IDLE = enum.auto()
    ASKED = enum.auto()
    CLOSED = enum.auto()


class Pending(enum.Enum):
    """Not an event yet."""

    NEED_DATA = enum.auto()
    END = enum.auto()
    """The output has ended, and with it what could have been an answer. Whether that is an
    exit or a crash is known to whoever sees the process."""


class WireFault(msgspec.Struct, frozen=True):
    """What a bot did wrong on the wire."""

    kind: FaultKind
    message: str
    line: str = ""


def encode(message: ToBot) -> bytes:
    """A message as the line that is sent."""
    return _encode(message) + b"\n"


def shown(line: bytes) -> str:
    """A bot's line for people and records: capped, undecodable bytes escaped."""
    text = line[: LINE_KEPT + 1].decode("utf-8", "backslashreplace")
    return text if len(text) <= LINE_KEPT else text[:LINE_KEPT] + "…"


class BotSession:
    """See the module's theory of operation."""

    __slots__ = ("_framer", "_turn", "ended", "state")

    def __init__(self, line_bytes: int) -> None:
        self._framer = Framer(line_bytes)
        self._turn = ""
        self.state = State.NEW
        self.ended = False

    # ---- towards the bot

    def hello(self, message: Hello) -> bytes:
        """The first line; wants `ready`."""
        assert self.state is State.NEW
        self.state = State.STARTING
        return encode(message)

    def ask(self, message: Act) -> bytes:
        """A question; wants one answer."""
        assert self.state is State.IDLE
        self.state = State.ASKED
        self._turn = message.turn
        return encode(message)

    def send(self, message: ToBot) -> bytes:
        """A line that wants no answer."""
        assert self.state in (State.IDLE, State.ASKED)
        return encode(message)

    def close(self) -> None:
        """Nothing more will be said or heard."""
        self.state = State.CLOSED

    # ---- from the bot

    def receive(self, data: bytes) -> None:
        """Take in output; b"" means that it has ended."""
        if data:
            self._framer.feed(data)
        else:
            self.ended = True

    @property
    def full(self) -> bool:
        """True when enough unread output waits here: leave the rest in the pipe."""
        return self._framer.full

    @property
    def held(self) -> bytes:
        """What has come and is no line yet, for messages."""
        return self._framer.held

    def next_event(self) -> Ready | Answer | WireFault | Pending:
        """What the bot's output means now."""
        state = self.state
        if state is not State.ASKED and state is not State.STARTING:
            return Pending.NEED_DATA
        line = self._framer.next_line()
        if line is Framing.NEED_DATA:
            return Pending.END if self.ended else Pending.NEED_DATA
        if line is Framing.TOO_LONG:
            return self._fault(
                FaultKind.FLOOD, "the line is longer than line_bytes", self._framer.held
            )
        assert isinstance(line, bytes)
        event = self._answer(line) if state is State.ASKED else self._ready(line)
        if isinstance(event, WireFault):
            self.state = State.CLOSED
        else:
            self.state = State.IDLE
        return event

    def _answer(self, line: bytes) -> Answer | WireFault:
        if len(line) > MAX_BRACKETS and _brackets(line) > MAX_BRACKETS:
            return self._fault(FaultKind.MALFORMED, "the line is nested too deeply", line)
        try:
            answer = _decode_answer(line)
        except msgspec.ValidationError as error:
            text = (
                f'{error}; an answer is {{"turn":"{self._turn}","move":"…"}} (or was this unasked?)'
            )
            return self._fault(FaultKind.MALFORMED, text, line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = "not JSON; standard output is for answers alone, log to standard error"
            return self._fault(FaultKind.MALFORMED, text, line)
        if answer.turn != self._turn:
            text = (
                f"the answer's turn is {answer.turn[:40]!r}, asked was {self._turn!r}: copy "
                "`turn` from the question, answer each question once, write nothing else"
            )
            return self._fault(FaultKind.STALE, text, line)
        return answer

    def _ready(self, line: bytes) -> Ready | WireFault:
        if _brackets(line) > MAX_BRACKETS:
            return self._fault(FaultKind.START, "the line is nested too deeply", line)
        try:
            return _decode_ready(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = 'the first line must be {"type":"ready"}; write anything else to standard error'
            return self._fault(FaultKind.START, text, line)

    def _fault(self, kind: FaultKind, message: str, line: bytes) -> WireFault:
        self.state = State.CLOSED
        return WireFault(kind, message, shown(line))


def _brackets(line: bytes) -> int:
    return line.count(b"[") + line.count(b"{")
