"""System calls that Python's standard library lacks, by ctypes.

Every function raises OSError with the name of the call if that fails; none keeps state.
"""

import contextlib
import ctypes
import errno
import os
import signal
import stat
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p

PR_SET_CHILD_SUBREAPER = 36
_PR_SET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 1, 3, 4
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 22, 24, 38
_CAPABILITIES, _CAP_SYS_PTRACE, _CAPABILITY_VERSION = 64, 19, 0x2008_0522
_SECCOMP_MODE_FILTER = 2
_SA_NOCLDSTOP = 1

_CLONE_NEWNS, _CLONE_NEWUSER = 0x0002_0000, 0x1000_0000
_MS_NOSUID_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x2 | 0x4, 0x1000, 0x4000, 0x4_0000

# The same numbers on every architecture: these calls are younger than the common table.
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_SYS_LANDLOCK_CREATE_RULESET, _SYS_LANDLOCK_ADD_RULE, _SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_MOUNT_ATTR_IDMAP, _MOUNT_ATTR_RDONLY_NOSUID_NODEV = 0x10_0000, 0x1 | 0x2 | 0x4

_LANDLOCK_VERSION = 1
_LANDLOCK_RULE_PATH_BENEATH = 1
# Bits of a right to a file, by the ABI that brought them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_AND_REMOVE = 0x1FF0
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = WRITE_FILE | _MAKE_AND_REMOVE | _REFER | _TRUNCATE
_NET_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_PROT_NONE, _PROT_READ = 0, 1
_MAP_SHARED, _MAP_PRIVATE, _MAP_FIXED = 0x01, 0x02, 0x10
_MAP_ANONYMOUS, _MAP_NORESERVE, _MAP_POPULATE = 0x20, 0x4000, 0x8000
_MADV_POPULATE_READ = 22
_MAP_FAILED = ctypes.c_void_p(-1).value


class _FilterProgram(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def _syscall(name: str, number: int, *arguments: object) -> int:
    whole = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return _checked(_libc.syscall(ctypes.c_long(number), *whole), name)


@contextlib.contextmanager
def closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), "prctl")


def die_with(parent: int) -> None:
    """Have this process killed when `parent` dies; to be called after the last change of uid."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the setting took effect
        os.kill(os.getpid(), signal.SIGKILL)


def no_news_of_stops() -> None:
    """SIGCHLD only for children that end, not stop; to be called after the handler is set."""
    action = (ctypes.c_char * 256)()  # struct sigaction, the same in glibc and musl: flags at 136
    _checked(_libc.sigaction(signal.SIGCHLD, None, action), "sigaction")
    ctypes.c_int.from_buffer(action, 136).value |= _SA_NOCLDSTOP
    _checked(_libc.sigaction(signal.SIGCHLD, action, None), "sigaction")


def drop_capabilities() -> None:
    """Drop all capabilities of this process and its children, also as root."""
    for number in range(_CAPABILITIES):
        # The kernel doesn't know it, or we may not drop it.
        with contextlib.suppress(OSError):
            prctl(_PR_CAPBSET_DROP, number)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


@contextlib.contextmanager
def file_uid(uid: int) -> Iterator[None]:
    """For a moment, see in /proc of this user's processes what they see themselves. Does nothing
    for 0, which means that we aren't root, or with CAP_SYS_PTRACE.

    Not by setfsuid: for processes in a user namespace the kernel compares our effective uid. A
    change of that takes all capabilities out of effect; the real and the saved uid, which decide
    who may signal or trace us, stay. It also makes us undumpable, which is undone, and clears the
    parent-death signal (see `die_with`).
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    if uid:
        _checked(_libc.capget(header, sets), "capget")
    if not uid or sets[0] >> _CAP_SYS_PTRACE & 1:
        yield
        return
    dumpable = _checked(_libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0), "prctl")
    before, group_before = os.geteuid(), os.getegid()
    os.setegid(uid)
    try:
        os.seteuid(uid)
        yield
    finally:
        os.seteuid(before)
        os.setegid(group_before)
        if dumpable == 1:  # nothing else can be set
            prctl(_PR_SET_DUMPABLE, 1)


def filter_calls(program: bytes) -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    mode, filters = ctypes.c_ulong(_SECCOMP_MODE_FILTER), _FilterProgram(len(program) // 8, program)
    _checked(_libc.prctl(_PR_SET_SECCOMP, mode, ctypes.byref(filters), 0, 0), "seccomp")


def landlock_abi() -> int:
    """Which version of Landlock the kernel has; 0: none, or it is switched off."""
    try:
        return _syscall("", _SYS_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION)
    except OSError:
        return 0


def landlock(abi: int, rights: Iterable[tuple[str, int]]) -> None:
    """Restrict this process to these rights beneath these paths, which may be missing, and to its
    present privileges. Also denied: TCP (ABI 4), signals to processes outside and their abstract
    sockets (ABI 6). Landlock restricts neither the metadata of files nor other sockets.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    handled = READ | WRITE_FILE | _MAKE_AND_REMOVE
    handled |= _REFER if abi >= 2 else 0
    handled |= _TRUNCATE if abi >= 3 else 0
    handled |= _IOCTL_DEV if abi >= 5 else 0
    # struct landlock_ruleset_attr, as long as the kernel knows it
    ruleset = struct.pack("QQQ", handled, _NET_TCP, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    name = "landlock_create_ruleset"
    with closing(_syscall(name, _SYS_LANDLOCK_CREATE_RULESET, ruleset[:size], size, 0)) as rules:
        for path, wanted in rights:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            with closing(opened) as handle:
                allowed = wanted & handled
                if not stat.S_ISDIR(os.fstat(handle).st_mode):
                    allowed &= _FOR_FILES
                rule = struct.pack("=Qi", allowed, handle)  # struct landlock_path_beneath_attr
                kind = _LANDLOCK_RULE_PATH_BENEATH
                _syscall(f"landlock_add_rule {path}", _SYS_LANDLOCK_ADD_RULE, rules, kind, rule, 0)
        _syscall("landlock_restrict_self", _SYS_LANDLOCK_RESTRICT_SELF, rules, 0)


def reserve(size: int) -> int:
    return _mapped(None, size, _PROT_NONE, _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_NORESERVE, -1)


def map_at(address: int, handle: int, size: int) -> None:
    """Map an open file for reading, and read it into memory."""
    _mapped(address, size, _PROT_READ, _MAP_SHARED | _MAP_FIXED | _MAP_POPULATE, handle)


def populate(address: int, size: int) -> None:
    """Read what is mapped in a range into memory again; since Linux 5.14, else does nothing."""
    _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), _MADV_POPULATE_READ)


def unmap(address: int, size: int) -> None:
    if size:
        _checked(_libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size)), "munmap")


def _mapped(address: int | None, size: int, protection: int, flags: int, handle: int) -> int:
    at, length, start = ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_long(0)
    found = _libc.mmap(at, length, protection, flags, handle, start)
    _checked(-1 if found is None or found == _MAP_FAILED else 0, "mmap")
    return int(found)


def own_mounts() -> None:
    """Enter a private mount namespace; unless we are root, in a user namespace with our own uid."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        _checked(_libc.unshare(_CLONE_NEWNS | (_CLONE_NEWUSER if uid else 0)), "unshare")
        if uid:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1\n")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1\n")
        _mount(None, "/", None, _MS_REC | _MS_PRIVATE, "")
    except PermissionError as error:
        raise PermissionError(
            error.errno,
            "no mount namespace is available: root needs CAP_SYS_ADMIN for it, an ordinary user "
            "needs user namespaces",
        ) from error


def _mount(source: bytes | None, target: str, kind: bytes | None, flags: int, data: str) -> None:
    path, settings = os.fsencode(target), data.encode() or None
    result = _libc.mount(source, path, kind, ctypes.c_ulong(flags), settings)
    _checked(result, f"{'bind' if flags & _MS_BIND else 'mount'} {target}")


def mount_tmpfs(target: str, settings: str) -> None:
    _mount(b"tmpfs", target, b"tmpfs", _MS_NOSUID_NODEV, settings)


def bind(source: int, target: str) -> None:
    """Mount the tree of the open file `source`."""
    _mount(f"/proc/self/fd/{source}".encode(), target, None, _MS_BIND | _MS_REC, "")


def bind_as(source: int, target: str, namespace: int) -> None:
    """Like `bind`, read-only and with owners translated by the maps of a user namespace."""
    flags = _AT_EMPTY_PATH | _AT_RECURSIVE
    flags_of_open = flags | _OPEN_TREE_CLONE | os.O_CLOEXEC
    wanted = _MOUNT_ATTR_IDMAP | _MOUNT_ATTR_RDONLY_NOSUID_NODEV
    attr = struct.pack("QQQQ", wanted, 0, 0, namespace)  # struct mount_attr: set, clear
    with closing(_syscall("open_tree", _SYS_OPEN_TREE, source, b"", flags_of_open)) as tree:
        _syscall("mount_setattr", _SYS_MOUNT_SETATTR, tree, b"", flags, attr, len(attr))
        to = (_AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
        _syscall("move_mount", _SYS_MOVE_MOUNT, tree, b"", *to)


def user_namespace(uid_map: str, gid_map: str) -> int:
    """Open a user namespace that is only used for its maps; needs root."""
    parent = os.getpid()
    read, write = os.pipe()
    with closing(read):
        with closing(write):
            pid = os.fork()
            if pid == 0:
                try:
                    _checked(_libc.unshare(_CLONE_NEWUSER), "unshare")
                    die_with(parent)
                    os.write(write, b"!")
                    signal.pause()
                finally:
                    os._exit(1)
        try:
            if not os.read(read, 1):
                raise PermissionError(errno.EPERM, "unshare: no user namespace")
            folder = Path(f"/proc/{pid}")
            (folder / "uid_map").write_text(uid_map)
            (folder / "gid_map").write_text(gid_map)
            return os.open(folder / "ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
