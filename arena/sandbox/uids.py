"""Spare uids for programs, each of one program at a time on this machine.

Theory of operation. The uids are cut into ranges, and a spawner claims one by binding a socket to
its name in the kernel's abstract namespace: nobody else can while it lives, and its end, however it
comes, gives the name back. A name that is taken, by another spawner or by somebody who wants to be
in the way, costs a try. Two programs of one uid could signal each other, and would share what the
kernel counts for a user.

Invariant: of the spawners of one network namespace no two have a uid in common.
Loaded into the spawner, so: standard library only.
"""

from __future__ import annotations

import errno
import os
import socket

from arena.sandbox import mounts

RANGE = 16
"""More than a table has seats. Who has more programs at a time claims another."""


class SpareUids:
    """Those of one spawner, by the number of a program's slot."""

    def __init__(self, uids: range | None = None) -> None:
        """`uids`: in the place of this machine's."""
        self._uids = uids
        self._claims: list[tuple[socket.socket, int]] = []

    def of(self, slot: int) -> int:
        """The uid of a slot. PermissionError: there is none, OSError: all are in use."""
        if self._uids is None:
            self._uids = mounts.spare_uids()
        if self._uids is None:
            raise PermissionError("root has no other user here to run programs as")
        while slot // RANGE >= len(self._claims):
            self._claims.append(_claimed(self._uids))
        return self._claims[slot // RANGE][1] + slot % RANGE

    def close(self) -> None:
        """Give them back; the end of the process does, too."""
        while self._claims:
            self._claims.pop()[0].close()


def _claimed(uids: range) -> tuple[socket.socket, int]:
    """A range that was nobody's, and what holds it: where to begin makes clashes rare."""
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
