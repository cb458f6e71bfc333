r"""Write and parse transcripts: the dialogue of the referee and one bot, as text.

    # a comment
    > a line to the bot
    < a line from the bot
    - output of the bot without a newline: an unfinished line
    <\ bytes from the bot that neither can show
    . what happened to the process, or how long nothing came
    ! the kind of the fault that ended it

In `<\ `, `\n` is a newline, `\\` a backslash and `\x1b` any other byte that isn't part of a
printable character. A silent bot has no line. So a transcript holds every byte. All that may follow
a `. ` is in protocol/transcripts/README.md; this module writes how a process ended (`exit 1`,
`signal SIGSEGV`).

`parse_transcript` gives its lines, `read_script` what is to be sent and what came of each question.

Pure. Invariant: parsing gives back what was written, for any bytes.
"""

import enum
import re
from collections.abc import Iterator, Sequence

import msgspec

from arena.model import FaultKind, UserError
from arena.reports.escape import visible
from arena.wire.messages import Act, Answer, Hello, Next, Ready, ToBot
from arena.wire.session import BotSession, Pending, SessionState, WireFault

_ESCAPE = re.compile(rb"\\(\\|n|x[0-9a-f]{2})?")
_ENDS = ("exit ", "signal ")  # events of a process that ends by itself
_messages = msgspec.json.Decoder(ToBot)

# ---------------------------------------------------------------------------------- writing


def comment_line(text: str) -> str:
    return f"# {_one_line(text)}"


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def sent_line(line: bytes | bytearray) -> str:
    return f"> {line.decode().removesuffix(chr(10))}"


def received_line(data: bytes) -> str:
    """The bot's output: a line with its newline, or an unfinished one."""
    mark = "<" if data.endswith(b"\n") else "-"
    text = data.removesuffix(b"\n").decode("utf-8", "surrogateescape")
    if text.isprintable():
        return f"{mark} {text}"
    return "<\\ " + "".join(map(_shown, data.decode("utf-8", "surrogateescape")))


def _shown(char: str) -> str:
    if char == "\\":
        return "\\\\"
    if char == "\n":
        return "\\n"
    if char.isprintable():
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def failure_lines(kind: FaultKind, status: str) -> Iterator[str]:
    """The fault that ended the bot, and how its process ended (`status`), if it did."""
    if status:
        yield f". {_one_line(status)}"
    yield f"! {kind.value}"


# ---------------------------------------------------------------------------------- reading


class Mark(enum.Enum):
    TO_BOT = enum.auto()
    BY_BOT = enum.auto()
    EVENT = enum.auto()
    FAULT = enum.auto()


_MARKS = {
    b"> ": (Mark.TO_BOT, b"\n"),
    b"< ": (Mark.BY_BOT, b"\n"),
    b"<": (Mark.BY_BOT, b"\n"),
    b"- ": (Mark.BY_BOT, b""),
    b". ": (Mark.EVENT, b""),
    b"! ": (Mark.FAULT, b""),
}
"""By how a line begins, its kind and what follows it."""


class TranscriptLine(msgspec.Struct, frozen=True):
    number: int
    mark: Mark
    data: bytes  # with the newline, if it had one


def parse_transcript(content: bytes, name: str) -> list[TranscriptLine]:
    """The lines of a transcript; UserError names a line that is none. `name` is for messages."""
    entries = []
    for number, line in enumerate(content.split(b"\n"), 1):
        line = line.removesuffix(b"\r")  # noqa: PLW2901 - an editor's
        mark, end = _MARKS.get(line[:2], (None, b""))
        if mark is not None:
            entries.append(TranscriptLine(number, mark, line[2:] + end))
        elif line[:3] == b"<\\ ":
            entries.append(TranscriptLine(number, Mark.BY_BOT, _unescaped(line[3:], name, number)))
        elif line and line[:1] != b"#":
            begun = line[:20].decode("utf-8", "backslashreplace")
            raise _wrong(
                name,
                number,
                f"no line of a transcript: {begun!r}; each begins with "
                '"# ", "> ", "< ", "- ", "<\\ ", ". " or "! "',
            )
    return entries


def _wrong(name: str, line: int, what: str) -> UserError:
    return UserError(f"{name}: line {line}: {what}")


def _unescaped(text: bytes, name: str, number: int) -> bytes:
    def byte(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        if escape is None:
            at = found.start() + 3
            what = "after a backslash comes another, an n, or an x and two hex digits"
            raise _wrong(name, number, f"column {at + 1}: {what}")
        if escape == b"\\":
            return escape
        return b"\n" if escape == b"n" else bytes.fromhex(escape[1:].decode())

    return _ESCAPE.sub(byte, text)


Said = Ready | Answer | WireFault | None
"""The bot's reaction to a line; None: there was none, or it isn't known."""


class Exchange(msgspec.Struct, frozen=True):
    number: int
    line: bytes
    message: ToBot
    said: Said

    @property
    def wants_answer(self) -> bool:
        return isinstance(self.message, Hello | Act | Next)


class Script(msgspec.Struct, frozen=True):
    hello: Hello
    steps: tuple[Exchange, ...]
    kind: FaultKind | None
    status: str  # how the process ended by that fault; empty: unknown, or it did not


def read_script(content: bytes, name: str) -> Script:
    """Parse a transcript for playback; UserError names the line that is wrong."""
    parsed = parse_transcript(content, name)
    entries = [entry for entry in parsed if entry.mark is not Mark.EVENT]
    first = next((entry for entry in entries if entry.mark is Mark.TO_BOT), None)
    if first is None:
        raise UserError(f"{name}: not a transcript: no line to the bot (> …) in it")
    greeting = _message(first, name)
    if not isinstance(greeting, Hello):
        raise _wrong(name, first.number, "the first line to the bot must be hello")
    session = BotSession(greeting.limits.line_bytes)
    steps: list[Exchange] = []
    waiting: tuple[TranscriptLine, ToBot] | None = None
    kind: FaultKind | None = None
    for entry in entries:
        if kind is not None:
            raise _wrong(name, entry.number, "comes after the fault that ended it")
        if entry.mark is Mark.BY_BOT:
            session.receive(entry.data)
        elif entry.mark is Mark.FAULT:
            kind = _fault(entry, name)
        else:
            message = _message(entry, name)
            if waiting is not None:
                steps.append(_step(session, *waiting))
            if session.state is SessionState.CLOSED:
                what = "goes on after a line of the bot's that is a fault"
                raise _wrong(name, entry.number, what)
            if isinstance(message, Hello) == bool(steps):
                raise _wrong(name, entry.number, "a second hello")
            waiting = (entry, message)
            expect_answer(session, message)
    assert waiting is not None
    steps.append(_step(session, *waiting))
    return Script(greeting, tuple(steps), kind, _status(parsed))


def expect_answer(session: BotSession, message: ToBot) -> None:
    """Have a session expect the answer to a message, if it wants one."""
    if isinstance(message, Hello):
        session.hello(message)
    elif isinstance(message, Act | Next):
        session.ask(message)


def _status(entries: Sequence[TranscriptLine]) -> str:
    events = [e.data.decode("utf-8", "backslashreplace") for e in entries if e.mark is Mark.EVENT]
    return next((event for event in events if event.startswith(_ENDS)), "")


def _message(entry: TranscriptLine, name: str) -> ToBot:
    try:
        message: ToBot = _messages.decode(entry.data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _wrong(name, entry.number, f"not a line of the referee's: {error}") from None
    return message


def _fault(entry: TranscriptLine, name: str) -> FaultKind:
    word = entry.data.decode("utf-8", "backslashreplace").strip()
    try:
        return FaultKind(word)
    except ValueError:
        what = f"{word!r} is no kind of fault: {', '.join(FaultKind)}"
        raise _wrong(name, entry.number, what) from None


def _step(session: BotSession, entry: TranscriptLine, message: ToBot) -> Exchange:
    heard = session.next_event()
    if isinstance(heard, Pending):
        session.state = SessionState.IDLE  # its answer, if it was to give one, isn't known
    said = None if isinstance(heard, Pending) else heard
    return Exchange(entry.number, entry.data, message, said)
