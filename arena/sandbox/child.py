"""Start a program in a fresh fork of the spawner: become bwrap, or a keeper that starts it.

A *keeper* is the parent of a program that is confined by Landlock or not at all. It and bwrap
report on the pipe `status`, one JSON object a line: first `child-pid`, at the end `exit-code`
(bwrap) or `exit` (the keeper: a wait status). A child that ends without that last line has failed
to start the program, and writes the reason to the pipe `errors`. End-of-file on the pipe `gate`
means that the spawner has died or wants this program dead. The bot has none of the three.

Invariant: the program gets the descriptors 0, 1, 2 and no other, default signal actions and the
umask 022; and nothing of it starts after the spawner has died.
"""

import contextlib
import errno
import fcntl
import json
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from arena.exhaustion import NO_PROCESSES, ran_out
from arena.sandbox import bpf, kernel, mounts, removal, subreaper, uids

ENV = "/usr/bin/env"
"""Gives the program exactly its environment, finds it by PATH, and ends with the well-known
statuses 127 and 126, and a message, if it can't be started."""

_SHELL = "/bin/sh"
_DOORMAN = (
    # Runs inside the sandbox and has the bot's descriptors, which bwrap must not have: bwrap keeps
    # its descriptors 0 to 2 open as long as it lives, and a bot that closes its output must be
    # noticed. The line comes from the spawner, end-of-file if that has died meanwhile.
    # The file size is limited only now, in blocks of 512 bytes: bwrap has files to write.
    'IFS= read -r go <&9 || exit 1; ulimit -f "$1"; shift; unset PWD OLDPWD; '
    'exec "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&- 9<&-'
)
_EXACT = os.path.basename(os.path.realpath(_SHELL)) == "dash"  # noqa: PTH119 - no Path here
"""Whether the shell passes on its environment unchanged; others add variables of their own."""
COPIED = "<"  # in an argument for bwrap, before the path of a file to be read from a descriptor
OPEN_GATE = b"!go\n"  # one byte for bwrap's --block-fd, the line for the doorman
_ABOVE = 64  # descriptors are first moved above the numbers that they will get
ERROR_BYTES = 2000  # the longest reason that a child can write to `errors`

# Where they are once a child has settled in; 0 and 1 are /dev/null.
_ERRORS = 2
_STDIN, _STDOUT, _STDERR = 3, 4, 5
_STATUS = 6
_GATE = 7
_FAILED = 3  # in a child of a keeper, until exec
_DOORMANS_GATE = 9


def begin(plan: Mapping[str, Any], ends: Sequence[int], uid: int, join: str) -> NoReturn:
    """In a fresh child: start the program, or report why not and end.

    `ends`: errors, the program's three, status, gate. `uid`: its spare uid; 0: we aren't root.
    `join`: the file to enter its control group by, or "".
    """
    spawner = os.getppid()
    errors = ends[0]
    try:
        signal.set_wakeup_fd(-1)  # its number is about to be reused
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        _arrange(null, null, *ends)
        errors = _ERRORS
        os.setsid()
        os.umask(0o022)
        if plan["backend"] == "bwrap":
            _confine(plan, spawner, uid, join)
        else:
            _keep(plan, uid, join)
    except BaseException as error:  # noqa: BLE001 - whatever it is, this child must end here
        os.write(errors, reason(error).encode(errors="backslashreplace")[:ERROR_BYTES])
    finally:
        os._exit(1)


def reason(error: BaseException) -> str:
    """Why a program could not be started; never empty."""
    short = isinstance(error, BlockingIOError)  # of a fork; nothing else here waits
    return NO_PROCESSES if short else ran_out(error) or str(error) or "?"


def _confine(plan: Mapping[str, Any], spawner: int, uid: int, join: str) -> NoReturn:
    options = plan["options"]
    _settle(join)
    os.dup2(_GATE, _DOORMANS_GATE)
    setenv = [text for item in plan["env"].items() for text in ("--setenv", *item)]
    arguments = b"".join(_argument(text) for text in (*options["args"], *setenv))
    flags: list[object] = ["--args", _in_memory("arguments", arguments)]
    if plan["seccomp"]:
        flags += ["--seccomp", _in_memory("filter", bytes.fromhex(plan["seccomp"]))]
    if "stage" in options:
        mounts.stage(
            options["stage"], writable=options["writable"], uid=uid, scratch=options["scratch"]
        )
    if uid:
        uids.drop(uid)
    kernel.die_with(spawner)
    flags += ["--json-status-fd", _STATUS, "--block-fd", _GATE]
    largest = _largest_file(plan["rlimits"])
    variables = [f"{name}={value}" for name, value in plan["env"].items()]
    exactly = [] if _EXACT else [ENV, "-i", *variables]
    shell = [_SHELL, "-c", _DOORMAN, _SHELL, largest, *exactly, *plan["argv"]]
    # An empty environment: what pid 1 was started with can be read inside.
    os.execve(options["tool"], ["bwrap", *map(str, flags), "--", *shell], {})  # noqa: S606


def _largest_file(rlimits: Mapping[str, int]) -> str:
    """In the shell's blocks; never above our own limit, or the shell would end with an error."""
    limits = (resource.getrlimit(resource.RLIMIT_FSIZE)[1], rlimits.get("FSIZE", -1))
    most = min((limit for limit in limits if limit >= 0), default=-1)
    return "unlimited" if most < 0 else str(most // 512)


def _argument(text: str) -> bytes:
    """An argument for bwrap; for a file to be copied, the number of an open descriptor."""
    if text.startswith(COPIED):
        copied = os.open(text.removeprefix(COPIED), os.O_RDONLY)
        os.set_inheritable(copied, True)  # noqa: FBT003 - its only signature
        text = str(copied)
    return os.fsencode(text) + b"\0"


_IGNORED = [n for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN]


def _settle(group: str) -> None:
    """Become what programs are: signal actions, a rank for the OOM killer, a group."""
    # Default actions that the spawner, Python, or a parent (nohup) has changed.
    for number in (signal.SIGCHLD, signal.SIGINT, *_IGNORED):
        signal.signal(number, signal.SIG_DFL)
    # If memory runs out, the kernel kills programs before the referee and the spawner.
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - no Path here
        score.write("500")
    if group:  # to move another process into it, the kernel waits 7 ms
        with open(group, "wb", buffering=0) as entrance:  # noqa: PTH123 - no Path here
            entrance.write(b"0")


def _in_memory(name: str, content: bytes) -> int:
    file = os.memfd_create(name, 0)  # inheritable
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _keep(plan: Mapping[str, Any], uid: int, join: str) -> NoReturn:
    """Become the keeper of a program, unconfined: what confines that, forbids to signal us."""
    scratch = ""
    if plan["options"].get("scratch"):
        scratch = f"{mounts.STAGE}/arena-scratch-{os.getpid()}-{os.urandom(8).hex()}"
        os.mkdir(scratch, 0o700)  # noqa: PTH102 - no Path here

    def begun(pid: int) -> None:
        for end in (_STDIN, _STDOUT, _STDERR):
            os.close(end)
        _report({"child-pid": pid, "scratch": scratch})

    def program(keeper: int, failed: int) -> NoReturn:
        _become(plan, keeper, failed, uid=uid, join=join, scratch=scratch)

    failure, status = subreaper.keep(program, _GATE, begun)
    if scratch:
        with contextlib.suppress(OSError):  # the spawner tries again
            removal.remove(scratch)
    if failure:
        os.write(_ERRORS, failure)
    else:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_ms = (used.ru_utime + used.ru_stime) * 1000
        _report({"exit": status, "cpu_ms": cpu_ms, "memory_mb": used.ru_maxrss / 1024})
    os._exit(0)


def _report(facts: Mapping[str, float | str]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the spawner is gone, and we will be soon
        os.write(_STATUS, json.dumps(facts).encode() + b"\n")


def limit(pid: int, rlimits: Mapping[str, int]) -> None:
    """Lower the rlimits of `pid` (0: this process), soft and hard; never raise them."""
    for name, value in rlimits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.prlimit(pid, number)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)  # noqa: PLW2901 - the name fits both
        resource.prlimit(pid, number, (value, value))


def _arrange(*sources: int) -> None:
    """Make the sources the descriptors 0, 1, 2… and close all others but `mounts.inherited`."""
    try:
        moved = [fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for source in sources]
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # The limit is below _ABOVE.
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from error
    for number, source in enumerate(moved):
        os.dup2(source, number, inheritable=True)
    kept = {*range(len(sources)), *mounts.inherited()}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - no Path here
        if int(name) not in kept:
            with contextlib.suppress(OSError):  # that of the listing itself
                os.close(int(name))


def _become(
    plan: Mapping[str, Any], keeper: int, failed: int, *, uid: int, join: str, scratch: str
) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        _arrange(_STDIN, _STDOUT, _STDERR, failed)
        failed = _FAILED
        os.set_inheritable(failed, False)  # noqa: FBT003 - its only signature
        _settle(join)
        env = {**plan["env"], **({"TMPDIR": scratch} if scratch else {})}
        variables = [f"{name}={value}" for name, value in env.items()]
        if plan["backend"] == "landlock":
            _restrict(plan, uid, keeper, scratch)
        else:
            kernel.die_with(keeper)
            os.chdir(plan["cwd"])
        limit(0, plan["rlimits"])
        os.execve(ENV, [ENV, "-i", *variables, *plan["argv"]], {})  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - whatever it is, this child must end here
        os.write(failed, reason(error).encode(errors="backslashreplace")[:ERROR_BYTES])
    finally:
        os._exit(1)


def _restrict(plan: Mapping[str, Any], uid: int, keeper: int, scratch: str) -> None:
    options = plan["options"]
    root, writable = options["root"], options["writable"]
    if uid:
        if options["mounts"]:
            mounts.open_paths(
                [root, *options["exposed"]],
                writable=root if writable else "",
                uid=uid,
                scratch=(scratch, options["scratch"]),
            )
        elif writable:
            mounts.change_owner(root, uid)
        if scratch and not options["mounts"]:
            mounts.change_owner(scratch, uid)
        uids.drop(uid)
    kernel.die_with(keeper)
    if options["capabilities"]:
        kernel.drop_capabilities()
    os.chdir(plan["cwd"])
    for path in (root, *options["exposed"]):
        if not os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0)):  # noqa: PTH112
            raise PermissionError(
                f"the spare user of a bot can't enter {path}: allow others to enter the folders "
                "above it (chmod o+x), or use a cache elsewhere (XDG_CACHE_HOME)"
            )
    may_write = kernel.READ | kernel.WRITE
    rights = [(path, kernel.READ) for path in (*options["read"], *options["exposed"])]
    rights.append((root, may_write if writable else kernel.READ))
    rights += [(path, kernel.READ | kernel.WRITE_FILE) for path in options["devices"]]
    if scratch:
        rights.append((scratch, may_write))
    kernel.landlock(options["abi"], rights)
    if plan["seccomp"]:
        kernel.filter_calls(bpf.for_process(bytes.fromhex(plan["seccomp"]), os.getpid()))
