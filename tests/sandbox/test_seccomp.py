"""The filter of system calls: every number by an interpreter, samples on the kernel itself.

The interpreter runs a program as the kernel would and refuses what its verifier would refuse. What
is expected is written down here a second time, in another form, from the calls' names.
"""

import errno
import fcntl
import functools
import itertools
import platform
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from arena.sandbox import bpf, seccomp
from arena.sandbox.seccomp import CALLS, NEWEST

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PROGRAMS = Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
ALLOW, KILL = "allow", "kill"
MAIN = 4321
"""The main process in the rule `signals`."""

BOT = {"metadata": "deny", "locks": False, "signals": True, "truncation": True, "timers": True}
BUILD = {"metadata": "pretend", "locks": True, "signals": True}
KINDS = {
    "bot": {**BOT, "signals": False},
    "bot, signals": BOT,
    "build": {**BUILD, "metadata": "allow", "signals": False},
    "build, signals": BUILD,
}

here = pytest.mark.skipif(not seccomp.supported(), reason=f"no filter for {platform.machine()}")


# ------------------------------------------------------------------------------ the interpreter


def verified(program):
    """Decode a program; fail where the kernel would refuse it."""
    code = list(struct.iter_unpack("=HBBI", program))
    assert 0 < len(code) <= 4096
    for at, (operation, true, false, constant) in enumerate(code):
        if operation == 0x20:
            assert constant % 4 == 0
            assert constant < 64
        elif operation == 0x05:
            assert at + 1 + constant < len(code)
        elif operation in {0x15, 0x35}:
            assert at + 1 + max(true, false) < len(code)
        else:
            assert operation in {0x06, 0x54}
    assert code[-1][0] == 0x06
    return code


def executed(code, arch, number, arguments=()):
    """(verdict, how many instructions it took)."""
    words = [number, arch, 0, 0]
    for value in (*arguments, 0, 0, 0, 0, 0, 0)[:6]:
        words += (value & 0xFFFFFFFF, value >> 32)
    at = count = accumulator = 0
    while True:
        operation, true, false, constant = code[at]
        count += 1
        at += 1
        if operation == 0x15:
            at += true if accumulator == constant else false
        elif operation == 0x35:
            at += true if accumulator >= constant else false
        elif operation == 0x20:
            accumulator = words[constant // 4]
        elif operation == 0x54:
            accumulator &= constant
        elif operation == 0x05:
            at += constant
        elif constant == 0x7FFF0000:
            return ALLOW, count
        elif constant == 0x80000000:
            return KILL, count
        else:
            assert constant >> 16 == 0x0005
            return constant & 0xFFFF, count


def made(machine="x86_64", **options):
    program = seccomp.program(machine=machine, **options)
    return verified(bpf.for_process(program, MAIN))


# ----------------------------------------------------------------------------------- the oracle

WHOLE = {
    "sockets": {"EAFNOSUPPORT": "socket"},
    "socket-names": {"EACCES": "bind connect"},
    "kernel-memory": {"ENOSYS": "vmsplice"},
    "memfd": {"ENOSYS": "memfd_create memfd_secret"},
    "sysv": {"ENOSYS": "shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd"
                       " msgrcv msgctl"},
    "mqueue": {"ENOSYS": "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr"},
    "keyrings": {"ENOSYS": "add_key request_key keyctl"},
    "io-uring": {"ENOSYS": "io_uring_setup io_uring_enter io_uring_register"},
    "aio": {"ENOSYS": "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents"},
    "userfaultfd": {"ENOSYS": "userfaultfd"},
    "ptrace": {"EPERM": "ptrace"},
    "foreign-processes": {"EPERM": "process_vm_readv process_vm_writev kcmp pidfd_getfd",
                          "ENOSYS": "process_madvise process_mrelease"},
    "perf": {"EPERM": "perf_event_open"},
    "bpf": {"EPERM": "bpf"},
    "mounts": {"EPERM": "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree"
                        " open_tree_attr move_mount mount_setattr",
               "ENOSYS": "statmount listmount"},
    "handles": {"EPERM": "name_to_handle_at open_by_handle_at"},
    "namespaces": {"EPERM": "unshare setns"},
    "clone3": {"ENOSYS": "clone3"},
    "scheduling": {"EPERM": "sched_setscheduler sched_setparam sched_setattr sched_setaffinity"
                            " setpriority ioprio_set"},
    "numa": {"EPERM": "mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages"},
    "locks": {"EOPNOTSUPP": "flock"},
    "watches": {"ENOSYS": "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch"
                          " fanotify_init fanotify_mark"},
    "signals": {"ENOSYS": "pidfd_open pidfd_send_signal"},
    "timers": {"ENOSYS": "timer_create"},
    "truncation": {"EPERM": "truncate", "ENOSYS": "openat2"},
    "page-cache": {"ENOSYS": "cachestat mincore"},
    "metadata": {"EPERM": "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime"
                          " utimes futimesat utimensat setxattr lsetxattr fsetxattr setxattrat"
                          " removexattr lremovexattr fremovexattr removexattrat file_setattr"},
    "attributes": {"EOPNOTSUPP": "getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr"
                                 " flistxattr listxattrat"},
    "sync": {"0": "sync syncfs"},
    "admin": {"EPERM": "reboot kexec_load kexec_file_load init_module finit_module delete_module"
                       " swapon swapoff clock_settime settimeofday adjtimex clock_adjtime syslog"
                       " acct quotactl quotactl_fd iopl ioperm sethostname setdomainname vhangup"
                       " lsm_set_self_attr"},
    "obsolete": {"ENOSYS": "uselib modify_ldt remap_file_pages lookup_dcookie nfsservctl sysfs"
                           " ustat _sysctl create_module get_kernel_syms query_module getpmsg"
                           " putpmsg afs_syscall tuxcall security vserver epoll_ctl_old"
                           " epoll_wait_old"},
}  # fmt: skip
"""Calls that are refused whatever their arguments."""

NEVER = {
    name: (rule, getattr(errno, number, 0))
    for rule, parts in WHOLE.items()
    for number, names in parts.items()
    for name in names.split()
}

PRETENDED = {
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
}  # fmt: skip

FCNTL = {
    **dict.fromkeys((5, 6, 7, 36, 37, 38, 1029), ("locks", errno.EOPNOTSUPP)),
    **dict.fromkeys((1024, 1025, 1026, 1039, 1040), ("watches", errno.EINVAL)),
    **dict.fromkeys((8, 10, 15), ("descriptor-signals", errno.EPERM)),
    **dict.fromkeys((0, 1, 2, 3, 4, 9, 11, 16, 17, 1027, 1028, 1030, 1032, 1033, 1034), None),
    1031: ("kernel-memory", errno.EPERM),
}
IOCTL = {
    **dict.fromkeys((0x5412, 0x541C, 0x541D, 0x5423), ("terminal", errno.EPERM)),
    **dict.fromkeys((0x8901, 0x8902, 0x5452), ("descriptor-signals", errno.EPERM)),
    **dict.fromkeys((0x40049409, 0x4020940D, 0xC020660B, 0x80086601, 0x801C581F, 0x80045200), None),
}
PRCTL = {
    4: ("dumpable", errno.EPERM),
    35: ("dumpable", errno.EPERM),
    62: ("core-scheduling", errno.EINVAL),
    67: ("same-page-merging", errno.EINVAL),
    78: ("kernel-memory", errno.EINVAL),
    0x53564D41: None,
    0x41555856: None,
}
CLONE_NEW = (0x20000, *(1 << bit for bit in range(25, 31)))


NAMES = {
    machine: {number: name for name, number in calls.items()} for machine, calls in CALLS.items()
}


def when(condition, rule, number):
    return (rule, number) if condition else None


def of_a_pair(family, kind):
    if family != 1:
        return "socketpair", errno.EAFNOSUPPORT
    return when(kind % 16 not in {1, 5}, "socketpair", errno.ESOCKTNOSUPPORT)


def own_alone(*pids):
    return lambda pid, *_: [when(pid not in pids, "signals", errno.EPERM)]


def emptying(flags):
    return [when(flags & 0o1000 and flags & 3 in {0, 3}, "truncation", errno.EPERM)]


JUDGES = {
    # For each call whose arguments matter: from their low halves, each rule that objects.
    "socketpair": lambda a, b, *_: [of_a_pair(a, b)],
    "setsockopt": lambda _, b, c, *__: [
        when(b == 1 and c in {7, 8, 26, 32, 33, 50, 51, 52, 60, 73}, "kernel-memory", errno.EPERM)
    ],
    "mmap": lambda _, __, ___, d, *____: [
        when(d & 0x2F == 0x21, "shared-memory", errno.EPERM),
        when(d & 0x40000, "huge-pages", errno.ENOMEM),
    ],
    "utimensat": lambda *_: [("metadata", errno.EPERM)],
    "open": lambda _, b, *__: emptying(b),
    "openat": lambda _, __, c, *___: emptying(c),
    "madvise": lambda _, __, c, *___: [
        when(c == 21, "swap-out", errno.EINVAL),
        when(c == 12, "same-page-merging", errno.EINVAL),
    ],
    "clone": lambda a, *_: [
        when(any(a & bit for bit in CLONE_NEW), "namespaces", errno.EPERM),
        when(a & 0x8000, "parentage", errno.EPERM),
    ],
    "prlimit64": lambda a, *_: [when(a, "limits", errno.EPERM)],
    "fcntl": lambda _, b, c, *__: [
        FCNTL.get(b, ("fcntl", errno.EINVAL)),
        when(b == 4 and c & 0x2000, "descriptor-signals", errno.EPERM),
    ],
    "ioctl": lambda _, b, *__: [IOCTL.get(b, when(b >> 8 & 0xFF != 0x54, "ioctl", errno.ENOTTY))],
    "prctl": lambda a, *_: [PRCTL.get(a, when(a > 78, "prctl", errno.EINVAL))],
    "kill": own_alone(0, MAIN, 2**32 - MAIN),
    "tkill": own_alone(MAIN),
    "tgkill": own_alone(MAIN),
    "rt_sigqueueinfo": own_alone(MAIN),
    "rt_tgsigqueueinfo": own_alone(MAIN),
    "fadvise64": lambda _, __, ___, d, *____: [when(d == 4, "page-cache", 0)],
    "preadv2": lambda *all_: [when(all_[5] & 0x88, "page-cache", errno.EOPNOTSUPP)],
    "personality": lambda a, *_: [
        when(a not in {0, 8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF}, "personality", errno.EPERM)
    ],
}


def expected(machine, number, arguments, options):
    """What the filter of these options must say to a call by the machine's own convention."""
    without = set(options.get("without", ()))
    without |= {"metadata", "attributes"} if options["metadata"] == "allow" else set()
    without |= {"locks"} if options["locks"] else set()
    without |= set() if options["signals"] else {"signals"}
    without |= {rule for rule in ("truncation", "timers") if not options.get(rule)}
    name = NAMES[machine].get(number)
    if name is None:
        x32 = machine == "x86_64" and number >> 30 == 1
        rule = "x32" if x32 else "unknown"
        return ALLOW if rule in without else errno.ENOSYS
    low = [value & 0xFFFFFFFF for value in arguments]
    for objection in JUDGES[name](*low) if name in JUDGES else [NEVER.get(name)]:
        if objection and objection[0] not in without:
            rule, number = objection
            pretended = name in PRETENDED or (name == "utimensat" and not low[1])
            return 0 if pretended and options["metadata"] == "pretend" else number
    return ALLOW


JUDGED = {
    # Which arguments of a call are looked at.
    "socketpair": (0, 1), "setsockopt": (1, 2), "mmap": (3,), "madvise": (2,), "clone": (0,),
    "prlimit64": (0,), "fcntl": (1, 2), "ioctl": (1,), "prctl": (0,), "kill": (0,), "tkill": (0,),
    "tgkill": (0,), "rt_sigqueueinfo": (0,), "rt_tgsigqueueinfo": (0,), "fadvise64": (3,),
    "preadv2": (5,), "personality": (0,), "open": (1,), "openat": (2,), "utimensat": (1,),
}  # fmt: skip
SMALL = (*range(12), 15, 16, 17, 20, 21, 22, 26, 35, 62, 67, 73, 77, 78, 79, 80, MAIN)
LARGE = (
    *(1 << bit for bit in range(6, 32)), *range(1022, 1044), *FCNTL, *IOCTL, *PRCTL, 0x22, 0x21,
    0x40022, 0x40021, 0x1200011, 0x3D0F00, 0x4111, 0x20008, 0x5401, 0x5413, 0x5421, 0x802C542A,
    0x40086602, 0x401C5820, 0o1000, 0o1001, 0o1002, 0o1003, 0o1101,
    0x80001, 0x80002, 0x80003, 0x80005, 0xFFFFFFFF, 2**32 - MAIN,
    2**32 - MAIN - 1, MAIN + 1, 0x7FFFFF11, 0x800000EF,
)  # fmt: skip
GARBAGE = 0xDEADBEEF << 32


def cases(name):
    """Argument lists for a call, each also with garbage in every high half."""
    places = JUDGED.get(name, ())
    values = sorted({*SMALL, *LARGE}) if places else ()
    lists = {(0,) * 6, (0xFFFFFFFF,) * 6}
    for place, value in itertools.product(places, values):
        for rest in (0, 1, 4) if len(places) > 1 else (0,):
            arguments = [rest] * 6
            arguments[place] = value
            lists.add(tuple(arguments))
    yield from lists
    yield from ([GARBAGE | value for value in arguments] for arguments in lists)


@functools.cache
def cases_of(name):
    return list(cases(name))


def numbers(machine):
    """(number, name) of all that could be called, and of what could not."""
    beyond = (0x3FFFFFFF, 0x40000000, 0x40000001, 0x40000202, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    return [(number, NAMES[machine].get(number)) for number in (*range(601), *beyond)]


def verdicts(machine, options):
    """What the filter says to every case: (number, name, arguments) -> verdict."""
    code, arch = made(machine, **options), MACHINES[machine]
    return {
        (number, name, tuple(arguments)): executed(code, arch, number, arguments)[0]
        for number, name in numbers(machine)
        for arguments in cases_of(name)
    }


@functools.cache
def of_a_bot(machine):
    return verdicts(machine, BOT)


# ------------------------------------------------------------------------------ by interpretation


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_number(machine, kind):
    """Each number from 0 to 600 and beyond, with all arguments that matter, meets its verdict."""
    options = KINDS[kind]
    for (number, name, arguments), verdict in verdicts(machine, options).items():
        assert verdict == expected(machine, number, arguments, options), (name, arguments)


WITHOUT = [
    *(("x86_64", rule) for rule in seccomp.RULES),
    # Only numbers differ there, and whether there is an x32.
    *(("aarch64", rule) for rule in dict.fromkeys(("architecture", "x32", *[*seccomp.RULES][::6]))),
]


@pytest.mark.parametrize(("machine", "rule"), WITHOUT)
def test_without_a_rule(machine, rule):
    """A rule that is left out opens what it closes, and nothing else changes."""
    options = {**BOT, "without": (rule,)}
    opened = set()
    for (number, name, arguments), verdict in verdicts(machine, options).items():
        if verdict != of_a_bot(machine)[number, name, arguments]:
            assert verdict == expected(machine, number, arguments, options), (name, arguments)
            opened.add(name)
    for number, name, arguments in of_a_bot(machine):
        # What should have been opened was.
        if name not in opened and (name in JUDGED or NEVER.get(name, ("",))[0] == rule):
            assert expected(machine, number, arguments, options) == expected(
                machine, number, arguments, BOT
            ), (name, arguments)
    foreign = executed(made(machine, **options), 0x40000003, 20)[0]
    assert foreign == (ALLOW if rule == "architecture" else KILL)
    nothing = rule == "architecture" or (rule == "x32" and machine == "aarch64")
    assert bool(opened) != nothing


@pytest.mark.parametrize("machine", MACHINES)
def test_other_conventions_are_killed(machine):
    """Whatever the number: i386, arm, x86_64 on aarch64 and big-endian calls kill the process."""
    code = made(machine, **BOT)
    for arch in {0x40000003, 0x40000028, 0x800000B7, 0, *MACHINES.values()} - {MACHINES[machine]}:
        for number in (0, 1, 20, 59, 600, 0x40000000):
            assert executed(code, arch, number)[0] == KILL


def test_an_unadapted_filter_signals_nobody():
    """Without for_process no pid passes, and with it exactly one and its group."""
    program = seccomp.program(machine="x86_64", **BOT)
    arch, kill = MACHINES["x86_64"], CALLS["x86_64"]["kill"]
    raw, adapted = verified(program), verified(bpf.for_process(program, 99))
    for pid in (1, 2, 99, MAIN, 4_194_304, 2**32 - 1, 2**32 - 99):
        assert executed(raw, arch, kill, (pid, 9))[0] == errno.EPERM
    bits = [99 ^ 1 << bit for bit in range(32)]
    pids = sorted({*range(2_000), *bits})
    passing = [pid for pid in pids if executed(adapted, arch, kill, (pid,))[0] == ALLOW]
    assert passing == [0, 99]
    assert executed(adapted, arch, kill, (2**32 - 99,))[0] == ALLOW
    assert executed(adapted, arch, kill, (2**64 - 99,))[0] == ALLOW
    assert executed(adapted, arch, kill, (2**64 - 1,))[0] == errno.EPERM


def test_adapting_touches_nothing_else():
    """for_process leaves a filter without the rule alone, and refuses what is no pid."""
    program = seccomp.program(machine="aarch64", **KINDS["bot"])
    assert bpf.for_process(program, 12) == program
    for pid in (0, -1, 2**31 - 1):
        with pytest.raises(ValueError, match="no pid"):
            bpf.for_process(program, pid)


def test_hot_calls_are_cheap():
    """What a bot does all the time costs a handful of instructions, and nothing ever many."""
    hot = "read write epoll_pwait futex munmap close ppoll madvise mmap"
    for machine, arch in MACHINES.items():
        code = made(machine, **BOT)
        assert len(code) < 600
        cost = {
            name: executed(code, arch, number, (3, 3, 0, 2, 0, 0))[1]
            for name, number in CALLS[machine].items()
        }
        assert max(cost[name] for name in hot.split()) <= 16
        assert max(cost[name] for name in ("read", "write", "futex")) <= 9
        assert max(cost.values()) <= 64


def test_the_kernel_can_see_through_plain_calls():
    """Before the verdict on a call without judged arguments, nothing but its number is loaded."""
    for machine, arch in MACHINES.items():
        plain = [
            (*instruction,) if instruction[0] != 0x20 or instruction[3] < 16 else (0x06, 0, 0, 1)
            for instruction in made(machine, **BOT)
        ]
        code = made(machine, **BOT)
        for name, number in CALLS[machine].items():
            if name not in JUDGED:
                assert executed(plain, arch, number) == executed(code, arch, number)


@pytest.mark.parametrize("count", [1, 2, 3, 300, 1000])
@pytest.mark.parametrize("heavy", [0, 1])
def test_trees_of_any_shape(count, heavy):
    """However many spans there are, and wherever the weight is, each number finds its leaf."""
    spans = [
        bpf.Span(10 * at, (bpf.Clause((), bpf.fail(at % 4095)),), 1 + heavy * 9**9 // (at + 1))
        for at in range(count)
    ]
    code = verified(bpf.assemble(7, bpf.KILL, spans))
    for at in range(count):
        for number in (10 * at, 10 * at + 9):
            assert executed(code, 7, number)[0] == at
    assert executed(code, 8, 0)[0] == KILL


def test_what_does_not_fit_is_our_bug():
    """A filter or a test that BPF can't hold is noticed when it is made."""
    leaf = (bpf.Clause((bpf.Test(0, tuple(range(300))),), bpf.KILL),)
    with pytest.raises(AssertionError, match="too far"):
        bpf.assemble(7, bpf.KILL, [bpf.Span(0, leaf, 1)])
    with pytest.raises(AssertionError, match="instructions"):
        bpf.assemble(7, bpf.KILL, [bpf.Span(at, (), 1) for at in range(4000)])


def test_compiling_is_fast():
    """A filter is compiled in a few milliseconds even on a busy machine."""
    seconds = []
    for _ in range(5):
        seccomp._program.cache_clear()
        start = time.process_time()
        seccomp.program(machine="x86_64", **BOT)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.004


def test_other_machines_are_refused(monkeypatch):
    """Where there is no filter, that can be asked, and a program is refused with the reason."""
    assert [seccomp.supported(name) for name in ("x86_64", "aarch64", "riscv64", "i686", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="riscv64: there is one for aarch64 and x86_64"):
        seccomp.program(machine="riscv64", **BOT)
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert not seccomp.supported()


def test_unknown_rules_are_refused():
    """A misspelt rule is an error, not a filter with all guards in place."""
    with pytest.raises(ValueError, match="no such rule: lock"):
        seccomp.program(without=("lock",), **BOT)


def test_rules_and_table_name_each_other():
    """Every rule closes something, and whatever is closed belongs to a rule."""
    built_in = {"architecture", "x32", "unknown"}
    assert {denial.rule for denial in seccomp._TABLE} | built_in == set(seccomp.RULES)
    assert all(text.endswith(".") for text in seccomp.RULES.values())


def test_every_named_call_exists():
    """No call of the table is misspelt: each has a number on at least one machine."""
    known = {*CALLS["x86_64"], *CALLS["aarch64"]}
    named = {denial.call for denial in seccomp._TABLE}
    assert named - known == set()


HEADERS = {
    "x86_64": (
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
    ),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_headers(machine):
    """The numbers are those of the system's own headers, as far as these go, and no more."""
    found = next((Path(path) for path in HEADERS[machine] if Path(path).exists()), None)
    if found is None:
        pytest.skip("no kernel headers here")
    defined = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", found.read_text(), re.MULTILINE)
    header = {
        name: int(number)
        for name, number in defined
        if name not in {"syscalls", "arch_specific_syscall", "sync_file_range2"}
        and not (machine == "aarch64" and 403 <= int(number) < 424)  # for 32-bit machines
    }
    if machine == "aarch64":
        header["newfstatat"] = header.pop("fstatat")
    newest = min(max(header.values()), NEWEST)
    ours = {name: number for name, number in CALLS[machine].items() if number <= newest}
    assert ours == {name: number for name, number in header.items() if number <= newest}


def test_newest_numbers():
    """The calls that are younger than many systems' headers, and the last that is known."""
    young = {"cachestat": 451, "fchmodat2": 452, "mseal": 462, "setxattrat": 463,
             "removexattrat": 466, "open_tree_attr": 467, "file_setattr": 469}  # fmt: skip
    for calls in CALLS.values():
        assert {name: calls[name] for name in young} == young
    assert NEWEST == 469


# ------------------------------------------------------------------------------------ the kernel


def filtered(what, *arguments, options=BOT, **more):
    """Run something under the filter of this machine."""
    program = seccomp.program(**options).hex()
    # Without a system Python's site-packages: what the filter meets is the interpreter.
    command = [PYTHON, "-I", "-S", str(PROGRAMS / "filtered.py"), program, what, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def answers(lines, options=BOT):
    """The errno with which the kernel answers each call, by its name."""
    calls = CALLS[platform.machine()]
    text = "".join(
        f"{label} {calls[name]} {' '.join(arguments)}\n"
        for label, (name, *arguments) in lines.items()
    )
    done = filtered("calls", options=options, input=text)
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}


HIGH = 0x100000000
REFUSED = {
    "socket": (errno.EAFNOSUPPORT, "socket", "1", "1", "0"),
    "vsock": (errno.EAFNOSUPPORT, "socket", "40", "1", "0"),
    "inet-pair": (errno.EAFNOSUPPORT, "socketpair", "2", "1", "0", "pointer"),
    "datagrams": (errno.ESOCKTNOSUPPORT, "socketpair", "1", "2", "0", "pointer"),
    "datagrams-raw": (errno.ESOCKTNOSUPPORT, "socketpair", hex(HIGH | 1), hex(HIGH | 0x80003), "0",
                      "pointer"),
    "flock": (errno.EOPNOTSUPP, "flock", "0", "1"),
    "lock": (errno.EOPNOTSUPP, "fcntl", "0", hex(HIGH | 5), "pointer"),
    "lease": (errno.EINVAL, "fcntl", "0", "1024", "0"),
    "hint": (errno.EINVAL, "fcntl", "0", "1035", "pointer"),
    "pipe-size": (errno.EPERM, "fcntl", "1", "1031", "0x100000"),
    "owner": (errno.EPERM, "fcntl", "1", "8", "@"),
    "async": (errno.EPERM, "fcntl", "1", "4", "0x2000"),
    "sti": (errno.EPERM, "ioctl", "0", hex(HIGH | 0x5412), "pointer"),
    "chattr": (errno.ENOTTY, "ioctl", "0", "0x40086602", "pointer"),
    "inotify": (errno.ENOSYS, "inotify_init1", "0"),
    "shared": (errno.EPERM, "mmap", "0", "4096", "3", "0x21", "-1", "0"),
    "huge": (errno.ENOMEM, "mmap", "0", "0x200000", "3", "0x40022", "-1", "0"),
    "memfd": (errno.ENOSYS, "memfd_create", "pointer", "0"),
    "shm": (errno.ENOSYS, "shmget", "0", "4096", "0x3ff"),
    "keys": (errno.ENOSYS, "keyctl", "0", "-3", "1"),
    "io-uring": (errno.ENOSYS, "io_uring_setup", "4", "pointer"),
    "ptrace": (errno.EPERM, "ptrace", "0", "0", "0", "0"),
    "user-namespace": (errno.EPERM, "clone", hex(HIGH | 0x10000011), "0", "0", "0", "0"),
    "sibling": (errno.EPERM, "clone", "0x8011", "0", "0", "0", "0"),
    "clone3": (errno.ENOSYS, "clone3", "pointer", "88"),
    "affinity": (errno.EPERM, "sched_setaffinity", "0", "8", "pointer"),
    "parents-limits": (errno.EPERM, "prlimit64", "1", "7", "0", "pointer"),
    "hide": (errno.EPERM, "prctl", hex(HIGH | 4), "0", "0", "0", "0"),
    "futexes": (errno.EINVAL, "prctl", "78", "1", "0x1000", "0", "0"),
    "merge": (errno.EINVAL, "madvise", "0", "0", "12"),
    "kill-init": (errno.EPERM, "kill", "1", "0"),
    "kill-all": (errno.EPERM, "kill", "-1", "0"),
    "thread": (errno.EPERM, "tkill", "1", "0"),
    "pidfd": (errno.ENOSYS, "pidfd_open", "@", "0"),
    "mode": (errno.EPERM, "fchmod", "0", "0"),
    "svr4": (errno.EPERM, "personality", "1"),
    "sync": (0, "sync"),
}  # fmt: skip
GRANTED = {
    "pair": ("socketpair", "1", "0x80001", "0", "pointer"),
    "packets": ("socketpair", "1", "5", "0", "pointer"),
    "cloexec": ("fcntl", "1", "1", "0"),
    "nonblock": ("fcntl", "1", "4", "0x800"),
    "private": ("mmap", "0", "4096", "3", "0x22", "-1", "0"),
    "own-limits": ("prlimit64", "0", "7", "0", "pointer"),
    "name": ("prctl", "15", "pointer", "0", "0", "0"),
    "dumpable": ("prctl", "3", "0", "0", "0", "0"),
    "kill-main": ("kill", "@", "0"),
    "thread-main": ("tgkill", "@", "@", "0"),
    "kill-group": ("kill", "0", "0"),
    "persona": ("personality", "0xffffffff"),
    "poller": ("epoll_create1", "0"),
    "event": ("eventfd2", "0", "0"),
    "space": ("madvise", "0", "0", "4"),
}


@here
@pytest.mark.process
def test_the_kernel_refuses():
    """A sample of each kind of denial, tried on the kernel, fails as the rule says."""
    lines = {label: entry[1:] for label, entry in REFUSED.items()}
    assert {label: entry[0] for label, entry in REFUSED.items()} == answers(lines)


@here
@pytest.mark.process
def test_the_kernel_grants():
    """What ordinary programs do beside that goes through to the kernel."""
    assert dict.fromkeys(GRANTED, 0) == answers(GRANTED)


@here
@pytest.mark.process
def test_builds_may_lock_and_seem_to_change_modes(tmp_path):
    """For a build locks work, and a change of a mode succeeds without happening."""
    path = tmp_path / "file"
    path.touch(mode=0o600)
    script = f"""
import fcntl, os
with open({str(path)!r}, "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_EX)
    os.fchmod(file.fileno(), 0o777)
os.chmod({str(path)!r}, 0o777)
os.utime(os.open({str(path)!r}, os.O_RDONLY), (0, 0))
try:
    os.utime({str(path)!r}, (0, 0))
except PermissionError:
    pass  # else programs would take a file for one that exists
"""
    before = path.stat()
    done = filtered("run", PYTHON, "-c", script, options=BUILD)
    assert (done.returncode, done.stderr) == (0, "")
    assert (path.stat().st_mode, path.stat().st_mtime > 1) == (before.st_mode, True)


@here
@pytest.mark.process
@pytest.mark.parametrize("open_", [True, False])
def test_locks_of_others_are_not_seen(tmp_path, open_):
    """Whether a file is locked can be seen without the rule, and not with it."""
    path = tmp_path / "shared"
    path.touch()
    script = f"""
import fcntl
file = open({str(path)!r})
for lock in (fcntl.flock, fcntl.lockf):
    try:
        lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        print(error.errno)
"""
    options = {**BOT, "without": ("locks",) if open_ else ()}
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)
        taken = filtered("run", PYTHON, "-c", script, options=options).stdout.split()
    free = filtered("run", PYTHON, "-c", script, options=options).stdout.split()
    if open_:
        assert (taken, free) == ([str(errno.EAGAIN)] * 2, [])
    else:
        assert taken == free == [str(errno.EOPNOTSUPP)] * 2


NAMED = """
import socket, sys
a, b = socket.socketpair()
try:
    a.bind("\\0" + sys.argv[1])
except OSError as error:
    print(error.errno)
"""


@here
@pytest.mark.process
@pytest.mark.parametrize("open_", [True, False])
def test_names_of_others_are_not_seen(open_):
    """Whether an abstract name is taken can be seen without the rule, and not with it."""
    options = {**BOT, "without": ("socket-names",) if open_ else ()}
    name = f"arena-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as owner:
        owner.bind(f"\0{name}")
        taken = filtered("run", PYTHON, "-c", NAMED, name, options=options).stdout.split()
    free = filtered("run", PYTHON, "-c", NAMED, name, options=options).stdout.split()
    if open_:
        assert (taken, free) == ([str(errno.EADDRINUSE)], [])
    else:
        assert taken == free == [str(errno.EACCES)]


@here
@pytest.mark.process
@pytest.mark.parametrize("open_", [True, False])
def test_datagram_pairs_reach_nobody(tmp_path, open_):
    """Without its rule a pair of datagram sockets reaches any service's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.bind(f"{tmp_path}/service")
        service.setblocking(False)
        script = "import socket\na, b = socket.socketpair(1, 2)\na.sendto(b'hi', 'service')"
        options = {**BOT, "without": ("socketpair",) if open_ else ()}
        done = filtered("run", PYTHON, "-c", script, options=options, cwd=tmp_path)
        if open_:
            assert service.recv(9) == b"hi"
        else:
            assert "ESOCKTNOSUPPORT" in done.stderr or "Socket type not" in done.stderr
            with pytest.raises(BlockingIOError):
                service.recv(9)


FOREIGN = """
import ctypes, mmap
code = bytes.fromhex("b814000000cd80c3")  # getpid by int 0x80
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE, prot=7)
page.write(code)
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print(call() > 0, flush=True)
"""


@here
@pytest.mark.process
def test_calls_of_i386_kill():
    """A call by int 0x80, which a kernel may serve, ends the process."""
    if platform.machine() != "x86_64":
        pytest.skip("for x86_64")
    free = subprocess.run([PYTHON, "-c", FOREIGN], capture_output=True, text=True, check=False)
    if free.stdout != "True\n":
        pytest.skip("this kernel serves no i386 calls")
    done = filtered("run", PYTHON, "-c", FOREIGN)
    assert (done.returncode, done.stdout) == (-31, "")  # SIGSYS
    without = {**BOT, "without": ("architecture",)}
    assert filtered("run", PYTHON, "-c", FOREIGN, options=without).stdout == "True\n"


# ------------------------------------------------------------------------------- honest programs

PYTHON_BOT = """
import asyncio, concurrent.futures, multiprocessing, os, queue, random, select, selectors
import signal, subprocess, sys, tempfile, threading, time, mmap

async def main():
    reader, writer = os.pipe()
    loop = asyncio.get_running_loop()
    got = asyncio.Event()
    loop.add_reader(reader, got.set)
    os.write(writer, b"x")
    await asyncio.wait_for(got.wait(), 5)
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    assert (await child.communicate())[0] == b"child\\n"
    assert await asyncio.to_thread(lambda: 7) == 7
    await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(50)))

asyncio.run(main())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda n: n * n, range(100))) == 328350
assert subprocess.run("echo a | tr a b", shell=True, capture_output=True).stdout == b"b\\n"
with subprocess.Popen(["cat"], stdin=-1, stdout=-1, start_new_session=True) as cat:
    assert cat.communicate(b"meow")[0] == b"meow"
here, there = multiprocessing.Pipe()
worker = multiprocessing.Process(target=lambda end: end.send(42), args=(there,))
worker.start()
assert here.recv() == 42
worker.join()
with tempfile.TemporaryFile() as file:
    file.write(b"0123" * 1024)
    file.flush()
    with mmap.mmap(file.fileno(), 0) as view:
        view[0] = 65
signal.raise_signal(signal.SIGCHLD)
os.kill(os.getpid(), signal.SIGCHLD)
os.posix_spawnp("true", ["true"], {})
os.wait()
print("all well")
"""

NODE_BOT = """
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execFile, spawnSync } = require('child_process');
const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2,
  1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
const code = "require('worker_threads').parentPort.postMessage(6 * 7)";
(async () => {
  const { instance } = await WebAssembly.instantiate(bytes);
  if (instance.exports.add(40, 2) !== 42) throw Error('wasm');
  const answers = await Promise.all([1, 2, 3].map(() => new Promise((ok, bad) => {
    new Worker(code, { eval: true }).on('message', ok).on('error', bad);
  })));
  if (answers.join() !== '42,42,42') throw Error('workers');
  const shared = new Int32Array(new SharedArrayBuffer(8));
  Atomics.add(shared, 0, 1);
  const child = await new Promise((ok, bad) =>
    execFile('echo', ['child'], (error, text) => error ? bad(error) : ok(text)));
  if (child !== 'child\\n' || spawnSync('true').status !== 0) throw Error('child');
  await require('fs').promises.readFile('/proc/self/stat');
  console.log('all well');
})();
"""

JAVA_BOT = """
import java.util.concurrent.*;
public class Bot {
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long sum = 0;
        java.util.List<Future<Integer>> all = new java.util.ArrayList<>();
        for (int i = 0; i < 100; i++) { final int n = i; all.add(pool.submit(() -> n)); }
        for (Future<Integer> each : all) sum += each.get();
        pool.shutdown();
        Process child = new ProcessBuilder("echo", "child").start();
        if (child.waitFor() != 0 || sum != 4950) throw new Exception();
        java.nio.channels.Selector.open().close();
        System.gc();
        byte[][] heap = new byte[64][];
        for (int i = 0; i < 640; i++) heap[i % 64] = new byte[100_000];
        System.out.println("all well");
    }
}
"""

BASH_BOT = """
set -euo pipefail
trap 'true' USR1
kill -USR1 $$
sum=$(seq 1000 | awk '{s+=$1} END {print s}')
[[ $sum == 500500 ]]
diff <(sort <<<$'b\\na') <(printf 'a\\nb\\n')
coproc cat
echo hello >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
eval "exec ${COPROC[1]}>&-"
wait
for i in 1 2 3; do (sleep 0.01; echo "$i" >/dev/null) & done
wait
timeout 5 true
[[ $line == hello ]] && echo all well
"""

BOTS = {
    # The JVM tells on its standard output that it can't lock its file of statistics in /tmp.
    "python": (PYTHON, "-c", PYTHON_BOT),
    "node": ("node", "-e", NODE_BOT),
    "java": ("java", "-XX:+PerfDisableSharedMem", "Bot.java"),
    "bash": ("bash", "-c", BASH_BOT),
    "c": ("./threads",),
}


@here
@pytest.mark.process
@pytest.mark.parametrize(
    ("language", "signals"),
    [*((language, True) for language in BOTS), ("python", False), ("c", False)],
)
def test_honest_programs(language, signals, tmp_path):
    """Ordinary programs of many kinds notice nothing, in either tier."""
    run = BOTS[language]
    if language == "c":
        if shutil.which("gcc") is None:
            pytest.skip("no gcc here")
        command = ["gcc", "-pthread", "-o", "threads", str(PROGRAMS / "threads.c")]
        subprocess.run(command, cwd=tmp_path, check=True)
    elif shutil.which(run[0]) is None:
        pytest.skip(f"no {language} here")
    (tmp_path / "Bot.java").write_text(JAVA_BOT)
    done = filtered(
        "run", *run, options={**BOT, "signals": signals}, cwd=tmp_path, start_new_session=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("all well\n", "", 0)


@here
@pytest.mark.process
@pytest.mark.parametrize("tool", ["gcc", "rustc", "javac"])
@pytest.mark.long("every compiler under the filter", quick=("gcc", "rustc"))
def test_compilers(tool, tmp_path):
    """Compilers and linkers work under the filter of a build."""
    sources = {
        "gcc": ("a.c", "int main(void) { return 0; }", "-o", "out"),
        "rustc": ("a.rs", "fn main() {}", "-o", "out"),
        "javac": ("A.java", "class A {}"),
    }
    name, text, *flags = sources[tool]
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool} here")
    (tmp_path / name).write_text(text)
    done = filtered("run", tool, name, *flags, options=BUILD, cwd=tmp_path)
    if tool == "rustc" and "rustup" in done.stderr:
        pytest.skip("no usable Rust toolchain")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / ("A.class" if tool == "javac" else "out")).stat().st_size
    # GNU ld makes its output executable by chmod: whoever pretends must do that afterwards.
    if tool == "gcc":
        (tmp_path / "out").chmod(0o700)
        assert subprocess.run([tmp_path / "out"], check=False).returncode == 0


@here
@pytest.mark.process
def test_python_without_anonymous_shared_memory():
    """The one thing of Python that breaks: mmap without a file, which is shared unless asked."""
    script = "import mmap\nmmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE)\nmmap.mmap(-1, 4096)"
    done = filtered("run", PYTHON, "-c", script)
    assert "line 3" in done.stderr
    assert "PermissionError" in done.stderr
