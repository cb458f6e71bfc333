"""What of the host every bot may see, whatever confines it: programs, libraries, devices.

Reads directory listings only. What isn't named here stays hidden: homes, host names, users,
services, the rest of /etc, /dev and /proc.
"""

from __future__ import annotations

import functools
import os
import stat
from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

ETC = (
    "R", "alternatives", "crypto-policies", "dotnet", "java*", "julia", "ld.so.cache",
    "localtime", "mono", "php*", "pki/java", "python3.*", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""What interpreters read. Not the rest of /etc: host names, users, services."""

ETC_OF_BUILDS = ("ld.so.conf", "ld.so.conf.d")
"""What linkers read besides. Each entry is a mount, and a bot's start has to wait for it."""

DEVICES = ("null", "random", "urandom")
"""No terminals: the machine has 4,096 for everybody, and any program could take them all. No
/dev/zero: mapped as shared, it is memory that no page table need show."""

_OWN = ("/bot", "/dev", "/etc", "/proc")
"""What a sandbox has of its own: nothing of the host's is shown there."""


@functools.cache
def etc(building: bool) -> tuple[str, ...]:  # noqa: FBT001 - the cache's key
    """The paths in /etc to show."""
    patterns = (*ETC, *(ETC_OF_BUILDS if building else ()))
    found = (path for pattern in patterns for path in sorted(Path("/etc").glob(pattern)))
    return tuple(str(path) for path in found if _public(path))


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


def reachable(path: str) -> bool:
    """Whether everybody may read it and enter all folders above it."""
    above = Path(path).parents
    return _public(Path(path)) and all(each.stat().st_mode & stat.S_IXOTH for each in above)


def _public(path: Path) -> bool:
    """Whether it exists and everybody may read it: the spare uid of root must."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IROTH) and (not stat.S_ISDIR(mode) or bool(mode & stat.S_IXOTH))
