"""One program in the spawner's table: its descriptors, its limits, how it ended.

Nothing here waits or forks.
"""

import contextlib
import json
import os
import signal
from typing import Any

from arena.sandbox import cgroups, child, removal, watch

STATUS_BYTES = 4096  # bwrap's two lines take 300; the program itself can't write there


class Program:
    def __init__(self, number: int, plan: dict[str, Any]) -> None:
        self.id = number
        self.plan = plan
        self.uid = 0  # its spare uid if we are root
        self.guard = 0
        self.root = 0  # pid of the root of its tree, once the guard has reported it
        self.status = self.errors = self.gate = -1
        self.handle = -1  # a pidfd of the root, for a kill that can't hit another process
        self.killed = False
        self.wait_status: int | None = None  # the guard's, once reaped
        self.failure = ""  # why the sandbox, or the machine, could not run it
        self.group: cgroups.Group | None = None
        self.overstepped = ""
        self.kills: cgroups.OomKills | None = None  # in our group, if it has none of its own
        self.cpu_ms = 0.0
        self.memory_mb = 0.0
        self._text = b""
        self._facts: dict[str, Any] = {}
        self._watch: watch.Watch | None = None
        self._killed_before = 0

    @property
    def as_bwrap(self) -> bool:
        """Whether its guard is bwrap, not a keeper (child.py)."""
        return bool(self.plan["backend"] == "bwrap")

    @property
    def tree(self) -> int:
        return self.root if self.as_bwrap else self.guard

    @property
    def ended(self) -> bool:
        return not {"exit-code", "exit"}.isdisjoint(self._facts)

    def read_status(self) -> bool:
        """Read the guard's lines. False: there is no more now. EOFError: there never will be."""
        try:
            data = os.read(self.status, STATUS_BYTES) if self.status >= 0 else b""
        except BlockingIOError:
            return False
        if not data:
            raise EOFError
        *lines, self._text = (self._text + data)[:STATUS_BYTES].split(b"\n")
        for line in lines:
            for name, value in json.loads(line).items():
                self._facts.setdefault(name, value)
        self.root = self._facts.get("child-pid", 0)
        return True

    def begin_watch(self) -> None:
        share = dict(self.plan["share"])
        if self.group:
            share["memory_mb"] = 0  # the kernel limits it
        scratch = self._facts.get("scratch")
        if scratch and not self.plan["options"].get("mounts"):  # else it is limited by itself
            share["disk"] = [*share["disk"], scratch]
        self._watch = watch.Watch(share, self.tree, uid=self.uid)
        if self.kills:
            self._killed_before = self.kills.count()

    def check(self, now: float) -> bool:
        """Whether it must be killed: it exceeds a limit, or the kernel has killed part of it."""
        if self._watch is None or self.killed:
            return False
        # The kernel may have killed only one of its processes; it must not go on without.
        if not self._killed_in_group():
            self.overstepped = self._watch.check(now)
        return bool(self.overstepped or self.failure)

    def _killed_in_group(self) -> bool:
        """Whether the kernel has killed in its group: for its own limit, or for another's."""
        if self.group is None or not self.group.kills():
            return False
        if self.group.at_limit():
            self.overstepped = "memory"
        else:
            self._killed_for_others(self.group.peak_mb())
        return True

    def _killed_for_others(self, peak: float) -> None:
        most = self.plan["share"]["memory_mb"]
        self.failure = (
            "the machine, or a control group above the program's, ran out of memory: the kernel "
            f"killed a program that used at most {peak:.0f} of its {most} MB"
        )

    def conclude(self) -> None:
        """Nothing of it is left: take its peak memory, and find out whether the host failed."""
        if self.group:
            self._killed_in_group()
            self.memory_mb = self.group.peak_mb()
        elif self._watch:
            self.memory_mb = max(self.memory_mb, self._watch.peak_mb)
        if self.failure or self.killed or self.overstepped:
            return
        if not self.ended:
            self.failure = self._last_words()
            return
        failed = self._facts.get("exit") or self._facts.get("exit-code")
        if failed and self.kills and self.kills.count() > self._killed_before:
            self._killed_for_others(self.memory_mb)

    def exited(self) -> dict[str, Any]:
        facts = self._facts
        ended = -signal.SIGKILL if self.killed else 0  # a signal is negative
        if "exit" in facts:
            ended = os.waitstatus_to_exitcode(facts["exit"])
            self.cpu_ms = facts["cpu_ms"]
            self.memory_mb = max(self.memory_mb, facts["memory_mb"])
        elif "exit-code" in facts:
            ended = int(facts["exit-code"])
            if ended - 128 in {int(known) for known in signal.Signals}:
                ended = 128 - ended  # how bwrap, like a shell, passes a signal on
        return {
            "id": self.id,
            "code": None if ended < 0 or self.failure else ended,
            "signal": None if ended >= 0 or self.failure else -ended,
            "cpu_ms": round(self.cpu_ms, 3),
            "memory_mb": round(self.memory_mb, 3),
            "overstepped": self.overstepped,
            "host_error": self.failure,
        }

    def close(self) -> None:
        """Release everything but `status`, which the spawner polls and closes."""
        os.close(self.errors)
        for descriptor in (self.gate, self.handle):
            if descriptor >= 0:
                os.close(descriptor)
        if self.group:
            self.group.remove()
        if self._watch:
            self._watch.close()
        if scratch := self._facts.get("scratch"):
            with contextlib.suppress(OSError):  # its keeper has removed it, as a rule
                removal.remove(scratch)

    def _last_words(self) -> str:
        text = ""
        with contextlib.suppress(BlockingIOError):
            text = os.read(self.errors, child.ERROR_BYTES).decode(errors="backslashreplace")
        status = self.wait_status or 0
        ended = (
            f"signal {os.WTERMSIG(status)}"
            if os.WIFSIGNALED(status)
            else f"exit {os.waitstatus_to_exitcode(status)}"
        )
        return " ".join(text.split()) or f"the sandbox ended without a message ({ended})"
