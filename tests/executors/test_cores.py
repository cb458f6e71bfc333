"""How many cores a process is given: the kernel's folders, played and real."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.executors.cores import cores, fair_jobs, quota


@pytest.fixture
def host(tmp_path):
    """Make a folder like /proc/self, of a process in a group, and the groups' files."""

    def make(membership, groups, *, kind="cgroup2", options="rw", root="/"):
        proc, top = tmp_path / "proc", tmp_path / "top"
        proc.mkdir()
        (proc / "cgroup").write_text(membership + "\n")
        (proc / "mountinfo").write_text(
            f"30 20 0:26 {root} {top} rw,relatime - {kind} none {options}\n"
        )
        for path, files in groups.items():
            folder = top / path
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.procs").touch()
            for name, text in files.items():
                (folder / name).write_text(text + "\n")
        return proc

    return make


@pytest.mark.parametrize(
    ("own", "above", "found"),
    [
        ("max 100000", "max 100000", None),
        ("250000 100000", "max 100000", 2.5),
        ("max 100000", "150000 100000", 1.5),
        ("400000 100000", "50000 25000", 2.0),
        ("10000 100000", "max 100000", 0.1),
    ],
)
def test_the_least_limit_along_the_path_holds(host, own, above, found):
    """A group has no more time than any above it; the root of all has no limit."""
    proc = host("0::/a/b", {"": {}, "a": {"cpu.max": above}, "a/b": {"cpu.max": own}})
    assert found == quota(proc)


def test_version_1_has_a_file_for_each(host):
    """And says -1 where there is no limit."""
    proc = host(
        "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/",
        {
            "a": {"cpu.cfs_quota_us": "300000", "cpu.cfs_period_us": "100000"},
            "a/b": {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"},
        },
        kind="cgroup",
        options="rw,cpu,cpuacct",
    )
    assert 3.0 == quota(proc)


def test_in_a_container_the_mount_is_the_containers_group(host):
    """The path is told from the outside, and what is above can't be seen."""
    proc = host("0::/box/7/job", {"": {"cpu.max": "200000 100000"}, "job": {}}, root="/box/7")
    assert 2.0 == quota(proc)


@pytest.mark.parametrize(("given", "workers"), [("max", None), ("99000", 1), ("10000", 1)])
def test_workers_are_rounded_down_to_one_at_least(host, given, workers):
    """Half a core more is no core, and nobody plays with none."""
    proc = host("0::/a", {"a": {"cpu.max": f"{given} 100000"}})
    assert (workers or len(cores())) == fair_jobs(proc)


def test_no_more_workers_than_cores(host):
    """A limit can be larger than what the process may run on."""
    proc = host("0::/a", {"a": {"cpu.max": "9900000 100000"}})
    assert len(cores()) == fair_jobs(proc)


def test_what_can_t_be_read_limits_nothing(tmp_path, host):
    """No control groups, no mount of them, or nonsense in a file."""
    assert quota(tmp_path / "nothing") is None
    assert quota(host("0::/a", {"a": {"cpu.max": "many 0"}})) is None
    (tmp_path / "proc" / "mountinfo").write_text("")
    assert quota(tmp_path / "proc") is None


def test_affinity_is_heeded():
    """A process that was put on one core plays one match at a time."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from arena.executors.cores import fair_jobs; print(fair_jobs())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"1\n" == told.stdout


@pytest.mark.process
def test_a_real_group_s_limit_is_found():
    """Where this machine lets us make a group: a process in it sees what it was given."""
    for top, files in (
        (Path("/sys/fs/cgroup"), {"cpu.max": "150000 100000"}),
        (Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_quota_us": "150000"}),
    ):
        group = top / f"arena-test-{os.getpid()}"
        if not (top / "cgroup.procs").exists() or not os.access(top, os.W_OK):
            continue
        group.mkdir()
        try:
            for name, text in files.items():
                (group / name).write_text(text)
            code = (
                "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid()))\n"
                "from arena.executors.cores import quota; print(quota())"
            )
            command = [sys.executable, "-c", code, str(group / "cgroup.procs")]
            told = subprocess.run(command, capture_output=True, check=True)
            assert 1.5 == float(told.stdout)
        except PermissionError:
            continue  # no controller of time at this place
        else:
            return
        finally:
            group.rmdir()
    pytest.skip("no control group of time can be made here")
