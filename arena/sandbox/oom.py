"""Whether the kernel has killed somebody here for want of memory.

A program that has no control group of its own runs in ours, and is held to its memory by the
watchdog. If a group above us runs out, or the machine, the kernel kills the largest there: that
looks like a crash, and is none.

Invariant: reads alone; where nothing is told, nobody was killed.
Loaded into the spawner, so: standard library only.
"""

from __future__ import annotations

from pathlib import Path

from arena.sandbox.cgroupfs import PROC, Unfit, membership

MACHINE = Path("/proc/vmstat")
"""Counts the kills of the whole machine; for where our group doesn't tell."""


class Kills:
    """The kernel's count of those that it has killed in our control group."""

    def __init__(self, proc: Path = PROC, machine: Path = MACHINE) -> None:
        self._places = [machine]
        try:
            ours = membership(proc)
        except Unfit:
            return
        name = "memory.oom_control" if ours.version == 1 else "memory.events"
        self._places.insert(0, ours.own / name)

    def count(self) -> int:
        """So far."""
        for place in self._places:
            try:
                found = _counted(place.read_text())
            except OSError:
                continue
            if found is not None:
                return found
        return 0


def _counted(text: str) -> int | None:
    """The value of `oom_kill`; None before Linux 4.13, where there is none."""
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "oom_kill":
            return int(value)
    return None
