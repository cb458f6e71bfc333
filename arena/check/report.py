"""What `arena check` has found, as data: `--json` writes this, the terminal shows it. Pure.

Invariant: every text is capped where it is made, and a bot's bytes are in it only as escapes.
"""

import enum

from msgspec.structs import replace

from arena.check.mistakes import Diagnosis, Facts, Mistake, Trigger, in_language
from arena.model import Frozen

VERSION = 1
LINE_KEPT = 32_768  # of a line that was sent or received: the longest legal question
STDERR_KEPT = 32_768  # of stderr, mostly its end: far more than a traceback has

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\ufeff": "\\ufeff"}


class Status(enum.StrEnum):
    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    SKIPPED = "skipped"


class Finding(Frozen, frozen=True, kw_only=True):
    """A mistake of one bot, in words and with the evidence."""

    cause: Mistake
    title: str  # what is wrong, as the end of a sentence that begins with the bot
    found: str = ""  # what only this bot does
    rule: str
    section: str  # heading in protocol/SPEC.md
    advice: str
    sent: str = ""
    """The line that it went wrong with, as written; all lines since its last answer, if any of
    them may be it."""
    received: str = ""  # what it wrote instead; escaped
    status: str = ""  # how its process ended, if it ended by itself: "exit 1", "signal SIGSEGV"
    stderr: str = ""  # beginning and end of its standard error


class CheckResult(Frozen, frozen=True, kw_only=True):
    name: str  # for programs: "start", "quiet", "play-nine-2"
    title: str  # what a bot that passes does
    section: str  # heading in protocol/SPEC.md
    status: Status
    detail: str = ""  # figures; or why the check was skipped
    finding: Finding | None = None


class Times(Frozen, frozen=True, kw_only=True):
    """Wall time of the bot's answers, in milliseconds."""

    answers: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    max_ms: float = 0.0


class Report(Frozen, frozen=True, kw_only=True):
    """All checks of one bot."""

    bot: str
    """name@version; the last part of the path for a bot that could not be entered."""
    path: str
    status: Status  # the worst of its checks
    checks: tuple[CheckResult, ...] = ()
    times: Times = Times()
    memory_mb: float = 0.0  # peak of all its processes together, as far as it was measured


NOT_ENTERED = "enter"  # the only check of a bot that could not even be started


class CheckReports(Frozen, frozen=True, kw_only=True):
    """The object that `--json` writes."""

    v: int = VERSION
    passed: bool
    sandbox: str  # empty: no bot could be started
    bots: tuple[Report, ...]

    @property
    def entered(self) -> bool:
        """Whether all bots could be built and started."""
        return all(report.checks[0].name != NOT_ENTERED for report in self.bots)


def finding_of(diagnosis: Diagnosis, facts: Facts | None = None, received: bytes = b"") -> Finding:
    """Put a diagnosis into words, with its evidence; without facts, a warning."""
    mistake, detail = diagnosis
    finding = Finding(
        cause=mistake,
        title=mistake.title,
        found=escaped(detail.encode()),
        rule=mistake.rule.text,
        section=mistake.rule.section,
        advice=mistake.advice,
    )
    if facts is None:
        return finding
    # How it ended says nothing if it was the check that closed its input.
    by_itself = facts.ended and facts.trigger is Trigger.NOTHING
    return replace(
        finding,
        advice=in_language(mistake.advice, facts.run, facts.files),
        sent=escaped(_shortened(facts.sent.removesuffix(b"\n"))),
        received=escaped(received),
        status=facts.status if by_itself else "",
        stderr="\n".join(escaped(line.encode()) for line in _ends(facts.stderr.rstrip())),
    )


def _shortened(data: bytes) -> bytes:
    if len(data) <= LINE_KEPT:
        return data
    half = LINE_KEPT // 2 - 32
    return data[:half] + b" ...(%d bytes more)... " % (len(data) - 2 * half) + data[-half:]


def _ends(stderr: str) -> list[str]:
    """Its first lines, which often name the error, and its last ones."""
    if len(stderr) <= STDERR_KEPT:
        return stderr.split("\n")
    head, tail = stderr[: STDERR_KEPT // 4], stderr[-(STDERR_KEPT - STDERR_KEPT // 4) :]
    left_out = len(stderr) - len(head) - len(tail)
    return [*head.split("\n"), f"…({left_out} more)…", *tail.split("\n")]


def escaped(data: bytes) -> str:
    """Bytes as printable text in which no two different bytes look the same."""
    text = data[:LINE_KEPT].decode("utf-8", "backslashreplace")
    return "".join(
        letter
        if letter.isprintable()
        else _ESCAPES.get(letter) or letter.encode("unicode_escape").decode()
        for letter in text
    )
