"""Which of the host's folders, files and devices every bot sees: those of visible.toml that exist.

Reads directory listings only.
"""

import functools
import os
import stat
from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch
from arena.tables import table

_TABLE = table("sandbox/visible")
SYSTEM = tuple(name.format(machine=os.uname().machine) for name in _TABLE["system"])
DEVICES = tuple(f"/dev/{name}" for name in _TABLE["devices"])
PROC = tuple(f"/proc/{name}" for name in _TABLE["proc"])
OWN_PROC = tuple(f"/proc/self/{name}" for name in _TABLE["own_proc"])

_OWN = ("/bot", "/dev", "/etc", "/proc")  # a sandbox has its own: nothing can be shown there


@functools.cache
def etc(building: bool) -> tuple[str, ...]:  # noqa: FBT001 - the cache's key
    patterns = (*_TABLE["etc"], *(_TABLE["etc_of_builds"] if building else ()))
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
