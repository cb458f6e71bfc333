"""The machine runs out of something: nobody is blamed, and nothing that was played is lost.

Each time the event either gets over it or stops with one line that says what ran out and one that
says how to go on; and in the end it has the bytes of an event that had plenty.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from arena.store import read_lines

from .clusters import ForkedCommand

pytestmark = pytest.mark.process

HOST = 4


@pytest.fixture(scope="session")
def sandbox():
    """What runs out is the command's, or its workers'; where it is the bots', a test says so."""
    return "none"


@pytest.fixture
def field(bot):
    """Two bots, one of which takes its time, and the flags of an event of theirs."""
    flags = ["--game", "four-card-golf", "--deals", "12", "--series", "4"]
    return [bot("ann"), bot("bob", "slow", 12), *flags, "--seed", "s", "--jobs", "2"]


@pytest.fixture
def same_in_the_end(arena, field, comparable, once):
    """Resume, and compare with the event played without interruption."""

    def play():
        arena("run", *field, "--out", "whole")
        return comparable("whole")

    def check(out):
        if (Path(out) / "private.json").exists():
            arena("resume", out)
        assert once("running-out", play) == comparable(out)
        assert '"faults":[{' not in (Path(out) / "matches.jsonl").read_text()

    return check


@pytest.fixture
def begun(environment, forks, sandbox, field, tmp_path):
    """Start the event and wait until its first match is over."""
    running = []

    def begin(out, sandbox=sandbox):
        words = ["run", *map(str, field), "--sandbox", sandbox, "--out", str(out), "--quiet"]
        brief = {"series_queue_PAUSE_S": 0.05}  # until it is tried again
        process = ForkedCommand(forks, words, cwd=tmp_path, env=environment, constants=brief)
        running.append(process)
        log = Path(out) / "matches.jsonl"
        while not (log.exists() and log.stat().st_size):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.002)
            assert process.poll() is None, process.stderr.read()
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def ended(process, *reasons):
    """Its lines when it stopped: one that says what ran out, one how to go on."""
    told = process.communicate(timeout=120)[1]
    assert HOST == process.returncode, told
    assert "Traceback" not in told
    lines = [line for line in told.splitlines() if not line.startswith("warning: --sandbox none")]
    assert 1 == sum("arena resume" in line for line in lines), told
    assert any(reason in lines[-1] for reason in reasons), told
    return lines


def whole(out):
    return all(line.body is not None for line in read_lines(Path(out)))


def mount(target, size):
    """A small file system of its own, or a larger one than before."""
    libc = ctypes.CDLL(None, use_errno=True)
    remount = 32 if os.path.ismount(target) else 0
    if libc.mount(b"tmpfs", str(target).encode(), b"tmpfs", remount, f"size={size}".encode()):
        pytest.skip(f"no tmpfs to be had: {os.strerror(ctypes.get_errno())}")
    return libc


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 128 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    libc = mount(place, "128k")
    yield place
    libc.umount2(str(place).encode(), 2)


@pytest.mark.long("machines that run out")
def test_a_disk_that_fills_up_stops_the_event_and_keeps_what_was_played(
    begun, arena, small_disk, same_in_the_end
):
    """No half line; while it is full nothing goes on; with room again it ends as it should."""
    out = small_disk / "out"
    (small_disk / "stuff").write_bytes(b"x" * (64 << 10))
    lines = ended(begun(out), "no space left on the disk")
    assert 2 == len(lines)
    assert whole(out)
    kept = (out / "matches.jsonl").read_bytes()
    told = arena("resume", out, code=HOST).stderr
    assert "no space left on the disk" in told
    assert (out / "matches.jsonl").read_bytes().startswith(kept)
    assert whole(out)
    mount(small_disk, "64m")
    same_in_the_end(out)


@pytest.mark.long("machines that run out")
def test_a_disk_that_bots_fill_by_their_stderr_is_no_bots_loss(
    arena, bot, small_disk, comparable, environment
):
    """The event stops in two lines; with room again it has the bytes of one that had plenty."""
    field = [bot("ann"), bot("loud", "chatty"), bot("louder", "chatty")]
    flags = ["--game", "four-card-golf", "--deals", 1, "--seed", "s", "--jobs", 1, "--quiet"]
    out = small_disk / "out"
    told = arena("run", *field, *flags, "--out", out, code=HOST).stderr
    assert "stderr: can't write: no space left on the disk" in told
    assert "arena resume" in told
    assert whole(out)
    kept = (out / "matches.jsonl").read_bytes()
    assert kept
    mount(small_disk, "64m")
    arena("resume", out)
    assert (out / "matches.jsonl").read_bytes().startswith(kept)
    arena("run", *field, *flags, "--out", "plenty")
    assert comparable(out) == comparable("plenty")
    assert '"faults":[{' not in (out / "matches.jsonl").read_text()


def test_a_disk_that_is_full_before_the_event_begins(arena, field, small_disk):
    """One line; and the folder can be used when there is room."""
    out = small_disk / "out"
    (small_disk / "stuff").write_bytes(b"x" * (128 << 10))
    told = arena("run", *field, "--out", out, code=HOST).stderr
    assert told.splitlines()[-1].endswith("can't write: no space left on the disk")
    (small_disk / "stuff").unlink()
    arena("run", *field, "--max-time", "1ms", "--out", out)


@pytest.mark.long("machines that run out")
def test_a_log_that_may_not_grow_any_more(begun, tmp_path, same_in_the_end):
    """It isn't the disk: the limit on the size of files is named, and no half line is left."""
    out = tmp_path / "out"
    process = begun(out)
    limit(process.pid, resource.RLIMIT_FSIZE, (out / "matches.jsonl").stat().st_size + 10_000)
    ended(process, "ulimit -f")
    assert whole(out)
    same_in_the_end(out)


@pytest.mark.parametrize("command", ["run", "prepare"])
@pytest.mark.long("machines that run out")
def test_a_cache_on_a_full_disk(arena, field, small_disk, environment, command):
    """It is the machine's trouble, whoever fills the cache."""
    (small_disk / "stuff").write_bytes(b"x" * (128 << 10))
    cache = {**environment, "XDG_CACHE_HOME": str(small_disk)}
    settings = field if command == "run" else field[:-2]
    told = arena(command, *settings, "--out", "out", code=HOST, env=cache).stderr
    assert "no space left on the disk" in told.splitlines()[-1]
    assert "Traceback" not in told


@pytest.mark.long("machines that run out")
def test_bots_that_find_no_room_in_a_prepared_folder(arena, field, small_disk):
    """They are carried along by copies, and a copy that fails is the machine's trouble."""
    (field[0] / "weights").write_bytes(b"x" * (128 << 10))
    told = arena("prepare", *field[:-2], "--out", small_disk / "out", code=HOST).stderr
    assert "no space left on the disk" in told.splitlines()[-1]


@pytest.mark.long("machines that run out")
def test_descriptors_that_do_not_suffice_for_a_bot(begun, confined, tmp_path, same_in_the_end):
    """A worker can be started with them, and a bot can't: they are named."""
    process = begun(tmp_path / "out", confined)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (25, 25))
    for worker in children(process.pid):
        os.kill(worker, signal.SIGKILL)
    ended(process, "out of file descriptors")
    same_in_the_end(tmp_path / "out")


@pytest.mark.long("machines that run out")
def test_out_of_memory_in_the_parent(begun, tmp_path, same_in_the_end):
    """Whatever it was about to do: it gets by with what it has, or says so in one line."""
    process = begun(tmp_path / "out")
    limit(process.pid, resource.RLIMIT_AS, 1 << 20)
    kill_a_worker(process.pid)
    told = process.communicate(timeout=120)[1]
    assert process.returncode in {0, HOST}, told
    assert "Traceback" not in told
    same_in_the_end(tmp_path / "out")


@pytest.mark.long("machines that run out")
def test_out_of_processes(begun, confined, tmp_path, pids, same_in_the_end):
    """Neither workers nor bots can be started."""
    process = begun(tmp_path / "out", confined)
    pids(process.pid)
    ended(process, "no more processes", "Resource temporarily unavailable")
    same_in_the_end(tmp_path / "out")


@pytest.fixture
def pids():
    """Put a tree of processes into a control group in which there may be no more of them."""
    made = []

    def hold(pid):
        for root in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/pids")):
            group = root / f"arena-test-{pid}"
            with contextlib.suppress(OSError):
                group.mkdir()
                made.append(group)
                if (group / "pids.max").exists():
                    for member in tree(pid):
                        (group / "cgroup.procs").write_text(str(member))
                    (group / "pids.max").write_text("1")
                    return
        pytest.skip("no control groups for processes")

    yield hold
    for group in made:
        with contextlib.suppress(OSError):
            group.rmdir()


def tree(pid):
    """A process and all below it."""
    yield pid
    for child in children(pid):
        yield from tree(child)


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    with contextlib.suppress(OSError):
        return [int(word) for word in path.read_text().split()]
    return []


def kill_a_worker(pid):
    os.kill(children(pid)[0], signal.SIGKILL)


def limit(pid, what, value):
    """Lower a limit of a process that is running."""
    _, most = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (value, most))
