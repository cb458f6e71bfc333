"""Which of the host's folders, files and devices every bot sees, in every backend.

Reads directory listings only. What isn't named here stays hidden: homes, host names, users,
services, the rest of /usr, /etc, /dev and /proc.
"""

import functools
import os
import stat
from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch

_LIBRARIES = ("lib", "lib32", "lib64", "libexec", "libx32")
_TOOLCHAINS = ("linux-gnu", "pc-linux-gnu", "redhat-linux", "suse-linux", "unknown-linux-gnu")

SYSTEM = (
    *(f"/{name}" for name in ("bin", "sbin", *_LIBRARIES)),
    *(
        f"{prefix}/{name}"
        for prefix in ("/usr", "/usr/local")
        for name in ("bin", "games", "include", "sbin", "share", *_LIBRARIES)
    ),
    *(f"/usr/{os.uname().machine}-{name}" for name in _TOOLCHAINS),
)
"""Where distributions put programs and what those read, if it exists; none lies in another. Not
all of /usr: people work in /usr/src/app, and /usr/local/etc holds settings and passwords."""

ETC = (
    "R", "alternatives", "crypto-policies", "dotnet", "java*", "julia", "ld.so.cache",
    "localtime", "mono", "php*", "pki/java", "python3.*", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""What interpreters read. Not the rest of /etc: host names, users, services."""

ETC_OF_BUILDS = ("ld.so.conf", "ld.so.conf.d")  # what linkers read; each entry delays a start

DEVICES = ("null", "random", "urandom")
"""No terminals: the machine has 4,096, and any program could take them all. No /dev/zero: a shared
mapping of it is memory that need not be in any page table."""

_OWN = ("/bot", "/dev", "/etc", "/proc")  # a sandbox has its own: nothing can be shown there


@functools.cache
def etc(building: bool) -> tuple[str, ...]:  # noqa: FBT001 - the cache's key
    patterns = (*ETC, *(ETC_OF_BUILDS if building else ()))
    found = (path for pattern in patterns for path in sorted(Path("/etc").glob(pattern)))
    return tuple(str(path) for path in found if _public(path))


def exposed_folders(launch: Launch) -> list[str]:
    """The exposed folders of a launch that aren't in SYSTEM. UserError: one can't be shown."""
    folders = sorted("/" + os.path.normpath(folder).lstrip("/") for folder in launch.expose)
    for folder in folders:
        in_own = any(Path(folder).is_relative_to(own) for own in _OWN)
        if in_own or folder in {"/", "/tmp"}:  # noqa: S108 - a rule, no use of it
            raise UserError(f"expose: {folder} can't be shown: a sandbox has its own")
    return [each for each in folders if not any(_overlap(each, system) for system in SYSTEM)]


def _overlap(folder: str, system: str) -> bool:
    return Path(folder).is_relative_to(system) or Path(system).is_relative_to(folder)


def system() -> tuple[str, ...]:
    """Those of SYSTEM that exist, without links: a link leads to another of them, or elsewhere."""
    return tuple(name for name in SYSTEM if os.path.isdir(name) and not os.path.islink(name))  # noqa: PTH112, PTH114 - speed


def public_folder_of(place: Path) -> str:
    """Which of the folders that every bot sees contains this one; empty: none."""
    real = Path(os.path.realpath(place))
    folders = (*system(), *etc(building=True))
    return next((each for each in folders if real.is_relative_to(os.path.realpath(each))), "")


def reachable(path: str) -> bool:
    """Whether every user may read it and enter all folders above it."""
    above = Path(path).parents
    return _public(Path(path)) and all(each.stat().st_mode & stat.S_IXOTH for each in above)


def _public(path: Path) -> bool:
    """Whether it exists and every user may read it, a spare uid too."""
    try:
        return is_public(path.stat())
    except OSError:
        return False


def is_public(info: os.stat_result) -> bool:
    """Whether every user may read it, and enter it if it is a folder."""
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(info.st_mode) else 0)
    return info.st_mode & wanted == wanted
