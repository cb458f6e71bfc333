"""Count the OOM kills of the kernel in our control group, or on the machine.

A program without a control group of its own runs in ours, and the watchdog limits its memory. If a
group above us or the machine runs out of memory, the kernel kills the largest process: that looks
like a crash of the bot, but isn't its fault.

Invariant: only reads; where the kernel has no counter, it reports no kills.
Loaded into the spawner, so: standard library only.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from arena.sandbox.cgroupfs import PROC, NoGroupsError, membership

MACHINE = Path("/proc/vmstat")  # of the whole machine, for where our group has no counter


class OomKills:
    def __init__(self, proc: Path = PROC, machine: Path = MACHINE) -> None:
        self._places = [machine]
        try:
            ours = membership(proc)
        except NoGroupsError:
            return
        name = "memory.oom_control" if ours.version == 1 else "memory.events"
        self._places.insert(0, ours.own / name)

    def count(self) -> int:
        for place in self._places:
            with contextlib.suppress(OSError):
                for line in place.read_text().splitlines():
                    name, _, value = line.partition(" ")
                    if name == "oom_kill":  # since Linux 4.13
                        return int(value)
        return 0
