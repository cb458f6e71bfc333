"""Starting other people's programs so that they get nothing but their share.

A backend turns a `Launch` into a `Plan` (what the spawner is to execute); the spawner, a
process of its own, forks, applies limits, reaps, and kills everything when its socket closes.
`Spawner` in `client.py` is its counterpart in the referee's process.

Blame: a bot's own end is an `Exited`; what the sandbox or the machine could not do is an
`Exited` with `host_error`, or HostError: never a bot's fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A program to be started, in terms that every backend understands."""

    run: tuple[str, ...]
    """Argument vector as seen inside; the program's own folder is /bot, also its cwd."""
    root: str
    """Folder outside that becomes /bot, read-only unless `writable`."""
    writable: bool = False
    """For builds only. Under root the folder's content is then given to the uid that builds."""
    expose: tuple[str, ...] = ()
    """Files and folders shown read-only at their own path; the folders `bin` among them, in them
    and around them come first in PATH."""
    env: Mapping[str, str] = {}
    """Added to the fixed environment (PATH, LANG, TZ, PYTHONHASHSEED)."""
    memory_mb: int = 512
    tasks: int = 64
    cpu_seconds: int = 0
    """0: no limit of its own (the referee's clock rules)."""
    file_mb: int = 0
    """Largest file it may write; 0 forbids any."""
    scratch_mb: int = 0
    """Size of a private, empty /tmp; 0: it can write nowhere (but in a `writable` root)."""
    freeze: bool = False
    """It will be stopped and continued, and mustn't be able to continue itself."""
    disk_mb: int = 0
    disk_files: int = 0
    """How much, and how many files and folders, a `writable` root may come to hold; 0: no limit."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What a program's whole tree may hold at a time. Enforced by the spawner, by control groups
    where it can have them and by looking every few milliseconds where not; 0: no limit.
    """

    memory_mb: int = 0
    tasks: int = 0
    """Processes and threads, those of the sandbox itself not counted."""
    disk_mb: int = 0
    files: int = 0
    """These two: of the folders in `disk`, together."""
    disk: tuple[str, ...] = ()
    """Folders outside that it may write to."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the spawner executes: produced by a backend, plain data over its socket."""

    backend: str
    """Which of the spawner's ways to start it."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    rlimits: Mapping[str, int]
    """Names as in the resource module, without RLIMIT_; soft = hard."""
    share: Share = Share()
    seccomp: str = ""
    """The filter of system calls, in hex, as made by seccomp.py; empty: none."""
    options: Mapping[str, str | int | bool | tuple[str, ...] | Mapping[str, str]] = {}
    """What only this backend's part of the spawner understands."""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A program is about to run: its sandbox is set up and its limits are applied."""

    id: int
    pid: int
    """The program's own process, or pid 1 of its namespace."""
    tree: int
    """The process below which all of it is, to be metered through /proc; itself no part of it."""


class Exited(msgspec.Struct, frozen=True, kw_only=True):
    """A program has ended and its whole tree with it."""

    id: int
    code: int | None
    """Exit status, or None when a signal ended it."""
    signal: int | None
    cpu_ms: float
    """Of the whole tree, the sandbox's own set-up included."""
    memory_mb: float
    """Peak of its whole tree, as far as it was seen; else of its largest process."""
    overstepped: str = ""
    """Why it was killed for using more than its share: "memory", "tasks" or "disk"."""
    host_error: str = ""
    """Not empty: the sandbox failed, before the program ran or while it did; not its doing."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a live canary found of a backend on this machine."""

    name: str
    works: bool
    detail: str
    """When it works, what and which version; when not, the reason and the remedy. One line."""
    tool: str = ""
    """Which file confines bots, and its SHA-256, where that is not the system's own."""
    memory: str = ""
    """How a whole tree is held to its memory: by "cgroup v2", "cgroup v1" or "watchdog"."""
    kept: tuple[str, ...] = ()
    """Which of guarantees.GUARANTEES hold."""
    gaps: tuple[str, ...] = ()
    """Which of guarantees.GAPS are open."""


class Backend(Protocol):
    """One way to confine a program."""

    @property
    def name(self) -> str:
        """As in `--sandbox`, in event.json and in the table's footer."""

    def probe(self) -> Probe:
        """Run a live canary: really start a confined program and see that it is confined."""

    def plan(self, launch: Launch) -> Plan:
        """Say how the program is to be started."""
