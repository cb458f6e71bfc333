"""The watchdog: check whether a program's whole tree keeps to its memory, tasks and disk limits.

Theory of operation. The memory of its processes is added up, which may be far too much, since pages
that a fork shares count for each. Only if the sum is above the limit, and the tree has more than
one process, the shared pages are divided among their owners, which is exact and slow: it is done in
slices (a *round*), at a pace that depends on its cost and on how much is left to the limit.

A child made by vfork that hasn't called exec yet shows all the memory of its parent, without a
copy. A tree that is over its limit only if such look-alikes count twice gets PATIENCE_S.

Invariants: only reads; a check takes some milliseconds at most, whatever the program does. What
the program hides counts as the most it may be; what else can't be read raises OSError.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from arena.sandbox import kernel, memory, meter
from arena.sandbox.disk import Disk

PATIENCE_S = 0.05  # for look-alikes: from vfork to exec takes 1 ms, and the parent waits meanwhile
SLICE_S = 0.006  # the part of a check in which shared pages are divided: some 600 MB of them
REST = 4  # a round is followed by a pause of so many times its cost
FILL_RATE = 5 << 30  # bytes a second, more than a core fills: no round before the limit can be hit
ROUND_S = 2.0  # then it is ended, and what isn't reached counts in full: the tree always changes
BUFFERS_S = 0.1
BUFFERS_REST = 40
"""A count of sockets and pipes is valid for so long, or so many times what it cost."""


class Watch:
    def __init__(self, share: Mapping[str, Any], root: int, *, uid: int = 0) -> None:
        """`share`: of a `TreeLimits`. `root`: the sandbox's, not counted. `uid`: 0: our own."""
        self._root = root
        self._uid = uid
        self._most_tasks: int = share.get("tasks", 0)
        self._most_memory: int = share.get("memory_mb", 0) << 20
        most, files = share.get("disk_mb", 0) << 20, share.get("files", 0)
        self._disk: Disk | None = None
        if share.get("disk") and (most or files):
            self._disk = Disk(share["disk"], most_bytes=most, most_files=files, uid=uid)
        self.peak_mb = 0.0  # the most memory that a check has found
        self._buffers = 0
        self._buffers_due = 0.0
        self._portions: dict[int, int] = {}  # of the current round
        self._round_since: float | None = None
        self._round_cost = 0.0
        self._round_due = 0.0
        self._over_since: float | None = None

    def check(self, now: float) -> str:
        """Which limit the program exceeds: "memory", "tasks", "disk", or "" for none."""
        with kernel.file_uid(self._uid):
            pids = self._found()
            over = "tasks" if 0 < self._most_tasks < len(pids) else self._processes(pids, now)
        return over or ("disk" if self._disk and self._disk.check(now, pids) else "")

    def close(self) -> None:
        if self._disk:
            self._disk.close()

    def _found(self) -> list[int]:
        """The processes of the tree, but no more than it takes to see that they are too many."""
        most = self._most_tasks + 1 if self._most_tasks else 0
        pids = meter.members(self._root, most=most)
        if len(pids) < 2:  # nothing is left of the program, or its root isn't shown
            meter.tasks([self._root])
        return pids[1:]

    def _processes(self, pids: Sequence[int], now: float) -> str:
        if not self._most_memory:
            try:
                tasks = meter.tasks(pids) if self._most_tasks else 0
            except PermissionError:
                return "tasks"
            return "tasks" if tasks > self._most_tasks else ""
        try:
            used = {pid: memory.usage(pid) for pid in pids}
            present = {pid: each for pid, each in used.items() if each is not None}
            over = self._memory(present, now)
        except PermissionError:  # a live process hides what it uses
            return "memory"
        if 0 < self._most_tasks < sum(each.threads for each in present.values()):
            return "tasks"
        return "memory" if over else ""

    def _memory(self, used: Mapping[int, memory.Usage], now: float) -> bool:
        pages = sum(each.pages for each in used.values())
        fixed = sum(each.tables for each in used.values())
        fixed += self._in_buffers(used, pages + fixed, now)
        if pages + fixed <= self._most_memory:
            self._portions.clear()
            self._round_since = self._over_since = None
            self._peak(pages + fixed)
            return False
        if len(used) == 1 or fixed > self._most_memory:
            self._peak(fixed + (pages if len(used) == 1 else 0))
            return True
        if now < self._round_due:
            return False
        ended = self._divide(used, now)
        get = self._portions.get
        portions = {pid: get(pid, each.pages if ended else 0) for pid, each in used.items()}
        total = sum(portions.values()) + fixed
        # A part of a round can be enough.
        return (ended or total > self._most_memory) and self._judge(used, portions, total, now)

    def _in_buffers(self, used: Mapping[int, memory.Usage], others: int, now: float) -> int:
        """Memory in sockets and pipes; 0 if even the most that it may be makes no difference."""
        if now >= self._buffers_due:
            begun = time.perf_counter()
            room = self._most_memory - others
            slots = sum(each.slots * each.threads for each in used.values())
            big = slots * memory.socket_bytes() > room
            self._buffers = memory.buffers(used.values(), room=room) if big else 0
            cost = time.perf_counter() - begun
            self._buffers_due = now + max(BUFFERS_S, BUFFERS_REST * cost)
        return self._buffers

    def _divide(self, used: Mapping[int, memory.Usage], now: float) -> bool:
        """Read some of the portions that are missing. True: the round has ended."""
        begun = time.perf_counter()
        if self._round_since is None:
            self._round_since = now
            self._round_cost = 0.0
        spent = 0.0
        for pid, each in used.items():
            if pid not in self._portions and spent <= SLICE_S:
                self._portions[pid] = memory.portion(each)
                spent = time.perf_counter() - begun
        self._round_cost += spent
        return used.keys() <= self._portions.keys() or now - self._round_since >= ROUND_S

    def _judge(
        self, used: Mapping[int, memory.Usage], portions: Mapping[int, int], total: int, now: float
    ) -> bool:
        self._portions.clear()
        self._round_since = None
        left = self._most_memory - total
        if left >= 0:
            self._peak(total)
            self._over_since = None
            self._round_due = now + max(REST * self._round_cost, left / FILL_RATE)
            return False
        alike = sum(
            portions[pid] + each.tables
            for pid, each in used.items()
            if (parent := used.get(each.parent)) is not None
            and parent.size == each.size
            and abs(portions[pid] - portions[each.parent]) <= portions[pid] / 8
        )
        if self._over_since is None:
            self._over_since = now
        if left + alike >= 0 and now - self._over_since < PATIENCE_S:
            return False
        self._peak(total)
        return True

    def _peak(self, used: int) -> None:
        self.peak_mb = max(self.peak_mb, used / (1 << 20))
