"""From a diagnosis to what is told of it: the evidence in escapes, and capped. Pure.

Invariant: nothing that a bot wrote is in a `Finding` but as letters that can be shown.
"""

from __future__ import annotations

from arena.check.causes import CAUSES, Cause
from arena.check.diagnosis import diagnose
from arena.check.facts import Facts, Woken
from arena.check.report import LINE_KEPT, STDERR_KEPT, Finding


def finding_of(facts: Facts, received: bytes) -> Finding:
    """The diagnosis of a bot, with its evidence."""
    found = diagnose(facts)
    words = CAUSES[found.cause]
    return Finding(
        cause=found.cause,
        title=found.title,
        found=escaped(found.found.encode()),
        rule=words.rule,
        section=words.section,
        advice=found.advice(facts.run, facts.files),
        sent=escaped(_shortened(facts.sent.removesuffix(b"\n"))),
        received=escaped(received),
        # What it did when its input was closed is no news.
        status=facts.status if facts.ended and facts.woken is Woken.NOTHING else "",
        stderr="\n".join(escaped(line.encode()) for line in _ends(facts.stderr.rstrip())),
    )


def warning_of(cause: Cause, found: str) -> Finding:
    """What is no fault, without evidence."""
    words = CAUSES[cause]
    return Finding(
        cause=cause,
        title=words.title,
        found=escaped(found.encode()),
        rule=words.rule,
        section=words.section,
        advice=words.advice,
    )


def _shortened(data: bytes) -> bytes:
    """Lines that are too long to be shown: their beginning and their end."""
    if len(data) <= LINE_KEPT:
        return data
    half = LINE_KEPT // 2 - 32
    return data[:half] + b" ...(%d bytes more)... " % (len(data) - 2 * half) + data[-half:]


def _ends(stderr: str) -> list[str]:
    """Its first lines, which often say it, and its last ones."""
    if len(stderr) <= STDERR_KEPT:
        return stderr.split("\n")
    head, tail = stderr[: STDERR_KEPT // 4], stderr[-(STDERR_KEPT - STDERR_KEPT // 4) :]
    left_out = len(stderr) - len(head) - len(tail)
    return [*head.split("\n"), f"…({left_out} more)…", *tail.split("\n")]


def escaped(data: bytes) -> str:
    """Bytes as a terminal can show them and a reader can tell them apart."""
    text = data[:LINE_KEPT].decode("utf-8", "backslashreplace")
    return "".join(_shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    return _ESCAPES.get(letter) or letter.encode("unicode_escape").decode()


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\ufeff": "\\ufeff"}
