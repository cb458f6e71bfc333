"""Start processes, and move bytes to and from them.

Bots are started by the spawner (`arena.sandbox.client`), whose pipes are read and written here.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
from collections.abc import Callable
from typing import Any, Protocol

start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
run: Callable[..., subprocess.CompletedProcess[bytes]] = subprocess.run
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
Process = subprocess.Popen[bytes]
TimeoutExpired = subprocess.TimeoutExpired

read: Callable[[int, int], bytes] = os.read
write: Callable[[int, Any], int] = os.write
close: Callable[[int], None] = os.close


def _unread(fd: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0])


unread: Callable[[int], int] = _unread  # how many bytes lie in a pipe; either end may ask
yield_core: Callable[[], None] = os.sched_yield
"""Let another process of this core run."""


class Poller(Protocol):
    """Waits for any of some descriptors."""

    def register(self, fd: int, eventmask: int, /) -> None: ...
    def unregister(self, fd: int, /) -> None: ...
    def poll(self, timeout: float, /) -> list[tuple[int, int]]: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


poller: Callable[[], Poller] = select.epoll
READABLE, WRITABLE = select.EPOLLIN, select.EPOLLOUT
