"""What of the host every bot may see, whatever confines it: programs, libraries, devices.

Reads directory listings only. What isn't named here stays hidden: homes, host names, users,
services, the rest of /etc, /dev and /proc.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

ETC = (
    "R", "alternatives", "crypto-policies", "dotnet", "java*", "julia", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "mono", "perl", "php*", "pki/java", "python*",
    "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""What interpreters and linkers read. Not the rest of /etc: host names, users, services."""

DEVICES = ("null", "full", "random", "urandom")
"""No terminals: the machine has 4,096 for everybody, and any program could take them all. No
/dev/zero: mapped as shared, it is memory that no page table need show."""

_OWN = ("/bot", "/dev", "/etc", "/proc")
"""What a sandbox has of its own: nothing of the host's is shown there."""


def etc() -> Iterator[str]:
    """The paths in /etc to show."""
    for pattern in ETC:
        for path in sorted(Path("/etc").glob(pattern)):
            if _public(path):
                yield str(path)


def exposed(launch: Launch) -> list[str]:
    """The folders of a launch that the system's own don't already show; UserError for those that
    can't be shown.
    """
    folders = sorted("/" + os.path.normpath(folder).lstrip("/") for folder in launch.expose)
    for folder in folders:
        in_own = any(Path(folder).is_relative_to(own) for own in _OWN)
        if in_own or folder in {"/", "/tmp"}:  # noqa: S108 - a rule, no use of it
            raise UserError(f"expose: {folder} can't be shown: a sandbox has its own")
    return [each for each in folders if not any(Path(each).is_relative_to(s) for s in SYSTEM)]


def _public(path: Path) -> bool:
    """Whether it exists and everybody may read it: the spare uid of root must."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IROTH) and (not stat.S_ISDIR(mode) or bool(mode & stat.S_IXOTH))
