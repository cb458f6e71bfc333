"""The backend "landlock": Landlock, our filter of system calls and limits, without namespaces.

For hosts that refuse user namespaces or mask /proc: containers, hosted runners, distributions
that reserve namespaces for programs they know. Needs nothing installed and no right; under root
each bot gets a spare uid.

What a bot sees: its folder where it lies, the system's programs and libraries, the exposed
folders, a few harmless devices and its own folder in /proc. It shares the pid namespace with all
others: it can find out that a process or a file exists whose number or name it guesses, but
can't read, change or signal it.
"""

from __future__ import annotations

import functools
import os
from typing import Literal

from arena.model import HostError
from arena.sandbox import Launch, Plan, Probe, canary, kernel, seccomp
from arena.sandbox.environment import (
    checked,
    environment,
    gaps,
    has_spare_uids,
    limits,
    outside,
    scratch,
    share,
)
from arena.sandbox.guarantees import GUARANTEES
from arena.sandbox.host import Host
from arena.sandbox.inherited_limits import users_tasks
from arena.sandbox.visible import DEVICES, etc, exposed, system

SCOPES_SIGNALS = 6
"""The first ABI with which a program can't signal those outside; before, our filter sees to it."""

GOVERNS_TRUNCATION = 3
"""Likewise for emptying files that may only be read."""

PROC = (
    "cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys/kernel/cap_last_cap",
    "sys/kernel/osrelease", "sys/kernel/pid_max", "sys/vm/max_map_count",
    "sys/vm/overcommit_memory", "uptime", "version",
)  # fmt: skip
"""What runtimes read of the machine; nothing about other processes."""

SLACK_TASKS = 2048
"""A backstop only, as it counts all of a user's tasks: the spawner counts each bot's own. So far
above what they hold now that one bot's bomb, in the milliseconds that it has, starves nobody."""


class Landlock:
    """Confines programs without namespaces."""

    name = "landlock"

    def __init__(self, abi: int | None = None) -> None:
        """`abi`: use no more of Landlock than this version had."""
        has = kernel.landlock_abi()
        self.abi = has if abi is None else min(abi, has)
        self._working: Probe | None = None

    def probe(self) -> Probe:
        """Start a confined program and look around with it, until that has once succeeded."""
        if self._working:
            return self._working
        found = self._look()
        self._working = found if found.works else None
        return found

    def plan(self, launch: Launch) -> Plan:
        """Say how to start it; HostError where the canary has failed."""
        found = self.probe()
        if not found.works:
            raise HostError(f"Landlock does not hold here: {found.detail}")
        return self._plan(launch)

    def _look(self) -> Probe:
        if not self.abi:
            problem = "the kernel has no Landlock (5.13 or newer; switched on by lsm=landlock,…)"
        elif not seccomp.supported():
            problem = f"no filter of system calls for {os.uname().machine}"
        else:
            problem, memory = canary.look(self._plan, namespaces=False)
        if problem:
            return Probe(name=self.name, works=False, detail=problem)
        return Probe(
            name=self.name,
            works=True,
            detail=f"Landlock ABI {self.abi}",
            memory=memory,
            kept=tuple(GUARANTEES),
            gaps=(
                *gaps(memory),
                "file names",
                "process numbers",
                *([] if has_spare_uids() else ["access times"]),
            ),
        )

    def _plan(self, launch: Launch) -> Plan:
        checked(launch)
        root = has_spare_uids()
        # Tools that write set modes and times. As an ordinary user they could so change files that
        # they can't even open; root's spare uid owns nothing but what it may write to.
        metadata: Literal["allow", "deny", "pretend"] = "deny"
        if launch.writable or launch.scratch_mb:
            metadata = "allow" if root else "pretend"
        return Plan(
            backend=self.name,
            argv=tuple(outside(text, launch) for text in launch.run),
            env={name: outside(value, launch) for name, value in environment(launch).items()},
            cwd=launch.root,
            rlimits={**limits(launch), "NPROC": launch.tasks if root else _users_tasks()},
            share=share(launch),
            seccomp=seccomp.program(
                metadata=metadata,
                locks=launch.writable,
                signals=not root and self.abi < SCOPES_SIGNALS,
                truncation=self.abi < GOVERNS_TRUNCATION,
                timers=launch.freeze,
            ).hex(),
            options={
                "abi": self.abi,
                "root": launch.root,
                "writable": launch.writable,
                "exposed": tuple(exposed(launch)),
                "read": (*system(), *etc(launch.writable), *(f"/proc/{name}" for name in PROC)),
                "devices": tuple(f"/dev/{name}" for name in DEVICES),
                "scratch": scratch(launch),
                "mounts": root and Host().may_mount,
                "shown": (launch.root, *exposed(launch)),
                "capabilities": "drop",
                "resident": "" if launch.writable else launch.root,
                "spare uid": root,
            },
        )


@functools.cache
def _users_tasks() -> int:
    return users_tasks() + SLACK_TASKS
