"""How long tasks have been kept waiting for a core, by what the kernel counts for each of them.

A task's `schedstat` in /proc has three numbers: how long it has run, how long it has waited while
it wanted to, how often it came to run. A wait is counted when it ends. A task that lets others go
first (by a worse priority than ours, or another class) waits by its own choice: it isn't listed.

Invariant: reads alone; what has vanished, or is hidden, isn't there, and that is no error. Where
the kernel doesn't count, nobody is ever seen waiting.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from arena.sandbox.meter import PROC, read

_NS = 1e-9
_RUNNABLE = b"R"

# In a task's stat, counted from the state, which follows the name in its brackets.
_NICE, _THREADS, _CLASS = 16, 17, 38


class Task(NamedTuple):
    """One task; seconds, from its birth."""

    ran: float
    waited: float
    turns: int
    """How often it came to run."""
    waiting: bool
    """It wants to run. As it is we who run, it waits."""


class Reading(NamedTuple):
    """A bot's tree at a moment."""

    at: float
    """As time.monotonic() tells."""
    cpu: float
    """Seconds of CPU that the whole tree has used, ended tasks included."""
    own: float
    """Seconds that we have waited for a core."""
    tasks: dict[int, Task]
    """Those that live, by number."""


def tasks(pids: Iterable[int], *, proc: str = PROC) -> dict[int, Task]:
    """The tasks of these processes that share the core with us as equals."""
    most, kind = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    found: dict[int, Task] = {}
    for pid in pids:
        folder = f"{proc}/{pid}"
        try:
            stat = _fields(folder)
            names = [str(pid)] if stat[_THREADS] == b"1" else os.listdir(f"{folder}/task")  # noqa: PTH208 - no Path: speed
        except OSError:
            continue
        for name in names:
            try:
                if len(names) > 1:
                    stat = _fields(f"{folder}/task/{name}")
                if int(stat[_NICE]) > most or int(stat[_CLASS]) != kind:
                    continue
                ran, waited, turns = map(int, read(f"{folder}/task/{name}/schedstat").split())
            except OSError:
                continue
            waiting = stat[0] == _RUNNABLE
            found[int(name)] = Task(ran * _NS, waited * _NS, turns, waiting)
    return found


class Own:
    """What this thread has waited. Kept open: it is read often."""

    __slots__ = ("_file", "counted")

    def __init__(self, proc: str = PROC) -> None:
        self.counted = False
        """Whether this kernel counts; some have the file and leave it at zero."""
        try:
            self._file = os.open(f"{proc}/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1
        else:
            self.counted = self._read()[0] > 0

    def waited(self) -> float:
        """Seconds until now."""
        return self._read()[1] * _NS if self.counted else 0.0

    def _read(self) -> tuple[int, int]:
        ran, waited, _ = os.pread(self._file, 128, 0).split()
        return int(ran), int(waited)

    def close(self) -> None:
        """Give the file back; nothing is counted any more."""
        self.counted = False
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def counts_waits() -> bool:
    """Whether this kernel counts what tasks wait for a core."""
    own = Own()
    try:
        return own.counted
    finally:
        own.close()


def _fields(folder: str) -> list[bytes]:
    stat = read(f"{folder}/stat")
    return stat[stat.rindex(b")") + 2 :].split()
