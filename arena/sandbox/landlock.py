"""The backend "landlock": Landlock, our seccomp filter and rlimits, without namespaces.

For hosts that refuse user namespaces or mask /proc. Needs no installed tool and no privilege; under
root each bot gets a spare uid.

A bot sees its folder where it lies, the system's programs and libraries, the exposed folders, a few
harmless devices and its own folder in /proc. It shares the pid namespace with all processes: it can
find out that a process or a file exists by guessing its number or name, but can't read, change or
signal it.
"""

import functools
import os
from typing import Literal

from arena.model import HostError
from arena.sandbox import Launch, Probe, SpawnPlan, canary, environment, kernel, seccomp
from arena.sandbox.guarantees import GUARANTEES
from arena.sandbox.host import Host
from arena.sandbox.inherited_limits import users_tasks
from arena.sandbox.visible import DEVICES, OWN_PROC, PROC, etc, exposed_folders, system

SCOPES_SIGNALS = 6  # since this ABI it keeps a program from signalling others; before, our filter
GOVERNS_TRUNCATION = 3  # the same for truncating files that may only be read

SLACK_TASKS = 2048
"""Above the user's present tasks. NPROC counts all of them, so it is only a backstop; the spawner
counts each bot's own. One fork bomb, in the milliseconds that it has, doesn't get so far."""


class Landlock:
    name = "landlock"

    def __init__(self, abi: int | None = None) -> None:
        """`abi`: use no newer version of Landlock."""
        has = kernel.landlock_abi()
        self.abi = has if abi is None else min(abi, has)
        self._working: Probe | None = None

    def probe(self) -> Probe:
        """Run the canary, until it has once succeeded."""
        if self._working:
            return self._working
        memory = ""
        if not self.abi:
            problem = "the kernel has no Landlock (5.13 or newer; switched on by lsm=landlock,…)"
        elif not seccomp.supported():
            problem = f"no filter of system calls for {os.uname().machine}"
        else:
            problem, memory = canary.run_canary(self._plan, namespaces=False)
        if problem:
            return Probe(name=self.name, works=False, detail=problem)
        traces = () if environment.has_spare_uids() else ("access times",)
        self._working = Probe(
            name=self.name,
            works=True,
            detail=f"Landlock ABI {self.abi}",
            memory=memory,
            kept=tuple(GUARANTEES),
            gaps=(*environment.open_gaps(memory), "file names", "process numbers", *traces),
        )
        return self._working

    def take_over(self, found: Probe) -> None:
        self._working = found

    def plan(self, launch: Launch) -> SpawnPlan:
        found = self.probe()
        if not found.works:
            raise HostError(f"Landlock does not work here: {found.detail}")
        return self._plan(launch)

    def _plan(self, launch: Launch) -> SpawnPlan:
        root = environment.has_spare_uids()
        # Tools that write also set modes and times. An ordinary user's could change those of files
        # that they can't even open; a spare uid owns nothing but what it may write to.
        metadata: Literal["allow", "deny", "pretend"] = "deny"
        if launch.writable or launch.scratch_mb:
            metadata = "allow" if root else "pretend"
        exposed = tuple(exposed_folders(launch))
        return environment.plan(
            launch,
            self.name,
            {
                "abi": self.abi,
                "root": launch.root,
                "writable": launch.writable,
                "exposed": exposed,
                "read": (*system(), *etc(launch.writable), *PROC, *OWN_PROC),
                "devices": DEVICES,
                "mounts": root and Host().may_mount,
                "shown": (launch.root, *exposed),
                "capabilities": "drop",
            },
            limits={"NPROC": launch.tasks if root else _users_tasks()},
            seccomp=seccomp.program(
                metadata=metadata,
                locks=launch.writable,
                signals=not root and self.abi < SCOPES_SIGNALS,
                truncation=self.abi < GOVERNS_TRUNCATION,
                timers=launch.freeze,
            ).hex(),
        )


@functools.cache
def _users_tasks() -> int:
    return users_tasks() + SLACK_TASKS
