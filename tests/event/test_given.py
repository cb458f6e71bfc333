"""Limits that the arena was started with: no bot fails by them, and nothing is begun.

Whoever has started the arena is told which limit it is, what it is, what is needed, what to do.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.cgroupfs import NoGroupsError, membership

pytestmark = pytest.mark.process

HOST = 4
ORDINARY = Path(__file__).parents[1] / "hostile" / "ordinary.py"


@pytest.fixture
def limited(environment, sandbox, tmp_path):
    """Run a command in a shell that has done something before; its lines on stderr."""

    def run(before, *words, code=HOST, python=(sys.executable,)):
        if words[0] in {"run", "prepare", "match", "check", "resume"}:
            words = (*words, "--sandbox", sandbox)
        done = subprocess.run(
            ["bash", "-c", f'{before}; exec "$@"', "bash", *python, "-P", "-m", "arena"]
            + [str(word) for word in words],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
        assert code == done.returncode, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done.stderr.splitlines()

    return run


@pytest.mark.parametrize(
    ("before", "limit", "remedy"),
    [
        ("ulimit -v 200000", "195 MB of addresses", "`ulimit -v unlimited`)"),
        ("ulimit -d 200000", "195 MB of data", "`ulimit -d unlimited`), or lower --memory"),
        ("ulimit -n 60", "60 file descriptors", "`ulimit -n 256`)"),
        ("ulimit -n 20", "20 file descriptors", "`ulimit -n 256`)"),
        ("ulimit -f 300", "300 KB to a file", "`ulimit -f 32768`), or lower --scratch"),
        ("ulimit -t 100", "100 seconds of CPU", "`ulimit -t unlimited`)"),
    ],
)
def test_a_limit_of_the_shell_is_named_before_anything_is_tried(
    limited, bot, tmp_path, before, limit, remedy
):
    """One line, no folder, and no advice to go without a sandbox."""
    [line] = limited(before, "run", bot("ann"), bot("bob"), "--out", "out")
    assert f"a process may have only {limit} here (ulimit -" in line
    assert line.endswith(remedy)
    assert "--sandbox none" not in line
    assert not (tmp_path / "out").exists()


@pytest.mark.long("limits of the shell and of control groups")
def test_every_command_that_starts_bots_looks_at_them(limited, bot):
    """None begins what it can't do as it was promised, and each names its own flags alone."""
    ann, bob = bot("ann"), bot("bob")
    flag = ", or lower --memory"
    for words in (["prepare", ann, bob, "--out", "out"], ["match", ann, bob], ["check", ann]):
        [line] = limited("ulimit -d 200000", *words)
        assert line.endswith(flag)
        [line] = limited("ulimit -f 300", *words)
        assert line.endswith("`ulimit -f 32768`)" if words[0] == "check" else "or lower --scratch")


@pytest.mark.long("limits of the shell and of control groups")
def test_an_event_that_is_begun_is_not_gone_on_with(limited, bot, arena):
    """Its limits are fixed, so there is but one remedy; nothing is lost."""
    field = [bot("ann"), bot("bob")]
    arena("run", *field, "--seed", "s", "--max-time", "1ms", "--out", "out")
    *_, line = limited("ulimit -n 100", "resume", "out")
    assert line.endswith("(`ulimit -n 256`)")
    arena("resume", "out")


def test_fewer_descriptors_by_default_are_no_lack(limited, bot):
    """A soft limit is a default, which we raise as far as we may."""
    limited("ulimit -Sn 30", "run", bot("ann"), bot("bob"), "--deals", "1", "-q", code=0)


def test_the_processes_of_one_user_are_shared_by_all(limited):
    """What runs already is counted, and all that bots of one match may start."""
    python = (sys.executable, ORDINARY) if os.geteuid() == 0 else (sys.executable,)
    [line] = limited("ulimit -u 22", "run", "ann", "bob", python=python)
    assert "only 22 processes and threads may run here (ulimit -u)" in line
    assert "2 bots with 64 tasks" in line
    assert line.endswith("), or lower --tasks")


@pytest.mark.long("limits of the shell and of control groups")
def test_the_processes_of_a_control_group_are_shared_by_all(limited, bot, group):
    """They are told with the file that limits them; with less for each there is room."""
    pids = group("pids.max", "20")
    inside = f"echo $$ > {pids}/cgroup.procs"
    words = ("run", bot("ann"), bot("bob"), "--deals", "1", "-q")
    [line] = limited(inside, *words)
    assert f"only 20 processes and threads may run here ({pids}/pids.max)" in line
    assert line.endswith("; raise the limit where the arena is started, or lower --tasks")
    (pids / "pids.max").write_text("40")
    limited(inside, *words, "--tasks", "6", code=0)


@pytest.mark.long("limits of the shell and of control groups")
def test_with_room_for_fewer_matches_fewer_are_played_at_a_time(limited, bot, group):
    """Unless more were asked for."""
    pids = group("pids.max", "160")
    inside = f"echo $$ > {pids}/cgroup.procs"
    words = ("run", bot("ann"), bot("bob"), "--deals", "1")
    *_, line = limited(inside, *words, "--jobs", "2")
    assert line.endswith("or lower --tasks, or --jobs to 1")
    notes = limited(inside, *words, code=0)
    if len(os.sched_getaffinity(0)) > 1:
        assert any(note.startswith("note: 1 match at a time, not ") for note in notes)


@pytest.fixture
def group():
    """Make a control group for processes below our own, in which all is gone afterwards."""
    made = []

    def make(name, value):
        try:
            found = membership(controller="pids")
        except NoGroupsError as unfit:
            pytest.skip(str(unfit))
        folder = found.own / f"arena-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError as error:
            pytest.skip(f"no control group to be had: {error.strerror}")
        made.append(folder)
        if not (folder / name).exists():
            pytest.skip("the controller is not passed on")
        (folder / name).write_text(value)
        return folder

    yield make
    for folder in made:
        with contextlib.suppress(OSError):
            folder.rmdir()


def test_a_build_without_processes_is_not_its_authors_fault(limited, bot):
    """The limit suffices for the bots as they were promised, and not for a compiler."""
    if os.geteuid():
        pytest.skip("the limit is one for each bot only where each is a user of its own")
    built = bot("ann", build=[["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 9 & done; wait"]])
    words = ("run", built, bot("bob"), "--deals", "1", "-q", "--skip-broken", "--tasks", "2")
    *_, line = limited("ulimit -u 6", *words)
    assert "the build of ann@1 has failed because of a limit of this machine" in line
    assert "6 processes and threads" in line
    assert "(`ulimit -u 516`)" in line


def test_a_build_that_only_says_so_is_its_authors_fault(limited, bot):
    """Where it has all that it was promised, its words are its own."""
    built = bot("ann", build=[["sh", "-c", "echo 'fork: Cannot allocate memory' >&2; exit 1"]])
    words = ("run", built, bot("bob"), "--deals", "1", "-q")
    assert any("exit 1" in line for line in limited("true", *words, code=2))


@pytest.mark.long("limits of the shell and of control groups")
def test_doctor_tells_it(limited):
    """As arena run would, and that this would stop."""
    assert not limited("ulimit -n 4096", "doctor", code=0)
    limited("ulimit -n 100", "doctor")
