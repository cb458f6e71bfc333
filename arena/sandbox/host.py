"""Read what this machine's own files say, as far as sandboxes depend on it.

Invariant: reads small files below one folder (`/`, except in tests); runs nothing, changes nothing.
A file that can't be read counts as missing.
"""

import os
import re
from pathlib import Path

CAP_SYS_ADMIN = 21
KUBERNETES = "# Kubernetes-managed hosts file"  # how /etc/hosts of a pod begins
_UNMASKING = "/proc/sys/fs/binfmt_misc"  # mounted on every machine, on an empty folder


class Host:
    def __init__(self, root: Path = Path("/"), *, uid: int | None = None) -> None:
        self.root = root
        self.uid = os.geteuid() if uid is None else uid

    def text(self, path: str) -> str:
        """A file's content, stripped; empty if it can't be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""

    def has(self, path: str) -> bool:
        return os.path.lexists(self.root / path)

    def fields(self, path: str, separator: str) -> dict[str, str]:
        pairs = (line.partition(separator) for line in self.text(path).splitlines())
        return {name: value.strip().strip('"') for name, _, value in pairs}

    def setting(self, name: str) -> str:
        """A kernel setting by its sysctl name; empty if the kernel has no such setting."""
        return self.text(f"proc/sys/{name.replace('.', '/')}")

    @property
    def release(self) -> str:
        return self.setting("kernel.osrelease")

    @property
    def version(self) -> tuple[int, int]:
        """The kernel's version; (0, 0) if unknown."""
        found = re.match(r"(\d+)\.(\d+)", self.release)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @property
    def wsl1(self) -> bool:
        """Whether Windows imitates the kernel; WSL 2 has a real one, and a name in lower case."""
        return "Microsoft" in self.release and "WSL2" not in self.release

    @property
    def gvisor(self) -> bool:
        """Whether gVisor imitates the kernel, whatever version it claims to be."""
        version = self.text("proc/version")
        return "gvisor" in version.lower() or "Sun Jan 10 15:06:54 PST 2016" in version

    @property
    def container(self) -> str:
        """The kind of container that this is: "docker", "podman", …; empty: none is recognised."""
        # A pod may lack the secret of its account.
        if self.has("run/secrets/kubernetes.io") or self.text("etc/hosts").startswith(KUBERNETES):
            return "kubernetes"
        if self.has("run/.containerenv"):
            return "podman"
        return "docker" if self.has(".dockerenv") else self.text("run/systemd/container")

    @property
    def filtered(self) -> bool:
        """Whether a seccomp filter applies to this process."""
        return self.fields("proc/self/status", ":").get("Seccomp") == "2"

    @property
    def may_mount(self) -> bool:
        """Whether this process has CAP_SYS_ADMIN, as root has outside of containers."""
        capabilities = self.fields("proc/self/status", ":").get("CapEff", "0")
        return bool(int(capabilities, 16) >> CAP_SYS_ADMIN & 1)

    @property
    def masked(self) -> bool:
        """Whether parts of /proc are hidden or read-only, as container runtimes make them."""
        places = [line.split(" ")[4] for line in self.text("proc/self/mountinfo").splitlines()]
        return any(p.startswith("/proc/") and not p.startswith(_UNMASKING) for p in places)

    def mounted_read_only(self, kind: str) -> bool:
        """Whether there are mounts of a kind of file system and all of them are read-only."""
        found = []
        for line in self.text("proc/self/mountinfo").splitlines():
            fields, _, rest = line.partition(" - ")
            if rest.split(" ")[0] == kind:
                found.append("ro" in fields.split(" ")[5].split(","))
        return bool(found) and all(found)
