"""Give each program that root starts a uid of its own, and change to it.

Two programs of one uid could signal each other, and would share what the kernel counts for a user.
So spare uids, which no user has, are cut into ranges. A spawner claims one by binding a socket to
its name in the kernel's abstract namespace: no other process can do so while it lives.

Invariant: no two spawners of one network namespace have a uid in common.
"""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

RANGE = 16  # more than a table has seats; a spawner with more programs claims another range

_SPARE, _SPARE_MANY = 0x7000_0000, 1 << 28  # above all that systemd and distributions assign

_SPARE_FEW = 4096  # of a container's uids, which are usually 65,536


def spare_uids() -> range | None:
    """Uids that no user here has. None: we aren't root, or are in a namespace with too few."""
    if os.geteuid():
        return None
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, _, count = map(int, line.split())
        if inside <= _SPARE and inside + count >= _SPARE + _SPARE_MANY:
            return range(_SPARE, _SPARE + _SPARE_MANY)
        if count >= _SPARE_FEW * 2:
            # Below the last two, of which one belongs to the user "nobody".
            return range(inside + count - 2 - _SPARE_FEW, inside + count - 2)
    return None


def drop(uid: int) -> None:
    """Become the spare uid, for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


@contextlib.contextmanager
def real_uid(uid: int) -> Iterator[None]:
    """For a moment, have `uid` as our real uid; 0: do nothing. A process may set the rlimits of
    others of its real uid; root needs CAP_SYS_RESOURCE to do so, which many containers lack.
    """
    if uid:
        os.setresgid(uid, -1, -1)
        os.setresuid(uid, -1, -1)
    try:
        yield
    finally:
        if uid:
            os.setresuid(0, -1, -1)
            os.setresgid(0, -1, -1)


class SpareUids:
    """The spare uids of one spawner, by the number of a program's slot."""

    def __init__(self, uids: range | None = None) -> None:
        self._uids = uids
        self._claims: list[tuple[socket.socket, int]] = []

    def of(self, slot: int) -> int:
        """The uid of a slot. PermissionError: there is none, OSError: all are in use."""
        if self._uids is None:
            self._uids = spare_uids()
        if self._uids is None:
            raise PermissionError("root has no other user here to run programs as")
        while slot // RANGE >= len(self._claims):
            self._claims.append(_claimed(self._uids))
        return self._claims[slot // RANGE][1] + slot % RANGE

    def close(self) -> None:
        while self._claims:
            self._claims.pop()[0].close()


def _claimed(uids: range) -> tuple[socket.socket, int]:
    """Claim a free range: the socket and the first uid. Starting at our pid makes clashes rare."""
    count = len(uids) // RANGE
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    for tried in range(count):
        first = uids[(os.getpid() + tried) % count * RANGE]
        try:
            claim.bind(f"\0arena-spare-uids-{first}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                claim.close()
                raise
        else:
            return claim, first
    claim.close()
    raise OSError(errno.EAGAIN, "all spare uids are in use")
