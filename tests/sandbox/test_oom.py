"""Whom the kernel kills for want of memory is at fault only by his own limit."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.sandbox import cgroups

MB = 1 << 20
MEMORY = "memory.limit_in_bytes"
FILL = "held = b'1' * (300 << 20)"

RUN = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import Host, chosen
from arena.sandbox.client import Spawner
from arena.sandbox.none import Unconfined
with Spawner() as spawner:
    bot = Host(Path(sys.argv[2]), spawner).python(
        Unconfined(), sys.argv[3], memory_mb=int(sys.argv[4])
    )
    ended = bot.exited()
    print(json.dumps([spawner.memory, ended.overstepped, ended.host_error, ended.signal]))
"""


def run(command, folder, code, memory_mb):
    words = [RUN, Path(__file__).parent, folder, code, memory_mb]
    done = subprocess.run(
        [*command, "-c", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.process
def test_who_is_killed_for_the_memory_of_a_group_above_has_not_overstepped(group, within, tmp_path):
    """The kernel killed it, but it had not come to its own limit: that is the host's trouble."""
    above = group("memory", MEMORY, str(150 * MB))
    memory, overstepped, host_error, _ = run([*within(above), sys.executable], tmp_path, FILL, 512)
    assert "cgroup v1" == memory
    assert "" == overstepped
    assert "ran out of memory" in host_error
    assert "of its 512 MB" in host_error


# Shared pages aren't counted by RLIMIT_DATA, so the group is what it comes up against.
SHARED = """
import mmap
held = mmap.mmap(-1, 300 << 20)
for _ in range(300):
    held.write(b"1" * (1 << 20))
"""


@pytest.mark.process
def test_who_comes_to_its_own_limit_has_overstepped_whatever_is_above(group, within, tmp_path):
    """A group above that has room takes no fault away."""
    above = group("memory", MEMORY, str(1000 * MB))
    found = run([*within(above), sys.executable], tmp_path, SHARED, 128)
    assert ["cgroup v1", "memory", ""] == found[:3]


@pytest.fixture
def anybodys():
    """A folder that every user may get to and write to."""
    with tempfile.TemporaryDirectory(prefix="arena-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


ORDINARY = Path(__file__).parents[1] / "hostile" / "ordinary.py"


@pytest.mark.process
def test_a_kill_that_is_seen_in_our_own_group_is_no_crash(group, within, anybodys):
    """An ordinary user's bots have no groups of their own: the count of ours tells."""
    above = group("memory", MEMORY, str(150 * MB))
    command = [*within(above), sys.executable, str(ORDINARY)]
    memory, overstepped, host_error, _ = run(command, anybodys, FILL, 512)
    assert ["watchdog", ""] == [memory, overstepped]
    assert "ran out of memory" in host_error
    suicide = "import os; os.kill(os.getpid(), 9)"
    assert ["watchdog", "", "", 9] == run(command, anybodys, suicide, 512)


def test_kills_are_counted_by_our_group_or_the_machine(tmp_path):
    """Whichever tells; where neither does, nobody was killed."""
    own = tmp_path / "cgroup"
    own.mkdir()
    (own / "cgroup.procs").write_text("")
    (tmp_path / "cgroup.txt").write_text("")
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text("0::/\n")
    (proc / "mountinfo").write_text(f"41 31 0:38 / {own} rw - cgroup2 cgroup2 rw\n")
    machine = tmp_path / "vmstat"
    kills = cgroups.OomKills(proc, machine)
    assert 0 == kills.count()
    machine.write_text("pgfault 8\noom_kill 3\n")
    assert 3 == kills.count()
    (own / "memory.events").write_text("oom 1\noom_kill 2\n")
    assert 2 == kills.count()
    (proc / "cgroup").write_text("")
    assert 3 == cgroups.OomKills(proc, machine).count()
