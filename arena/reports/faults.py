"""A bot's fault as lines that its author can act on.

Everything in it is the bot's own words or ours; the bot's are escaped and shortened.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.model import Fault, MatchRecord
from arena.reports.hostile import plain, sentence

# The end of stderr: enough for the lines of a traceback that say what happened.
STDERR_LINES = 3


def fault_lines(record: MatchRecord) -> Iterator[str]:
    """Some lines for every fault of a match."""
    for fault in record.faults:
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
