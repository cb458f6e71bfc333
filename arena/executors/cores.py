"""Count the cores that this process may use, and the share of their time that it is given.

A container or a service is often given a part of a machine's time by its control group, or by one
above it, while it still sees all cores. More workers than that would be stopped in turns, in the
middle of a bot's decision; so the number of workers is that part, rounded down.

Invariant: only `one_core` changes anything; what can't be found out limits nothing.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from arena.sandbox.cgroupfs import PROC, NoGroupsError, membership

CPU = "cpu"


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process and its bots to the last core: an event beside it takes the first ones."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def fair_jobs(proc: Path = PROC) -> int:
    """The workers that can have a core each, one at least."""
    given = quota(proc)
    return len(cores()) if given is None else max(1, min(len(cores()), int(given)))


def quota(proc: Path = PROC) -> float | None:
    """The cores' worth of time that the control groups of this process allow; None: no limit."""
    try:
        found = membership(proc, CPU)
    except NoGroupsError:
        return None
    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if found.version == 1 else ("cpu.max",)
    limits = []
    for folder in found.upwards():
        # No limit at this place: "max", -1, or a root, which has no such file.
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            share, period = " ".join((folder / name).read_text() for name in names).split()
            limits.append(int(share) / int(period))
    return min((limit for limit in limits if limit >= 0), default=None)
