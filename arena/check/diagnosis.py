"""From what was sent, what came and how it ended to the mistake by its name. Pure.

Whether something is a fault is decided before, by the session and the referee; here it gets its
likely cause. The more telling evidence comes first: how a process died before what it left
unsaid, and what it left unsaid before what it said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.bots.commands import INSIDE
from arena.check.causes import Cause
from arena.check.facts import SPINS, Diagnosis, Facts, Wanted, Woken, mistake, unnamed_lock
from arena.check.lines import NO_JSON, of_line, of_text, parsed
from arena.referee import Failure


def diagnose(facts: Facts) -> Diagnosis:  # noqa: PLR0911 - one after another
    """The likely cause."""
    if facts.overstepped:
        causes = {"memory": Cause.MEMORY, "tasks": Cause.THREADS, "disk": Cause.DISK}
        return Diagnosis(cause=causes[facts.overstepped])
    if facts.flood:
        return mistake(Cause.FLOOD)
    if facts.line is not None and facts.woken is Woken.NOTHING:
        return of_line(facts, facts.line)
    if facts.windows and re.search(r"\r|\\r", facts.stderr):
        return mistake(Cause.WINDOWS_LINES)
    if facts.woken is not Woken.NOTHING:
        return _of_the_woken(facts)
    if facts.rest and parsed(facts.rest) is not NO_JSON:
        return mistake(Cause.NO_NEWLINE)
    if facts.ended:
        return _of_the_end(facts)
    return _of_silence(facts)


def of_start(
    failure: Failure, *, ended: bool, stderr: str, unheard: bytes, run: Sequence[str]
) -> Diagnosis:
    """The likely cause of what kept a bot from an event; `unheard`: what it wrote too late."""
    line = failure.line.encode() if failure.line else None
    if line is not None and line.startswith((b"\\xff\\xfe", b"\\xfe\\xff")):
        return mistake(Cause.UTF_16)
    silent = line is None and not ended
    return diagnose(
        Facts(
            wanted=Wanted.READY,
            after="hello",
            line=line,
            ended=ended,
            woken=Woken.END if silent and unheard else Woken.NOTHING,
            left=bool(failure.status),
            status=failure.status,
            stderr=stderr,
            run=run,
        )
    )


# --------------------------------------------------------------------------------- no answer


def _of_the_woken(facts: Facts) -> Diagnosis:
    causes = {
        Woken.TIME: Cause.TOO_SLOW,
        Woken.LINE: Cause.WANTS_LINE,
        Woken.BLOCK: Cause.READS_AHEAD,
        Woken.END: Cause.BUFFERED,
    }
    cause = causes[facts.woken]
    if cause is Cause.TOO_SLOW and facts.spent:
        return mistake(Cause.SPENT)
    if cause is Cause.TOO_SLOW:
        busy = " It was computing all the time." if facts.busy > SPINS else ""
        return mistake(cause, f"It came {facts.late:.1f} s after its time was over.{busy}")
    if facts.busy > SPINS and facts.woken is not Woken.END:
        return mistake(Cause.TOO_SLOW, "It was computing all the time.")
    if facts.line is None and facts.rest and parsed(facts.rest) is not NO_JSON:
        cause = Cause.NO_NEWLINE
    if cause is Cause.BUFFERED and facts.status.startswith("signal"):
        return _of_the_end(facts)
    return mistake(cause)


def _of_silence(facts: Facts) -> Diagnosis:
    if facts.rest:
        prefix = of_text(facts.rest)
        if prefix is not None:
            return prefix
        return mistake(Cause.NO_NEWLINE, "What came has no newline at its end.")
    if facts.busy > SPINS:
        return mistake(Cause.ENDLESS)
    if known := _of_stderr(facts.stderr):
        return known
    return mistake(Cause.NO_ANSWER if facts.left else Cause.STUCK)


# ----------------------------------------------------------------------------------- the end

_REFUSED = {
    Cause.SHARED_MEMORY: r"SemLock|sem_open|/dev/shm|shm_open|memfd_create",
    Cause.FILES: r"Too many open files|EMFILE",
    Cause.READ_ONLY: r"read-only file system|Errno 30\b|EROFS",
    Cause.NETWORK: r"network is unreachable|name resolution|getaddrinfo|UnknownHost|socket\.py"
    r"|ECONNREFUSED|ENETUNREACH|java\.net\.|urllib|URLError|dial (tcp|udp)"
    r"|socket: operation not permitted|listen EPERM|connect EPERM",
    Cause.THREADS: r"can't start new thread|unable to create (new )?native thread|pthread_create"
    r"|fork: retry|BlockingIOError.*Resource temporarily|failed to create new OS thread",
    Cause.NO_MEMORY: r"MemoryError|bad_alloc|OutOfMemoryError|heap out of memory"
    r"|cannot allocate memory|out of memory|ENOMEM|memory allocation of \d+ bytes failed",
}
# What a program of the bot's own asked for; of a path (`/bot/bot.js`) it is the command's.
_NO_MODULE = re.compile(
    r"No module named '?(?P<python>[\w.]+)'?"
    r"|Cannot find (?:module|package) '(?P<node>[^'/][^']*)'"
    r"|Can't locate (?P<perl>\S+) in @INC|cannot load such file -- (?P<ruby>\S+)"
    r"|module '(?P<lua>[^']+)' not found"
)
# As an interpreter's last words; a line of anybody's log could say the same.
_NOT_THERE = (
    r"No such file or directory|command not found|Cannot find module"
    r"|error while loading shared libraries|can't open file|Could not find or load main class"
    r"|ClassNotFoundException|executable file not found|spawn \S+ ENOENT|Cannot run program"
)
_MISSING_PROGRAM = re.compile(
    r"command not found|executable file not found|spawn \S+ ENOENT|Cannot run program"
    r"|_execute_child|fork/exec|\bexec(?:v\w*)?:|bad interpreter|can't open file|Cannot find module"
    r"|error while loading shared libraries|Could not find or load main class"
    r"|ClassNotFoundException"
)
"""What of it is a program, or a part of one."""
_MISSING_FILE = re.compile(
    r"No such file or directory:? '(?P<python>[^']+)'"
    r"|ENOENT: no such file or directory, \w+ '(?P<node>[^']+)'"
    r"|(?:FileNotFoundException|NoSuchFileException): (?P<java>[^\s(]+)"
    r"|open (?P<go>\S+): no such file or directory"
    r"|(?:^|[\s'\"])(?P<name>[^\s:'\"]+)['\"]?: No such file or directory"
    r"|(?P<none>No such file or directory|ENOENT|NoSuchFile)",
    re.MULTILINE,
)
_NOT_RUN = r"Permission denied|Exec format error|cannot execute|bad interpreter"
_TRACEBACK = re.compile(
    r"^(Traceback \(most recent call last\):|Exception in thread|panic: |thread '.*' panicked"
    r"|[ \t]+at [^(\n]*\(.*\)|node:.*|\w*(Error|Exception|Interrupt)\b.*|terminate called"
    r"|.*: line \d+: .*|lua\S*: .*|.* at \S+ line \d+\b.*|\S+\.rb:\d+:in .*)",
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
            return mistake(cause, last_exception(stderr) or found[0].strip())
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
        return known or mistake(Cause.SIGNAL, f"{meanings.get(name, name)}.")
    if facts.status == "":
        return mistake(Cause.CLOSED_OUTPUT)
    if facts.status != "exit 0":
        return _of_status(facts)
    # Who leaves at the end of a match may be found gone only when the next one has begun.
    if facts.after in ("hole_end", "match_end") or (facts.after == "match" and facts.earlier):
        hole = facts.after == "hole_end"
        return mistake(Cause.LEFT_AFTER_HOLE if hole else Cause.LEFT_AFTER_MATCH)
    return mistake(Cause.LEFT_EARLY)


def _of_status(facts: Facts) -> Diagnosis:
    known = _of_stderr(facts.stderr)
    if known:
        return known
    said = last_exception(facts.stderr)
    if module := _NO_MODULE.search(facts.stderr):
        name = module[module.lastgroup or 0]
        return mistake(
            Cause.NO_MODULE, f"The module {name} is not there.{unnamed_lock(facts.files)}"
        )
    if facts.status != "exit 127" and (missing := _of_a_missing_file(facts)):
        return missing
    starting = facts.wanted is Wanted.READY
    for cause, pattern, status in (
        (Cause.NOT_FOUND, _NOT_THERE, "exit 127"),
        (Cause.NOT_EXECUTABLE, _NOT_RUN, "exit 126"),
    ):
        found = re.search(f"^.*(?:{pattern}).*$", facts.stderr, re.MULTILINE)
        early = starting or (cause is Cause.NOT_FOUND and _MISSING_PROGRAM.search(facts.stderr))
        if facts.status == status or (early and found):
            return mistake(cause, said or (found[0].strip() if found else ""))
    if said or _TRACEBACK.search(facts.stderr):
        return mistake(Cause.EXCEPTION, said)
    return mistake(Cause.STATUS, f"It left with {facts.status.replace('exit', 'status')}.")


def _of_a_missing_file(facts: Facts) -> Diagnosis | None:
    """A file that was opened, not a program that was started."""
    found = _MISSING_FILE.search(facts.stderr)
    if found is None or _MISSING_PROGRAM.search(facts.stderr):
        return None
    name = found[found.lastgroup or 0]
    if found.lastgroup == "none":
        return mistake(Cause.NO_FILE)
    if name.startswith("/") and not name.startswith(f"{INSIDE}/"):
        return mistake(Cause.NO_FILE, f"It opens {name}, which lies outside its folder.")
    return mistake(Cause.NO_FILE, f"It opens {name}.")
