"""From what was sent, what came and how it ended to the mistake by its name. Pure.

Whether something is a fault is decided before, by the session and the referee; here it gets its
likely cause. The more telling evidence comes first: how a process died before what it left
unsaid, and what it left unsaid before what it said.
"""

from __future__ import annotations

import ast
import difflib
import enum
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from arena.check.causes import CAUSES, Cause
from arena.check.languages import language
from arena.referee import Failure
from arena.wire.session import MAX_BRACKETS

# Of a core: above this a bot computes, below it waits.
BUSY = 0.5


class Wanted(enum.Enum):
    """What a bot owed when it went wrong."""

    READY = enum.auto()
    MOVE = enum.auto()
    NOTHING = enum.auto()


class Woken(enum.Enum):
    """What made a silent bot answer after all; see `Talk`."""

    NOTHING = enum.auto()
    TIME = enum.auto()
    LINE = enum.auto()
    BLOCK = enum.auto()
    END = enum.auto()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a bot that went wrong."""

    wanted: Wanted
    after: str = ""
    """The type of the last message before it owed anything: hello, match, hole_end, …"""
    line: bytes | None = None
    """The whole line that was wrong; None: no line came."""
    more: Sequence[bytes] = ()
    """What came right after it."""
    rest: bytes = b""
    """What came without a newline."""
    flood: bool = False
    ended: bool = False
    """Its output has ended."""
    woken: Woken = Woken.NOTHING
    left: bool = False
    """Whether it was gone when its input had been closed."""
    busy: float = 0.0
    """Share of a core that it used while it owed an answer."""
    sent: bytes = b""
    turn: str = ""
    earlier: Sequence[str] = ()
    """Turn ids of questions before."""
    legal: Sequence[str] = ()
    status: str = ""
    overstepped: str = ""
    stderr: str = ""
    run: Sequence[str] = ()
    files: Sequence[str] = ()
    fault: str = ""
    """What the session or the referee said."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake by its name, and what of it is peculiar to this bot."""

    cause: Cause
    found: str = ""
    """One sentence; empty if the title says it all."""

    @property
    def title(self) -> str:
        """What it is: follows on the bot's name."""
        return CAUSES[self.cause].title

    def advice(self, run: Sequence[str], files: Sequence[str] = ()) -> str:
        """What to do, in the bot's language."""
        spoken = language(run, files)
        text = CAUSES[self.cause].advice
        for key, value in (("flush", spoken.flush), ("log", spoken.log), ("read", spoken.read)):
            text = text.replace(f"{{{key}}}", value)
        return text.strip()


def diagnose(facts: Facts) -> Diagnosis:  # noqa: PLR0911 - one after another
    """The likely cause."""
    if facts.overstepped:
        causes = {"memory": Cause.MEMORY, "tasks": Cause.THREADS, "disk": Cause.DISK}
        return Diagnosis(cause=causes[facts.overstepped])
    if facts.flood:
        return _cause(Cause.FLOOD)
    if facts.line is not None and facts.woken is Woken.NOTHING:
        return _of_line(facts, facts.line)
    if facts.woken is not Woken.NOTHING:
        return _of_the_woken(facts)
    if facts.rest and _json(facts.rest) is not _NO:
        return _cause(Cause.NO_NEWLINE)
    if facts.ended:
        return _of_the_end(facts)
    return _of_silence(facts)


def of_start(failure: Failure, stderr: str, unheard: bytes, run: Sequence[str]) -> Diagnosis:
    """The likely cause of what kept a bot from an event; `unheard`: what it wrote too late."""
    line = failure.line.encode() if failure.line else None
    if line is not None and line.startswith((b"\\xff\\xfe", b"\\xfe\\xff")):
        return _cause(Cause.UTF_16)
    silent = failure.message.startswith("not ready within")
    return diagnose(
        Facts(
            wanted=Wanted.READY,
            after="hello",
            line=line,
            ended=not silent,
            woken=Woken.END if silent and unheard else Woken.NOTHING,
            left=bool(failure.status),
            status=failure.status,
            stderr=stderr,
            run=run,
        )
    )


def _cause(cause: Cause, found: str = "") -> Diagnosis:
    return Diagnosis(cause=cause, found=found)


# --------------------------------------------------------------------------------- no answer


def _of_the_woken(facts: Facts) -> Diagnosis:
    causes = {
        Woken.TIME: Cause.TOO_SLOW,
        Woken.LINE: Cause.WANTS_LINE,
        Woken.BLOCK: Cause.READS_AHEAD,
        Woken.END: Cause.BUFFERED,
    }
    cause = causes[facts.woken]
    if facts.busy > BUSY and facts.woken is not Woken.END:
        return _cause(Cause.TOO_SLOW, "It was computing all the time.")
    if facts.line is None and facts.rest and _json(facts.rest) is not _NO:
        cause = Cause.NO_NEWLINE
    if cause is Cause.BUFFERED and facts.status.startswith("signal"):
        return _of_the_end(facts)
    return _cause(cause)


def _of_silence(facts: Facts) -> Diagnosis:
    if facts.rest:
        prefix = _of_text(facts.rest)
        if prefix is not None:
            return prefix
        return _cause(Cause.NO_NEWLINE, "What came has no newline at its end.")
    if facts.busy > BUSY:
        return _cause(Cause.TOO_SLOW, "It was computing all the time.")
    if known := _of_stderr(facts.stderr):
        return known
    return _cause(Cause.NO_ANSWER if facts.left else Cause.STUCK)


# ----------------------------------------------------------------------------------- the end

_REFUSED = {
    Cause.READ_ONLY: r"read-only file system|Errno 30\b|EROFS",
    Cause.NETWORK: r"network is unreachable|name resolution|getaddrinfo|UnknownHost|socket\.py"
    r"|ECONNREFUSED|ENETUNREACH|java\.net\.|urllib|URLError|dial (tcp|udp)"
    r"|socket: operation not permitted|listen EPERM|connect EPERM",
    Cause.THREADS: r"can't start new thread|unable to create (new )?native thread|pthread_create"
    r"|fork: retry|BlockingIOError.*Resource temporarily|failed to create new OS thread",
    Cause.NO_MEMORY: r"MemoryError|bad_alloc|OutOfMemoryError|heap out of memory"
    r"|cannot allocate memory|out of memory|ENOMEM|memory allocation of \d+ bytes failed",
}
# As an interpreter's last words; a line of anybody's log could say the same.
_NOT_THERE = (
    r"No such file or directory|command not found|No module named|Cannot find module"
    r"|error while loading shared libraries|can't open file|Could not find or load main class"
    r"|ClassNotFoundException|not found in @INC"
)
_NOT_RUN = r"Permission denied|Exec format error|cannot execute|bad interpreter"
_TRACEBACK = re.compile(
    r"^(Traceback \(most recent call last\):|Exception in thread|panic: |thread '.*' panicked"
    r"|\s+at .*\(.*\)|node:.*|\w*(Error|Exception|Interrupt)\b.*|terminate called|.*: line \d+: .*"
    r"|lua\S*: .*|.* at \S+ line \d+\b.*|\S+\.rb:\d+:in .*)",
    re.MULTILINE,
)
_EXCEPTION = re.compile(
    r"^(?:\S*: )?(?:Uncaught |Caused by: )?[\w.$]*(?:Error|Exception|Interrupt|panic)\b.*$|"
    r"^thread '.*' panicked.*$|^panic: .*$|^Exception in thread.*$",
    re.MULTILINE,
)


def last_exception(stderr: str) -> str:
    """The line of a traceback that says what happened; empty if there is none."""
    found = _EXCEPTION.findall(stderr)
    return found[-1].strip() if found else ""


def _of_stderr(stderr: str) -> Diagnosis | None:
    """What the sandbox refused."""
    for cause, pattern in _REFUSED.items():
        if found := re.search(f"^.*(?:{pattern}).*$", stderr, re.IGNORECASE | re.MULTILINE):
            return _cause(cause, last_exception(stderr) or found[0].strip())
    return None


def _of_the_end(facts: Facts) -> Diagnosis:
    if facts.status.startswith("signal"):
        name = facts.status.removeprefix("signal ")
        meanings = {
            "SIGSEGV": "SIGSEGV: it touched memory that isn't its own",
            "SIGABRT": "SIGABRT: an assertion, or an uncaught C++ exception",
            "SIGFPE": "SIGFPE: a division by zero",
            "SIGILL": "SIGILL: built for another processor?",
            "SIGBUS": "SIGBUS: a file that is shorter than its mapping, or unaligned memory",
            "SIGSYS": "SIGSYS: a system call that the sandbox forbids",
            "SIGKILL": "SIGKILL: killed from outside it",
            "SIGPIPE": "SIGPIPE: it wrote where nobody reads",
        }
        known = _of_stderr(facts.stderr)
        return known or _cause(Cause.SIGNAL, f"{meanings.get(name, name)}.")
    if facts.status == "":
        return _cause(Cause.CLOSED_OUTPUT)
    if facts.status != "exit 0":
        return _of_status(facts)
    if facts.after in ("hole_end", "match_end"):
        hole = facts.after == "hole_end"
        return _cause(Cause.LEFT_AFTER_HOLE if hole else Cause.LEFT_AFTER_MATCH)
    return _cause(Cause.LEFT_EARLY)


def _of_status(facts: Facts) -> Diagnosis:
    known = _of_stderr(facts.stderr)
    if known:
        return known
    said = last_exception(facts.stderr)
    starting = facts.wanted is Wanted.READY
    for cause, pattern, status in (
        (Cause.NOT_FOUND, _NOT_THERE, "exit 127"),
        (Cause.NOT_EXECUTABLE, _NOT_RUN, "exit 126"),
    ):
        found = re.search(f"^.*(?:{pattern}).*$", facts.stderr, re.MULTILINE)
        if facts.status == status or (starting and found):
            return _cause(cause, said or (found[0].strip() if found else ""))
    if said or _TRACEBACK.search(facts.stderr):
        return _cause(Cause.EXCEPTION, said)
    return _cause(Cause.STATUS, f"It left with {facts.status.replace('exit', 'status')}.")


# ------------------------------------------------------------------------------ a wrong line

_NO: Any = object()


def _json(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    if _brackets(data) > MAX_BRACKETS:
        return _NO
    try:
        return json.loads(data.decode())  # of bytes, json would guess the encoding
    except ValueError:
        return _NO


def _brackets(line: bytes) -> int:
    return line.count(b"[") + line.count(b"{")


def _of_line(facts: Facts, line: bytes) -> Diagnosis:  # noqa: PLR0911 - one after another
    value = _json(line)
    if _brackets(line) > MAX_BRACKETS:
        return _cause(Cause.NESTED)
    if value is not _NO and line and line.strip() == facts.sent.strip():
        return _cause(Cause.ECHO)
    if isinstance(value, dict):
        return _of_object(facts, value)
    if value is _NO:
        known = _of_text(line, facts)
        if known is not None:
            return known
        starting = facts.wanted is Wanted.READY
        return _cause(Cause.BANNER if starting else Cause.PRINT)
    if facts.legal and value in facts.legal:
        return _cause(Cause.BARE_MOVE)
    return _cause(Cause.NOT_AN_OBJECT)


def _of_text(line: bytes, facts: Facts | None = None) -> Diagnosis | None:  # noqa: PLR0911 - one after another
    """What a line that is no JSON was meant to be."""
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(b"\0") > len(line) // 3:
        return _cause(Cause.UTF_16)
    if line.startswith(b"\xef\xbb\xbf"):
        return _cause(Cause.BYTE_ORDER_MARK)
    if not line.strip():
        return _cause(Cause.EMPTY_LINE) if facts else None
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        return _cause(Cause.NOT_UTF_8)
    if facts and text in facts.legal:
        return _cause(Cause.BARE_MOVE)
    more = facts.more if facts else ()
    if text[0] in "{[" and (
        _spread(text, more) or "\n" in text or (text in {"{", "["} and not more)
    ):
        return _cause(Cause.PRETTY_PRINTED)
    if _is_repr(text):
        return _cause(Cause.SINGLE_QUOTES)
    if _leading(text):
        return _cause(Cause.TWO_ON_A_LINE)
    if text[0] == "{" and '"' in text:
        return _cause(Cause.BROKEN_JSON)
    return None


def _spread(text: str, more: Sequence[bytes]) -> bool:
    """Whether a line and those after it are one JSON value."""
    for line in more:
        text += "\n" + line.decode("utf-8", "replace")
        if _json(text.encode()) is not _NO:
            return True
    return False


def _is_repr(text: str) -> bool:
    # Above any answer; the parser is Python's own, and is slow on much that is nested.
    if not text.startswith("{") or "'" not in text or len(text) > 2_000:
        return False
    try:
        return isinstance(ast.literal_eval(text), dict)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _leading(text: str) -> bool:
    """Whether a JSON object stands before something else."""
    if not text.startswith("{") or text.count("{") + text.count("[") > MAX_BRACKETS:
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return False
    return end < len(text)


def _of_object(facts: Facts, answer: dict[str, Any]) -> Diagnosis:  # noqa: PLR0911 - one after another
    if facts.wanted is Wanted.READY:
        if "move" in answer or "turn" in answer:
            return _cause(Cause.NOT_READY, "It answers as if it had been asked for a move.")
        given = json.dumps(answer.get("type"))
        return _cause(Cause.NOT_READY, f'`type` is {given}, not "ready".')
    turn, move = answer.get("turn"), answer.get("move")
    if facts.wanted is Wanted.NOTHING:
        if turn is not None and turn == (facts.earlier[-1] if facts.earlier else None):
            return _cause(Cause.TWO_ANSWERS)
        return _cause(Cause.UNASKED, f"It came after `{facts.after}`.")
    if turn in facts.earlier and facts.earlier and turn == facts.earlier[-1]:
        return _cause(Cause.TWO_ANSWERS, "This is an answer to the question before.")
    if answer.get("type") == "ready":
        return _cause(Cause.UNASKED, "It says `ready` a second time.")
    if turn != facts.turn and any(_is_answer(line, facts.turn) for line in facts.more):
        return _cause(Cause.UNASKED, f"It came after `{facts.after}`.")
    if wrong := _of_turn(facts, answer):
        return wrong
    return _of_move(facts, answer, move)


def _is_answer(line: bytes, turn: str) -> bool:
    value = _json(line)
    return isinstance(value, dict) and value.get("turn") == turn


def _of_turn(facts: Facts, answer: dict[str, Any]) -> Diagnosis | None:
    turn = answer.get("turn")
    if turn == facts.turn:
        return None
    if turn is None and "turn" not in answer:
        return _cause(Cause.TURN_MISSING, _meant("turn", answer))
    if not isinstance(turn, str):
        return _cause(Cause.TURN_TYPE, f'It is {json.dumps(turn)[:40]}, asked was "{facts.turn}".')
    told = f'It is "{turn[:40]}", asked was "{facts.turn}".'
    if turn and (turn in facts.turn or turn == facts.turn.partition("-")[0]):
        return _cause(Cause.TURN_CUT, told)
    return _cause(Cause.TURN_OLD if turn in facts.earlier else Cause.TURN_WRONG, told)


def _of_move(facts: Facts, answer: dict[str, Any], move: object) -> Diagnosis:
    if "move" not in answer:
        return _cause(Cause.MOVE_MISSING, _meant("move", answer))
    if isinstance(move, int) and not isinstance(move, bool):
        if 0 <= move < len(facts.legal):
            found = f'It is {move}; legal[{move}] is "{facts.legal[move]}".'
            return _cause(Cause.MOVE_INDEX, found)
        return _cause(Cause.MOVE_INDEX, f"It is {move}.")
    if not isinstance(move, str):
        return _cause(Cause.MOVE_TYPE, f"It is {json.dumps(move)[:60]}.")
    return _cause(Cause.ILLEGAL, _nearest(move, facts.legal))


def _meant(field: str, answer: dict[str, Any]) -> str:
    """Whether another field may be meant."""
    near = difflib.get_close_matches(field, [str(key) for key in answer], n=1, cutoff=0.5)
    others = [key for key in answer if str(key).lower() in ("action", "id", "play", "choice")]
    meant = near or others
    return f"Is `{str(meant[0])[:40]}` meant to be it?" if meant else ""


def _nearest(move: str, legal: Sequence[str]) -> str:
    simple = move.strip().lower()
    near = [each for each in legal if each == simple]
    near = near or difflib.get_close_matches(simple, legal, n=1, cutoff=0.3)
    some = ", ".join(f'"{each}"' for each in legal[:4]) + (", …" if len(legal) > 4 else "")
    hint = f' The nearest is "{near[0]}".' if near else ""
    return f'It is "{move[:40]}"; legal were {some}.{hint}'
