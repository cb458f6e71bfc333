"""A bot's fault as lines that its author can act on.

Everything in it is the bot's own words or ours; the bot's are escaped and shortened.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from arena.model import Fault, FaultKind, Limits, MatchRecord
from arena.reports.hostile import plain, sentence

# The end of stderr: enough for the lines of a traceback that say what happened.
STDERR_LINES = 3


def match_fault_lines(record: MatchRecord) -> Iterator[str]:
    """Some lines for every fault of a match."""
    for fault in record.faults:
        yield from _lines(record, fault)


def fault_lines(record: MatchRecord, folder: str, limits: Limits) -> Iterator[str]:
    """The same for a match of an event, each fault with the command that reproduces it."""
    for fault in record.faults:
        yield from _lines(record, fault)
        yield f"    again: {again(record, fault, folder, limits)}"


def again(record: MatchRecord, fault: Fault, folder: str, limits: Limits) -> str:
    """The command that plays to the bot what it was told until it failed.

    Without a time limit where time is not what it failed by: a debugger takes its time.
    """
    words = ["--match", record.id]
    if record.attempt:
        words += ["--attempt", str(record.attempt)]
    if fault.kind is FaultKind.START:
        words += ["--timeout", f"{limits.start_ms}ms"]
    elif fault.kind in {FaultKind.TIMEOUT, FaultKind.BANK}:
        words += ["--timeout", f"{limits.move_ms}ms"]
    bot = record.seats[fault.seat]
    named = ["--", bot, folder] if bot.startswith("-") or folder.startswith("-") else [bot, folder]
    ahead, behind = (words, named) if named[0] == "--" else (named, words)
    return shlex.join(["arena", "feed", *ahead, *behind])


def _lines(record: MatchRecord, fault: Fault) -> Iterator[str]:
    yield headline(record, fault)
    if fault.line:
        yield f"    its line: {sentence(fault.line)}"
    for line in [line for line in fault.stderr.splitlines() if line.strip()][-STDERR_LINES:]:
        yield f"    stderr: {sentence(line)}"


def headline(record: MatchRecord, fault: Fault) -> str:
    """Who, what, where."""
    status = f" ({plain(fault.status)})" if fault.status else ""
    where = f"hole {fault.hole}, turn {fault.turn}" if fault.turn else "at the start"
    return (
        f"{plain(record.seats[fault.seat])}: {fault.kind} in {plain(record.id)}, {where}: "
        f"{sentence(fault.message)}{status}"
    )
