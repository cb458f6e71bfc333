"""The system calls that Python's standard library lacks, by ctypes.

Loaded into the spawner, so: standard library only. Every function either does what it says or
raises OSError naming the call; none keeps state.
"""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_CLONE_NEWNS = 0x0002_0000
_CLONE_NEWUSER = 0x1000_0000
_MS_NOSUID_NODEV = 0x2 | 0x4
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_PRIVATE = 0x4_0000

# The same numbers on every architecture: these calls are younger than the common table.
_SYS_OPEN_TREE = 428
_SYS_MOVE_MOUNT = 429
_SYS_MOUNT_SETATTR = 442
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_IDMAP = 0x10_0000


class _MountAttr(ctypes.Structure):
    _fields_ = [
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int) -> None:
    """Set one attribute of this process."""
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), "prctl")


def die_with(parent: int) -> None:
    """Have this process killed when `parent` dies. Call it after the last change of uid, which
    clears the setting, and from the only thread.
    """
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the setting took effect
        os.kill(os.getpid(), signal.SIGKILL)


def own_mounts() -> None:
    """Give this process a view of the mounts in which changes are seen by nobody else."""
    _checked(_libc.unshare(_CLONE_NEWNS), "unshare")
    _checked(_libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount /")


def mount_tmpfs(target: str, settings: str) -> None:
    """Mount an empty file system in memory."""
    flags = ctypes.c_ulong(_MS_NOSUID_NODEV)
    path = os.fsencode(target)
    _checked(_libc.mount(b"tmpfs", path, b"tmpfs", flags, settings.encode()), f"mount {target}")


def bind(source: int, target: str) -> None:
    """Show the tree of the open file `source` at `target` as well."""
    path = f"/proc/self/fd/{source}".encode()
    flags = ctypes.c_ulong(_MS_BIND | _MS_REC)
    _checked(_libc.mount(path, os.fsencode(target), None, flags, None), f"bind {target}")


def bind_as(source: int, target: str, namespace: int) -> None:
    """Like `bind`, with owners translated by the maps of the user namespace `namespace`."""
    flags = ctypes.c_uint(_OPEN_TREE_CLONE | _AT_EMPTY_PATH | _AT_RECURSIVE | os.O_CLOEXEC)
    tree = _checked(_libc.syscall(_SYS_OPEN_TREE, source, b"", flags), "open_tree")
    try:
        attr = _MountAttr(attr_set=_MOUNT_ATTR_IDMAP, userns_fd=namespace)
        flags = ctypes.c_uint(_AT_EMPTY_PATH | _AT_RECURSIVE)
        size = ctypes.c_size_t(ctypes.sizeof(attr))
        _checked(
            _libc.syscall(_SYS_MOUNT_SETATTR, tree, b"", flags, ctypes.byref(attr), size),
            "mount_setattr",
        )
        here = ctypes.c_int(-100)  # AT_FDCWD
        flags = ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH)
        path = os.fsencode(target)
        _checked(_libc.syscall(_SYS_MOVE_MOUNT, tree, b"", here, path, flags), "move_mount")
    finally:
        os.close(tree)


def user_namespace(uid_map: str, gid_map: str) -> int:
    """Open a user namespace that exists for its maps alone; needs root."""
    ready, told = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _checked(_libc.unshare(_CLONE_NEWUSER), "unshare")
            die_with(parent)
            os.write(told, b"!")
            signal.pause()
        finally:
            os._exit(1)
    os.close(told)
    try:
        if not os.read(ready, 1):
            raise PermissionError("unshare: no user namespace")
        folder = Path(f"/proc/{pid}")
        (folder / "uid_map").write_text(uid_map)
        (folder / "gid_map").write_text(gid_map)
        return os.open(folder / "ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
