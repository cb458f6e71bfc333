"""Preflight: whether our own rlimits and control group allow what each bot is promised."""

from collections.abc import Collection

from arena.executors.cores import fair_jobs
from arena.machine import Notify
from arena.model import HostError, Limits
from arena.sandbox import Launch, inherited_limits

SETTINGS = ("--memory", "--tasks", "--scratch")  # the flags by which a command can promise less


def keep_promises(found: inherited_limits.Capacity, notify: Notify) -> int:
    """How many matches at a time have all that their bots are promised. HostError: not one."""
    if found.lack:
        raise HostError(f"bots would fail by a limit that is not theirs: {found.lack}")
    for note in found.notes:
        notify(f"note: {note}")
    return found.tables


def judged(
    limits: Limits, *, seats: int, series: int, jobs: int | None = None, flags: Collection[str] = ()
) -> inherited_limits.Capacity:
    """What can be kept of these promises: `jobs` matches at a time, if they are asked for, else one
    a core. `flags`: those of the command by which less could be promised.
    """
    inherited_limits.raise_open_files()
    promise = Launch(
        run=(),
        root="",
        memory_mb=limits.memory_mb,
        tasks=limits.tasks,
        scratch_mb=limits.scratch_mb,
        cpu_seconds=(limits.start_ms + series * limits.match_ms) // 1000 + 1,
    )
    return inherited_limits.check_capacity(
        inherited_limits.read_limits(),
        promise,
        seats=seats,
        tables=jobs or fair_jobs(),
        fixed=jobs is not None,
        flags=flags,
    )
