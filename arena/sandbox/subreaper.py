"""Keep a process tree from outliving its program: wait for that, then kill all that is left.

A subreaper inherits every orphan below it, so nothing of the tree escapes by having its parent die.
Standard library only, one thread: loaded into the spawner and into keepers.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable
from typing import NoReturn

from arena.sandbox import kernel, meter

_RESCAN_S = 0.01  # how long to wait for killed processes before looking again


def become() -> int:
    """Inherit orphans from now on. Returns a descriptor, readable when a child has ended."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    news, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    kernel.no_news_of_stops()  # a bot that is frozen and continued would pay for our waking
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return news


def drain(news: int) -> None:
    """Empty the descriptor of `become`, before looking for ended children."""
    with contextlib.suppress(BlockingIOError):
        while os.read(news, 512):
            pass


def keep(
    program: Callable[[int, int], NoReturn], gate: int, begun: Callable[[int], None]
) -> tuple[bytes, int]:
    """Be the parent of a program; kill its tree when it has ended or the gate was closed.

    `program(keeper, failed)` becomes it in a child, or writes to `failed` why not. If it could,
    `begun(pid)` is called. Returns what was written, and the program's wait status.
    """
    news, keeper = become(), os.getpid()
    ready, failed = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        program(keeper, failed)
    os.close(failed)
    ended: dict[int, int] = {}
    failure = os.read(ready, 4096)  # empty: exec has closed it
    if not failure:
        begun(pid)
        poll = select.poll()
        poll.register(news, select.POLLIN)
        poll.register(gate, select.POLLIN)
        while pid not in ended and gate not in dict(poll.poll()):
            _reap(pid, news, ended)
    _kill_all(pid, news, ended)
    return failure, ended[pid]


def _reap(program: int, news: int, ended: dict[int, int]) -> bool:
    """Collect what has ended, keeping the program's own status; False: no child is left."""
    drain(news)
    with contextlib.suppress(ChildProcessError):
        while found := os.waitpid(-1, os.WNOHANG):
            pid, status = found
            if pid == 0:
                return True
            if pid == program:
                ended[pid] = status
    return False


def _kill_all(program: int, news: int, ended: dict[int, int]) -> None:
    """Kill and reap until no child is left; orphans have become children.

    Found by the lists of children, since a process that forks and exits would be gone before a pass
    over /proc reached it. All is killed each time: were it only stopped, growing numbers would slow
    the search until it never catches such a process.
    """
    keeper = os.getpid()
    killed: set[int] = set()
    while True:
        found = set(meter.members(keeper)) - {keeper}
        # Stopped first: what is stopped can't fork while its neighbours are killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        if not _reap(program, news, ended):
            return
        if found <= killed:  # the dying need the core more than we do
            select.select([news], [], [], _RESCAN_S)
        killed |= found
