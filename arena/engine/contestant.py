"""Hold the state of one bot process: session, pipes, stderr, CPU meter and freezer.

Invariant: the memory used for a bot stays bounded, whatever it writes.
"""

from typing import NamedTuple

from arena.engine.time_account import Allowance
from arena.model import FaultKind, Limits
from arena.referee import Failure
from arena.sandbox import Exited
from arena.sandbox.client import BotProcess
from arena.sandbox.delays import Task, tasks
from arena.sandbox.freezer import Freezer
from arena.sandbox.meter import Meter
from arena.system import clock
from arena.wire.session import BotSession, shown

_OVERSTEPPED = {
    "memory": (FaultKind.MEMORY, "killed for using more memory than allowed"),
    "tasks": (FaultKind.LIMIT, "killed for running more processes and threads than allowed"),
    "disk": (FaultKind.LIMIT, "killed for writing more to its scratch folder than allowed"),
}
STDERR_IN_FAULT = 2_000  # what a fault keeps of stderr; the whole tail goes to the bot's own log
STIRRED_S = 0.02  # a stopped tree that uses more CPU than that between two readings was continued
STIRRED_TIMES = 5  # more than a batch system does, which continues all processes of a job at once


class Took(NamedTuple):
    """What a decision, or the start, took, in seconds: by the clock, and charged to the bot."""

    wall: float
    charged: float


class Contestant:
    __slots__ = (
        "_allowance", "_booked", "_freezer", "_meter", "_still_cpu", "_stirred", "errors",
        "exited", "frozen", "heard", "id", "known_at", "known_cpu", "out", "reading", "restless",
        "rests", "session", "stderr", "stderr_cap", "stdin", "stdout", "took",
    )  # fmt: skip

    def __init__(self, process: BotProcess, limits: Limits, *, rests: bool = False) -> None:
        self.id = process.id
        self.rests = rests  # stopped while it isn't asked
        # Our ends, -1 once they are closed: their numbers may be another's by then.
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.errors = process.stderr
        self._meter: Meter | None = None
        self._freezer: Freezer | None = None
        self.frozen = False
        self.known_cpu = 0.0  # as it was last read
        self.known_at = clock.monotonic()  # when reading it began
        self._booked = 0.0  # CPU time that has been accounted for
        self._allowance = Allowance(clock.monotonic())
        self._still_cpu: float | None = None  # as seen since it was last stopped
        self._stirred = 0
        self.restless = False  # it had itself continued, and is to be killed
        self.session = BotSession(limits.line_bytes)
        self.out = bytearray()  # bounded: one question and a hole's notices at most
        self.stderr = bytearray()
        self.stderr_cap = limits.stderr_bytes
        self.exited: Exited | None = None
        self.reading = True  # its output is registered with the epoll
        self.took = Took(0.0, 0.0)  # the last decision that was no brisk one
        self.heard = 0.0  # when its output was last read: lateness is judged by this

    @property
    def rooted(self) -> bool:
        return self._meter is not None

    def take_root(self, pid: int) -> None:
        """All of its tree stays below this process of the sandbox's."""
        self._meter = Meter(pid)
        self._freezer = Freezer(pid)

    def cpu(self) -> float:
        """Seconds of CPU that its whole tree has used, by the last reading that succeeded."""
        if self._meter:
            at = clock.monotonic()
            self.known_cpu, self.known_at = self._meter.cpu(), at
        return self.known_cpu

    def tasks(self) -> dict[int, Task]:
        """Its tasks, as they were found when `cpu` was last asked for."""
        return tasks(self._meter.pids()) if self._meter else {}

    def used(self) -> float:
        return self.cpu() - self._booked

    def book(self) -> None:
        """Count `used` from now on."""
        self._booked = self.known_cpu
        self._allowance.begin()

    def oversee(self, off_turn: float, at: float) -> bool:
        """Account for CPU time off turn since `book`. True: too much, so off turn it rests now."""
        if not self.rests and self._allowance.spend(off_turn, at):
            self.rests = True
            self.freeze()
            return True
        if self.rests and self.frozen and self._freezer is not None:
            if self._still_cpu is not None and self.cpu() - self._still_cpu > STIRRED_S:
                self._stirred += 1
                self.restless = self._stirred >= STIRRED_TIMES
                self._freezer.freeze()  # it was continued
            self._still_cpu = self.cpu()
        return False

    def freeze(self) -> None:
        if self._freezer is not None and self.exited is None and not self.frozen:
            self.frozen = True
            self._freezer.freeze()

    def thaw(self) -> None:
        if self._freezer is not None and self.frozen:
            self.frozen = False
            self._still_cpu = None
            self._freezer.thaw()

    def forget(self) -> None:
        if self._meter and self._freezer:
            self._meter.close()
            self._freezer.close()

    def log(self, data: bytes) -> None:
        self.stderr += data
        if len(self.stderr) > 2 * self.stderr_cap:
            del self.stderr[: -self.stderr_cap]

    def silence(self) -> str:
        """Describe what a bot did instead of answering in time, for a fault's message."""
        if held := self.session.held:
            return f"{len(held)} bytes without a newline were received: {shown(held)!r}"
        return "nothing was received (too slow, or its output is not flushed after each line?)"

    def last_words(self) -> str:
        return bytes(self.stderr[-STDERR_IN_FAULT:]).decode("utf-8", "backslashreplace")

    def log_tail(self) -> str:
        """Its stderr since it was last taken, capped."""
        return bytes(self.stderr[-self.stderr_cap :]).decode("utf-8", "backslashreplace")

    def take_stderr(self) -> str:
        text = self.log_tail()
        self.stderr.clear()
        return text

    def failure(self, kind: FaultKind, message: str, line: str = "") -> Failure:
        return Failure(kind=kind, message=message, line=line, status=self.status())

    def status(self) -> str:
        return self.exited.status if self.exited else ""

    def end(self, *, starting: bool) -> Failure:
        """The fault of a bot whose output has ended, once its status is known or given up."""
        ended = self.exited
        kind, message = FaultKind.CRASH, "died while it was asked"
        if self.restless:
            kind = FaultKind.LIMIT
            message = "killed for computing on although it was stopped while it wasn't asked"
        elif ended is not None and ended.overstepped:
            kind, message = _OVERSTEPPED[ended.overstepped]
        elif starting:
            kind = FaultKind.START
            message = "ended before it was ready" if ended else "closed its output at the start"
        elif ended is None:
            kind, message = FaultKind.EXIT, "closed its output while it was asked"
        elif ended.code == 0:
            kind = FaultKind.EXIT
            message = "left, with status 0, while it was asked (did its read loop end?)"
        return self.failure(kind, message)
