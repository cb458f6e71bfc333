"""Mounts that only the program sees: private folders shown to the spare uid, memory to write to.

Root never runs a bot. Before its program starts, the child becomes a spare uid, and from then on
it can't enter a home of mode 700 in which the bot's copy, an interpreter or bwrap itself may lie.
So the child, still root and in a mount namespace of its own, binds them to where the spare uid
can reach them; nothing of it is seen outside, and it vanishes with the child.

In such a bind the folder's owner appears as the spare uid: a umask of 077 locks nobody out, and
the bot reads exactly what it would read had the owner started it as an ordinary user.

Scratch space is a tmpfs that is limited in bytes and in files; bwrap's own are limited in bytes
only. An ordinary user mounts it in a user namespace made for it.
Loaded into the spawner, so: standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from arena.sandbox import kernel

STAGE = "/tmp"  # noqa: S108 - only a mount point, hidden in a mount namespace of our own
"""A folder that exists everywhere."""

SCRATCH = "scratch"
"""The name below STAGE of the memory that a program may write to."""

_SPARE, _SPARE_MANY = 0x7000_0000, 1 << 28
"""Above all that systemd and distributions assign."""

_SPARE_FEW = 4096
"""Of a container's, which are 65,536 as a rule."""

_NO_IDMAP = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})
"""How an old kernel, a file system or a container without the right says no."""


def stage(sources: Mapping[str, str], *, writable: str, uid: int, scratch: str) -> None:
    """Show each source below STAGE under its name, for `uid` alone to use (0: we aren't root).

    `scratch`: the settings of a tmpfs to be there as well; empty: none.
    """
    if writable and uid:
        give(sources[writable], uid)
    _own_mounts()
    # Opened in our own namespace, else they can't be bound; before the tmpfs hides some of them.
    handles = {name: _open(path) for name, path in sources.items()}
    # A few empty files and folders are all that it holds.
    kernel.mount_tmpfs(STAGE, "mode=755,size=256k,nr_inodes=4096")
    shown = _Shown(uid)
    for name, handle in handles.items():
        target = Path(STAGE, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            target.mkdir()
        else:
            target.touch()
        shown.attach(handle, str(target), writable=name == writable)
    if scratch:
        Path(STAGE, SCRATCH).mkdir()
        kernel.mount_tmpfs(f"{STAGE}/{SCRATCH}", scratch)
        # A JVM would lock a file in a folder of this name, and when it can't say so on standard
        # output, where only answers belong. When the folder can't be had, it is content.
        Path(STAGE, SCRATCH, "hsperfdata_bot").symlink_to("/nonexistent")


def open_ways(paths: Iterable[str], *, writable: str, uid: int, scratch: tuple[str, str]) -> None:
    """Let `uid` reach each path where it is. Where it may not enter a folder on the way, another
    with nothing else in it takes its place. A link stays one.

    `scratch`: a folder, and the settings of the tmpfs that is to be mounted there.
    """
    if writable:
        give(writable, uid)
    _own_mounts()
    handles = {path: _open(path) for path in paths}
    links = {path: Path(path).readlink() for path in handles if Path(path).is_symlink()}
    folder, settings = scratch
    for path in (*handles, *([folder] if folder else [])):
        _hide_closed_parent(path)
        if path in links:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(path):
                Path(path).symlink_to(links[path])
        elif path == folder or stat.S_ISDIR(os.fstat(handles[path]).st_mode):
            Path(path).mkdir(parents=True, exist_ok=True)
        else:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch()
    shown = _Shown(uid)
    for path, handle in handles.items():
        if path not in links:  # what one leads to is shown where that is
            shown.attach(handle, path, writable=path == writable)
    if folder:
        kernel.mount_tmpfs(folder, settings)


def _hide_closed_parent(path: str) -> None:
    for parent in reversed(Path(path).parents):
        if parent.exists() and not parent.stat().st_mode & stat.S_IXOTH:
            kernel.mount_tmpfs(str(parent), "mode=755,size=256k,nr_inodes=4096")
            break


def spare_uids() -> range | None:
    """The uids from which programs get theirs: such as nobody has, of this machine or of this
    container. None: we aren't root, or of a namespace with too few.
    """
    if os.geteuid():
        return None
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, _, count = map(int, line.split())
        if inside <= _SPARE and inside + count >= _SPARE + _SPARE_MANY:
            return range(_SPARE, _SPARE + _SPARE_MANY)
        if count >= _SPARE_FEW * 2:
            # Below the last two, of which one is nobody's.
            return range(inside + count - 2 - _SPARE_FEW, inside + count - 2)
    return None


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


def remove(folder: str) -> None:
    """Remove a folder that a hostile program, now dead, has filled: deep, odd and locked, but
    bounded in number. Without recursion, and without following a link.
    """
    lifted = Path(folder, f".{os.urandom(8).hex()}")
    number = 0
    while found := list(os.scandir(folder)):
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for inner in list(os.scandir(entry)):
                # Lifted to the top, so that no path gets too long.
                if inner.is_dir(follow_symlinks=False):
                    Path(inner).chmod(0o700)
                number += 1
                Path(inner).rename(f"{lifted}-{number}")
            Path(entry).rmdir()
    Path(folder).rmdir()


def _open(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _own_mounts() -> None:
    try:
        kernel.own_mounts()
    except PermissionError as error:
        raise PermissionError(
            error.errno,
            "no mount namespace can be had: as root that needs CAP_SYS_ADMIN, as an ordinary "
            "user user namespaces",
        ) from error


_ABOVE = 64

_namespaces: dict[tuple[int, int, int], int | None] = {}
"""By owner's uid, gid and the spare uid: user namespaces for their maps. Made in the spawner, for
children to inherit; a machine has few owners of bots, and a spawner few spare uids."""


def inherited() -> set[int]:
    """The descriptors that a child has from `prepare`."""
    return {namespace for namespace in _namespaces.values() if namespace is not None}


def prepare(sources: Iterable[str], uid: int) -> None:
    """Have ready, in the spawner, what showing these to `uid` needs."""
    for path in sources:
        with contextlib.suppress(OSError):  # whoever is to show it will tell
            found = os.stat(path)  # noqa: PTH116 - no Path: speed
            _namespace(found.st_uid, found.st_gid, uid)


def _namespace(owner: int, group: int, uid: int) -> int | None:
    key = (owner, group, uid)
    if key not in _namespaces:
        try:
            opened = kernel.user_namespace(f"{owner} {uid} 1\n", f"{group} {uid} 1\n")
            # Out of the way of the numbers that a child gives to its own.
            _namespaces[key] = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
            os.close(opened)
        except OSError as error:
            if error.errno not in _NO_IDMAP:
                return None  # the next one may be luckier
            _namespaces[key] = None
    return _namespaces[key]


class _Shown:
    """Binds of folders as they'd look to their owner, who is `uid` here."""

    def __init__(self, uid: int) -> None:
        self._uid = uid

    def attach(self, handle: int, target: str, *, writable: bool) -> None:
        """Show the open file or folder at `target`."""
        found = os.fstat(handle)
        namespace = None
        if self._uid and not writable:
            namespace = _namespace(found.st_uid, found.st_gid, self._uid)
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


def give(folder: str, uid: int) -> None:
    """A build writes into this folder: it becomes the builder's. Done before any of it runs."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(os.path.join(parent, name), uid, uid, follow_symlinks=False)  # noqa: PTH118
