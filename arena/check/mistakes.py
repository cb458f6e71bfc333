"""Every mistake that `arena check` can name, the evidence for one, and what is said of it.

`conversation.py` gathers evidence (`Facts`), `diagnosis.py` makes a `Diagnosis` of it. The words
are in `mistakes.toml`, `languages.toml`. To add a mistake: a member of `Mistake`, its words, and
the place in `diagnosis.py`, `lines.py` or `checks.py` that recognises it.
"""

import enum
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from arena.tables import table

# Share of a core above which a bot computes, and below which it waits: little enough for a bot that
# shares the core with many others, and far more than waiting takes.
SPINS = 0.1


class Rule(NamedTuple):
    section: str  # of protocol/SPEC.md, without its number
    text: str


class Mistake(enum.Enum):
    """A mistake; its value is its name in `--json`."""

    BUFFERED = "buffered"
    READS_AHEAD = "reads-ahead"
    WANTS_LINE = "wants-line"
    NO_NEWLINE = "no-newline"
    NO_ANSWER = "no-answer"
    TOO_SLOW = "too-slow"
    SPENT = "spent"
    ENDLESS = "endless"
    STUCK = "stuck"
    BANNER = "banner"
    PRINT = "print"
    BYTE_ORDER_MARK = "byte-order-mark"
    UTF_16 = "utf-16"
    NOT_UTF_8 = "not-utf-8"
    SINGLE_QUOTES = "single-quotes"
    PRETTY_PRINTED = "pretty-printed"
    ECHO = "echo"
    EMPTY_LINE = "empty-line"
    BARE_MOVE = "bare-move"
    NOT_AN_OBJECT = "not-an-object"
    TWO_ON_A_LINE = "two-on-a-line"
    BROKEN_JSON = "broken-json"
    NOT_A_NUMBER = "not-a-number"
    BYTES = "bytes"
    NOT_ENCODED = "not-encoded"
    NOT_READY = "not-ready"
    NESTED = "nested"
    FLOOD = "flood"
    TURN_MISSING = "turn-missing"
    TURN_TYPE = "turn-type"
    TURN_CUT = "turn-cut"
    TURN_OLD = "turn-old"
    TURN_WRONG = "turn-wrong"
    MOVE_MISSING = "move-missing"
    MOVE_TYPE = "move-type"
    MOVE_INDEX = "move-index"
    ILLEGAL = "illegal"
    TWO_ANSWERS = "two-answers"
    UNASKED = "unasked"
    NO_MODULE = "no-module"
    WINDOWS_LINES = "windows-lines"
    OTHER_GAME = "other-game"
    NOT_FOUND = "not-found"
    NO_FILE = "no-file"
    NOT_EXECUTABLE = "not-executable"
    EXCEPTION = "exception"
    SIGNAL = "signal"
    STATUS = "status"
    READ_ONLY = "read-only"
    NETWORK = "network"
    THREADS = "threads"
    SHARED_MEMORY = "shared-memory"
    FILES = "files"
    NO_MEMORY = "no-memory"
    MEMORY = "memory"
    DISK = "disk"
    LEFT_EARLY = "left-early"
    LEFT_AFTER_HOLE = "left-after-hole"
    LEFT_AFTER_MATCH = "left-after-match"
    CLOSED_OUTPUT = "closed-output"
    NEARLY_SLOW = "nearly-slow"
    NEARLY_SPENT = "nearly-spent"
    HOST_PACKAGE = "host-package"
    NEARLY_FULL = "nearly-full"
    NOT_REPEATABLE = "not-repeatable"
    BUSY_WAIT = "busy-wait"
    STAYS = "stays"
    NO_CRLF = "no-crlf"
    LEAVES_BADLY = "leaves-badly"
    NOT_ENTERED = "not-entered"
    NO_SUCH_PATH = "no-such-path"

    @property
    def title(self) -> str:
        """What is wrong, as the end of a sentence that begins with the bot."""
        return str(table("check/mistakes")[self.value]["title"])

    @property
    def rule(self) -> Rule:
        return Rule(*table("check/mistakes")["rules"][table("check/mistakes")[self.value]["rule"]])

    @property
    def advice(self) -> str:
        return str(table("check/mistakes")[self.value]["advice"])


Expected = enum.Enum("Expected", ["READY", "MOVE", "NOTHING"])
"""What the bot owed when it went wrong."""
Trigger = enum.Enum("Trigger", ["NOTHING", "TIME", "LINE", "BLOCK", "END"])
"""Which probe made a silent bot answer after all; see `conversation.py`."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    expected: Expected = Expected.READY
    after: str = ""
    """The type of the last message before the bot owed anything: hello, match, hole_end, …"""
    line: bytes | None = None  # the whole line that was wrong; None: no line came
    more: Sequence[bytes] = ()  # lines right after it
    rest: bytes = b""  # output without a newline at its end
    flood: bool = False
    ended: bool = False  # its output has ended
    trigger: Trigger = Trigger.NOTHING
    left: bool = False  # it exited when its input was closed
    busy: float = 0.0  # share of a core that it used while it owed an answer
    spent: bool = False  # it had less time left for the match than one decision may take
    late: float = 0.0  # seconds that the check waited beyond the bot's time
    sent: bytes = b""
    """What we sent last; several lines if each of them may be the one that made the bot exit."""
    turn: str = ""
    earlier: Sequence[str] = ()  # turn ids of earlier questions
    legal: Sequence[str] = ()
    status: str = ""
    overstepped: str = ""
    stderr: str = ""
    run: Sequence[str] = ()
    files: Sequence[str] = ()
    windows: bool = False  # a script that `run` names has Windows line ends


class Diagnosis(NamedTuple):
    mistake: Mistake
    detail: str = ""  # one sentence about this bot; empty if the title says it all


def unnamed_lock(files: Sequence[str]) -> str:
    """A hint for a bot with a requirements.txt that bot.toml does not name."""
    if (file := "requirements.txt") not in files:
        return ""
    return f' There is a {file} beside it: add lock = "{file}" to bot.toml.'


class Language(msgspec.Struct, frozen=True):
    name: str = ""
    flush: str = "Flush standard output after every line."
    log: str = ""
    read: str = "Read line by line, without a block-wise reader in front of it."
    program: str | None = None  # a pattern for the interpreter's name
    sources: tuple[str, ...] = ()


def language(run: Sequence[str], files: Iterable[str] = ()) -> Language:
    """By the interpreter that runs it, else by the sources beside its program."""
    languages = msgspec.convert(table("check/languages"), dict[str, Language]).values()
    program = posixpath.basename(run[0]) if run else ""
    names = [*files]
    by_program = (s for s in languages if s.program and re.fullmatch(s.program, program))
    by_source = (s for s in languages for name in names if name.endswith(s.sources))
    return next(by_program, None) or next(by_source, Language())


def in_language(advice: str, run: Sequence[str], files: Iterable[str] = ()) -> str:
    """Fill {flush}, {log} and {read} in an advice."""
    spoken = language(run, files)
    for key in ("flush", "log", "read"):
        advice = advice.replace(f"{{{key}}}", getattr(spoken, key))
    return advice.strip()
