"""Stopping, killing and resuming: nothing is lost, nothing counts twice, nothing survives."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process


@pytest.fixture
def started(environment, sandbox, tmp_path):
    """Start `arena run` or `arena resume` with JSON events; reads them one by one."""
    running = []

    def start(*words):
        words = [str(word) for word in words]
        if words[0] == "run":
            words += ["--sandbox", sandbox]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", *words, "--json"],
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


def read_until(process, event, count=1):
    """Read events until so many of that kind have come."""
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            count -= 1
            if count == 0:
                return
    raise AssertionError(f"no {event}: {process.stderr.read()}")


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
    import select
    import time

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
    """Three bots and the flags of an event of theirs."""
    bots = [bot("ann"), bot("bob"), bot("cyd")]
    return [*bots, "--deals", "8", "--series", "4", "--seed", "s"]


@pytest.fixture
def whole(arena, field):
    """The canonical bytes of the event played without interruption."""
    arena("run", *field, "--out", "whole")
    return canonical(arena, "whole")


def test_ctrl_c_finishes_the_series_in_play_and_resume_the_rest(
    arena, started, field, whole, tmp_path
):
    """Exit 130, the command to go on, and in the end the bytes of an uninterrupted event."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    process.send_signal(signal.SIGINT)
    tree = descendants(process.pid)
    events = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert 130 == process.returncode
    assert {"command": "arena resume out", "event": "resume", "v": 1} in events
    wait_gone(tree)
    unfinished = arena("table", "out").stdout
    assert "of 48" in unfinished
    arena("resume", "out")
    assert whole == canonical(arena, tmp_path / "out")


def test_a_second_ctrl_c_stops_at_once_and_leaves_no_process(started, bot):
    """A bot that thinks for a minute doesn't hold up who wants to leave."""
    bots = [bot("ann"), bot("hang", "hang", 3)]
    process = started("run", *bots, "--move-time", "60s", "--match-time", "60s", "--out", "out")
    read_until(process, "start")
    _await_question(process)
    tree = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    read_until(process, "note")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert 130 == process.returncode
    wait_gone(tree)


def _await_question(process, size=5):
    """Wait until bots are running: the tree is parent, workers, spawners, bots."""
    while len(descendants(process.pid)) < size:
        assert process.poll() is None


@pytest.mark.parametrize("target", ["parent", "worker", "everything"])
def test_sigkill_at_any_moment_costs_nothing_that_was_finished(
    arena, started, field, whole, tmp_path, target
):
    """Kill the parent, a worker or the whole tree; resume ends in the same bytes."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match", 6)
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


def test_a_torn_line_is_cut_off_by_resume(arena, started, field, whole, tmp_path):
    """Half a record at the end of the log is no record."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match", 5)
    process.kill()
    process.communicate()
    with (tmp_path / "out" / "matches.jsonl").open("ab") as log:
        log.write(b'{"id":"half a rec')
    wait_gone([process.pid])
    arena("resume", "out")
    assert whole == canonical(arena, tmp_path / "out")


def test_arena_stop_stops_and_waits(arena, started, field, whole, tmp_path):
    """From another terminal; the event can be gone on with."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    assert "arena resume out" in arena("stop", "out").stdout
    process.communicate()
    assert 143 == process.returncode
    assert "nobody is playing" in arena("stop", "out", code=2).stderr
    arena("resume", "out")
    assert whole == canonical(arena, tmp_path / "out")


def test_max_time_stops_cleanly(arena, field, whole, tmp_path):
    """Exit 0, unfinished, resumable."""
    done = arena("run", *field, "--jobs", "1", "--max-time", "1ms", "--out", "out")
    assert "arena resume out" in done.stderr
    arena("resume", "out")
    assert whole == canonical(arena, tmp_path / "out")


def test_ctrl_c_while_bots_are_tried_is_no_traceback(started, bot):
    """Before the first match there is nothing to keep: one line, exit 130, nobody left."""
    process = started("run", bot("ann"), bot("bad", "never-ready"), "--start-time", "60s")
    _await_question(process, 3)
    tree = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=30)[1]
    assert 130 == process.returncode
    assert "Traceback" not in told
    assert "interrupted" in told
    wait_gone(tree)


def test_the_cache_is_not_cleaned_away_under_an_event(arena, started, field):
    """`arena clean` waits its turn."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    assert "in use" in arena("clean", code=2).stderr
    process.communicate()
    assert 0 == process.returncode
    arena("clean")


def test_two_arenas_don_t_write_one_folder(arena, started, field):
    """The second is refused while the first is alive."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    assert "another arena" in arena("resume", "out", code=2).stderr
    process.send_signal(signal.SIGINT)
    process.communicate()


def test_a_resume_with_changed_bots_is_refused(arena, started, field, environment, tmp_path):
    """The snapshot is used; when the cache is gone, the source must have the same content."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    process.send_signal(signal.SIGINT)
    process.communicate()
    arena("clean")
    bot = tmp_path / "bots" / "ann" / "bot.py"
    bot.write_text(bot.read_text() + "# changed\n")
    done = arena("resume", "out", code=2)
    assert "ann" in done.stderr
    bot.write_text(bot.read_text().removesuffix("# changed\n"))
    arena("resume", "out")


def test_edits_during_an_event_change_nothing(arena, started, field, whole, tmp_path):
    """Each bot plays from its snapshot."""
    process = started("run", *field, "--out", "out")
    read_until(process, "match")
    for bot in (tmp_path / "bots").glob("*/bot.py"):
        bot.write_text("raise SystemExit('edited')\n")
    process.communicate()
    assert 0 == process.returncode
    assert whole == canonical(arena, tmp_path / "out")
