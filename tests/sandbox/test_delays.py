"""What tasks have waited for a core: of real ones, and in a folder that looks like /proc."""

import os
import subprocess
import sys
import threading

import pytest

from arena.sandbox import delays, meter
from arena.sandbox.delays import Core, Task, counts_waits, tasks

BUSY = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print(flush=True)
while True:
    pass
"""
SOME = "5000000 3000000 2"
NICE, CLASS = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)


def proc(
    root, pid, task, *, state="S", nice=NICE, threads=1, kind=CLASS, waits="5000000 3000000 2"
):
    """Make a task in a folder like /proc."""
    fields = [state, *["0"] * 15, str(nice), str(threads), *["0"] * 20, str(kind), "0"]
    for folder in {root / str(pid), root / str(pid) / "task" / str(task)}:
        folder.mkdir(parents=True, exist_ok=True)
        if task == pid or folder.parent.name == "task":
            (folder / "stat").write_text(f"{pid} (a (b) c) {' '.join(fields)}\n")
    (root / str(pid) / "task" / str(task) / "schedstat").write_text(waits + "\n")


@pytest.fixture
def like_proc(tmp_path, monkeypatch):
    monkeypatch.setattr(meter, "PROC", str(tmp_path))


@pytest.mark.usefixtures("like_proc")
def test_what_is_read_of_a_task(tmp_path):
    """Seconds, turns, and whether it wants to run; each thread for itself."""
    proc(tmp_path, 7, 7, threads=2)
    proc(tmp_path, 7, 8, state="R", threads=2, waits="0 250000000 1")
    assert {
        7: Task(pytest.approx(0.005), pytest.approx(0.003), 2, waiting=False),
        8: Task(0.0, pytest.approx(0.25), 1, waiting=True),
    } == tasks([7])


@pytest.mark.usefixtures("like_proc")
def test_who_gives_way_to_others_waits_by_its_own_choice(tmp_path):
    """By its priority or by its class: it isn't listed."""
    proc(tmp_path, 7, 7)
    proc(tmp_path, 8, 8, nice=NICE + 1)
    proc(tmp_path, 9, 9, kind=os.SCHED_IDLE)
    assert [7] == list(tasks([7, 8, 9]))


@pytest.mark.usefixtures("like_proc")
def test_who_has_vanished_is_nothing(tmp_path):
    """Before it is looked at, or in the middle of it."""
    proc(tmp_path, 7, 7)
    (tmp_path / "7" / "task" / "7" / "schedstat").unlink()
    assert {} == tasks([7, 8])


@pytest.mark.parametrize("text", [None, "0 0 0\n"])
@pytest.mark.usefixtures("like_proc")
def test_a_kernel_that_does_not_count(tmp_path, text):
    """Without the file, or with one that stays at zero: nobody has waited."""
    if text is not None:
        (tmp_path / "thread-self").mkdir()
        (tmp_path / "thread-self" / "schedstat").write_text(text)
    own = Core()
    assert not own.counted
    assert 0.0 == own.waited()
    own.close()
    own.close()


@pytest.fixture
def core():
    """This thread and one other busy process, on one core, for a while."""
    before = os.sched_getaffinity(0)
    mine = max(before)
    busy = subprocess.Popen([sys.executable, "-S", "-c", BUSY, str(mine)], stdout=subprocess.PIPE)
    os.sched_setaffinity(0, {mine})
    busy.stdout.readline()
    found = Core()
    try:
        yield found, busy.pid
    finally:
        found.close()
        os.sched_setaffinity(0, before)
        busy.kill()
        busy.wait()
        busy.stdout.close()


@pytest.mark.process
@pytest.mark.skipif(not counts_waits(), reason="this kernel doesn't count what tasks wait")
def test_who_shares_a_core_waits(core):
    """We, and whoever wants it beside us; and the trial sees it."""
    mine, pid = core
    before, own = tasks([pid]), mine.waited()
    assert mine.overloaded()
    assert mine.recent
    assert mine.alone
    assert before[pid].waiting
    while mine.waited() == own or tasks([pid])[pid].waited == before[pid].waited:
        pass


@pytest.mark.process
def test_a_thread_is_told_from_another():
    """Our own wait is this thread's."""
    own = Core()
    ran = []
    thread = threading.Thread(target=lambda: ran.append(tasks([os.getpid()])))
    thread.start()
    thread.join()
    assert {os.getpid(), thread.native_id} <= set(ran[0])  # whoever runs the tests may have more
    own.close()


class Clocks:
    """Time as it passes on a core of which we get a share."""

    def __init__(self, share):
        self.now, self.share = 100.0, share

    def monotonic(self):
        self.now += 0.0001
        return self.now

    def thread_time(self):
        return self.now * self.share


@pytest.mark.parametrize(("share", "overloaded"), [(1.0, False), (0.9, False), (0.5, True)])
def test_a_core_is_overloaded_when_others_have_a_part_of_it(monkeypatch, share, overloaded):
    """Known for a second; one that others have takes no longer to try than one that is free."""
    clocks = Clocks(share)
    monkeypatch.setattr(delays, "time", clocks)
    core = Core()
    assert core.recent is None
    begun = clocks.now
    assert overloaded is core.overloaded()
    assert 0.015 > clocks.now - begun
    assert overloaded is core.recent
    clocks.now += 1
    assert core.recent is None
    core.close()
