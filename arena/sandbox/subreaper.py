"""The end of a whole process tree, in the process that is its subreaper.

A subreaper inherits every orphan below it, so that nothing of the tree escapes by having its
parent die. `become` makes this process one; `attend` waits for the program at the top of the tree;
`fell` kills what is left.

Standard library only, one thread: loaded into keepers and guards.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal

from arena.sandbox import kernel, meter

_RESCAN_S = 0.01
"""How long to wait for killed processes before looking again."""


def become() -> int:
    """Inherit orphans from now on; a descriptor that is readable when a child has ended."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    news, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    kernel.no_news_of_stops()  # a bot that is frozen and continued would pay for our waking
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return news


def attend(program: int, news: int, gate: int, ended: dict[int, int]) -> None:
    """Reap until the program has ended, its status in `ended`, or the gate was closed."""
    poll = select.poll()
    poll.register(news, select.POLLIN)
    poll.register(gate, select.POLLIN)
    while program not in ended and gate not in dict(poll.poll()):
        _reap(program, news, ended)


def _reap(program: int, news: int, ended: dict[int, int]) -> bool:
    """Collect what has ended, keeping the program's own status; False: no child is left."""
    with contextlib.suppress(BlockingIOError):
        while os.read(news, 512):
            pass
    with contextlib.suppress(ChildProcessError):
        while found := os.waitpid(-1, os.WNOHANG):
            pid, status = found
            if pid == 0:
                return True
            if pid == program:
                ended[pid] = status
    return False


def fell(program: int, news: int, ended: dict[int, int]) -> None:
    """Kill and reap until no child is left; orphans have become children.

    By the lists of children, which take microseconds: one that forks and leaves would be gone
    within a pass over /proc. And with every look all that was found: were they only stopped, their
    number would make each look slower, until such a one is never met.
    """
    keeper = os.getpid()
    killed: set[int] = set()
    while True:
        found = set(meter.members(keeper)) - {keeper}
        # Stopped first: what is stopped can't fork while its neighbours are killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                _signal(pid, number)
        if not _reap(program, news, ended):
            return
        if found <= killed:  # the dying need the core more than we do
            select.select([news], [], [], _RESCAN_S)
        killed |= found


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
