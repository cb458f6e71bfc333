"""Run untrusted programs (bots and their builds) confined and within limits.

A `Backend` (bwrap.py, landlock.py, none.py) turns a `Launch` into a `SpawnPlan`. The spawner
(spawner.py), a process of its own, executes plans; `Spawner` in client.py is the way to use it.
docs/design/sandbox.md has the reasons and a map of the modules.

Blame: the bot's own exit is an `Exited`; a failure of the sandbox or the machine is an `Exited`
with `host_error`, or a HostError: never a bot's fault.
"""

import signal as signals
from collections.abc import Mapping
from typing import Protocol

import msgspec

Option = str | int | bool | tuple[str, ...] | Mapping[str, str]


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start, in terms that every backend understands. As a limit 0 means: none."""

    run: tuple[str, ...]  # the arguments as seen inside; its own folder is /bot, also its cwd
    root: str  # the folder outside that becomes /bot, read-only unless `writable`
    writable: bool = False  # for builds: under root the folder is given to the uid that builds
    expose: tuple[str, ...] = ()
    """Files and folders shown read-only at their own path; the folders `bin` among them, in them
    and around them come first in PATH."""
    env: Mapping[str, str] = {}  # besides PATH, LANG, TZ, PYTHONHASHSEED
    memory_mb: int = 512
    tasks: int = 64
    cpu_seconds: int = 0
    file_mb: int = 0  # largest file it may write
    scratch_mb: int = 0
    """Size of a private, empty /tmp; 0: it can write nowhere (but in a `writable` root)."""
    freeze: bool = False  # it will be stopped and continued, and mustn't be able to continue itself
    disk_mb: int = 0  # of a `writable` root; so is the next
    disk_files: int = 0


class TreeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on a program's whole tree; 0: none. The spawner enforces them, with control groups if
    it can have them, else by a check every few milliseconds.
    """

    memory_mb: int = 0
    tasks: int = 0  # processes and threads, without those of the sandbox itself
    disk_mb: int = 0  # of the folders in `disk` together; so is the next
    files: int = 0
    disk: tuple[str, ...] = ()  # folders outside that it may write to


class SpawnPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What the spawner executes: produced by a backend, plain data over its socket."""

    backend: str  # which of the spawner's ways to start it
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    rlimits: Mapping[str, int]  # names as in the resource module, without RLIMIT_; soft = hard
    share: TreeLimits = TreeLimits()
    seccomp: str = ""  # the filter in hex; empty: none
    options: Mapping[str, Option] = {}  # what only this backend's part of the spawner understands


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A program is about to run: its sandbox is set up and its limits are applied."""

    id: int
    pid: int  # the program's own process, or pid 1 of its namespace
    tree: int  # the process below which all of it is, for /proc; itself no part of it


class Exited(msgspec.Struct, frozen=True, kw_only=True):
    """A program has ended and its whole tree with it."""

    id: int
    code: int | None  # None: a signal ended it
    signal: int | None
    cpu_ms: float  # of the whole tree, the sandbox's own set-up included
    memory_mb: float  # peak of its whole tree if that was measured, else of its largest process
    overstepped: str = ""  # "memory", "tasks" or "disk": it was killed for using too much
    host_error: str = ""  # not empty: the sandbox failed, before the program ran or while it did

    @property
    def status(self) -> str:
        """In words: "exit 1", "signal SIGSEGV"."""
        if self.signal is None:
            return f"exit {self.code}"
        try:
            return f"signal {signals.Signals(self.signal).name}"
        except ValueError:  # a real-time signal has no name
            return f"signal {self.signal}"


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What the canary found about a backend on this machine."""

    name: str
    works: bool
    detail: str  # if it works, what and which version; if not, the reason and the fix. One line.
    program: str = ""  # the path of the program that confines, if there is one
    tool: str = ""  # which file confines bots, and its SHA-256, if that isn't the system's own
    memory: str = ""  # what limits a tree's memory: "cgroup v2", "cgroup v1" or "watchdog"
    kept: tuple[str, ...] = ()  # which of guarantees.GUARANTEES hold
    gaps: tuple[str, ...] = ()  # which of guarantees.GAPS are open


class Backend(Protocol):
    """One way to confine a program. A new one also gets a line in `registry.SANDBOXES`."""

    @property
    def name(self) -> str:
        """As in `--sandbox`, in event.json and in the table's footer."""

    def probe(self) -> Probe:
        """Start a confined program, the canary, and check that it is confined."""

    def take_over(self, found: Probe) -> None:
        """Rely on a probe that another process of this machine has made, instead of the canary."""

    def plan(self, launch: Launch) -> SpawnPlan:
        """How the spawner starts the program. HostError: the backend doesn't work here."""
