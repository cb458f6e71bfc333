"""Describe a bot's fault in lines that its author can act on; the bot's words are escaped."""

from collections.abc import Iterator

from arena.model import Fault, FaultHost, FaultKind, Limits, MatchRecord
from arena.reports.escape import plain, sentence, shell
from arena.reports.layout import width

# The end of stderr: enough for what the bot has said itself, before the end of a traceback.
STDERR_LINES = 6
# More than a screen has: the log has up to 64 KiB of it, and the whole in the folder stderr.
STDERR_WHOLE = 40
# Columns of what is ours to break; a bot's own lines and commands for copying stay whole.
WIDTH = 80


def match_fault_lines(record: MatchRecord) -> Iterator[str]:
    for fault in record.faults:
        yield from _lines(record, fault)


def whole_fault(
    record: MatchRecord, fault: Fault, folder: str, limits: Limits, stderr: int = STDERR_WHOLE
) -> Iterator[str]:
    """All that the log has of one fault, with the command that reproduces it."""
    yield from _lines(record, fault, stderr)
    yield f"    again: {feed_command(record, fault, folder, limits)}"


def fault_lines(record: MatchRecord, folder: str, limits: Limits) -> Iterator[str]:
    for fault in record.faults:
        yield from whole_fault(record, fault, folder, limits, STDERR_LINES)


def feed_command(record: MatchRecord, fault: Fault, folder: str, limits: Limits) -> str:
    """Sends a bot what it received; limits time only if that was its fault: debuggers are slow."""
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
    return shell(["arena", "feed", *ahead, *behind])


def _lines(record: MatchRecord, fault: Fault, stderr: int = STDERR_LINES) -> Iterator[str]:
    line = headline(record, fault)
    if width(line) <= WIDTH:
        yield line
    else:
        yield f"{_where(record, fault)}:"
        yield f"    {_what(fault)}"
    if fault.line:
        yield f"    its line: {sentence(fault.line)}"
    for line in [line for line in fault.stderr.splitlines() if line.strip()][-stderr:]:
        yield f"    stderr: {sentence(line)}"
    facts = fault.host
    if facts != FaultHost():
        # Of the decision, and of the match so far.
        now, all_ = (
            ("this decision", "in the whole match") if fault.turn else ("the start", "in all")
        )
        charged = f"charged {facts.charged_ms:.0f} of {facts.wall_ms:.0f} ms for {now}"
        memory = f", memory {facts.memory_mb:.0f} MB" if facts.memory_mb else ""
        yield f"    host: {charged}; load {facts.load:.2f}"
        yield f"    host: {all_}: CPU {facts.cpu_ms:.0f} ms{memory}"


def headline(record: MatchRecord, fault: Fault) -> str:
    return f"{_where(record, fault)}: {_what(fault)}"


def _where(record: MatchRecord, fault: Fault) -> str:
    where = f"hole {fault.hole}, turn {fault.turn}" if fault.turn else "at the start"
    return f"{plain(record.seats[fault.seat])}: {fault.kind} in {plain(record.id)}, {where}"


def _what(fault: Fault) -> str:
    status = f" ({plain(fault.status)})" if fault.status else ""
    return f"{sentence(fault.message)}{status}"
