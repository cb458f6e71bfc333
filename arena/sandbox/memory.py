"""Read from /proc how much memory processes use, kernel memory on their behalf included.

`usage` (15 µs a process) is never too small: pages that a fork shares count for each process.
`buffers` (2 µs a descriptor) is what may be unread in sockets and pipes. `portion` (10 µs a
megabyte) divides shared pages among their owners. What a process hides counts as the most it may
be, so that hiding never pays; what can't be seen from here, the seccomp filter denies.

Invariant: only reads; a process that has vanished counts as nothing.
"""

import contextlib
import errno
import functools
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.sandbox import meter
from arena.sandbox.meter import GONE, is_alive, read

PIPE_BYTES = 1 << 16
USUAL_BUFFER = 212_992  # of a socket, where the machine doesn't say

_STATUS = re.compile(
    rb"^PPid:\t(\d+).*?^FDSize:\t(\d+)"
    rb"(?:.*?^VmSize:\s*(\d+).*?^RssAnon:\s*(\d+).*?^RssShmem:\s*(\d+)"
    rb".*?^VmPTE:\s*(\d+).*?^VmSwap:\s*(\d+))?"
    rb".*?^Threads:\t(\d+)",
    re.DOTALL | re.MULTILINE,
)
"""In the order in which the kernel writes them; those inside are missing without memory."""

_PORTIONS = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s*(\d+)", re.MULTILINE)
_OLD_PORTIONS = re.compile(rb"^(?:Pss|SwapPss):\s*(\d+)", re.MULTILINE)
"""Before Linux 5.3, which didn't count pages of files separately."""


class Usage(NamedTuple):
    """What one process uses; memory in bytes."""

    path: str  # in /proc: of the process, or of another task if the first has ended
    parent: int
    threads: int
    size: int  # of its address space, whatever is behind it
    pages: int  # private and shared memory, resident or swapped; without the pages of files
    tables: int  # its page tables
    slots: int  # room for descriptors: at least as many as it has


def usage(pid: int) -> Usage | None:
    """Memory use of one process; None: it is gone. PermissionError: it is alive and hides it."""
    path = f"{meter.PROC}/{pid}"
    try:
        found = _usage(path)
        if not found.size and found.threads > 1:
            # The first task has ended while others go on: they have the memory.
            for folder in _tasks(path):
                with contextlib.suppress(*GONE):
                    found = _usage(folder)
                    if found.size:
                        break
    except (*GONE, PermissionError):
        # Some hosts show nothing at all of a process that the reader may not trace.
        if is_alive(pid):
            raise PermissionError(errno.EACCES, f"process {pid} hides what it uses") from None
        return None
    return found


def _usage(path: str) -> Usage:
    found = _STATUS.search(read(f"{path}/status"))
    if found is None:
        raise ProcessLookupError
    parent, slots, size, anon, shmem, tables, swap, threads = map(int, found.groups(b"0"))
    pages = anon + shmem + swap
    return Usage(path, parent, threads, size << 10, pages << 10, tables << 10, slots)


def _tasks(path: str) -> Iterator[str]:
    for task in os.listdir(f"{path}/task"):  # noqa: PTH208 - no Path: speed
        yield f"{path}/task/{task}"


def portion(process: Usage) -> int:
    """The pages of a process, each divided by the number of its owners, unless it hides them."""
    try:
        text = read(f"{process.path}/smaps_rollup")
    except PermissionError:
        return process.pages
    except FileNotFoundError:  # gone, or older than Linux 4.14
        return process.pages if os.path.exists(process.path) else 0  # noqa: PTH110 - no Path: speed
    except ProcessLookupError:
        return 0
    found = (_PORTIONS if b"\nPss_Anon" in text else _OLD_PORTIONS).findall(text)
    return sum(map(int, found)) << 10


def buffers(processes: Iterable[Usage], *, room: int) -> int:
    """The most kernel memory that may be in their sockets and pipes; 0 if all their descriptors
    would fit into `room` even as sockets. Descriptors in flight are in no table, but few.
    """
    tables = [(each, list(_tables(each))) for each in processes]
    if sum(_opened(each, paths) for each, paths in tables) * socket_bytes() <= room:
        return 0
    found: set[str] = set()
    hidden = 0
    for each, paths in tables:
        try:
            for path in _entries(paths):
                with contextlib.suppress(*GONE):
                    link = os.readlink(path)  # noqa: PTH115 - no Path: speed
                    if link.startswith(("socket:", "pipe:")):
                        found.add(link)
        except PermissionError:
            if each.size:  # else it is ending
                hidden += _opened(each, paths)
    sockets = sum(link[0] == "s" for link in found)
    return (sockets + hidden) * socket_bytes() + (len(found) - sockets) * PIPE_BYTES


def descriptors(process: Usage) -> Iterator[str]:
    """The paths of all its descriptors; PermissionError: it hides them."""
    return _entries(_tables(process))


def _tables(process: Usage) -> Iterator[str]:
    """Its folders of descriptors: a thread may have a table of its own."""
    if process.threads == 1:
        yield f"{process.path}/fd"
        return
    with contextlib.suppress(*GONE):
        for task in _tasks(process.path.partition("/task/")[0]):
            yield f"{task}/fd"


def _opened(process: Usage, tables: Iterable[str]) -> int:
    count = 0
    for table in tables:
        with contextlib.suppress(*GONE):
            # Before Linux 6.2 a folder's size is 0.
            count += os.stat(table).st_size or process.slots  # noqa: PTH116 - no Path: speed
    return count


def _entries(tables: Iterable[str]) -> Iterator[str]:
    for table in tables:
        with contextlib.suppress(*GONE):
            for name in os.listdir(table):  # noqa: PTH208 - no Path: speed
                yield f"{table}/{name}"


@functools.cache
def socket_bytes() -> int:
    """The most unread memory of a socket: a full buffer, and one message of that size."""
    try:
        return 2 * int(read("/proc/sys/net/core/wmem_default"))
    except (OSError, ValueError):
        return 2 * USUAL_BUFFER
