"""Make mounts that only one program sees: private folders for its spare uid, and scratch space.

A spare uid can't enter a home of mode 700 in which the bot's copy, an interpreter or bwrap itself
may lie. So the child, still root and in a mount namespace of its own, binds them to where it can.
In such a bind the folder's owner appears as the spare uid: the bot reads what it would read had the
owner started it.

Scratch space is a tmpfs that is limited in bytes and in files; bwrap's own are limited in bytes
only. An ordinary user mounts it in a user namespace made for it.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from arena.sandbox import kernel

STAGE = "/tmp"  # noqa: S108 - exists everywhere; hidden in a mount namespace of our own
SCRATCH = "scratch"  # the name of scratch space below STAGE
_NO_IDMAP = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})
"""The errors of an old kernel, a file system or a container that can't translate owners."""


def stage(sources: Mapping[str, str], *, writable: str, uid: int, scratch: str) -> None:
    """Bind each source below STAGE under its name, for `uid` (0: no root); `scratch`: options."""
    if writable and uid:
        change_owner(sources[writable], uid)
    kernel.own_mounts()
    # Opened in our own namespace, else they can't be bound; before the tmpfs hides some of them.
    handles = {name: os.open(path, os.O_PATH | os.O_CLOEXEC) for name, path in sources.items()}
    # A few empty files and folders are all that it holds.
    kernel.mount_tmpfs(STAGE, "mode=755,size=256k,nr_inodes=4096")
    for name, handle in handles.items():
        target = Path(STAGE, name)
        _make_target(target, handle)
        _bind(handle, str(target), 0 if name == writable else uid)
    if scratch:
        Path(STAGE, SCRATCH).mkdir()
        kernel.mount_tmpfs(f"{STAGE}/{SCRATCH}", scratch)
        # A JVM locks a file in a folder of this name. If that fails, it prints a warning to
        # standard output, where only answers belong; without the folder it prints nothing.
        Path(STAGE, SCRATCH, "hsperfdata_bot").symlink_to("/nonexistent")


def open_paths(paths: Iterable[str], *, writable: str, uid: int, scratch: tuple[str, str]) -> None:
    """Let `uid` reach each path where it is, but nothing else in a folder on the way that it may
    not enter. A link stays one. `scratch`: the folder of scratch space, and its mount options.
    """
    if writable:
        change_owner(writable, uid)
    kernel.own_mounts()
    handles = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in paths}
    links = {path: Path(path).readlink() for path in handles if Path(path).is_symlink()}
    folder, settings = scratch
    for path in (*handles, *([folder] if folder else [])):
        _hide_closed_parent(path)
        if path not in links:
            _make_target(Path(path), handles.get(path))
        elif not os.path.lexists(path):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).symlink_to(links[path])
    for path, handle in handles.items():
        if path not in links:  # the target of a link is bound where it is
            _bind(handle, path, 0 if path == writable else uid)
    if folder:
        kernel.mount_tmpfs(folder, settings)


def _make_target(path: Path, source: int | None) -> None:
    """Make what `source` can be bound to: a file, or a folder (None, too)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if source is None or stat.S_ISDIR(os.fstat(source).st_mode):
        path.mkdir(exist_ok=True)
    else:
        path.touch()


def _hide_closed_parent(path: str) -> None:
    for parent in reversed(Path(path).parents):
        if parent.exists() and not parent.stat().st_mode & stat.S_IXOTH:
            kernel.mount_tmpfs(str(parent), "mode=755,size=256k,nr_inodes=4096")
            break


_ABOVE = 64

_namespaces: dict[tuple[int, int, int], int | None] = {}
"""By owner's uid, gid and the spare uid: user namespaces for their maps. Made in the spawner, for
children to inherit; a machine has few owners of bots, and a spawner few spare uids."""


def inherited() -> set[int]:
    """The descriptors that a child inherits because of `prepare`."""
    return {namespace for namespace in _namespaces.values() if namespace is not None}


def prepare(sources: Iterable[str], uid: int) -> None:
    """In the spawner: make the user namespaces that binding these for `uid` needs."""
    for path in sources:
        with contextlib.suppress(OSError):  # the child that binds it reports the error
            _namespace(os.stat(path), uid)  # noqa: PTH116 - no Path: speed


def _namespace(found: os.stat_result, uid: int) -> int | None:
    owner, group, _ = key = (found.st_uid, found.st_gid, uid)
    if key not in _namespaces:
        try:
            opened = kernel.user_namespace(f"{owner} {uid} 1\n", f"{group} {uid} 1\n")
            # Above the numbers that a child gives to its own.
            _namespaces[key] = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
            os.close(opened)
        except OSError as error:
            if error.errno not in _NO_IDMAP:
                return None  # the next attempt may succeed
            _namespaces[key] = None
    return _namespaces[key]


def _bind(handle: int, target: str, uid: int) -> None:
    """Bind an open file or folder, read-only and with `uid` as its owner; 0: as it is."""
    namespace = _namespace(os.fstat(handle), uid) if uid else None
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


def change_owner(folder: str, uid: int) -> None:
    """Make `uid` the owner of a folder that its build will write to. Call it before the build."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(os.path.join(parent, name), uid, uid, follow_symlinks=False)  # noqa: PTH118
