"""What a process was given is read, and held against what bots are promised."""

import json
import resource
import subprocess
import sys

import pytest

from arena.sandbox import Launch, inherited_limits
from arena.sandbox.client import Spawner
from arena.sandbox.inherited_limits import (
    OVERHEAD,
    OWN,
    InheritedLimits,
    SharedLimit,
    check_capacity,
    lack,
    needs,
)
from arena.sandbox.none import Unconfined

MB = 1 << 20
MEMORY = "memory.limit_in_bytes"
BOT = Launch(run=(), root="", memory_mb=512, tasks=64, scratch_mb=16, cpu_seconds=100)
FLAGS = ("--memory", "--tasks", "--scratch")
EACH = 64 + OVERHEAD


def judged(given, *, seats=2, tables=2, fixed=False):
    return check_capacity(given, BOT, seats=seats, tables=tables, fixed=fixed, flags=FLAGS)


def test_without_limits_nothing_is_lacking():
    """Nothing is said, and as much is played at a time as was wanted."""
    assert (2, "", ()) == judged(InheritedLimits())


@pytest.mark.parametrize("name", ["AS", "DATA", "NPROC", "NOFILE", "FSIZE", "SIGPENDING", "CPU"])
def test_a_promise_is_kept_by_exactly_what_it_needs(name):
    """One less is a lack, and the command that mends it is named."""
    enough = needs(BOT)[name]
    assert not lack(InheritedLimits({name: enough}), BOT)
    told = lack(InheritedLimits({name: enough - 1}), BOT, flags=FLAGS)
    assert "raise the limit where the arena is started (`ulimit -" in told
    assert "\n" not in told


def test_what_less_could_be_promised_by_is_named_where_there_is_such_a_flag():
    """An event that is resumed has its limits already."""
    given = InheritedLimits({"DATA": 100 * MB})
    assert lack(given, BOT, flags=FLAGS).endswith(", or lower --memory")
    assert "lower" not in lack(given, BOT)


def test_what_takes_no_memory_needs_no_addresses():
    """A promise that isn't made can't be broken."""
    assert "AS" not in needs(Launch(run=(), root="", memory_mb=0))
    assert not lack(
        InheritedLimits(tasks=(SharedLimit("there", 1),)), Launch(run=(), root="", tasks=0)
    )


def test_processes_must_do_for_all_that_are_alive_at_a_time():
    """Those of one match, or it can't be played; of several, or fewer are."""
    one = OWN + 2 * EACH
    assert (2, "", ()) == judged(
        InheritedLimits(tasks=(SharedLimit("there", 7 + OWN + 4 * EACH, 7),))
    )
    fewer = judged(InheritedLimits(tasks=(SharedLimit("there", 7 + one, 7),)))
    assert (1, "") == fewer[:2]
    assert fewer.notes[0].startswith("1 match at a time, not 2: ")
    none = judged(InheritedLimits(tasks=(SharedLimit("there", 7 + one - 1, 7),)))
    assert f"2 bots with 64 tasks need {one} more" in none.lack
    assert none.lack.endswith("or lower --tasks")


def test_matches_that_were_asked_for_are_not_made_fewer():
    """A user who has named a number is told the one that there is room for."""
    found = judged(InheritedLimits(tasks=(SharedLimit("there", OWN + 2 * EACH),)), fixed=True)
    assert found.lack.endswith("or lower --tasks, or --jobs to 1")


def test_a_limit_of_the_user_is_told_with_what_to_type():
    """The number has what runs already in it."""
    told = lack(InheritedLimits(tasks=(SharedLimit(inherited_limits.ULIMIT_U, 22, 9),)), BOT)
    assert f"(`ulimit -u {9 + OWN + EACH}`)" in told


def test_memory_that_others_limit_is_a_note_as_long_as_one_bot_has_its_own():
    """Containers of 2 GB are common; one that has less than a bot may use keeps no promise."""
    found = judged(
        InheritedLimits(memory=(SharedLimit("above", 2000 * MB), SharedLimit("top", 1 << 40)))
    )
    assert (2, "") == found[:2]
    assert "2 matches at a time may use 2048 MB of memory, but only 2000 MB are" in found.notes[0]
    assert (
        "only 150 MB of memory are"
        in judged(InheritedLimits(memory=(SharedLimit("above", 150 * MB),))).lack
    )


READ = """
import json, resource, sys
from pathlib import Path
from arena.sandbox import inherited_limits
for name, value in json.loads(sys.argv[1]).items():
    resource.setrlimit(getattr(resource, name), (value, value))
given = inherited_limits.read_limits(spare_uids=bool(int(sys.argv[2])))
print(json.dumps([given.rlimits, given.tasks, given.memory]))
"""


def read(limits, *, spare_uids):
    done = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(limits), str(int(spare_uids))],
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.process
def test_a_process_reads_its_own_limits():
    """Those of processes count for each bot where it is a user of its own, else for all of them."""
    limits = {"RLIMIT_NOFILE": 77, "RLIMIT_NPROC": 5000, "RLIMIT_FSIZE": 9 * MB}
    rlimits, tasks, _ = read(limits, spare_uids=True)
    assert {"NOFILE": 77, "NPROC": 5000, "FSIZE": 9 * MB}.items() <= rlimits.items()
    assert inherited_limits.ULIMIT_U not in [where for where, _, _ in tasks]
    rlimits, tasks, _ = read(limits, spare_uids=False)
    assert "NPROC" not in rlimits
    where, most, used = tasks[0]
    assert (inherited_limits.ULIMIT_U, 5000) == (where, most)
    assert used >= 1


@pytest.mark.process
def test_a_process_finds_the_control_groups_that_it_is_in(group, within):
    """The nearest and those above, each with what is used of it."""
    pids, memory = group("pids", "pids.max", "500"), group("memory", MEMORY, str(300 * MB))
    done = subprocess.run(
        [*within(pids, memory), sys.executable, "-c", READ, "{}", "1"],
        capture_output=True,
        check=True,
    )
    _, tasks, limits = json.loads(done.stdout)
    assert [str(pids / "pids.max"), 500] == tasks[0][:2]
    assert 1 <= tasks[0][2] <= 3
    assert [str(memory / MEMORY), 300 * MB, 0] == limits[0]


def test_groups_of_version_2_are_read_and_no_limit_is_none(tmp_path):
    """Files may be missing, and say "max"; the mount is the last that is looked at."""
    top = tmp_path / "cgroup"
    own = top / "a" / "b"
    own.mkdir(parents=True)
    for folder in (own, own.parent, top):
        (folder / "cgroup.procs").write_text("")
    (own / "pids.max").write_text("max\n")
    (own.parent / "pids.max").write_text("100\n")
    (own.parent / "pids.current").write_text("3\n")
    (own / "memory.max").write_text("1048576\n")
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text("0::/a/b\n")
    (proc / "mountinfo").write_text(f"41 31 0:38 / {top} rw - cgroup2 cgroup2 rw\n")
    given = inherited_limits.read_limits(proc, spare_uids=True)
    assert (SharedLimit(str(own.parent / "pids.max"), 100, 3),) == given.tasks
    assert (SharedLimit(str(own / "memory.max"), 1048576),) == given.memory
    (proc / "mountinfo").write_text("")
    assert ((), ()) == inherited_limits.read_limits(proc, spare_uids=True)[1:]


@pytest.mark.process
@pytest.mark.parametrize("name", ["AS", "CPU"])
def test_a_default_that_may_be_raised_is_no_limit_for_a_bot(host, name):
    """What stands below the hard limit is a habit of shells: a bot gets what is allowed."""
    number = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(number)
    resource.setrlimit(number, (8 << 30, hard))
    try:
        with Spawner() as host.spawner:
            code = f"import resource; print(resource.getrlimit(resource.RLIMIT_{name})[0])"
            assert str(hard) == host.python(Unconfined(), code).line()
    finally:
        resource.setrlimit(number, (soft, hard))
