"""Read from /proc how long tasks have waited for a core, and try whether others have ours.

A task's `schedstat` has three numbers: how long it ran, how long it was runnable and waited, how
often it was scheduled. The kernel adds a wait when it ends. Tasks with a lower priority than ours,
or another scheduling class, get no credit for waiting, which was their choice: they aren't listed.

Invariant: only reads; what has vanished or is hidden is left out. Where the kernel doesn't count
waits, they are all 0.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from arena.sandbox import meter
from arena.sandbox.meter import read, stat_fields

TRIAL_S = 0.01  # some time slices of the scheduler, of three or four milliseconds each
SHARE = 0.75  # with less of the core we aren't alone on it: one other busy task leaves a half
KNOWN_S = 1.0  # how long a trial's result may be used where no charge depends on it
_NS = 1e-9
_RUNNABLE = b"R"

# In a task's stat, counted from the state, which follows the name in its brackets.
_NICE, _THREADS, _CLASS = 16, 17, 38


class Task(NamedTuple):
    """One task; seconds since it began."""

    ran: float
    waited: float
    turns: int  # how often it was scheduled
    waiting: bool  # it is runnable: on the core that we share it waits, since we run


class Reading(NamedTuple):
    """A bot's tree at a moment, in seconds."""

    at: float  # by time.monotonic()
    cpu: float  # CPU time that the whole tree has used, ended tasks included
    own: float  # how long our own thread has waited for a core
    tasks: dict[int, Task]  # live ones, by number


def tasks(pids: Iterable[int]) -> dict[int, Task]:
    """The tasks of these processes that have our priority, or a better one, and our class."""
    most, kind = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    found: dict[int, Task] = {}
    for pid in pids:
        folder = f"{meter.PROC}/{pid}"
        try:
            stat = stat_fields(read(f"{folder}/stat"))
            names = [str(pid)] if stat[_THREADS] == b"1" else os.listdir(f"{folder}/task")  # noqa: PTH208 - no Path: speed
        except OSError:
            continue
        for name in names:
            try:
                if len(names) > 1:
                    stat = stat_fields(read(f"{folder}/task/{name}/stat"))
                if int(stat[_NICE]) > most or int(stat[_CLASS]) != kind:
                    continue
                ran, waited, turns = map(int, read(f"{folder}/task/{name}/schedstat").split())
            except OSError:
                continue
            found[int(name)] = Task(ran * _NS, waited * _NS, turns, stat[0] == _RUNNABLE)
    return found


class Core:
    """The core of this thread: how long it has waited for it, and whether others use it.

    Nothing that a bot shows proves the latter. So while its tree is stopped, this process spins for
    a moment: if it doesn't get the core, another program has it, and that isn't the bot.
    """

    def __init__(self) -> None:
        self.cores = len(os.sched_getaffinity(0))  # how many we may use; our children inherit them
        self.alone = self.cores == 1
        self._tried = float("-inf")
        self._overloaded = False
        self._file = -1  # kept open, as it is read often
        with contextlib.suppress(OSError):
            self._file = os.open(f"{meter.PROC}/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self.counted = self._file >= 0 and self._read()[0] > 0  # some kernels leave it at zero

    def _read(self) -> tuple[int, int]:
        ran, waited, _ = os.pread(self._file, 128, 0).split()
        return int(ran), int(waited)

    def waited(self) -> float:
        return self._read()[1] * _NS if self.counted else 0.0

    @property
    def recent(self) -> bool | None:
        """The result of the last trial; None: it is too old."""
        return self._overloaded if time.monotonic() - self._tried < KNOWN_S else None

    def overloaded(self) -> bool:
        """Spin until we have had TRIAL_S of CPU, or it takes too long."""
        begun, used = time.monotonic(), time.thread_time()
        while (got := time.thread_time() - used) < TRIAL_S:
            if time.monotonic() - begun > TRIAL_S / SHARE:
                break
        self._tried = time.monotonic()
        self._overloaded = got < SHARE * (self._tried - begun)
        return self._overloaded

    def close(self) -> None:
        self.counted = False
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def counts_waits() -> bool:
    with contextlib.closing(Core()) as core:
        return core.counted
