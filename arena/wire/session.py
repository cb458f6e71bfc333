r"""One bot's side of the conversation as a sans-IO state machine. Knows no game and no clock.

Theory of operation. The session starts NEW. `hello()` makes it STARTING: the next line must be
`ready`. Then it is IDLE; `ask()` makes it ASKED, and the next complete line, whether it came
before or after the question, is its answer: right, or a fault. A right answer makes it IDLE
again. A fault, or `close()`, makes it CLOSED for good.

    NEW --hello--> STARTING --ready--> IDLE --ask--> ASKED --answer--> IDLE
                       \------- any fault -------> CLOSED <------/

`send(...)` gives the bytes of a message that wants no answer. `receive()` takes whatever came,
`end()` that no more will come, `next_event()` says what it means; all may be called in any state.
`hear()` is a short way for what is just an answer.

Invariant (fuzzed): any bytes in any split give an event or a bot's fault, nothing else, and
the same ones whatever the split. Exactly one line is consumed a question. Of a line at most
`limit` bytes are ever kept; a longer one is a fault.
"""

import enum

import msgspec

from arena.model import FaultKind
from arena.wire.messages import Answer, Hello, Question, Ready, ToBot, Typed

# An answer is flat; more brackets than this anywhere in a line are a fault, so that the
# decoder's own recursion limit, which differs between machines, is never met.
MAX_BRACKETS = 64

LINE_KEPT = 200  # what a fault keeps of the offending line

_encoder = msgspec.json.Encoder()
_encode, _encode_into = _encoder.encode, _encoder.encode_into
_decode_answer = msgspec.json.Decoder(Answer).decode
_decode_ready = msgspec.json.Decoder(Ready).decode
# A decoder takes a line without `type` for the one thing that it decodes; `ready` has to say so.
_decode_type = msgspec.json.Decoder(Typed).decode


class SessionState(enum.Enum):
    NEW = enum.auto()
    STARTING = enum.auto()
    IDLE = enum.auto()
    ASKED = enum.auto()
    CLOSED = enum.auto()


class Pending(enum.Enum):
    """There is no event yet."""

    NEED_DATA = enum.auto()
    END = enum.auto()
    """The output has ended, and with it what could have been an answer. Whether that is an
    exit or a crash, only the owner of the process can tell."""


# A member of an Enum takes eight times as long to look up as a global name, and these are asked for
# at every turn.
_STARTING, _IDLE = SessionState.STARTING, SessionState.IDLE
_ASKED, _CLOSED = SessionState.ASKED, SessionState.CLOSED
_NEED_DATA, _END = Pending.NEED_DATA, Pending.END


class WireFault(msgspec.Struct, frozen=True):
    """A violation of the protocol by a bot."""

    kind: FaultKind
    message: str
    line: str = ""


WireEvent = Ready | Answer | WireFault | Pending


def encode(message: ToBot) -> bytes:
    return _encode(message) + b"\n"


def shown(line: bytes) -> str:
    """A bot's line for people and records: capped, undecodable bytes escaped."""
    text = line[: LINE_KEPT + 1].decode("utf-8", "backslashreplace")
    return text if len(text) <= LINE_KEPT else text[:LINE_KEPT] + "…"


class BotSession:
    __slots__ = (
        "_limit", "_question", "_scanned", "_short", "_turn", "ended", "held", "lean", "state",
    )  # fmt: skip

    def __init__(self, line_bytes: int) -> None:
        self.held = b""
        """What waits unread. Bytes that are replaced, not an array that grows: mostly one line."""
        self._limit = line_bytes
        self._scanned = 0  # no newline before this index: long lines are scanned once
        # What is no longer than this needs no look at its length, nor at its brackets.
        self._short = min(line_bytes, MAX_BRACKETS)
        self._turn = ""
        self._question = bytearray()
        self.state = SessionState.NEW
        self.ended = False
        self.lean = False  # whether it has asked for lean questions

    def hello(self, message: Hello) -> bytes:
        """The first line; wants `ready`."""
        assert self.state is SessionState.NEW
        self.state = SessionState.STARTING
        return encode(message)

    def ask(self, message: Question) -> bytearray:
        """A question; wants one answer. The array is made anew at the next question."""
        assert self.state is _IDLE
        self.state = _ASKED
        self._turn = message.turn
        line = self._question
        _encode_into(message, line)
        line += b"\n"
        return line

    def send(self, message: ToBot) -> bytes:
        """A line that wants no answer."""
        assert self.state is _IDLE or self.state is _ASKED
        return encode(message)

    def close(self) -> None:
        self.state = SessionState.CLOSED

    def receive(self, data: bytes) -> bool:
        """Take in output. True: `full`, so the caller is to stop reading."""
        self.held = held = self.held + data if self.held else data
        return len(held) > self._limit

    @property
    def full(self) -> bool:
        """True when more is held than any legal line needs: leave the rest in the pipe."""
        return len(self.held) > self._limit

    def next_line(self) -> bytes | None:
        """None: there is none yet or, if it is `full`, the line is too long."""
        held = self.held
        end = held.find(b"\n", self._scanned)
        if not 0 <= end <= self._limit:
            self._scanned = len(held)
            return None
        self.held = held[end + 1 :]
        self._scanned = 0
        return held[:end].removesuffix(b"\r")

    def end(self) -> None:
        self.ended = True

    def next_event(self) -> WireEvent:
        """What the bot's output means now."""
        state = self.state
        if state is not _ASKED and state is not _STARTING:
            return _NEED_DATA
        line = self.next_line()
        if line is None:
            if self.full:
                text = "the line is longer than line_bytes"
                return self._fault(FaultKind.FLOOD, text, self.held)
            return _END if self.ended else _NEED_DATA
        self.state = _IDLE  # a fault closes it after all
        return self._answer(line) if state is _ASKED else self._ready(line)

    def hear(self, data: bytes) -> Answer | None:
        """The answer, if `data` is that and nothing else; None, and nothing has changed, if not. A
        short way past `receive` and `next_event`, which say the same.
        """
        size = len(data)
        if size > self._short or self.state is not _ASKED or self.held:
            return None
        if data.find(b"\n") != size - 1:
            return None
        try:
            answer = _decode_answer(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if answer.turn != self._turn:
            return None
        self.state = _IDLE
        return answer

    def _answer(self, line: bytes) -> Answer | WireFault:
        if len(line) > MAX_BRACKETS and _brackets(line) > MAX_BRACKETS:
            return self._fault(FaultKind.MALFORMED, "the line is nested too deeply", line)
        try:
            answer = _decode_answer(line)
        except msgspec.ValidationError as error:
            right = f'{{"turn":"{self._turn}","move":"…"}}'
            text = f"{error}; an answer is {right} (or was this unasked?)"
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
            _decode_type(line)
            ready = _decode_ready(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = 'the first line must be {"type":"ready"}; write anything else to standard error'
            return self._fault(FaultKind.START, text, line)
        self.lean = ready.lean
        return ready

    def _fault(self, kind: FaultKind, message: str, line: bytes) -> WireFault:
        self.state = _CLOSED
        return WireFault(kind, message, shown(line))


def _brackets(line: bytes) -> int:
    return line.count(b"[") + line.count(b"{")
