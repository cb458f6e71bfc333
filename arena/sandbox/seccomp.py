"""The seccomp filter that a confined program and all its descendants live under.

A deny-list: what ordinary runtimes need stays allowed, and each rule closes something that
namespaces, Landlock and resource limits leave open. But calls that aren't named in syscalls.py are
refused, and three with hundreds of meanings (fcntl, ioctl, prctl) have allow-lists. To change what
a program may do, edit RULES and _REFUSED.

ENOSYS, EAFNOSUPPORT, EINVAL, ENOTTY and EOPNOTSUPP say "not on this machine": runtimes fall back on
something else. EPERM says "not for you", where there is no fallback and the author should see it.

Not in the table, since nothing is left of it: accept and listen (no socket can have a name), shmat
or io_submit on what can't be made, nice (libc calls setpriority), seccomp and landlock_* (they only
ever take away), and setting one's own resource limits (they were lowered, soft and hard).
Loaded into the spawner, so: standard library and siblings of that kind only. Pure functions.
"""

import errno
import functools
import itertools
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from arena.sandbox import bpf
from arena.sandbox.bpf import Test
from arena.sandbox.syscalls import AUDIT_ARCH, CALLS, NEWEST, X32

RULES: Mapping[str, str] = {
    "architecture": "A call by another machine's convention (int 0x80) kills the process.",
    "x32": "Calls by x86_64's third convention have numbers that no rule here names.",
    "unknown": "Calls that are younger than this filter, or that have no name, don't exist.",
    "sockets": "No socket of any family, so no network, vsock, netlink or kernel crypto.",
    "socketpair": "Pairs are unix streams only: a datagram pair can send to any name.",
    "socket-names": "No names for sockets: two programs see whether one is taken.",
    "kernel-memory": "No large buffers, gifts to pipes, socket filters: no watchdog sees them.",
    "shared-memory": "No anonymous shared memory: no watchdog sees what is in no page table.",
    "huge-pages": "No pages from the reserve of huge ones: they aren't charged to a process.",
    "swap-out": "A program can't push its memory out to swap, where it no longer counts.",
    "memfd": "No files in memory: unless they are mapped, they aren't charged to a process.",
    "sysv": "No System V shared memory, semaphores and message queues, which outlive programs.",
    "mqueue": "No POSIX message queues: names that programs share, and memory in the kernel.",
    "keyrings": "No keys: they are shared by all processes of a user.",
    "io-uring": "No io_uring: it carries out calls that no filter sees.",
    "aio": "No asynchronous I/O contexts: memory of the machine's common stock.",
    "userfaultfd": "No page faults handled by programs: the classic help for kernel exploits.",
    "ptrace": "No tracing of other processes.",
    "foreign-processes": "No reading, writing, comparing, advising or robbing of other processes.",
    "perf": "No performance counters: they see what runs beside.",
    "bpf": "No programs and maps in the kernel.",
    "mounts": "No changing or listing of mounts, no other root folder.",
    "handles": "No opening of files by handles, past the folders that lead to them.",
    "namespaces": "No new or other namespaces, in which a program would have privileges.",
    "parentage": "No child beside oneself, outside one's own tree.",
    "clone3": "Its flags lie in memory, where no filter can look: libc falls back on clone.",
    "scheduling": "Nobody changes priorities, classes, cores: that would cheat the clock.",
    "limits": "No reading or changing of other processes' resource limits.",
    "numa": "No moving of memory between nodes, one's own or others'.",
    "locks": "No file locks: two programs see each other's on any file that both can read.",
    "watches": "No leases and no notices of others' opening and reading of files.",
    "fcntl": "Only known commands on descriptors; hints on a file, for one, can be read by others.",
    "ioctl": "Only terminal requests and reading of attributes: others change files that are read.",
    "prctl": "Only known attributes of a process.",
    "signals": "Signals to one's own group and main process only: others can be seen here.",
    "timers": "No timers whose signal the program chooses: one of SIGCONT wakes a frozen one.",
    "truncation": "No emptying of files for reading, which Landlock before its ABI 3 lets pass.",
    "descriptor-signals": "No signals to others by way of a descriptor's owner.",
    "terminal": "No typing into a terminal, pasting, stealing of the console, or drivers for it.",
    "dumpable": "A program can't hide its memory from the watchdog, or rewrite its own map of it.",
    "core-scheduling": "No claiming of a whole core against what runs on its other thread.",
    "same-page-merging": "No sharing of equal pages, which betrays what others hold.",
    "page-cache": "No asking for, or emptying of, the common file cache without a clock.",
    "metadata": "No setting of files' modes, owners, times or attributes: others would see it.",
    "attributes": "No reading of files' attributes, which Landlock lets pass.",
    "personality": "Only the personalities that are still in use.",
    "sync": "Writing out the whole machine's files would stall it; it seems to have happened.",
    "admin": "What only a machine's administrator does: clock, modules, swap, quota, log, names.",
    "obsolete": "Calls that nothing uses any more but attacks.",
}
"""Each rule and what it closes, in order. `program` can leave out any by name."""

_PRETEND = 0  # instead of an errno: the call returns 0 and does nothing

# More than any pid can be: a filter in which this was not replaced lets no process be signalled.
_MAIN_PROCESS = 0x7FFF_FF11
_MAIN_GROUP = -_MAIN_PROCESS & bpf.ALL_BITS

_VALUES: Mapping[str, tuple[int, ...]] = {
    "0": (0,),
    "AF_UNIX": (1,),
    "SOCK_TYPE": (0xF,),
    "SOCK_STREAM": (1,),
    "SOCK_SEQPACKET": (5,),
    "SOL_SOCKET": (1,),
    # SO_SNDBUF, SO_RCVBUF, both FORCE, SO_ZEROCOPY, SO_RESERVE_MEM
    "SO_BUFFERS": (7, 8, 32, 33, 60, 73),
    "SO_FILTERS": (26, 50, 51, 52),  # SO_ATTACH_FILTER, _BPF, _REUSEPORT_CBPF, _REUSEPORT_EBPF
    # MAP_TYPE covers MAP_SHARED and the MAP_SHARED_VALIDATE that the kernel refuses for no file.
    "MAP_TYPE|ANONYMOUS": (0x2F,),
    "MAP_SHARED|ANONYMOUS": (0x21,),
    "MAP_HUGETLB": (0x4_0000,),
    "MADV_MERGEABLE": (12,),
    "MADV_PAGEOUT": (21,),
    "FADV_DONTNEED": (4,),
    "RWF_CACHE": (0x08 | 0x80,),  # RWF_NOWAIT tells what is cached, RWF_DONTCACHE drops it
    # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME's bit is clone's signal.
    "CLONE_NEW": (0x7E02_0000,),
    "CLONE_PARENT": (0x8000,),
    "F_LOCKS": (5, 6, 7, 36, 37, 38, 1029),  # F_GETLK, SETLK, SETLKW, the same F_OFD_*, CANCELLK
    "F_WATCHES": (1024, 1025, 1026, 1039, 1040),  # F_SETLEASE, GETLEASE, NOTIFY, two _DELEG
    "F_OWNERS": (8, 10, 15),  # F_SETOWN, F_SETSIG, F_SETOWN_EX
    "F_SETFL": (4,),
    "O_ASYNC": (0x2000,),
    "F_SETPIPE_SZ": (1031,),
    "F_HARMLESS": (
        3, 4, 1, 2, 0, 1030,  # F_GETFL, SETFL, GETFD, SETFD, DUPFD, DUPFD_CLOEXEC
        1027, 1028, 1032, 1034, 1033,  # F_DUPFD_QUERY, CREATED_QUERY, GETPIPE_SZ, two _SEALS
        9, 11, 16, 17,  # F_GETOWN, GETSIG, GETOWN_EX, GETOWNER_UIDS
    ),
    "O_TRUNC|ACCMODE": (0o1003,),
    "O_EMPTYING": (0o1000, 0o1003),  # for reading, and for neither reading nor writing
    "TERMINAL_TYPE": (0xFF00,),  # the second byte of every request to terminals
    "TERMINAL": (0x5400,),
    "TIO": (0x5412, 0x541C, 0x541D, 0x5423),  # TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD
    "FIOASYNC": (0x5452,),
    "OWNER_REQUESTS": (0x8901, 0x8902),  # FIOSETOWN, SIOCSPGRP
    # FICLONE, FICLONERANGE (they need a target open for writing), FS_IOC_FIEMAP, FS_IOC_GETFLAGS,
    # FS_IOC_FSGETXATTR, RNDGETENTCNT.
    "FILE_REQUESTS": (
        0x4004_9409, 0x4020_940D, 0xC020_660B, 0x8008_6601, 0x801C_581F, 0x8004_5200,
    ),
    "PR_SET_DUMPABLE": (4,),
    "PR_SET_MM": (35,),
    "PR_SCHED_CORE": (62,),
    "PR_SET_MEMORY_MERGE": (67,),
    "PR_FUTEX_HASH": (78,),  # 2**20 slots are 64 MiB of the kernel's memory, and more can be had
    "PR_UNKNOWN": (79,),
    "PR_NAMED": (0x5356_4D41, 0x4155_5856),  # PR_SET_VMA, PR_GET_AUXV: numbers that spell a name
    # PER_LINUX, PER_LINUX32, with UNAME26 or without randomised addresses, and the question.
    "PERSONALITIES": (0, 8, 0x2_0000, 0x2_0008, 0x4_0000, 0xFFFF_FFFF),
    "MAIN_PROCESS": (_MAIN_PROCESS,),
    "MAIN_GROUP": (_MAIN_GROUP,),
}  # fmt: skip
"""Constants of the kernel, for `_REFUSED`."""

_REFUSED = """
socketpair         EAFNOSUPPORT  socketpair: 0 not AF_UNIX
# Seqpacket counts as a stream here: once connected it can't send elsewhere. Of all types that the
# kernel takes for a unix socket, RAW is DGRAM by another name: so only these two.
socketpair         ESOCKTNOSUPPORT  socketpair: 1&SOCK_TYPE not SOCK_STREAM SOCK_SEQPACKET
kernel-memory      EPERM         setsockopt: 1 is SOL_SOCKET, 2 is SO_BUFFERS SO_FILTERS
kernel-memory      EPERM         fcntl: 1 is F_SETPIPE_SZ
kernel-memory      EINVAL        prctl: 0 is PR_FUTEX_HASH
shared-memory      EPERM         mmap: 3&MAP_TYPE|ANONYMOUS is MAP_SHARED|ANONYMOUS
# As on a machine whose reserve is empty, where JVM and allocators take ordinary pages.
huge-pages         ENOMEM        mmap: 3&MAP_HUGETLB is MAP_HUGETLB
swap-out           EINVAL        madvise: 2 is MADV_PAGEOUT
# The first argument are the flags on both machines; on others it isn't.
namespaces         EPERM         clone: 0&CLONE_NEW not 0
parentage          EPERM         clone: 0&CLONE_PARENT is CLONE_PARENT
limits             EPERM         prlimit64: 0 not 0
locks              EOPNOTSUPP    fcntl: 1 is F_LOCKS
watches            EINVAL        fcntl: 1 is F_WATCHES
descriptor-signals EPERM         fcntl: 1 is F_OWNERS
descriptor-signals EPERM         fcntl: 1 is F_SETFL, 2&O_ASYNC is O_ASYNC
fcntl              EINVAL        fcntl: 1 not F_HARMLESS F_LOCKS F_WATCHES F_OWNERS F_SETPIPE_SZ
terminal           EPERM         ioctl: 1 is TIO
descriptor-signals EPERM         ioctl: 1 is OWNER_REQUESTS FIOASYNC
ioctl              ENOTTY    ioctl: 1&TERMINAL_TYPE not TERMINAL, 1 not FILE_REQUESTS OWNER_REQUESTS
dumpable           EPERM         prctl: 0 is PR_SET_DUMPABLE PR_SET_MM
core-scheduling    EINVAL        prctl: 0 is PR_SCHED_CORE
same-page-merging  EINVAL        prctl: 0 is PR_SET_MEMORY_MERGE
same-page-merging  EINVAL        madvise: 2 is MADV_MERGEABLE
prctl              EINVAL        prctl: 0 least PR_UNKNOWN, 0 not PR_NAMED
# A negative pid other than our own group is another group, or every process (-1). The main process
# leads a session of its own, so whatever is in its group is the bot's.
signals            EPERM         kill: 0 not 0 MAIN_PROCESS MAIN_GROUP
# The kernel checks that the thread is of this process. abort() of a child is refused, and ends the
# child nevertheless, by its last resort: an instruction that doesn't exist. A thread's number, in
# tkill, doesn't tell whose it is; only that of the first thread does. musl's raise() and abort()
# come this way.
signals            EPERM         tgkill rt_sigqueueinfo rt_tgsigqueueinfo tkill: 0 not MAIN_PROCESS
truncation         EPERM         open: 1&O_TRUNC|ACCMODE is O_EMPTYING
truncation         EPERM         openat: 2&O_TRUNC|ACCMODE is O_EMPTYING
page-cache         0             fadvise64: 3 is FADV_DONTNEED
page-cache         EOPNOTSUPP    preadv2: 5&RWF_CACHE not 0
# Without a path: of an open file. By path nothing may seem to succeed: programs find out in this
# way whether a file exists.
metadata           EPERM         ~utimensat: 1 is 0
personality        EPERM         personality: 0 not PERSONALITIES
# As on a kernel without the family: resolvers, JVM, Go and libuv all take that for an answer.
sockets            EAFNOSUPPORT  socket
socket-names       EACCES        bind connect
kernel-memory      ENOSYS        vmsplice
memfd              ENOSYS        memfd_create memfd_secret
sysv               ENOSYS        shmget shmat shmdt shmctl semget semop semtimedop semctl
sysv               ENOSYS        msgget msgsnd msgrcv msgctl
mqueue             ENOSYS        mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify
mqueue             ENOSYS        mq_getsetattr
keyrings           ENOSYS        add_key request_key keyctl
# libuv and others ask for it at every start, and go on with epoll.
io-uring           ENOSYS        io_uring_setup io_uring_enter io_uring_register
aio                ENOSYS        io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents
userfaultfd        ENOSYS        userfaultfd
ptrace             EPERM         ptrace
foreign-processes  EPERM         process_vm_readv process_vm_writev kcmp pidfd_getfd
# Allocators try these and remember that there are none.
foreign-processes  ENOSYS        process_madvise process_mrelease
perf               EPERM         perf_event_open
bpf                EPERM         bpf
mounts             EPERM         mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick
mounts             EPERM         open_tree open_tree_attr move_mount mount_setattr
mounts             ENOSYS        statmount listmount
handles            EPERM         name_to_handle_at open_by_handle_at
namespaces         EPERM         unshare setns
clone3             ENOSYS        clone3
scheduling         EPERM         sched_setscheduler sched_setparam sched_setattr sched_setaffinity
scheduling         EPERM         setpriority ioprio_set
numa               EPERM         mbind set_mempolicy set_mempolicy_home_node migrate_pages
numa               EPERM         move_pages
# As on a file system without locks: cargo and Go then do without.
locks              EOPNOTSUPP    flock
# As on a kernel without inotify: `tail -f` looks again and again.
watches            ENOSYS        inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
watches            ENOSYS        fanotify_init fanotify_mark
# Any open folder of /proc can be signalled as a pidfd. Both don't exist, not even for the main
# process itself: CPython, Go and Rust try them on that, and would then rely on them.
signals            ENOSYS        pidfd_open pidfd_send_signal
timers             ENOSYS        timer_create
truncation         EPERM         truncate
# Its flags lie in memory, where no filter can look; libc doesn't use it.
truncation         ENOSYS        openat2
page-cache         ENOSYS        cachestat mincore
# With metadata="pretend", calls with the mark ~ seem to succeed.
metadata           EPERM         ~chmod ~fchmod ~fchmodat ~fchmodat2 ~chown ~fchown ~lchown
metadata           EPERM         ~fchownat utime utimes futimesat utimensat setxattr lsetxattr
metadata           EPERM         fsetxattr setxattrat removexattr lremovexattr fremovexattr
metadata           EPERM         removexattrat file_setattr
attributes         EOPNOTSUPP    getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr
attributes         EOPNOTSUPP    flistxattr listxattrat
sync               0             sync syncfs
admin              EPERM         reboot kexec_load kexec_file_load init_module finit_module
admin              EPERM         delete_module swapon swapoff clock_settime settimeofday adjtimex
admin              EPERM         clock_adjtime syslog acct quotactl quotactl_fd iopl ioperm
admin              EPERM         sethostname setdomainname vhangup lsm_set_self_attr
obsolete           ENOSYS        uselib modify_ldt remap_file_pages lookup_dcookie nfsservctl
obsolete           ENOSYS        sysfs ustat _sysctl create_module get_kernel_syms query_module
obsolete           ENOSYS        getpmsg putpmsg afs_syscall tuxcall security vserver
obsolete           ENOSYS        epoll_ctl_old epoll_wait_old
"""
"""Rule, errno, calls, and tests of their arguments, which all have to hold. Of the lines for one
call, the first that applies decides."""


class _Denial(NamedTuple):
    rule: str
    call: str
    errno: int
    tests: tuple[Test, ...]
    pretend: bool  # with `metadata="pretend"` the call seems to succeed


def _denials() -> Iterator[_Denial]:
    for line in _REFUSED.splitlines():
        if line and line[0] != "#":
            head, _, conditions = line.partition(":")
            rule, number, *calls = head.split()
            tests = tuple(_test(*each.split()) for each in conditions.split(",") if each)
            for call in calls:
                value = _PRETEND if number == "0" else getattr(errno, number)
                yield _Denial(rule, call.removeprefix("~"), value, tests, call[0] == "~")


def _test(argument: str, relation: str, *names: str) -> Test:
    number, _, mask = argument.partition("&")
    values = tuple(value for name in names for value in _VALUES[name])
    if relation == "least":
        return Test(int(number), least=values[0])
    assert relation in {"is", "not"}
    bits = _VALUES[mask][0] if mask else bpf.ALL_BITS
    return Test(int(number), values, inside=relation == "is", mask=bits)


_TABLE = tuple(_denials())

_OFTEN: Mapping[str, int] = {
    "read": 60, "write": 60, "futex": 60, "epoll_wait": 40, "epoll_pwait": 40, "poll": 30,
    "ppoll": 30, "mmap": 30, "munmap": 20, "madvise": 20, "mprotect": 20, "close": 20,
    "openat": 20, "newfstatat": 20, "fstat": 10, "readv": 10, "writev": 10, "recvmsg": 10,
    "sendmsg": 10, "recvfrom": 10, "sendto": 10, "lseek": 10, "brk": 10, "rt_sigprocmask": 10,
    "rt_sigaction": 10, "clock_nanosleep": 10, "sched_yield": 10, "fcntl": 10, "ioctl": 10,
}  # fmt: skip
"""What turn-taking programs call again and again, against 1 for any span."""


def supported(machine: str | None = None) -> bool:
    """Whether there is a filter for `machine` (as `uname -m` says; this one if None)."""
    if machine is None:
        # A 32-bit Python on a 64-bit kernel makes calls by another convention.
        return sys.maxsize > 2**32 and os.uname().machine in CALLS
    return machine in CALLS


def program(
    *,
    metadata: Literal["allow", "deny", "pretend"],
    locks: bool,
    signals: bool,
    truncation: bool = False,
    timers: bool = False,
    without: Collection[str] = (),
    machine: str | None = None,
) -> bytes:
    """The filter as an array of struct sock_filter.

    `metadata`: what happens to changes of files' modes, owners, times and attributes; "pretend"
    lets those seem to succeed that builds rely on. `locks`: allow file locks, which builds need.
    `signals`, `truncation`, `timers`: include the rules of these names; a filter with "signals" is
    completed by `for_process`. `without` leaves out rules, to test each guard.
    """
    machine = machine or os.uname().machine
    if not supported(machine):
        raise NotImplementedError(
            f"no system call filter for {machine}: there is one for {' and '.join(sorted(CALLS))}"
        )
    if unknown := set(without) - RULES.keys():
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
    out = {*without, *(["metadata", "attributes"] if metadata == "allow" else [])}
    optional = {"locks": not locks, "signals": signals, "truncation": truncation, "timers": timers}
    out |= {rule for rule, wanted in optional.items() if not wanted}
    return _program(machine, frozenset(RULES.keys() - out), metadata == "pretend")


def for_process(filter: bytes, pid: int) -> bytes:  # noqa: A002 - what it is
    """The filter adapted to the main process `pid`, as it numbers itself."""
    if not 0 < pid < _MAIN_PROCESS:
        raise ValueError(f"no pid: {pid}")
    return bpf.replace_constants(filter, {_MAIN_PROCESS: pid, _MAIN_GROUP: -pid & bpf.ALL_BITS})


@functools.lru_cache(maxsize=16)  # a handful of kinds of programs; more are tests'
def _program(machine: str, rules: frozenset[str], pretend: bool) -> bytes:  # noqa: FBT001 - hashed
    leaves: dict[str, bpf.Leaf] = {}
    for denial in _TABLE:
        if denial.rule in rules:
            number = _PRETEND if pretend and denial.pretend else denial.errno
            clause = bpf.Clause(denial.tests, bpf.fail(number))
            leaves[denial.call] = (*leaves.get(denial.call, ()), clause)
    foreign = bpf.KILL if "architecture" in rules else bpf.ALLOW
    return bpf.assemble(AUDIT_ARCH[machine], foreign, tuple(_spans(machine, rules, leaves)))


def _spans(
    machine: str, rules: frozenset[str], leaves: Mapping[str, bpf.Leaf]
) -> Iterator[bpf.Span]:
    """All call numbers in order; neighbours with the same leaf are one span."""
    missing: bpf.Leaf = (bpf.Clause((), bpf.fail(errno.ENOSYS)),)
    unknown = missing if "unknown" in rules else ()
    whole = [(number, unknown, 0) for number in range(NEWEST + 1)]
    for name, number in CALLS[machine].items():
        whole[number] = (number, leaves.get(name, ()), _OFTEN.get(name, 0))
    # The rest up to 32 bits; above the bit x32 are the numbers that are negative.
    whole.append((NEWEST + 1, unknown, 0))
    if machine == "x86_64":
        whole += [(X32, missing if "x32" in rules else (), 0), (2 * X32, unknown, 0)]
    for leaf, run in itertools.groupby(whole, key=lambda entry: entry[1]):
        same = list(run)
        yield bpf.Span(same[0][0], leaf, 1 + sum(weight for _, _, weight in same))
