"""Measure what a bot is charged for a decision: the time it ran or slept, not its waits for a core.

Theory of operation (docs/design/timing.md). Two readings of the bot's tree bound a *slice* of the
decision, which is charged with the CPU time of the tree in it or, if that is more, with its length
less the time that the most delayed task of the tree waited in it for a core. The kernel counts a
wait when it ends: what of it finds no room in its slice is taken off in those before. A task that
wants to run at both ends and came to run at no time between them waited all the while. Before the
first reading time is charged as it passes; if we came too late for it by waiting for the core, that
is taken off, unless the bot may have had the core. From the slice with the answer our own wait is
taken off too: the answer lay in the pipe.

A bot can fake what the kernel reports of its tasks. So without *proof* that other work has the core
no more than FREE_S is taken off. What the match's other bots used since the decision began proves
as much waiting; what they had used by then is bounded from above. A trial that finds other work on
the core proves what was taken off until then and STEP_S more; one that finds it free is repeated.

A *gap* is a look that is later than planned by more than our own wait for a core explains: the
machine was suspended, or we were stopped. Then the decision begins anew.

Invariants: no clock and no system here; `charged` never exceeds the time by the clock; without
a trial it is less by FREE_S and the others' CPU at most.
"""

import enum
import itertools
import math

from arena.sandbox.delays import Reading, Task

PATIENCE_S = 0.005  # a decision that takes longer gets readings; the wait wakes then anyway
SLICE_S = 0.02  # the longest slice; they begin with PATIENCE_S and double. A look takes some 50 us.
FREE_S = 0.01  # taken off without proof: what the housekeeping of a machine at rest may take
STEP_S = 0.1  # waiting time that may be credited once it is proven, besides the credit until then
GAP_S = 0.05  # a look is never so late unless we wait for the core (counted) or stand still
UNCOUNTED_GAP_S = 0.5  # the same where the kernel doesn't count our own wait
TRIALS = 2  # so many trials in a row have to find the core free: other work comes in bursts
RETRY_S = 0.01  # between two of them

TICK_S = 0.012
"""A task that wants to run, but that the kernel, which counts every ten milliseconds at least, has
not seen running for so long, waits. On one core it does in any case: it is we who run."""

SOON_S = 0.001  # two looks are at least so far apart

HARD_S, HARD_LIMITS = 30.0, 20
"""No decision takes longer by the clock than that, or so many times its limit; it is the machine's
trouble then."""


class TimeVerdict(enum.Enum):
    IN_TIME = enum.auto()
    UNPROVEN = enum.auto()  # too late unless it is proven that the core is overloaded
    LATE = enum.auto()
    STUCK = enum.auto()  # the machine is too loaded for this decision to ever be made


class _Slice:
    __slots__ = ("_rooms", "_waits", "cpu", "length", "waited")

    def __init__(self, length: float, cpu: float) -> None:
        self.length = length
        self.cpu = cpu
        self.waited = 0.0  # the most delayed task
        self._waits: dict[int, float] = {}
        self._rooms: dict[int, float] = {}  # when each task neither ran nor is known to have waited

    @property
    def charge(self) -> float:
        return max(min(self.cpu, self.length), self.length - self.waited)

    def ran(self, number: int, seconds: float) -> None:
        self._rooms[number] = max(0.0, self.length - seconds)

    def wait(self, number: int, seconds: float) -> float:
        """A task has waited so long, at most; for how long of it there is room."""
        taken = min(seconds, self._rooms.get(number, 0.0))
        if taken > 0:
            self._rooms[number] -= taken
            self._waits[number] = waits = self._waits.get(number, 0.0) + taken
            self.waited = max(self.waited, waits)
        return taken


class Stopwatch:
    """One decision; all in seconds."""

    def __init__(
        self,
        limit: float,
        begun: float,
        first: Reading | None,
        *,
        own: float = 0.0,
        used: float = 0.0,
        taken: float = math.inf,
        counted: bool = True,
        alone: bool = True,
    ) -> None:
        """`first`: a reading of the beginning. Where there is none, `own`: what we had waited by
        then, and `used`: the CPU of its tree when that was last read. `taken`: the most that other
        bots can have used by then, of each core. `counted`: our own waits are. `alone`: all is on
        one core.
        """
        self._taken = taken  # CPU of other bots that is settled: credited, or never to be
        self._tick = 0.0 if alone else TICK_S
        self.limit = limit
        self._begun = begun
        self.cpu = 0.0  # of the tree; before the first reading it may have had a core
        self.gaps = 0  # how often it has begun anew
        self._gap = GAP_S if counted else UNCOUNTED_GAP_S
        self._begin(begun, first or Reading(begun, used, own, {}))
        self._read = first is not None

    def _begin(self, at: float, reading: Reading) -> None:
        self._at, self._last, self._read = at, reading, True
        self._slices: list[_Slice] = []
        self.wall = 0.0  # by the clock, trials left out
        self.charge = 0.0  # if everything that can be taken off is
        self.allowed = FREE_S  # waiting time that may be deducted from the charge
        self._ahead: dict[int, float] = {}  # by task, waits known before they were counted
        self._doubts = 0
        self._step = PATIENCE_S
        self.due = at + min(self._step, self.limit)  # when the next look is to be

    @property
    def elapsed(self) -> float:
        """By the clock, everything included."""
        return max(0.0, self._at - self._begun)

    @property
    def charged(self) -> float:
        return self.wall - min(self.wall - self.charge, self.allowed)

    @property
    def unproven(self) -> bool:
        return self.wall - self.charge > self.allowed

    def leave_out(self, seconds: float) -> None:
        """Deduct time since the last look that the arena used itself."""
        self._at += seconds
        self.due += seconds

    def look(self, now: Reading, *, answered: bool) -> TimeVerdict:
        """Account for the time until this reading; `answered`: nothing more is waited for."""
        last = self._last
        own = max(0.0, now.own - last.own)
        used = now.cpu - last.cpu
        self.cpu += used if self._read else now.at - self._at
        if now.at - self.due - own > self._gap:
            self.gaps += 1
            self._taken = math.inf  # what of it came after the gap isn't known
            self._begin(now.at, now)
            return TimeVerdict.IN_TIME
        length = max(0.0, now.at - self._at)
        part = _Slice(length, used if self._read or not answered else 0.0)
        self._slices.append(part)
        self.charge += part.charge
        if not self._read:
            own = own if answered else max(0.0, min(own, now.at - self.due))
        else:
            for number, task in now.tasks.items():
                self._account(number, task, last.tasks.get(number))
        if answered or not self._read:
            charge = part.charge
            part.waited = min(part.waited + own, length)
            self.charge += part.charge - charge
        self.wall += length
        self._plan(now)
        return self._verdict()

    def credit(self, taken: float) -> TimeVerdict:
        """The other bots have used so much of each core, as read after the last look."""
        if taken > self._taken:
            self.allowed += taken - self._taken
            self._taken = taken
            if self.charged <= self.limit:
                self._doubts = 0
                self._set_due()
        return self._verdict()

    def _plan(self, now: Reading) -> None:
        self._at, self._last, self._read = now.at, now, True
        self._step = min(2 * self._step, SLICE_S)
        self._set_due()

    def _set_due(self) -> None:
        left = max(self.limit - self.charged, SOON_S)
        self.due = self._at + min(self._step, left)

    def _verdict(self) -> TimeVerdict:
        if self.charge > self.limit:
            return TimeVerdict.LATE
        if self.charged > self.limit:
            return TimeVerdict.LATE if self._doubts >= TRIALS else TimeVerdict.UNPROVEN
        if self.wall > max(HARD_S, HARD_LIMITS * self.limit):
            return TimeVerdict.STUCK
        return TimeVerdict.IN_TIME

    def record_trial(
        self, now: Reading, *, overloaded: bool, taken: float = math.inf
    ) -> TimeVerdict:
        """A trial was made until this reading, and the bot stood still; `taken`: by the others."""
        self._taken = taken
        for number, task in now.tasks.items():
            # To stop, it had to come to run: what it had waited is counted now.
            before = self._last.tasks.get(number)
            if before is not None and before.waiting:
                self._counted(number, task, before, len(self._slices))
        if overloaded:
            self.allowed = self.wall - self.charge + STEP_S
            self._doubts = 0
        else:
            self._doubts += 1
        self._plan(now)
        if not overloaded:
            self.due = now.at + RETRY_S
        return self._verdict()

    def _account(self, number: int, task: Task, before: Task | None) -> None:
        """Take off what this task waited in the last slice, and before it."""
        part = self._slices[-1]
        if before is None or before.turns > task.turns:  # it was born in this slice
            part.ran(number, task.ran)
            self._wait(number, task.waited, 1)
            return
        ran = task.ran - before.ran
        part.ran(number, ran)
        if before.waiting and task.waiting and task.turns == before.turns and not ran:
            if part.length >= self._tick:
                self._wait(number, part.length, 1)
                self._ahead[number] = self._ahead.get(number, 0.0) + part.length
            return
        self._counted(number, task, before, len(self._slices) if before.waiting else 1)

    def _counted(self, number: int, task: Task, before: Task, most: int) -> None:
        """Take off what the kernel has counted of a task since, but for what we knew already."""
        waited = task.waited - before.waited
        known = min(waited, self._ahead.pop(number, 0.0))
        self._wait(number, waited - known, most)

    def _wait(self, number: int, seconds: float, most: int) -> None:
        """Find room for a task's wait, in so many slices at most, from the last one back."""
        left = seconds
        for part in itertools.islice(reversed(self._slices), most):
            if left <= 0:
                return
            charge = part.charge
            left -= part.wait(number, left)
            self.charge += part.charge - charge
