"""The program that canary.py runs in a sandbox: try forbidden things, print those that worked.

Its text is executed by the arena's own Python with nothing but the standard library:
`python -I -S -c TEXT SECRET PID HIDDEN…`, where SECRET is a file of the referee, PID the referee's
process, and HIDDEN files beside programs that are exposed. Lines are "reach WHAT",
"namespace NAME IDENTITY", "fact NAME VALUE" and last "done".
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

FOLDERS = ("/", ".", "/dev", "/dev/shm", "/etc", "/tmp", "/usr", "/proc", "/proc/sys/kernel")
SCRATCH = os.environ["TMPDIR"]
FAMILIES = (1, 2, 10, 16, 17, 38, 40)  # unix, IPv4, IPv6, netlink, packet, kernel crypto, vsock
KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW)
CLONE_NEWUSER = 0x1000_0000
STATUS = {"CapEff", "CapPrm", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"}


def attempt(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except OSError:
        return
    print("reach", what)


def write_to(folder: str) -> None:
    path = Path(folder, f"canary-{os.getpid()}")
    path.touch()
    path.unlink()


def lock() -> None:
    fcntl.flock(os.open("/usr/bin/env", os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)


def new_namespace() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
        raise OSError


def environment(pid: int) -> None:
    """Read a process's environment; that of a sandbox's own pid 1 is empty."""
    if not Path(f"/proc/{pid}/environ").read_bytes().strip(b"\0"):
        raise OSError


def processes() -> set[int]:
    """All processes in /proc, or the referee alone if it can't be listed."""
    try:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208
    except OSError:
        return {referee}


secret, referee = Path(sys.argv[1]), int(sys.argv[2])
for name in ("net", "pid", "mnt", "ipc", "uts", "user"):
    link = Path("/proc/self/ns", name)
    print("namespace", name, link.readlink())
attempt("a file of the referee", secret.read_bytes)
for hidden in sys.argv[3:]:
    attempt("what lies beside a program", Path(hidden).read_bytes)
attempt("the metadata of a file of the referee", lambda: os.utime(secret))
write_to(SCRATCH)
for folder in set(FOLDERS) - {SCRATCH}:
    attempt(f"write access to {folder}", lambda: write_to(folder))  # noqa: B023 - called at once
for family in FAMILIES:
    for kind in KINDS:
        attempt(f"a socket of family {family}", lambda: socket.socket(family, kind))  # noqa: B023
attempt("a lock that another bot sees", lock)
attempt("a user namespace", new_namespace)
attempt("the environment of pid 1", lambda: environment(1))
attempt("the environment of the referee", lambda: environment(referee))
for pid in processes() - {1, os.getpid(), os.getppid()}:
    attempt(f"the process {pid}", Path(f"/proc/{pid}/comm").read_bytes)
try:
    os.kill(referee, 0)
    print("fact signal yes")
except OSError:
    print("fact signal no")
for line in Path("/proc/self/status").read_text().splitlines():
    key, _, value = line.partition(":")
    if key in STATUS:
        print("fact", key, value.strip())
print("done", flush=True)
sys.stdin.read()
