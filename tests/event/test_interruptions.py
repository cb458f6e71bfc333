"""Stopping, killing and resuming: nothing is lost, nothing counts twice, nothing survives."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .clusters import until

pytestmark = pytest.mark.process


@pytest.fixture
def interpreted(environment, sandbox, tmp_path):
    """Start `arena run` with JSON events as people do: an interpreter, whose workers are others."""
    running = []

    def start(*words):
        words = [str(word) for word in (*words, "--sandbox", sandbox, "--json")]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def processes_of(folder):
    """Every process whose command line or working directory names the test's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
                cwd = str((entry / "cwd").readlink())
            except OSError:
                continue
            if str(folder).encode() in line or cwd.startswith(str(folder)):
                found.append((int(entry.name), line))
    return found


def descendants(pid):
    """The pids of a process tree, the root first."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree, queue = [], [pid]
    while queue:
        pid = queue.pop()
        tree.append(pid)
        queue += children.get(pid, [])
    return tree


def wait_gone(pids):
    """Wait until none of these processes is there, or fail after a generous while."""
    deadline = time.monotonic() + 30
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            left = max(0.0, deadline - time.monotonic())
            assert select.select([descriptor], [], [], left)[0], f"process {pid} is still there"
        finally:
            os.close(descriptor)


def canonical(arena, folder):
    """What must be the same as without any interruption."""
    return [
        arena("log", folder, "--canonical").stdout,
        arena("table", folder, "--canonical", "--format", "json").stdout,
    ]


@pytest.fixture
def field(bot):
    """Two bots, one of which takes its time, and the flags of an event of theirs."""
    flags = ["--game", "four-card-golf", "--deals", "8", "--series", "2", "--seed", "s"]
    return [bot("ann"), bot("bob", "slow", 6), *flags, "--jobs", "2"]


BARE = ("--sandbox", "none")


@pytest.fixture
def whole(arena, field, once):
    """The canonical bytes of the event played without interruption."""

    def play():
        arena("run", *field, "--out", "whole")
        return canonical(arena, "whole")

    return once("interruptions", play)


def test_ctrl_c_finishes_the_series_in_play_and_resume_the_rest(
    arena, interpreted, field, whole, tmp_path
):
    """Exit 130, the command to go on, and in the end the bytes of an uninterrupted event."""
    process = interpreted("run", *field, "--out", "out")
    until(process, "match")
    process.send_signal(signal.SIGINT)
    tree = descendants(process.pid)
    events = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert 130 == process.returncode
    assert {"command": "arena resume out", "event": "resume", "v": 1} in events
    wait_gone(tree)
    unfinished = arena("table", "out").stdout
    assert "of 16" in unfinished
    done = arena("resume", "out").stderr
    told = re.search(r"2 bots, (\d+) of 16 matches kept, (\d+) to play", done)
    assert 16 == int(told[1]) + int(told[2])
    assert int(told[1])
    assert whole == canonical(arena, tmp_path / "out")


def test_a_second_ctrl_c_stops_at_once_and_leaves_no_process(running, bot):
    """A bot that thinks for a minute doesn't hold up who wants to leave."""
    bots = [bot("ann"), bot("hang", "hang", 3)]
    process = running("run", *bots, "--move-time", "60s", "--match-time", "60s", "--out", "out")
    until(process, "start")
    _await_question(process)
    tree = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    until(process, "note")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert 130 == process.returncode
    wait_gone(tree)


def _await_question(process, size=5):
    """Wait until bots are running: the tree is parent, workers, spawners, bots."""
    while len(descendants(process.pid)) < size:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
        assert process.poll() is None


@pytest.mark.parametrize("target", ["parent", "worker", "everything"])
@pytest.mark.long("kills", quick=("everything",))
def test_sigkill_at_any_moment_costs_nothing_that_was_finished(
    arena, interpreted, running, field, whole, tmp_path, target
):
    """Kill the parent, a worker or the whole tree; resume ends in the same bytes."""
    process = (interpreted if target == "everything" else running)("run", *field, "--out", "out")
    until(process, "match", 3)
    tree = descendants(process.pid)
    victims = {"parent": tree[:1], "worker": tree[1:2], "everything": tree}[target]
    for pid in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    if target == "worker":
        # The host's trouble: a new worker replays the series, nobody is blamed.
        assert 0 == process.returncode
    else:
        wait_gone(tree)
        arena("resume", "out")
    assert whole == canonical(arena, tmp_path / "out")
    assert not processes_of(tmp_path)


@pytest.mark.long("ways to stop an event")
def test_arena_stop_stops_and_waits(arena, running, field):
    """From another terminal; the event can be gone on with."""
    process = running("run", *field, *BARE, "--out", "out")
    until(process, "match")
    assert "arena resume out" in arena("stop", "out").stdout
    process.communicate()
    assert 143 == process.returncode
    assert "no arena is playing" in arena("stop", "out", code=2).stderr
    assert "of 16" in arena("table", "out").stdout


def test_ctrl_c_while_bots_are_tried_is_no_traceback(running, bot):
    """Before the first match there is nothing to keep: one line, exit 130, nobody left."""
    process = running("run", bot("ann"), bot("bad", "never-ready"), "--start-time", "60s")
    _await_question(process, 3)
    tree = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=120)[1]
    assert 130 == process.returncode
    assert "Traceback" not in told
    assert "interrupted" in told
    wait_gone(tree)


def test_while_an_event_is_played_others_keep_off_and_edits_change_nothing(
    arena, running, field, whole, tmp_path
):
    """A second arena is refused, `arena clean` waits its turn; each bot plays from its snapshot."""
    process = running("run", *field, "--out", "out")
    until(process, "match")
    process.send_signal(signal.SIGSTOP)  # or it may be over before the second has begun
    assert "another arena" in arena("resume", "out", code=2).stderr
    assert "in use" in arena("clean", code=2).stderr
    for bot in (tmp_path / "bots").glob("*/bot.py"):
        bot.write_text("raise SystemExit('edited')\n")
    process.send_signal(signal.SIGCONT)
    process.communicate()
    assert 0 == process.returncode
    assert whole == canonical(arena, tmp_path / "out")
    arena("clean")


@pytest.mark.long("changes during an event")
def test_a_resume_with_changed_bots_is_refused(arena, field, tmp_path):
    """Of an older event, which keeps no bots: without the cache, it goes by the source."""
    done = arena("run", *field, *BARE, "--max-time", "1ms", "--out", "out")
    assert "stopping after the match in play" in done.stderr
    assert "arena resume out" in done.stderr
    arena("clean")
    shutil.rmtree(tmp_path / "out" / "bots")
    bot = tmp_path / "bots" / "ann" / "bot.py"
    bot.write_text(bot.read_text() + "# changed\n")
    done = arena("resume", "out", code=2)
    assert "ann" in done.stderr
    bot.write_text(bot.read_text().removesuffix("# changed\n"))
    arena("resume", "out", *BARE)
