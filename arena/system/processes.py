"""Start processes, and move bytes to and from them.

Bots are started by the spawner (`arena.sandbox.client`), whose pipes are read and written here.
"""

import fcntl
import os
import select
import struct
import subprocess
import termios
from collections.abc import Callable
from typing import Any

start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
run: Callable[..., subprocess.CompletedProcess[bytes]] = subprocess.run
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
Process = subprocess.Popen[bytes]
TimeoutExpired = subprocess.TimeoutExpired

read: Callable[[int, int], bytes] = os.read
write: Callable[[int, Any], int] = os.write
close: Callable[[int], None] = os.close
yield_core: Callable[[], None] = os.sched_yield  # let another process of this core run
poller: Callable[[], select.epoll] = select.epoll
READABLE, WRITABLE = select.EPOLLIN, select.EPOLLOUT


def unread(fd: int) -> int:
    """How many bytes lie in a pipe; either end may ask."""
    return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0])
