"""Before anything is tried: whether the arena was given what it promises to bots."""

from __future__ import annotations

from collections.abc import Collection

from arena.executors.cores import fair_jobs
from arena.model import HostError, Limits
from arena.sandbox import Launch, inherited_limits
from arena.terminal.screen import say

SETTINGS = ("--memory", "--tasks", "--scratch")
"""The flags by which a command can promise less."""


def promise(limits: Limits, series: int = 1) -> Launch:
    """What a bot is promised that plays so many matches, as far as the host can take it away."""
    return Launch(
        run=(),
        root="",
        memory_mb=limits.memory_mb,
        tasks=limits.tasks,
        scratch_mb=limits.scratch_mb,
        cpu_seconds=(limits.start_ms + series * limits.match_ms) // 1000 + 1,
    )


def keep_promises(
    limits: Limits,
    *,
    seats: int = 1,
    series: int = 1,
    jobs: int | None = None,
    flags: Collection[str] = (),
) -> int:
    """How many matches at a time can be played with all that their bots are promised: `jobs`, if
    they were asked for, else one a core if there is room. HostError: the promise can't be kept.
    `flags`: those of the command by which less could be promised.
    """
    inherited_limits.raise_open_files()
    found = judged(limits, seats=seats, series=series, jobs=jobs, flags=flags)
    if found.lack:
        raise HostError(f"bots would fail by a limit that is not theirs: {found.lack}")
    for note in found.notes:
        say(f"note: {note}")
    return found.tables


def judged(
    limits: Limits,
    *,
    seats: int = 1,
    series: int = 1,
    jobs: int | None = None,
    flags: Collection[str] = (),
) -> inherited_limits.Capacity:
    """The same, for whoever only wants to tell."""
    return inherited_limits.check_capacity(
        inherited_limits.read_limits(),
        promise(limits, series),
        seats=seats,
        tables=jobs or fair_jobs(),
        fixed=jobs is not None,
        flags=flags,
    )
