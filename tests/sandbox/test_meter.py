"""Trees of real processes, counted and metered; every wait is for a line on a pipe."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.sandbox import meter

pytestmark = pytest.mark.process

PRELUDE = """
import ctypes, os, resource, signal, sys, threading, time
libc = ctypes.CDLL(None)
libc.prctl(36, 1, 0, 0, 0)  # orphans come to the root
if os.fork():
    os.closerange(0, 3)
    try:
        while True: os.wait()
    finally: os._exit(0)
libc.prctl(36, 1, 0, 0, 0)
os.write(1, b"%d\\n" % os.getpid())
def say(*words): os.write(1, (" ".join(map(str, words)) + "\\n").encode())
def hear(): return sys.stdin.buffer.raw.readline()
def fork(work):
    pid = os.fork()
    if pid == 0:
        try: work()
        finally: os._exit(0)
    return pid
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
"""


class Tree:
    """A root process, below it one that runs a script, and whatever that starts."""

    def __init__(self, script):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.root = self.process.pid
        self.pid = int(self.line()[0])

    def line(self):
        line = self.process.stdout.readline().decode().split()
        assert line, "the script ended early"
        return line

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        for pid in [self.root, *meter.descendants(self.root)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def grow():
    """Start trees; all are felled at the end."""
    trees = []

    def start(script):
        trees.append(Tree(script))
        return trees[-1]

    yield start
    for tree in trees:
        tree.end()


@pytest.fixture
def metered():
    """Make meters that are closed at the end."""
    meters = []

    def make(*args, **more):
        meters.append(meter.Meter(*args, **more))
        return meters[-1]

    yield make
    for each in meters:
        each.close()


@pytest.fixture
def gone():
    """The number of a process that has been reaped."""
    process = subprocess.Popen(["true"])
    process.wait(10)
    return process.pid


def test_members_are_the_root_and_all_below_it(grow):
    """Children and grandchildren are found, those made by another thread than the first too."""
    tree = grow("""
def middle():
    say(os.getpid(), fork(signal.pause))
    signal.pause()
fork(middle)
def other():
    say(fork(signal.pause))
    signal.pause()
threading.Thread(target=other).start()
""")
    said = {int(word) for word in tree.line() + tree.line()}
    assert len(said) == 3
    found = meter.members(tree.pid)
    assert found[0] == tree.pid
    assert sorted(found) == sorted({tree.pid, *said})
    assert meter.descendants(tree.pid) == said


def test_a_daemon_is_found_below_the_subreaper(grow):
    """A process that forks twice and begins a session of its own is still in the tree."""
    tree = grow("""
def leave():
    os.setsid()
    def daemon():
        say(os.getpid())
        hear()
    fork(daemon)
os.waitpid(fork(leave), 0)
say("orphaned")
signal.pause()
""")
    words = tree.line() + tree.line()
    words.remove("orphaned")
    assert meter.members(tree.pid) == [tree.pid, int(words[0])]


def test_without_lists_of_children_all_of_proc_is_read(tmp_path, monkeypatch):
    """A kernel built without them has the parents; a name with brackets and spaces confuses
    nothing.
    """
    for pid, parent in {10: 1, 11: 10, 12: 11, 13: 1}.items():
        (tmp_path / f"{pid}/task/{pid}").mkdir(parents=True)
        stat = f"{pid} (a) S 1 (b) S {parent} 0 0 0\n"
        (tmp_path / f"{pid}/stat").write_text(stat)
        (tmp_path / f"{pid}/task/{pid}/stat").write_text(stat)
    (tmp_path / "self").mkdir()
    monkeypatch.setattr(meter, "PROC", str(tmp_path))
    assert meter.members(10) == [10, 11, 12]
    assert meter.descendants(10, 13) == {11, 12}


def test_who_vanishes_between_listing_and_reading_counts_as_nothing(tmp_path, gone, monkeypatch):
    """A child that is listed and can't be found any more is no error."""
    (tmp_path / "10/task/10").mkdir(parents=True)
    (tmp_path / "10/task/10/children").write_text(f"{gone} ")
    monkeypatch.setattr(meter, "PROC", str(tmp_path))
    assert meter.members(10) == [10, gone]
    assert meter.tasks([gone]) == 0
    assert meter.Meter(gone).cpu() == 0
    assert meter.children(gone) == []


def test_who_is_hidden_has_nothing_below_it_and_ends_nothing(grow, metered, monkeypatch):
    """Some hosts show only one's own processes: the others are passed over."""
    tree = grow("""
say(fork(signal.pause))
signal.pause()
""")
    tree.line()
    hidden = f"/proc/{tree.pid}/"

    def refusing(real):
        def call(path, *rest, **more):
            if str(path).startswith(hidden):
                raise PermissionError(path)
            return real(path, *rest, **more)

        return call

    for name in ("listdir", "open", "stat"):
        monkeypatch.setattr(meter.os, name, refusing(getattr(os, name)))
    assert meter.members(tree.root) == [tree.root, tree.pid]
    assert meter.children(tree.pid) == []
    assert meter.descendants(tree.root) == set()
    assert metered(tree.root).cpu() == 0
    with pytest.raises(PermissionError, match="hidden"):
        meter.tasks([tree.pid])
    assert meter.is_alive(tree.pid)


def test_who_hides_its_list_of_children_has_none(grow, monkeypatch):
    """It may become hidden while it is looked at."""
    tree = grow("say('ready'); signal.pause()")
    tree.line()

    def refused(path):
        raise PermissionError(path)

    monkeypatch.setattr(meter, "read", refused)
    assert meter.children(tree.root) == []


def test_a_tree_whose_root_is_gone_is_empty(gone):
    """There is no tree then, rather than one of a process that nobody has."""
    assert meter.members(gone) == []


def test_members_can_stop_early(grow):
    """A bomb need not be counted to its end."""
    tree = grow("""
for _ in range(20): fork(signal.pause)
say("ready")
signal.pause()
""")
    tree.line()
    assert len(meter.members(tree.pid)) == 21
    assert meter.members(tree.pid, most=0) == meter.members(tree.pid, most=21)

    tree = grow("""
def deeper(depth):
    if depth: fork(lambda: deeper(depth - 1))
    else: say("ready")
    signal.pause()
deeper(9)
""")
    tree.line()
    assert len(meter.members(tree.pid)) == 10
    assert len(meter.members(tree.pid, most=4)) == 5


def test_tasks_are_processes_and_threads(grow):
    """Each thread counts, and so does what has ended but isn't reaped."""
    tree = grow("""
for _ in range(5): threading.Thread(target=signal.pause).start()
ended = fork(lambda: None)
os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
say(ended)
signal.pause()
""")
    ended = int(tree.line()[0])
    assert meter.members(tree.pid) == [tree.pid, ended]
    assert meter.tasks([tree.pid]) == 6
    assert meter.tasks([tree.pid, ended]) == 7


def test_the_first_task_may_end_before_the_others(grow):
    """A process whose first task has ended is in the tree with its children."""
    tree = grow("""
def other():
    with open("/proc/self/stat") as stat:
        while True:  # until the first task has ended
            stat.seek(0)
            if stat.read().rpartition(")")[2].split()[0] == "Z": break
    say(fork(signal.pause))
    signal.pause()
threading.Thread(target=other).start()
libc.syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
""")
    child = int(tree.line()[0])
    assert meter.members(tree.pid) == [tree.pid, child]
    assert meter.tasks([tree.pid]) == 2


def used(*pids):
    """Seconds of CPU, with all of their children that they have reaped."""
    processes = [meter._Process(pid, keep=False) for pid in pids]
    assert all(process.read() for process in processes)
    return sum(process.own + process.reaped for process in processes)


def test_cpu_of_a_busy_child_counts(grow):
    """What a living child uses is its own; what a reaped one has used is its parent's."""
    tree = grow("""
def busy():
    burn(0.2)
    say(os.getpid())
    signal.pause()
child = fork(busy)
hear()
os.kill(child, 9)
os.waitpid(child, 0)
say("reaped")
signal.pause()
""")
    child = int(tree.line()[0])
    assert used(child) >= 0.2
    before = used(tree.pid)
    assert used(tree.pid, child) >= before + 0.2
    tree.go()
    tree.line()
    assert used(tree.pid) >= before + 0.18  # the kernel rounds down to 10 ms, twice


def test_a_meter_never_falls_and_counts_nothing_twice(grow, metered):
    """Over many children that are born, burn, end and are reaped, it stays at the truth."""
    tree = grow("""
def work():
    burn(0.007)
    say("burnt")
    os.read(pipe, 1)
while True:
    pipe, end = os.pipe()
    child = fork(work)
    hear()
    os.write(end, b"!")
    os.waitpid(child, 0)
    os.close(pipe), os.close(end)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(used.ru_utime + used.ru_stime + time.process_time())
    hear()
""")
    found = metered(tree.root)
    seen = [found.cpu()]
    for _ in range(30):
        assert tree.line() == ["burnt"]
        seen.append(found.cpu())
        tree.go()
        truth = float(tree.line()[0])
        seen.append(found.cpu())
        tree.go()
    assert seen == sorted(seen)
    assert abs(seen[-1] - truth) < 0.035
    assert truth > 0.2


def test_a_meter_keeps_what_nobody_cared_for(grow, metered):
    """Children of a process that ignores their end are remembered as last seen."""
    tree = grow("""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def work():
    burn(0.1)
    say("burnt")
    signal.pause()
child = fork(work)
hear()
os.kill(child, 9)
try: os.waitpid(child, 0)
except ChildProcessError: pass
say("gone")
signal.pause()
""")
    tree.line()
    found = metered(tree.root)
    before = found.cpu()
    tree.go()
    tree.line()
    assert meter.members(tree.pid) == [tree.pid]
    assert before <= found.cpu() < before + 0.1
    assert before > 0.1


def test_a_meter_sees_what_was_born_and_ended_between_two_readings(grow, metered):
    """Children that it never met are in what their parents have reaped, orphans in the root's."""
    tree = grow("""
hear()
def outer():
    inner = fork(lambda: burn(0.1))
    os.waitpid(inner, 0)
os.waitpid(fork(outer), 0)
say("reaped")
signal.pause()
""")
    found = metered(tree.root)
    before = found.cpu()
    tree.go()
    tree.line()
    assert found.cpu() >= before + 0.08


def test_a_meter_remembers_a_tree_that_has_ended(grow, metered):
    """Its last word stands when no process is left."""
    tree = grow("""
for _ in range(6):
    def work():
        burn(0.02)
        say("burnt")
        signal.pause()
    fork(work)
signal.pause()
""")
    for _ in range(6):
        tree.line()
    found = metered(tree.root)
    last = found.cpu()
    assert last >= 0.12
    tree.end()
    assert last <= found.cpu() < last + 0.02  # to die takes time too


def test_a_meter_leaves_out_the_root(grow, metered):
    """A keeper's own time isn't the program's, what it has reaped is."""
    tree = grow("""
burn(0.15)
os.waitpid(fork(lambda: burn(0.06)), 0)
say("ready")
signal.pause()
""")
    tree.line()
    assert 0.04 <= metered(tree.pid).cpu() < 0.15
    assert metered(tree.root).cpu() >= 0.19


def opened():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_closed_meter_holds_no_files(grow):
    """It keeps a few files of /proc open, and gives them back."""
    tree = grow("""
for _ in range(6): fork(signal.pause)
say("ready")
signal.pause()
""")
    tree.line()
    before = opened()
    found = meter.Meter(tree.root)
    found.cpu()
    assert opened() > before
    found.close()
    assert opened() == before


def test_a_meter_needs_no_lists_of_children(grow, metered, monkeypatch):
    """Where the kernel has none, all of /proc is read."""
    tree = grow("""
def work():
    burn(0.05)
    say("burnt")
    signal.pause()
for _ in range(2): fork(lambda: work() or signal.pause())
signal.pause()
""")
    tree.line()
    tree.line()

    def missing(path):
        if path.endswith("/children"):
            raise FileNotFoundError(path)
        return real(path)

    real = meter.read
    monkeypatch.setattr(meter, "read", missing)
    assert len(meter.members(tree.pid)) == 3
    monkeypatch.setattr(meter, "_KEPT", 0)
    assert metered(tree.root).cpu() >= 0.1


def test_a_number_that_is_used_again_is_another_process(grow, metered, monkeypatch):
    """A process that began at another time isn't taken for the one that was known."""
    tree = grow("say('ready'); signal.pause()")
    tree.line()
    found = metered(tree.root)
    own = found.cpu()
    known = found._known[tree.pid]
    known._born = b"0"
    known.own = 100.0
    assert own + 100 <= found.cpu() < own + 101


def test_metering_one_process_takes_microseconds(grow, metered):
    """It can be done around every decision."""
    tree = grow("say('ready'); signal.pause()")
    tree.line()
    found = metered(tree.root)
    took = []
    for _ in range(200):
        begun = time.perf_counter()
        found.cpu()
        took.append(time.perf_counter() - begun)
    assert min(took) < 0.0002  # measured: 7 µs
