"""Diagnose a bot that went wrong: from what was sent, what came back and how it ended. Pure.

The session and the referee decide whether something is a fault; this module names the likely
mistake. Stronger evidence comes first: how the process died, then what it did not write, then what
it wrote. `lines.py` judges a line; `mistakes.toml` has our words, `runtimes.toml` those of others.
"""

import re
from collections.abc import Sequence

from arena.check.lines import NO_JSON, decode, diagnose_line, pattern, recognise
from arena.check.mistakes import SPINS, Diagnosis, Expected, Facts, Mistake, Trigger, unnamed_lock
from arena.referee import Failure
from arena.sandbox.environment import INSIDE
from arena.tables import table


def diagnose(facts: Facts) -> Diagnosis:  # noqa: PLR0911 - one after another
    if facts.overstepped:
        return Diagnosis(_OVERSTEPPED[facts.overstepped])
    if facts.flood:
        return Diagnosis(Mistake.FLOOD)
    if facts.line is not None and facts.trigger is Trigger.NOTHING:
        return diagnose_line(facts, facts.line)
    if facts.windows and re.search(r"\r|\\r", facts.stderr):
        return Diagnosis(Mistake.WINDOWS_LINES)
    if facts.trigger is not Trigger.NOTHING:
        return _late_answer(facts)
    if facts.rest and decode(facts.rest) is not NO_JSON:
        return Diagnosis(Mistake.NO_NEWLINE)
    return _end(facts) if facts.ended else _silence(facts)


def diagnose_start(
    failure: Failure, *, ended: bool, stderr: str, unheard: bytes, run: Sequence[str]
) -> Diagnosis:
    """Diagnose a bot that did not start in an event; `unheard`: what it wrote too late."""
    line = failure.line.encode() if failure.line else None
    if line is not None and line.startswith((b"\\xff\\xfe", b"\\xfe\\xff")):
        return Diagnosis(Mistake.UTF_16)
    silent = line is None and not ended
    return diagnose(
        Facts(
            after="hello",
            line=line,
            ended=ended,
            trigger=Trigger.END if silent and unheard else Trigger.NOTHING,
            left=bool(failure.status),
            status=failure.status,
            stderr=stderr,
            run=run,
        )
    )


_OVERSTEPPED = {"memory": Mistake.MEMORY, "tasks": Mistake.THREADS, "disk": Mistake.DISK}
_TRIGGERED = {
    Trigger.TIME: Mistake.TOO_SLOW,
    Trigger.LINE: Mistake.WANTS_LINE,
    Trigger.BLOCK: Mistake.READS_AHEAD,
    Trigger.END: Mistake.BUFFERED,
}


def _late_answer(facts: Facts) -> Diagnosis:
    mistake = _TRIGGERED[facts.trigger]
    if mistake is Mistake.TOO_SLOW and facts.spent:
        return Diagnosis(Mistake.SPENT)
    if mistake is Mistake.TOO_SLOW:
        busy = " It was computing all the time." if facts.busy > SPINS else ""
        return Diagnosis(mistake, f"It came {facts.late:.1f} s after its time was over.{busy}")
    if facts.busy > SPINS and facts.trigger is not Trigger.END:
        return Diagnosis(Mistake.TOO_SLOW, "It was computing all the time.")
    if facts.line is None and facts.rest and decode(facts.rest) is not NO_JSON:
        mistake = Mistake.NO_NEWLINE
    if mistake is Mistake.BUFFERED and facts.status.startswith("signal"):
        return _end(facts)
    return Diagnosis(mistake)


def _silence(facts: Facts) -> Diagnosis:
    if facts.rest:
        if mistake := recognise(facts.rest):
            return Diagnosis(mistake)
        return Diagnosis(Mistake.NO_NEWLINE, "Its output has no newline at its end.")
    if facts.busy > SPINS:
        return Diagnosis(Mistake.ENDLESS)
    if refusal := _refusal(facts.stderr):
        return refusal
    return Diagnosis(Mistake.NO_ANSWER if facts.left else Mistake.STUCK)


def last_exception(stderr: str) -> str:
    """The line of a traceback that says what happened; empty if there is none."""
    found = pattern("exception").findall(stderr)
    return found[-1].strip() if found else ""


def _refusal(stderr: str) -> Diagnosis | None:
    """Diagnose an operation that the sandbox refused, by the error messages of many runtimes."""
    for name, words in table("check/mistakes").items():
        pattern = f"^.*(?:{words['said']}).*$" if "said" in words else r"(?!)"
        if found := re.search(pattern, stderr, re.IGNORECASE | re.MULTILINE):
            return Diagnosis(Mistake(name), last_exception(stderr) or found[0].strip())
    return None


def _end(facts: Facts) -> Diagnosis:
    if facts.status.startswith("signal"):
        name = facts.status.removeprefix("signal ")
        meaning = f": {usual}" if (usual := table("check/mistakes")["signals"].get(name)) else ""
        return _refusal(facts.stderr) or Diagnosis(Mistake.SIGNAL, f"{name}{meaning}.")
    if facts.status == "":
        return Diagnosis(Mistake.CLOSED_OUTPUT)
    if facts.status != "exit 0":
        return _exit_status(facts)
    # A bot that exits at the end of a match may be noticed only when the next one has begun.
    if facts.after in ("hole_end", "match_end") or (facts.after == "match" and facts.earlier):
        hole = facts.after == "hole_end"
        return Diagnosis(Mistake.LEFT_AFTER_HOLE if hole else Mistake.LEFT_AFTER_MATCH)
    return Diagnosis(Mistake.LEFT_EARLY)


def _exit_status(facts: Facts) -> Diagnosis:
    if refusal := _refusal(facts.stderr):
        return refusal
    exception = last_exception(facts.stderr)
    if module := pattern("no_module").search(facts.stderr):
        name, lock = module[module.lastgroup or 0], unnamed_lock(facts.files)
        return Diagnosis(Mistake.NO_MODULE, f"The module {name} is missing.{lock}")
    if facts.status != "exit 127" and (missing := _missing_file(facts)):
        return missing
    starting = facts.expected is Expected.READY
    for mistake, words, status in (
        (Mistake.NOT_FOUND, "not_there", "exit 127"),
        (Mistake.NOT_EXECUTABLE, "not_run", "exit 126"),
    ):
        found = pattern(words, "^.*(?:{}).*$").search(facts.stderr)
        program = pattern("missing_program").search(facts.stderr)
        early = starting or (mistake is Mistake.NOT_FOUND and program)
        if facts.status == status or (early and found):
            return Diagnosis(mistake, exception or (found[0].strip() if found else ""))
    if exception or pattern("traceback").search(facts.stderr):
        return Diagnosis(Mistake.EXCEPTION, exception)
    return Diagnosis(Mistake.STATUS, f"It exited with {facts.status.replace('exit', 'status')}.")


def _missing_file(facts: Facts) -> Diagnosis | None:
    """A file that it opened, not a program that it started."""
    found = pattern("missing_file").search(facts.stderr)
    if found is None or pattern("missing_program").search(facts.stderr):
        return None
    name = found[found.lastgroup or 0]
    if found.lastgroup == "none":
        return Diagnosis(Mistake.NO_FILE)
    if name.startswith("/") and not name.startswith(f"{INSIDE}/"):
        return Diagnosis(Mistake.NO_FILE, f"It opens {name}, which lies outside its folder.")
    return Diagnosis(Mistake.NO_FILE, f"It opens {name}.")
