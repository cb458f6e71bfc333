"""Root's preparations: folders that only root can reach, shown to the spare uid that plays.

Root never runs a bot. Before bwrap starts, the child becomes a spare uid, and from then on it
can't enter a home of mode 700 in which the bot's copy, an interpreter or bwrap itself may lie.
So the child, still root and in a mount namespace of its own, binds them below a small tmpfs;
nothing of it is seen outside, and it vanishes with the child.

In such a bind the folder's owner appears as the spare uid: a umask of 077 locks nobody out, and
the bot reads exactly what it would read had the owner started it as an ordinary user.
Loaded into the spawner, so: standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from arena.sandbox import kernel

STAGE = "/tmp"  # noqa: S108 - only a mount point, hidden in a mount namespace of our own
"""A folder that exists everywhere."""

_NO_IDMAP = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})
"""How an old kernel, a file system or a container without the right says no."""


def stage(sources: Mapping[str, str], *, writable: str, uid: int) -> None:
    """Show each source below STAGE under its name, for `uid` alone to use."""
    if writable:
        _give(sources[writable], uid)
    try:
        kernel.own_mounts()
    except PermissionError as error:
        raise PermissionError(
            error.errno,
            "root lacks CAP_SYS_ADMIN here: start the arena as an ordinary user, or grant it",
        ) from error
    # Opened in our own namespace, else they can't be bound; before the tmpfs hides some of them.
    handles = {name: os.open(path, os.O_PATH | os.O_CLOEXEC) for name, path in sources.items()}
    # A few empty files and folders are all that it holds.
    kernel.mount_tmpfs(STAGE, "mode=755,size=256k,nr_inodes=4096")
    namespaces: dict[tuple[int, int], int | None] = {}
    for name, handle in handles.items():
        target = Path(STAGE, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            target.mkdir()
        else:
            target.touch()
        owner = (found.st_uid, found.st_gid)
        if name != writable and owner not in namespaces:
            namespaces[owner] = _seen_as(owner, uid)
        _attach(handle, str(target), None if name == writable else namespaces[owner])


def drop(uid: int) -> None:
    """Become the spare uid, for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


@contextlib.contextmanager
def real_uid(uid: int) -> Iterator[None]:
    """For a moment, have `uid` as our real uid; 0 means that we aren't root, and does nothing.

    The kernel lets a process set the limits of others with its real uid; root may too, but in
    many containers lacks CAP_SYS_RESOURCE. The effective uid and its rights stay.
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


def _seen_as(owner: tuple[int, int], uid: int) -> int | None:
    try:
        return kernel.user_namespace(f"{owner[0]} {uid} 1\n", f"{owner[1]} {uid} 1\n")
    except OSError:
        return None


def _attach(handle: int, target: str, namespace: int | None) -> None:
    if namespace is not None:
        try:
            kernel.bind_as(handle, target, namespace)
        except OSError as error:
            if error.errno not in _NO_IDMAP:
                raise
        else:
            return
    # Here the content has to be readable by others, as it is unless the umask says otherwise.
    kernel.bind(handle, target)


def _give(folder: str, uid: int) -> None:
    """A build writes into this folder: it becomes the builder's. Done before any of it runs."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(os.path.join(parent, name), uid, uid, follow_symlinks=False)  # noqa: PTH118
