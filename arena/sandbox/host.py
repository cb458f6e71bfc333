"""What a machine's own files say about it, as far as sandboxes depend on it.

Invariant: reads small files below one folder, `/` but in tests; runs nothing, changes nothing,
and what it can't read is as if it weren't there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

CAP_SYS_ADMIN = 21

KUBERNETES = "# Kubernetes-managed hosts file"
"""What its pods' /etc/hosts begins with."""

_UNMASKING = "/proc/sys/fs/binfmt_misc"
"""Mounted on every machine, and on an empty folder: that hides nothing."""


class Host:
    """A machine, asked anew each time."""

    def __init__(self, root: Path = Path("/"), *, uid: int | None = None) -> None:
        """`root`: where the machine's / is; `uid`: who asks."""
        self.root = root
        self.uid = os.geteuid() if uid is None else uid

    def text(self, path: str) -> str:
        """A file's content, stripped; nothing where it can't be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""

    def has(self, path: str) -> bool:
        """Whether there is such a file or folder, as far as we may see."""
        return os.path.lexists(self.root / path)

    def fields(self, path: str, separator: str) -> dict[str, str]:
        """A file of names and values."""
        pairs = (line.partition(separator) for line in self.text(path).splitlines())
        return {name: value.strip().strip('"') for name, _, value in pairs}

    def setting(self, name: str) -> str:
        """A setting of the kernel, as sysctl names it; nothing where it has none of that name."""
        return self.text(f"proc/sys/{name.replace('.', '/')}")

    @property
    def release(self) -> str:
        """Of the kernel."""
        return self.setting("kernel.osrelease")

    @property
    def version(self) -> tuple[int, int]:
        """Of the kernel; (0, 0) if it doesn't tell."""
        found = re.match(r"(\d+)\.(\d+)", self.release)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @property
    def wsl1(self) -> bool:
        """Whether Windows imitates the kernel; WSL 2 has a real one, and a name in lower case."""
        return "Microsoft" in self.release and "WSL2" not in self.release

    @property
    def gvisor(self) -> bool:
        """Whether gVisor imitates the kernel: of this moment, whatever version it claims."""
        version = self.text("proc/version")
        return "gvisor" in version.lower() or "Sun Jan 10 15:06:54 PST 2016" in version

    @property
    def container(self) -> str:
        """The kind of container that this is: "docker", "podman", …; empty: none to be seen."""
        # A pod may go without the secret of its account.
        if self.has("run/secrets/kubernetes.io") or self.text("etc/hosts").startswith(KUBERNETES):
            return "kubernetes"
        if self.has("run/.containerenv"):
            return "podman"
        if self.has(".dockerenv"):
            return "docker"
        return self.text("run/systemd/container")

    @property
    def filtered(self) -> bool:
        """Whether a filter of system calls is upon us."""
        return self.fields("proc/self/status", ":").get("Seccomp") == "2"

    @property
    def may_mount(self) -> bool:
        """Whether we have the right that root has outside of containers."""
        rights = self.fields("proc/self/status", ":").get("CapEff", "0")
        return bool(int(rights, 16) >> CAP_SYS_ADMIN & 1)

    @property
    def masked(self) -> bool:
        """Whether parts of /proc are hidden or read-only, as container runtimes do."""
        places = [line.split(" ")[4] for line in self.text("proc/self/mountinfo").splitlines()]
        return any(p.startswith("/proc/") and not p.startswith(_UNMASKING) for p in places)

    def mounted_read_only(self, kind: str) -> bool:
        """Whether all mounts of a kind of file system are read-only; False: there is none."""
        found = []
        for line in self.text("proc/self/mountinfo").splitlines():
            fields, _, rest = line.partition(" - ")
            if rest.split(" ")[0] == kind:
                found.append("ro" in fields.split(" ")[5].split(","))
        return bool(found) and all(found)
