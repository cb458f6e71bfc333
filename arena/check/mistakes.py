"""Every mistake that `arena check` can name; `mistakes.toml` has the words.

To add one: a member of `Mistake`, its words, and the place in `diagnosis.py`, `lines.py` or
`checks.py` that recognises it.
"""

from __future__ import annotations

import enum
import functools
import tomllib
from importlib.resources import files
from typing import Any, NamedTuple


class Section(enum.StrEnum):
    """Headings of protocol/SPEC.md, without their numbers."""

    CONVERSATION = "The conversation"
    MESSAGES = "Messages"
    HELLO = "`hello`"
    READY = "`ready`"
    ACT = "`act`"
    LIMITS = "Limits and time"
    FAULTS = "Faults"
    WHERE = "Where your program runs"
    CHANGE = "What may change"


class Rule(NamedTuple):
    section: Section
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
        return str(table("mistakes")[self.value]["title"])

    @property
    def rule(self) -> Rule:
        section, text = table("mistakes")["rules"][table("mistakes")[self.value]["rule"]]
        return Rule(Section(section), text)

    @property
    def advice(self) -> str:
        return str(table("mistakes")[self.value]["advice"])


@functools.cache
def table(name: str) -> dict[str, Any]:
    """A file of words, read when the first are needed."""
    return tomllib.loads((files("arena.check") / f"{name}.toml").read_text("utf-8"))
