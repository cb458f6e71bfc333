"""Find this process's control groups, and the places where new ones may be made.

If the kernel has the memory controller in version 1, version 2 can't have it. With version 1 our
place is below our own group. With version 2 a group that passes controllers on to its children can
hold no process, so there are three kinds of places, best first:

1. our own group, if it holds no process but us: we step down into a group below it, and back up
   at the end. No other process is ever moved;
2. the group above, if systemd has marked it as delegated: a unit with DelegateSubgroup=;
3. for root, the nearest group whose children already get the memory controller, or the root
   of all groups, which may hold processes.

Keeps no state, changes nothing by itself.
"""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROC = Path("/proc/self")
MEMORY = "memory"
PIDS = "pids"
SUBTREE = "cgroup.subtree_control"
PROCS = "cgroup.procs"

ASK_SYSTEMD = (
    "log in so that `systemd-run --user --scope -p Delegate=yes true` works, or start the arena "
    "as root or from a unit with Delegate=yes and DelegateSubgroup=main"
)
ASK_ROOT = "start the arena as root, or boot with cgroup v2 alone"
ASK_CONTAINER = "give the container a writable /sys/fs/cgroup, or start the arena outside of it"
ASK_BOOT = "boot with cgroup_enable=memory"
ASK_MOUNT = "mount it below /sys/fs/cgroup"


class NoGroupsError(Exception):
    """Why control groups can't be used, and what to do about it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}. Remedy: {remedy}")


class Calls:
    """All that is asked of the control group file system, so that a test can play the kernel."""

    proc = PROC  # the folder with our `cgroup` and `mountinfo`
    root = os.geteuid() == 0  # whether to act as root would

    def make(self, folder: Path) -> None:
        folder.mkdir(mode=0o755)

    def remove(self, folder: Path) -> None:
        """Works only if the group holds neither processes nor groups."""
        folder.rmdir()

    def below(self, folder: Path) -> list[Path]:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]

    def read(self, path: Path) -> str:
        return path.read_text()

    def write(self, path: Path, text: str) -> None:
        """Write in one system call, as the kernel wants it, and never create a file."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)

    def kill(self, pid: int, folder: Path) -> None:
        """Kill a process of a group, but not another one that has got its pid since."""
        if pid == 0:  # of another pid namespace
            return
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                if str(pid) in self.read(folder / PROCS).split():
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)

    def delegated(self, folder: Path) -> bool:
        """Whether systemd has delegated this group, and we may write to it."""
        for name in ("user.delegate", "trusted.delegate"):
            with contextlib.suppress(OSError):
                if os.getxattr(folder, name) == b"1":
                    return os.access(folder, os.W_OK)
        return False


CALLS = Calls()


class GroupPlace(NamedTuple):
    folder: Path
    step_down: bool = False  # it is our own, and we have to leave it
    turn_on: bool = False  # it is ours, or the root: controllers may be turned on for its children


class Membership(NamedTuple):
    """Which group this process is in, for one controller."""

    version: int
    own: Path
    top: Path  # where the file system is mounted

    def upwards(self) -> Iterator[Path]:
        """Our group and those above it, up to the mount."""
        for folder in (self.own, *self.own.parents):
            yield folder
            if folder == self.top:
                return


def membership(proc: Path = PROC, controller: str = MEMORY) -> Membership:
    """Our group for a controller in version 1, else in version 2. NoGroupsError: none is seen."""
    try:
        lines = [line.split(":", 2) for line in (proc / "cgroup").read_text().splitlines()]
        mounts = (proc / "mountinfo").read_text().splitlines()
    except OSError as error:
        raise NoGroupsError(
            f"this kernel shows no control groups ({error})", ASK_CONTAINER
        ) from error
    for _, controllers, path in lines:
        if controller in controllers.split(","):
            return Membership(1, *_located(path, mounts, "cgroup", controller))
    for number, _, path in lines:
        if number == "0":
            return Membership(2, *_located(path, mounts, "cgroup2", ""))
    raise NoGroupsError(f"this kernel has no {controller} controller", ASK_BOOT)


def _located(path: str, mounts: list[str], kind: str, controller: str) -> tuple[Path, Path]:
    """The folders of a group and of its mount. The kernel shows both the group's path and the root
    of a mount as seen from our namespace: above that they begin with "..", and lead nowhere.
    """
    name = f"the {controller} hierarchy" if controller else "cgroup v2"
    mounted = False
    for line in reversed(mounts):  # a later mount hides an earlier one
        fields, _, rest = line.partition(" - ")
        found, _, options = rest.split(" ", 2)
        if found == kind and (not controller or controller in options.split(",")):
            mounted = True
            root, target = (_unescaped(field) for field in fields.split(" ")[3:5])
            with contextlib.suppress(ValueError):
                inner = PurePosixPath(path).relative_to(root)
                own = Path(target, inner)
                if ".." not in inner.parts and (own / PROCS).exists():
                    return own, Path(target)
    if mounted:
        raise NoGroupsError(f"the mount of {name} does not show our group {path}", ASK_CONTAINER)
    raise NoGroupsError(f"{name} is not mounted here", ASK_MOUNT)


def _unescaped(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def places(found: Membership, calls: Calls) -> Iterator[GroupPlace]:
    """Where groups may be made, best first."""
    own, top = found.own, found.top
    if found.version == 1:
        yield GroupPlace(own)
        return
    yield GroupPlace(own, step_down=True, turn_on=True)
    above = own.parent
    if own != top and calls.delegated(above) and not calls.read(above / PROCS).split():
        yield GroupPlace(above, turn_on=True)
    for folder in found.upwards() if calls.root else ():
        is_root = not (folder / "cgroup.type").exists()  # only the root of all groups has none
        if is_root or MEMORY in calls.read(folder / SUBTREE).split():
            yield GroupPlace(folder, turn_on=is_root)
            return
