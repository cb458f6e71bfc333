"""Read from /proc how long tasks have waited for a core.

A task's `schedstat` has three numbers: how long it ran, how long it was runnable and waited, how
often it was scheduled. The kernel adds a wait when it ends. Tasks with a lower priority than ours,
or another scheduling class, get no credit for waiting, which was their choice: they aren't listed.

Invariant: only reads; what has vanished or is hidden is left out. Where the kernel doesn't count
waits, they are all 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from arena.sandbox.meter import PROC, read, stat_fields

_NS = 1e-9
_RUNNABLE = b"R"

# In a task's stat, counted from the state, which follows the name in its brackets.
_NICE, _THREADS, _CLASS = 16, 17, 38


class Task(NamedTuple):
    """One task; seconds since it began."""

    ran: float
    waited: float
    turns: int  # how often it was scheduled
    waiting: bool
    """Whether it is runnable: on the core that we share it waits, since we run."""


class Reading(NamedTuple):
    """A bot's tree at a moment, in seconds."""

    at: float  # by time.monotonic()
    cpu: float  # CPU time that the whole tree has used, ended tasks included
    own: float  # how long our own thread has waited for a core
    tasks: dict[int, Task]  # live ones, by number


def tasks(pids: Iterable[int], *, proc: str = PROC) -> dict[int, Task]:
    """The tasks of these processes that have our priority, or a better one, and our class."""
    most, kind = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    found: dict[int, Task] = {}
    for pid in pids:
        folder = f"{proc}/{pid}"
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
            waiting = stat[0] == _RUNNABLE
            found[int(name)] = Task(ran * _NS, waited * _NS, turns, waiting)
    return found


class OwnWait:
    """How long this thread has waited for a core. Its file is kept open, as it is read often."""

    __slots__ = ("_file", "counted")

    def __init__(self, proc: str = PROC) -> None:
        self.counted = False
        """Whether this kernel counts waits; some have the file and leave it at zero."""
        try:
            self._file = os.open(f"{proc}/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1
        else:
            self.counted = self._read()[0] > 0

    def waited(self) -> float:
        return self._read()[1] * _NS if self.counted else 0.0

    def _read(self) -> tuple[int, int]:
        ran, waited, _ = os.pread(self._file, 128, 0).split()
        return int(ran), int(waited)

    def close(self) -> None:
        self.counted = False
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def counts_waits() -> bool:
    """Whether this kernel counts how long tasks wait for a core."""
    own = OwnWait()
    try:
        return own.counted
    finally:
        own.close()
