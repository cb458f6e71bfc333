"""Why a sandbox does not work on this machine, and what mends it.

The live canary says that something failed; the machine's own files say why. For each sandbox the
causes are tried in the order of their likelihood, and the first that fits is told, with one
remedy: whoever follows it and asks again gets to the next.

Invariant: a cause is told only if the failure looks like it and the machine shows it; else the
failure itself is told.
"""

from __future__ import annotations

import enum
import os
import re
import stat
import textwrap
from collections.abc import Iterator, Mapping

import msgspec

from arena.sandbox import bwrap, kernel, remedies, wheel
from arena.sandbox.host import Host

LANDLOCK_SINCE = (5, 13)

# What a refused namespace, or a mount within one, looks like: bwrap's words and our own child's.
_REFUSED = re.compile(
    r"namespace|uid map|RTM_NEWADDR|mount|/ slave|pivot_root|not permitted|permission denied|Errno",
    re.IGNORECASE,
)


class Cause(enum.StrEnum):
    """What is wrong with a machine."""

    NO_BWRAP = "no-bwrap"
    BROKEN_BWRAP = "broken-bwrap"
    OLD_BWRAP = "old-bwrap"
    UNKNOWN_BWRAP = "unknown-bwrap"
    SETUID_BWRAP = "setuid-bwrap"
    ARCHITECTURE = "architecture"
    WSL1 = "wsl1"
    GVISOR = "gvisor"
    NO_NAMESPACES = "kernel-without-namespaces"
    MAX_NAMESPACES = "max-user-namespaces"
    CLONE_SWITCH = "unprivileged-userns-clone"
    APPARMOR = "apparmor-userns"
    CONTAINER = "container"
    FILTER = "filter"
    MASKED_PROC = "masked-proc"
    OLD_KERNEL = "old-kernel"
    LANDLOCK_OFF = "landlock-off"
    LANDLOCK_FILTERED = "landlock-filtered"
    READ_ONLY_CGROUPS = "read-only-cgroups"
    CGROUP_V1 = "cgroup-v1"
    NO_USER_MANAGER = "no-user-manager"
    NOT_DELEGATED = "memory-not-delegated"
    OTHER = "other"


_OF_ONE_TOOL = (
    Cause.NO_BWRAP, Cause.BROKEN_BWRAP, Cause.OLD_BWRAP, Cause.UNKNOWN_BWRAP, Cause.SETUID_BWRAP,
)  # fmt: skip


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One cause and its remedy."""

    cause: Cause
    text: str
    """What is wrong: a clause."""
    advice: str = ""
    """What mends it, in sentences; empty where nothing is known to."""
    commands: tuple[str, ...] = ()
    """Lines to be typed, or written where the advice says."""

    def remedy(self, width: int) -> list[str]:
        """For people: the advice in lines of that width, and the commands, indented and never
        wrapped, so that they can be copied.
        """
        return [*textwrap.wrap(self.advice, width), *(f"    {line}" for line in self.commands)]


def of_backend(name: str, detail: str, host: Host | None = None) -> Finding:
    """Why the backend of that name doesn't work; `detail`: what its probe has said."""
    return in_workflow(_of_backend(name, detail, host or Host()))


def in_workflow(finding: Finding, environ: Mapping[str, str] = os.environ) -> Finding:
    """The same; in a workflow of GitHub's, with what mends it said as a workflow has it: there the
    machine is the job's alone, gone after it, and set up by a file.
    """
    if environ.get("GITHUB_ACTIONS") != "true":
        return finding
    if finding.cause in _SWITCHES:
        return msgspec.structs.replace(
            finding,
            advice="Allow them in a step of the workflow, before arena:",
            commands=remedies.step(*_SWITCHES[finding.cause]),
        )
    if finding.cause in _OF_CONTAINERS:
        return msgspec.structs.replace(
            finding,
            advice="Take `container:` out of the job, or give it these options:",
            commands=remedies.job(("seccomp", "apparmor", "systempaths")),
        )
    return finding


_SWITCHES: Mapping[Cause, tuple[str, int]] = {
    Cause.MAX_NAMESPACES: ("user.max_user_namespaces", 15000),
    Cause.CLONE_SWITCH: ("kernel.unprivileged_userns_clone", 1),
    Cause.APPARMOR: ("kernel.apparmor_restrict_unprivileged_userns", 0),
}
_OF_CONTAINERS = (Cause.CONTAINER, Cause.MASKED_PROC)


def _of_backend(name: str, detail: str, host: Host) -> Finding:
    if name == "bwrap":
        tools = tuple(bwrap.candidates())
        found = [of_bwrap(host, tool, bwrap.Bubblewrap(tool).probe().detail) for tool in tools]
        # What is wrong with the machine says more than that one tool of several is old.
        telling = [each for each in found if each.cause not in _OF_ONE_TOOL]
        return next(iter((*telling, *found)), None) or of_bwrap(host, "", detail)
    if name == "landlock":
        return of_landlock(host, detail, kernel.landlock_abi())
    return Finding(cause=Cause.OTHER, text=detail)


# -------------------------------------------------------------------------------------- bwrap


def of_bwrap(host: Host, tool: str, detail: str) -> Finding:
    """Why a bwrap doesn't work; `tool`: its path, empty if there is none."""
    problem = detail.removeprefix(f"{tool}: ")
    rules = (
        _architecture, _imitation, _tool, _switched_off, _masked, _container, _setuid, _apparmor,
        _filter,
    )  # fmt: skip
    for rule in rules:
        for finding in rule(host, tool, problem):
            return finding
    return Finding(cause=Cause.OTHER, text=f"{tool}: {problem}")


def _architecture(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    if "no filter of system calls" in problem:
        yield Finding(
            cause=Cause.ARCHITECTURE,
            text=problem,
            advice="Bots can be confined on x86-64 and AArch64.",
        )


def _imitation(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    if host.wsl1:
        yield Finding(
            cause=Cause.WSL1,
            text="WSL 1 has neither user namespaces nor Landlock (5.13) nor control groups",
            advice="Make the distribution one of WSL 2, in a Windows terminal (`wsl -l` lists "
            "their names):",
            commands=("wsl --set-version DISTRIBUTION 2",),
        )
    if host.gvisor:
        yield Finding(
            cause=Cause.GVISOR,
            text="gVisor lacks parts of the Linux kernel that sandboxes are made of",
            advice="Have the container started by another runtime:",
            commands=("docker run --runtime=runc …",),
        )


def _tool(host: Host, tool: str, problem: str) -> Iterator[Finding]:
    old = "is older than" in problem
    advice, command = remedies.install(host, again=bool(tool) and not old)
    commands = (command,) if command else ()
    if not tool:
        text = "no bwrap is installed, neither on the PATH nor as a wheel"
        yield Finding(cause=Cause.NO_BWRAP, text=text, advice=advice, commands=commands)
    elif old:
        yield Finding(
            cause=Cause.OLD_BWRAP, text=f"{tool} {problem}", advice=advice, commands=commands
        )
    elif problem.startswith(wheel.UNKNOWN):
        yield Finding(
            cause=Cause.UNKNOWN_BWRAP, text=f"{tool}: {problem}", advice=advice, commands=commands
        )
    elif problem.startswith(("does not run", "is no bubblewrap")):
        yield Finding(
            cause=Cause.BROKEN_BWRAP, text=f"{tool} {problem}", advice=advice, commands=commands
        )


def _switched_off(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    """For everybody, or for all but root."""
    if not _REFUSED.search(problem):
        return
    if host.has("proc/self/ns") and not host.has("proc/self/ns/user"):
        yield Finding(
            cause=Cause.NO_NAMESPACES,
            text="this kernel was built without user namespaces",
            advice="Boot the distribution's own kernel, or one with CONFIG_USER_NS=y.",
        )
    advice = "Allow them, now and after the next boot:"
    if host.setting("user.max_user_namespaces") == "0":
        yield Finding(
            cause=Cause.MAX_NAMESPACES,
            text="user namespaces are switched off (user.max_user_namespaces is 0)",
            advice=advice,
            commands=remedies.allow("user.max_user_namespaces", 15000),
        )
    if host.setting("kernel.unprivileged_userns_clone") == "0":
        yield Finding(
            cause=Cause.CLONE_SWITCH,
            text="user namespaces are for root alone (kernel.unprivileged_userns_clone is 0)",
            advice=advice,
            commands=remedies.allow("kernel.unprivileged_userns_clone", 1),
        )


def _masked(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    # Where a part of /proc is hidden, the kernel refuses to show all of it in a fresh one.
    if "mount proc" in problem and host.masked:
        advice, options = remedies.container(host, ("systempaths",))
        yield Finding(
            cause=Cause.MASKED_PROC,
            text="parts of /proc are masked, so a sandbox can't have a /proc of its own",
            advice=advice,
            commands=options,
        )


def _container(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    # Namespaces by its filter, mounts by AppArmor or SELinux, both by taking root's rights.
    mounts = "mount" in problem or "/ slave" in problem
    refuses = mounts or host.filtered or (not host.uid and not host.may_mount)
    if host.container and refuses and _REFUSED.search(problem):
        advice, options = remedies.container(host, ("seccomp", "apparmor", "systempaths"))
        yield Finding(
            cause=Cause.CONTAINER,
            text=f"this container ({host.container}) refuses user namespaces or mounts",
            advice=advice,
            commands=options,
        )


def _setuid(host: Host, tool: str, problem: str) -> Iterator[Finding]:
    try:
        mode = (host.root / tool.lstrip("/")).stat().st_mode
    except OSError:
        return
    if mode & stat.S_ISUID and ("setuid" in problem or "max_user_namespaces" in problem):
        yield Finding(
            cause=Cause.SETUID_BWRAP,
            text=f"{tool} is setuid, and then can't forbid further namespaces",
            advice="Where user namespaces are allowed it needs no such right; take it away:",
            commands=(f"sudo chmod u-s {tool}",),
        )


def _apparmor(host: Host, tool: str, problem: str) -> Iterator[Finding]:
    name = "kernel.apparmor_restrict_unprivileged_userns"
    value = host.setting(name)
    if value in {"", "0"} or not _REFUSED.search(problem):
        return
    text = f"AppArmor keeps user namespaces for programs it knows ({name} is {value})"
    if host.uid:
        # As an ordinary user, the arena mounts scratch space itself: a profile for bwrap would
        # let only those bots play that ask for none.
        yield Finding(
            cause=Cause.APPARMOR,
            text=text,
            advice="Give them to all programs, now and after the next boot:",
            commands=remedies.allow(name, 0),
        )
    else:
        yield Finding(
            cause=Cause.APPARMOR,
            text=text,
            advice="Tell it of this bwrap:",
            commands=remedies.profile(tool),
        )


def _filter(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    if host.filtered and _REFUSED.search(problem):
        yield Finding(
            cause=Cause.FILTER,
            text="an inherited filter of system calls denies user namespaces or mounts",
            advice="Start the arena outside of what has set the filter: a container, a service "
            "with RestrictNamespaces= or SystemCallFilter=, a terminal in Flatpak or Snap.",
        )


# ----------------------------------------------------------------------------------- landlock


def of_landlock(host: Host, detail: str, abi: int) -> Finding:
    """Why Landlock doesn't work; `abi`: the version that the kernel offers, 0 for none."""
    problem = detail
    for finding in _architecture(host, "", problem):
        return finding
    if abi:
        return Finding(cause=Cause.OTHER, text=problem)
    for finding in _imitation(host, "", problem):
        return finding
    if (0, 0) < host.version < LANDLOCK_SINCE:
        return Finding(
            cause=Cause.OLD_KERNEL,
            text=f"Linux {host.release} has no Landlock, 5.13 and newer have it",
            advice="Boot a newer kernel.",
        )
    lsm = host.text("sys/kernel/security/lsm")
    if host.filtered and (not lsm or "landlock" in lsm.split(",")):
        return Finding(
            cause=Cause.LANDLOCK_FILTERED,
            text="a filter of system calls hides Landlock, which Linux 5.13 and newer have",
            advice="Start the arena outside of what has set the filter, or update the container "
            "runtime: today's let Landlock through.",
        )
    advice, commands = remedies.lsm(host)
    return Finding(
        cause=Cause.LANDLOCK_OFF,
        text="Landlock, which Linux 5.13 and newer have, is not switched on",
        advice=advice,
        commands=commands,
    )


# ------------------------------------------------------------------------------------- memory


def of_memory(
    groupless: str, host: Host | None = None, environ: Mapping[str, str] = os.environ
) -> Finding:
    """Why no control group holds a bot's memory; `groupless`: what the spawner has said."""
    host = host or Host()
    for finding in (*_imitation(host, "", groupless), *_groups(host, environ)):
        return finding
    problem, _, remedy = groupless.partition(". Remedy: ")
    return Finding(
        cause=Cause.OTHER,
        text=problem,
        advice=f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "",
    )


def _groups(host: Host, environ: Mapping[str, str]) -> Iterator[Finding]:
    memberships = [line.split(":", 2) for line in host.text("proc/self/cgroup").splitlines()]
    v1 = any("memory" in controllers.split(",") for _, controllers, _ in memberships)
    if host.mounted_read_only("cgroup" if v1 else "cgroup2"):
        advice, options = remedies.writable_cgroups(host)
        yield Finding(
            cause=Cause.READ_ONLY_CGROUPS,
            text="the control group file system is mounted read-only",
            advice=advice,
            commands=options,
        )
    elif host.uid and v1:
        yield Finding(
            cause=Cause.CGROUP_V1,
            text="control groups of version 1 are for root alone",
            advice="Boot with version 2, by this on the kernel's command line:",
            commands=("systemd.unified_cgroup_hierarchy=1",),
        )
    elif host.uid and host.has("run/systemd/system"):
        yield from _user_manager(host, environ)


def _user_manager(host: Host, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the user's systemd could give us a group of our own."""
    runtime = f"run/user/{host.uid}"
    export = f"export XDG_RUNTIME_DIR=/{runtime}"
    if not any(host.has(f"{runtime}/{name}") for name in ("systemd/private", "bus")):
        yield Finding(
            cause=Cause.NO_USER_MANAGER,
            text="no service manager runs for this user",
            advice="Have one run always, also without a login, then start the arena again:",
            commands=(f"sudo loginctl enable-linger {host.uid}", export),
        )
    elif environ.get("XDG_RUNTIME_DIR", "").strip("/") != runtime:
        yield Finding(
            cause=Cause.NO_USER_MANAGER,
            text="XDG_RUNTIME_DIR does not lead to this user's service manager",
            advice="Say where it is, then start the arena again:",
            commands=(export,),
        )
    own = f"sys/fs/cgroup/user.slice/user-{host.uid}.slice/user@{host.uid}.service"
    if host.has(own) and "memory" not in host.text(f"{own}/cgroup.controllers").split():
        yield Finding(
            cause=Cause.NOT_DELEGATED,
            text="systemd does not delegate the memory controller to users",
            advice="Have it do so, then log out and in again:",
            commands=(
                "sudo mkdir -p /etc/systemd/system/user@.service.d",
                "sudo tee /etc/systemd/system/user@.service.d/delegate.conf <<END",
                "[Service]",
                "Delegate=memory pids",
                "END",
                "sudo systemctl daemon-reload",
            ),
        )
