"""Stop a program's whole tree while it isn't its turn, and continue it.

Theory of operation. Everything below the root is stopped; the root itself belongs to the sandbox
and must stay able to end the program. `freeze` sends SIGSTOP until every process was at rest, with
all its threads, *before* a listing of the tree that found no other: a fork that was under way
produces its child before its parent rests, so nothing can slip out.

On a core that is shared with the tree, a signal that wakes a sleeper may cost the caller the core
for a whole time slice. So each runnable thread is signalled first: whichever runs next then stops
its process. That nothing at rest has itself continued (by an asynchronous descriptor, or a timer
that sends SIGCONT) is the seccomp filter's part, if `Launch.freeze` is set.

Invariant: only processes that were seen below the root are signalled, even if their numbers have
been reused since; SIGKILL ends what is frozen as it ends everything.
"""

import ctypes
import itertools
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from arena.model import HostError
from arena.sandbox.meter import members, read, stat_fields

SETTLE_S = 0.02
"""On a loaded machine a process may have to wait for a core to stop on. What isn't at rest by
then stops as soon as it runs; waiting longer would let a bot delay its table."""

VFORK_S = 0.002
"""A parent that waits in vfork has the same state as one that waits for a disk. After this time it
is taken for the former: its child may be stopped before it lets its parent go on."""

YIELDS = 2
NAP_S = 0.0001

_tgkill = getattr(ctypes.CDLL(None), "tgkill", None)

_RUNNING = b"R"
_STOPPED = b"TtZX"
_UNINTERRUPTIBLE = b"D"


class Freezer:
    __slots__ = ("_handles", "_root")

    def __init__(self, root: int) -> None:
        self._root = root
        self._handles: dict[int, int] = {}  # by pid; as many as the program may have processes

    def freeze(self) -> None:
        """Stop everything; return when nothing runs any more, or after SETTLE_S."""
        handles = self._handles
        self._stop(set(handles))
        begun = time.monotonic()
        resting = _STOPPED
        for look in itertools.count():
            still = {pid for pid in handles if _rests(pid, resting)}
            found = set(members(self._root)) - {self._root}
            for pid in handles.keys() - found:
                os.close(handles.pop(pid))
            moving = found - still
            waited = time.monotonic() - begun
            if not moving or waited > SETTLE_S:
                return
            self._stop(moving)
            if waited > VFORK_S:
                resting = _STOPPED + _UNINTERRUPTIBLE
            # It may need this very core to stop on, and to yield is not always to let it go first.
            if look < YIELDS:
                os.sched_yield()
            else:
                time.sleep(NAP_S)

    def thaw(self) -> None:
        for handle in self._handles.values():
            _send(handle, signal.SIGCONT)

    def close(self) -> None:
        """Forget the tree, in whatever state it is."""
        while self._handles:
            os.close(self._handles.popitem()[1])

    def _stop(self, pids: set[int]) -> None:
        known = [pid for pid in pids if pid in self._handles or self._open(pid)]
        for pid in known:
            with suppress(OSError):  # it has ended, or a thread of it
                if eager := [thread for thread, state in _threads(pid) if state == _RUNNING]:
                    # If it still exists, these threads, found by its number, are its own.
                    signal.pidfd_send_signal(self._handles[pid], 0)
                    for thread in eager:
                        if _tgkill:
                            _tgkill(pid, thread, signal.SIGSTOP)
                        else:  # libc has none: perhaps another thread stops the process
                            os.kill(thread, signal.SIGSTOP)
        for pid in known:
            _send(self._handles[pid], signal.SIGSTOP)

    def _open(self, pid: int) -> bool:
        try:
            # Pids are given out in a circle: one seen a moment ago can't have been reused.
            self._handles[pid] = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        except OSError as error:
            raise HostError(f"can't freeze a bot: {error}; try `ulimit -n 4096`") from error
        return True


def _send(handle: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        try:
            signal.pidfd_send_signal(handle, number)
        except PermissionError as error:
            raise HostError(f"can't freeze a bot: {error}") from error


def _rests(pid: int, resting: bytes) -> bool:
    try:
        return all(state in resting for _, state in _threads(pid))
    except OSError:
        return False  # it has ended, or a thread of it: the next look decides


def _threads(pid: int) -> Iterator[tuple[int, bytes]]:
    fields = stat_fields(read(f"/proc/{pid}/stat"))
    yield pid, fields[0]
    if fields[17] != b"1":  # how many there are
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a Path for each is slow
            if int(name) != pid:
                yield int(name), stat_fields(read(f"/proc/{pid}/task/{name}/stat"))[0]
