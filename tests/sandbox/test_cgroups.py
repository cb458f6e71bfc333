"""Groups by a kernel that is played in a folder, and by the real one where it lets us."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox import cgroups
from arena.sandbox.cgroupfs import Calls, GroupPlace, membership, places

PROJECT = Path(cgroups.__file__).parents[2]
DEADLINE_S = 90.0
MB = 1 << 20

MOUNTS = {
    1: "40 31 0:32 {root} {top} rw,relatime shared:9 - cgroup cgroup rw,memory\n",
    2: "41 31 0:38 {root} {top} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
}
OTHER_MOUNTS = (
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "23 27 0:22 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
)


class Kernel(Calls):
    """Plays the kernel's part in ordinary folders: which files there are, what it refuses."""

    def __init__(self, folder, version, *, offers=("memory", "pids"), counts=True):
        self.proc = folder / "proc"
        self.top = folder / "sys fs"
        self.version = version
        self.offers = set(offers)
        self.counts = counts
        self.denied = {}
        """Errno by folder, for making a group there."""
        self.marked = set()
        self.proc.mkdir()
        self.top.mkdir()
        self._fill(self.top)

    def _fill(self, folder):
        files = {"cgroup.procs": ""}
        if self.version == 1:
            files |= {
                "tasks": "",
                "memory.limit_in_bytes": "9223372036854771712",
                "memory.memsw.limit_in_bytes": "9223372036854771712",
                "memory.usage_in_bytes": str(self.counts * 8 * MB),
                "memory.max_usage_in_bytes": "3145728\n",
                "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
                "memory.swappiness": "60",
                "memory.use_hierarchy": "0",
            }
        else:
            files |= {"cgroup.controllers": "", "cgroup.subtree_control": "", "cgroup.kill": ""}
            if folder != self.top:
                files["cgroup.type"] = "domain\n"
        for name, text in files.items():
            (folder / name).write_text(text)
        if self.version == 2:
            offered = self.offers
            if folder != self.top:
                offered = (folder.parent / "cgroup.subtree_control").read_text().split()
            self._offer(folder, offered)

    def _offer(self, folder, names):
        (folder / "cgroup.controllers").write_text(" ".join(sorted(names)))
        files = {
            "memory": {
                "memory.max": "max",
                "memory.swap.max": "max",
                "memory.oom.group": "0",
                "memory.current": str(self.counts * 8 * MB),
                "memory.peak": "3145728\n",
                "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\noom_group_kill 0\n",
            },
            "pids": {"pids.max": "max"},
        }
        for controller, contents in files.items():
            for name, text in contents.items():
                if controller not in names:
                    (folder / name).unlink(missing_ok=True)
                elif not (folder / name).exists() and folder != self.top:
                    (folder / name).write_text(text)

    def add(self, path, *, passes=(), holds=()):
        """A group that was there before us."""
        folder = self.top / path.strip("/")
        if not folder.exists():
            folder.mkdir()
            self._fill(folder)
        (folder / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in holds))
        if passes:
            self._pass_on(folder, set(passes))
        return folder

    def live_in(self, path, *, root="/", top=None, lines=""):
        """Say where this process is, and what is mounted."""
        kind = "4:memory:" if self.version == 1 else "0::"
        (self.proc / "cgroup").write_text(f"{lines}{kind}{path}\n")
        mount = MOUNTS[self.version].format(
            root=root, top=str(top or self.top).replace(" ", r"\040")
        )
        (self.proc / "mountinfo").write_text(OTHER_MOUNTS + mount)

    def find(self, *, root=False):
        self.root = root
        return cgroups.find(self)

    def holds(self, folder):
        pids = (folder / "cgroup.procs").read_text().split()
        return [int(pid) for pid in pids if Path("/proc", pid).exists()]

    def _pass_on(self, folder, names):
        (folder / "cgroup.subtree_control").write_text(" ".join(sorted(names)))
        for child in self.below(folder):
            self._offer(child, names)

    def make(self, folder):
        if number := self.denied.get(folder.parent):
            raise OSError(number, os.strerror(number), str(folder))
        super().make(folder)
        self._fill(folder)

    def remove(self, folder):
        if self.holds(folder) or self.below(folder):
            raise OSError(errno.EBUSY, "busy", str(folder))
        for path in folder.iterdir():
            path.unlink()
        super().remove(folder)

    def write(self, path, text):
        if path.name == "cgroup.subtree_control":
            self._switch(path, text.split())
        elif path.name in {"cgroup.procs", "tasks"}:
            assert text == "0"
            self._move(path)
        else:
            # As the kernel's files: what is written is all that is there.
            os.truncate(path, 0)
            super().write(path, text)

    def _switch(self, path, words):
        folder = path.parent
        present = set(path.read_text().split())
        for word in words:
            name = word[1:]
            if word[0] == "+":
                if name not in (folder / "cgroup.controllers").read_text().split():
                    raise OSError(errno.ENOENT, "no such controller", str(path))
                if folder != self.top and self.holds(folder):
                    raise OSError(errno.EBUSY, "internal processes", str(path))
                present.add(name)
            else:
                used = [(child / path.name).read_text().split() for child in self.below(folder)]
                if any(name in names for names in used):
                    raise OSError(errno.EBUSY, "in use below", str(path))
                present.discard(name)
        self._pass_on(folder, present)

    def _move(self, path):
        folder = path.parent
        passes = self.version == 2 and (folder / "cgroup.subtree_control").read_text()
        if passes and folder != self.top:
            raise OSError(errno.EBUSY, "passes controllers on", str(path))
        me = os.getpid()
        for other in self.top.rglob("cgroup.procs"):
            kept = [pid for pid in other.read_text().split() if int(pid) != me]
            other.write_text("".join(f"{pid}\n" for pid in kept))
        (folder / "cgroup.procs").write_text(f"{me}\n")

    def delegated(self, folder):
        return folder in self.marked

    def everything(self):
        """All groups and what they pass on, to be compared."""
        return {
            str(path.parent.relative_to(self.top)): path.read_text()
            for path in self.top.rglob("cgroup.subtree_control" if self.version == 2 else "tasks")
        }


@pytest.fixture
def v1(tmp_path):
    kernel = Kernel(tmp_path, 1)
    kernel.add("/ours")
    kernel.live_in("/ours")
    return kernel


@pytest.fixture
def v2(tmp_path):
    """A group that is delegated to us, and holds us alone."""
    kernel = Kernel(tmp_path, 2)
    kernel.add("/user", passes=("memory", "pids"))
    kernel.add("/user/scope", holds=[os.getpid()])
    kernel.live_in("/user/scope")
    return kernel


def texts(folder, *names):
    return {name: (folder / name).read_text() for name in names}


def test_limits_of_version_2(v2):
    """A group gets its limits, no swap, one fate for all its tasks, and the child's way in."""
    hierarchy, reason = v2.find()
    assert "" == reason
    assert "cgroup v2" == hierarchy.name
    assert hierarchy.counts_tasks
    group = hierarchy.group("bot-1", memory_mb=100, tasks=17)
    assert {
        "memory.max": "104857600",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "17",
    } == texts(group.path, "memory.max", "memory.swap.max", "memory.oom.group", "pids.max")
    assert str(group.path / "cgroup.procs") == group.entrance_file
    assert hierarchy.folder == group.path.parent
    hierarchy.close()


def test_limits_of_version_1(v1):
    """Memory is limited, alone and with swap, tasks aren't; the way in is that for one thread."""
    hierarchy, reason = v1.find()
    assert "" == reason
    assert "cgroup v1" == hierarchy.name
    assert not hierarchy.counts_tasks
    assert {
        "memory.use_hierarchy": "1",
        "memory.swappiness": "0",
        "memory.oom_control": "0",
    } == texts(hierarchy.folder, "memory.use_hierarchy", "memory.swappiness", "memory.oom_control")
    group = hierarchy.group("bot-1", memory_mb=100, tasks=17)
    assert {
        "memory.limit_in_bytes": "104857600",
        "memory.memsw.limit_in_bytes": "104857600",
    } == texts(group.path, "memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
    assert str(group.path / "tasks") == group.entrance_file
    hierarchy.close()
    assert {".", "ours"} == v1.everything().keys()


@pytest.mark.parametrize("version", [1, 2])
def test_no_limit(version, request):
    """A limit of 0 leaves the kernel's own."""
    kernel = request.getfixturevalue(f"v{version}")
    hierarchy = kernel.find()[0]
    group = hierarchy.group("bot-1", memory_mb=0, tasks=0)
    name, text = {
        1: ("memory.limit_in_bytes", "9223372036854771712"),
        2: ("memory.max", "max"),
    }[version]
    assert text == (group.path / name).read_text()
    hierarchy.close()


@pytest.mark.parametrize("version", [1, 2])
def test_counts(version, request):
    """Kills and the peak are read from the kernel, and are 0 where it doesn't tell."""
    kernel = request.getfixturevalue(f"v{version}")
    hierarchy = kernel.find()[0]
    group = hierarchy.group("bot-1", memory_mb=100, tasks=17)
    assert 0 == group.kills()
    assert 3.0 == group.peak_mb()
    events = group.path / group.events
    events.write_text("under_oom 0\noom 9\noom_kill 4\noom_group_kill 1\n")
    assert 4 == group.kills()
    events.write_text("oom_kill_disable 0\nunder_oom 0\n")
    assert not group.at_limit()
    events.write_text("oom_kill_disable 0\nunder_oom 0\noom 1\n")
    (group.path / group.peak).write_text(f"{100 * MB - 4096}\n")
    assert group.at_limit()
    events.write_text("oom_kill_disable 0\nunder_oom 0\n")
    (group.path / group.peak).unlink()
    assert 0 == group.kills()
    assert 0.0 == group.peak_mb()
    hierarchy.close()


def test_stepping_down_and_up(v2):
    """In a group delegated to us we move ourselves alone below, and at the end all is as before."""
    scope = v2.top / "user/scope"
    before = v2.everything()
    hierarchy = v2.find()[0]
    assert [] == v2.holds(scope)
    assert [os.getpid()] == v2.holds(hierarchy.folder / "spawner")
    assert "memory pids" == (scope / "cgroup.subtree_control").read_text()
    assert "memory pids" == (hierarchy.folder / "cgroup.subtree_control").read_text()
    hierarchy.close()
    assert before == v2.everything()
    assert [os.getpid()] == v2.holds(scope)


def test_internal_processes(v2):
    """A group that holds somebody else is left alone, and the reason says what to do."""
    before = v2.everything()
    scope = v2.add("/user/scope", holds=[os.getpid(), os.getppid()])
    hierarchy, reason = v2.find()
    assert hierarchy is None
    assert f"{scope} holds 1 other processes. Remedy: log in so that `systemd-run" in reason
    assert before == v2.everything()
    assert {os.getpid(), os.getppid()} == set(v2.holds(scope))


def test_intruder(v2):
    """A process that comes in while we step down makes the kernel refuse; all is undone."""
    before = v2.everything()
    scope = v2.top / "user/scope"
    step_down = v2.write

    def write(path, text):
        step_down(path, text)
        if path.parent.name == "spawner":
            (scope / "cgroup.procs").write_text(f"{os.getppid()}\n")

    v2.write = write
    hierarchy, reason = v2.find()
    assert hierarchy is None
    assert "internal processes" in reason
    assert before == v2.everything()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "is not delegated to us (Permission denied). Remedy: log in"),
        (errno.EROFS, "Read-only file system. Remedy: give the container a writable"),
        (errno.ENOSPC, "No space left on device. Remedy: log in"),
    ],
)
def test_refusals(v2, number, words):
    """Where no group can be made there are none, and the reason has a remedy."""
    v2.denied[v2.top / "user/scope"] = number
    hierarchy, reason = v2.find()
    assert hierarchy is None
    assert words in reason
    assert "\n" not in reason


def test_refusal_of_version_1(v1):
    """With version 1 only root can have groups, and is named."""
    v1.denied[v1.top / "ours"] = errno.EACCES
    hierarchy, reason = v1.find()
    assert hierarchy is None
    assert "Remedy: start the arena as root" in reason


def test_no_memory_controller(tmp_path):
    """A group that isn't given the memory controller is no place."""
    kernel = Kernel(tmp_path, 2, offers=("pids",))
    kernel.add("/scope", holds=[os.getpid()])
    kernel.live_in("/scope")
    before = kernel.everything()
    for root in (False, True):
        hierarchy, reason = kernel.find(root=root)
        assert hierarchy is None
        assert "the memory controller is not passed down to" in reason
        assert before == kernel.everything()


def test_no_pids_controller(tmp_path):
    """Without the controller of tasks, memory is limited all the same."""
    kernel = Kernel(tmp_path, 2)
    kernel.add("/", passes=("memory",))
    kernel.add("/scope", holds=[os.getpid()])
    kernel.live_in("/scope")
    hierarchy = kernel.find()[0]
    assert not hierarchy.counts_tasks
    group = hierarchy.group("bot-1", memory_mb=1, tasks=5)
    assert "1048576" == (group.path / "memory.max").read_text()
    assert not (group.path / "pids.max").exists()
    hierarchy.close()


@pytest.mark.parametrize("version", [1, 2])
def test_groups_that_do_not_count(tmp_path, version):
    """A hierarchy that takes every setting but counts nothing is refused, and nothing stays."""
    kernel = Kernel(tmp_path, version, counts=False)
    kernel.add("/", passes=("memory", "pids") if version == 2 else ())
    kernel.add("/scope", holds=[os.getpid()])
    kernel.live_in("/scope")
    before = kernel.everything()
    hierarchy, reason = kernel.find()
    assert hierarchy is None
    assert "does not count memory" in reason
    assert before == kernel.everything()


def test_unit_with_a_subgroup(v2):
    """The group above ours is used when systemd has marked it as delegated and it is empty."""
    unit = v2.add("/user/unit")
    main = v2.add("/user/unit/main", holds=[os.getpid(), os.getppid()])
    v2.live_in("/user/unit/main")
    assert v2.find()[0] is None
    v2.marked.add(unit)
    hierarchy = v2.find()[0]
    assert unit == hierarchy.folder.parent
    assert {os.getpid(), os.getppid()} == set(v2.holds(main))
    hierarchy.close()
    assert [main] == v2.below(unit)
    v2.add("/user/unit", holds=[os.getppid()])
    assert v2.find()[0] is None


def test_root_goes_to_the_nearest_place(v2):
    """Root takes the nearest group that passes memory on; nobody is moved, nothing turned on."""
    session = v2.add("/user/session", holds=[os.getpid(), os.getppid()])
    v2.live_in("/user/session")
    before = v2.everything()
    assert v2.find()[0] is None
    hierarchy = v2.find(root=True)[0]
    assert v2.top / "user" == hierarchy.folder.parent
    assert {os.getpid(), os.getppid()} == set(v2.holds(session))
    hierarchy.close()
    assert before == v2.everything()


def test_root_at_the_top(tmp_path):
    """Root may turn controllers on at the root of all groups, and leaves them on."""
    kernel = Kernel(tmp_path, 2)
    kernel.add("/", holds=[os.getpid(), os.getppid()])
    kernel.live_in("/")
    assert kernel.find()[0] is None
    hierarchy = kernel.find(root=True)[0]
    assert kernel.top == hierarchy.folder.parent
    hierarchy.close()
    assert {".": "memory pids"} == kernel.everything()


def test_root_in_a_container(tmp_path):
    """The root of a namespace is an ordinary group: with processes in it, it is no place."""
    kernel = Kernel(tmp_path, 2)
    (kernel.top / "cgroup.type").write_text("domain\n")
    kernel.add("/", holds=[os.getpid(), os.getppid()])
    kernel.live_in("/")
    hierarchy, reason = kernel.find(root=True)
    assert hierarchy is None
    assert "holds 1 other processes" in reason
    ours = membership(kernel.proc)
    only = GroupPlace(kernel.top, step_down=True, turn_on=True)
    assert [only] == list(places(ours, kernel))


def test_reason_of_the_best_place(v2):
    """When several places are no good, the reason is that of the one that should have been."""
    v2.add("/user/session", holds=[os.getpid(), os.getppid()])
    v2.live_in("/user/session")
    v2.denied[v2.top / "user"] = errno.EROFS
    hierarchy, reason = v2.find(root=True)
    assert hierarchy is None
    assert "holds 1 other processes" in reason


def test_hybrid(v1):
    """With version 2 mounted too, memory is where the kernel says that it is: in version 1."""
    v1.live_in("/ours", lines="0::/user.slice\n9:name=systemd:/\n8:pids:/\n")
    with (v1.proc / "mountinfo").open("a") as file:
        file.write(MOUNTS[2].format(root="/", top="/nowhere"))
    hierarchy = v1.find()[0]
    assert "cgroup v1" == hierarchy.name
    hierarchy.close()


def test_mount_of_a_part(v1):
    """A mount that shows only a part of the hierarchy is followed from its own root."""
    v1.live_in("/docker/abc/ours", root="/docker/abc")
    hierarchy = v1.find()[0]
    assert v1.top / "ours" == hierarchy.folder.parent
    hierarchy.close()


def test_mount_over_a_mount(v1):
    """Of two mounts at one point, the later is what is seen."""
    inner = v1.top
    for name in ("docker", "abc", "ours"):
        inner /= name
        v1.make(inner)
    v1.live_in("/docker/abc/ours", root="/docker/abc")
    mounts = v1.proc / "mountinfo"
    target = str(v1.top).replace(" ", r"\040")
    mounts.write_text(MOUNTS[1].format(root="/", top=target) + mounts.read_text())
    assert v1.top / "ours" == membership(v1.proc).own


@pytest.mark.parametrize("path", ["/elsewhere/ours", "/docker/abc/../ours", "/docker/abcours"])
def test_mount_of_another_part(v1, path):
    """Where the mount doesn't show our group, there are none."""
    v1.make(v1.top.parent / "ours")
    v1.live_in(path, root="/docker/abc")
    hierarchy, reason = v1.find()
    assert hierarchy is None
    assert f"the mount of the memory hierarchy does not show our group {path}" in reason


@pytest.mark.parametrize(
    ("cgroup", "mountinfo", "words"),
    [
        ("8:pids:/\n", "", "no memory controller. Remedy: boot with cgroup_enable=memory"),
        ("", "", "no memory controller"),
        ("4:memory:/\n", "", "the memory hierarchy is not mounted here. Remedy: mount it"),
        ("4:cpu,memory:/\n0::/\n", "", "the memory hierarchy is not mounted here"),
        ("0::/\n", "", "cgroup v2 is not mounted here"),
        (None, None, "shows no control groups"),
    ],
)
def test_nothing_there(tmp_path, cgroup, mountinfo, words):
    """Whatever is missing, there is one line about it."""
    if cgroup is not None:
        (tmp_path / "cgroup").write_text(cgroup)
        (tmp_path / "mountinfo").write_text(OTHER_MOUNTS + mountinfo)
    calls = Calls()
    calls.proc = tmp_path
    hierarchy, reason = cgroups.find(calls)
    assert hierarchy is None
    assert words in reason
    assert "\n" not in reason


def test_failing_limit(v2):
    """A group whose limit the kernel refuses doesn't stay."""
    hierarchy = v2.find()[0]
    before = v2.everything()
    write = v2.write

    def refuse(path, text):
        if path.name == "pids.max":
            raise OSError(errno.EINVAL, "no", str(path))
        write(path, text)

    v2.write = refuse
    with pytest.raises(OSError, match="no"):
        hierarchy.group("bot-1", memory_mb=1, tasks=1)
    assert before == v2.everything()
    hierarchy.close()


def test_dying_group(v2):
    """What is still dying is removed at the next occasion, and a removed group never twice."""
    hierarchy = v2.find()[0]
    group = hierarchy.group("bot-1", memory_mb=1, tasks=1)
    (group.path / "cgroup.procs").write_text(f"{os.getppid()}\n")
    group.remove()
    assert group.path.exists()
    (group.path / "cgroup.procs").write_text("")
    other = hierarchy.group("bot-2", memory_mb=1, tasks=1)
    assert not group.path.exists()
    group.remove()
    hierarchy.sweep()
    assert other.path.exists()
    hierarchy.close()


def test_vanished_group(v2):
    """A group that somebody else has removed counts nothing, and holds nothing up."""
    hierarchy = v2.find()[0]
    group = hierarchy.group("bot-1", memory_mb=1, tasks=1)
    v2.remove(group.path)
    assert 0 == group.kills()
    assert 0.0 == group.peak_mb()
    group.kill()
    group.remove()
    hierarchy.close()
    assert not hierarchy.folder.exists()


def test_close_kills(v2):
    """At the end all that is still there is killed, and what survives keeps its limits."""
    hierarchy = v2.find()[0]
    group = hierarchy.group("bot-1", memory_mb=1, tasks=1)
    (group.path / "cgroup.procs").write_text(f"{os.getppid()}\n")
    cgroups.CLOSE_S, usual = 0.02, cgroups.CLOSE_S
    try:
        hierarchy.close()
    finally:
        cgroups.CLOSE_S = usual
    assert "1" == (group.path / "cgroup.kill").read_text()
    assert "1048576" == (group.path / "memory.max").read_text()


@pytest.mark.parametrize("version", [1, 2])
def test_stale_folders(version, request):
    """What a dead spawner has left is removed; the living's and other people's is not."""
    kernel = request.getfixturevalue(f"v{version}")
    place = kernel.top / ("ours" if version == 1 else "user/scope")
    space, me = cgroups._pid_namespace(), os.getpid()
    started = cgroups._start_time(me)
    dead = subprocess.Popen(["true"])
    dead.wait()
    zombie = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    born = cgroups._start_time(zombie.pid)
    zombie.stdin.close()
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    parent = cgroups._start_time(os.getppid())
    removed = [
        f"arena-{space}-{dead.pid}-{started}",
        f"arena-{space}-{os.getppid()}-1",
        f"arena-{space}-{zombie.pid}-{born}",
    ]
    kept = [
        f"arena-{space}-{os.getppid()}-{parent}",
        f"arena-{space + 1}-{dead.pid}-{started}",
        "arena-of-somebody",
        f"arena-{space}-{dead.pid}-{started}-x",
    ]
    for name in (*removed, *kept):
        kernel.make(place / name)
        kernel.make(place / name / "bot-3")
    hierarchy = kernel.find()[0]
    zombie.wait()
    names = {folder.name for folder in kernel.below(place)}
    assert {*kept, f"arena-{space}-{me}-{started}"} == names
    hierarchy.close()


# The real kernel from here on.


@pytest.fixture
def hierarchy():
    """What this machine allows; nothing of it may stay."""
    hierarchy, reason = cgroups.find()
    if hierarchy is None:
        pytest.skip(f"no control groups here: {reason}")
    yield hierarchy
    hierarchy.close()
    assert not hierarchy.folder.exists()


ENTER = """
import os, sys, mmap, signal
entrance = os.open(sys.argv[1], os.O_WRONLY)
os.write(entrance, b"0")
os.close(entrance)
size = int(sys.argv[2]) << 20
"""

BYTES = "held = bytearray(b'x') * size"
SHARED = """
held = mmap.mmap(-1, size)
for at in range(0, size, 4096):
    held[at] = 1
"""
TMPFS = """
file = os.memfd_create("held")
for _ in range(size >> 20):
    os.write(file, b"x" * (1 << 20))
"""
FORK = """
# Each child holds an eighth; none of them would be over the limit by itself.
hold, release = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        os.close(release)
        held = b"x" * (size // 8)
        os.read(hold, 1)
        os._exit(0)
pid, status = os.wait()
print(os.WTERMSIG(status), flush=True)
os.close(release)
for _ in range(7):
    os.wait()
"""
CACHE = """
path = sys.argv[3]
with open(path, "wb") as file:
    for _ in range(size >> 20):
        file.write(b"x" * (1 << 20))
with open(path, "rb") as file:
    while file.read(1 << 20):
        pass
print("done")
"""


def entered(group, code, *args):
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", ENTER + code, group.entrance_file, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process):
    try:
        out, errors = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    return process.returncode, out, errors


@pytest.mark.process
@pytest.mark.parametrize("code", [BYTES, SHARED, TMPFS], ids=["bytes", "shared", "tmpfs"])
def test_memory_hog(hierarchy, code):
    """A program that wants more than its share is killed, whatever kind of memory it is."""
    group = hierarchy.group("hog", memory_mb=64, tasks=16)
    innocent = hierarchy.group("innocent", memory_mb=64, tasks=16)
    bystander = entered(innocent, "print('in', flush=True); sys.stdin.read()", 0)
    assert b"in\n" == bystander.stdout.readline()
    assert (-signal.SIGKILL, b"") == ended(entered(group, code, 128))[:2]
    assert group.kills() >= 1
    assert 60 < group.peak_mb() <= 64
    assert bystander.poll() is None
    assert (0, b"") == ended(bystander)[:2]
    assert 0 == innocent.kills()
    group.remove()
    innocent.remove()
    assert not group.path.exists()
    assert not innocent.path.exists()


@pytest.mark.process
def test_memory_of_a_tree(hierarchy):
    """Children are counted together, and a kill of any of them shows."""
    group = hierarchy.group("tree", memory_mb=96, tasks=16)
    code, out, errors = ended(entered(group, FORK, 240))
    assert group.kills() >= 1, errors
    if hierarchy.name == "cgroup v1":
        assert (0, b"9\n") == (code, out)  # one was killed, the others went on
    else:
        assert (-signal.SIGKILL, b"") == (code, out)
    group.remove()
    assert not group.path.exists()


@pytest.mark.process
def test_memory_within_the_limit(hierarchy):
    """A program that keeps to its share ends as it wants, and its peak tells what it held."""
    group = hierarchy.group("modest", memory_mb=128, tasks=16)
    assert (0, b"") == ended(entered(group, BYTES, 64))[:2]
    assert 0 == group.kills()
    assert 64 <= group.peak_mb() <= 128


@pytest.mark.process
def test_page_cache(hierarchy, tmp_path):
    """Files that a program reads and writes count, but are given back rather than killed for."""
    group = hierarchy.group("reader", memory_mb=48, tasks=16)
    assert (0, b"done\n") == ended(entered(group, CACHE, 96, tmp_path / "file"))[:2]
    assert 0 == group.kills()
    assert group.peak_mb() <= 48


@pytest.mark.process
def test_living_group(hierarchy):
    """A group that is still in use is removed once it isn't."""
    group = hierarchy.group("living", memory_mb=64, tasks=16)
    process = entered(group, "print('in', flush=True); sys.stdin.read()", 0)
    assert b"in\n" == process.stdout.readline()
    group.remove()
    assert group.path.exists()
    ended(process)
    hierarchy.sweep()
    assert not group.path.exists()


SPAWNER = """
import sys
sys.path.insert(0, sys.argv[1])
from arena.sandbox import cgroups
hierarchy = cgroups.find()[0]
group = hierarchy.group("bot-1", memory_mb=64, tasks=16)
print(hierarchy.folder, flush=True)
sys.stdin.read()
hierarchy.close()
"""


@pytest.mark.process
@pytest.mark.alone
@pytest.mark.long("spawners side by side")
def test_two_spawners(hierarchy):
    """Several spawners live side by side; the groups of a killed one go when the next comes."""
    other = subprocess.Popen(
        [sys.executable, "-c", SPAWNER, str(PROJECT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    folder = Path(os.fsdecode(other.stdout.readline().rstrip(b"\n")))
    cgroups.sweep()
    assert (folder / "bot-1").is_dir()
    assert hierarchy.folder.is_dir()
    other.kill()
    ended(other)
    assert (folder / "bot-1").is_dir()
    cgroups.sweep()
    assert not folder.exists()
    assert hierarchy.folder.is_dir()


@pytest.mark.process
def test_left_by_a_killed_spawner(hierarchy):
    """What still lives in the groups of a killed spawner is killed when the next one comes."""
    other = subprocess.Popen(
        [sys.executable, "-c", SPAWNER, str(PROJECT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    folder = Path(os.fsdecode(other.stdout.readline().rstrip(b"\n")))
    waiting = ENTER + "print('in', flush=True); signal.pause()"
    left = subprocess.Popen(
        [sys.executable, "-c", waiting, str(folder / "bot-1" / hierarchy.kind.entrance), "0"],
        stdout=subprocess.PIPE,
    )
    assert b"in\n" == left.stdout.readline()
    cgroups.sweep()
    assert left.poll() is None  # its spawner lives
    other.kill()
    ended(other)
    cgroups.sweep()
    assert -signal.SIGKILL == left.wait(10)
    left.stdout.close()
    cgroups.sweep()
    assert not folder.exists()


UNIFIED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from arena.sandbox import cgroups
from arena.sandbox.cgroupfs import Calls, GroupPlace, membership, places

class Stand(Calls):
    # A controller that version 2 has here plays the part of memory; all else is the kernel's.
    proc, root = Path(sys.argv[3]), False
    def write(self, path, text):
        if path.name == "memory.max":
            return
        super().write(path, text.replace("memory", "hugetlb"))
    def read(self, path):
        if path.name == "memory.current":
            return str(1 << 30)
        return super().read(path).replace("hugetlb", "memory")

def where():
    return Path("/proc/self/cgroup").read_text().splitlines()[-1]

own = Path(sys.argv[2])
(own / "cgroup.procs").write_text("0")
Path(sys.argv[3], "cgroup").write_text(where() + "\\n")
mounts = Path("/proc/self/mountinfo").read_text()
Path(sys.argv[3], "mountinfo").write_text(mounts)
print("before", where().endswith(own.name))
hierarchy, reason = cgroups.find(Stand())
assert hierarchy, reason
print("stepped", where().endswith("/spawner"), (own / "cgroup.subtree_control").read_text().split())
group = hierarchy.group("bot-1", memory_mb=64, tasks=16)
pid = os.fork()
if pid == 0:
    entrance = os.open(group.entrance_file, os.O_WRONLY)
    os.write(entrance, b"0")
    signal.alarm(20)
    signal.pause()
while not (group.path / "cgroup.procs").read_text():
    os.sched_yield()
group.kill()
print("killed", os.WTERMSIG(os.waitpid(pid, 0)[1]))
hierarchy.close()
print("after", where().endswith(own.name), (own / "cgroup.subtree_control").read_text().split())
print("left", [entry.name for entry in os.scandir(own) if entry.is_dir()])
"""


@pytest.mark.process
def test_real_version_2(tmp_path):
    """The kernel's own version 2 takes every step as we do it: down, on, in, kill, off, up."""
    top = next(
        (
            Path(line.split()[4])
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if " - cgroup2 " in line and line.split()[3] == "/"
        ),
        None,
    )
    if os.geteuid() or top is None or not os.access(top, os.W_OK):
        pytest.skip("needs root, and version 2 mounted whole and writable")
    switch = top / "cgroup.subtree_control"
    if (top / "cgroup.type").exists() or "hugetlb" not in (top / "cgroup.controllers").read_text():
        pytest.skip("needs a controller that nobody uses at the root of all groups")
    was_on = "hugetlb" in switch.read_text()
    own = top / f"arena-test-{os.getpid()}"
    own.mkdir()
    try:
        switch.write_text("+hugetlb")
        run = subprocess.run(
            [sys.executable, "-c", UNIFIED, str(PROJECT), str(own), str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    finally:
        own.rmdir()
        if not was_on:
            switch.write_text("-hugetlb")
    assert [
        "before True",
        "stepped True ['hugetlb']",
        "killed 9",
        "after True []",
        "left []",
    ] == run.stdout.splitlines(), run.stderr
