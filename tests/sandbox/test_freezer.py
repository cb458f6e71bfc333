"""Stopping and continuing whole trees of real processes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.sandbox import freezer
from arena.sandbox.freezer import Freezer
from arena.sandbox.meter import Meter, members

pytestmark = pytest.mark.process

SPIN = "while True: pass\n"
TREES = {
    "a process": SPIN,
    "threads": f"""
import threading, time
def spin():
    {SPIN}
for _ in range(3):
    threading.Thread(target=spin, daemon=True).start()
time.sleep(3600)
""",
    "children": f"""
import os
if os.fork() and os.fork():
    os.wait()
{SPIN}
""",
    "orphans with sessions of their own": f"""
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        {SPIN}
    os._exit(0)
os.wait()
{SPIN}
""",
    "a storm of forks": """
import os
while True:
    if os.fork() == 0:
        if os.fork() == 0:
            for _ in range(20000): pass
        os._exit(0)
    os.wait()
""",
    "a parent that waits in vfork": f"""
import ctypes
if ctypes.PyDLL(None).vfork() == 0:
    {SPIN}
""",
}

ROOT = """
import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # inherits orphans, as every root does
signal = __import__("signal")
signal.signal(signal.SIGCHLD, lambda *_: None)
first = subprocess.Popen([sys.executable, "-S", "-c", sys.argv[1]], stdout=subprocess.DEVNULL)
sys.stdout.write("!")
sys.stdout.flush()
while True:
    os.waitpid(-1, 0)
"""


@pytest.fixture
def root():
    """Start a tree below a process that isn't part of it, on this very core; kill it whole."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    started = []

    def start(code):
        process = subprocess.Popen([sys.executable, "-S", "-c", ROOT, code], stdout=subprocess.PIPE)
        started.append(process)
        assert b"!" == process.stdout.read(1)
        return process.pid

    yield start
    os.sched_setaffinity(0, allowed)
    for process in started:
        while len(tree := members(process.pid)) > 1:
            for pid in tree[1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.sched_yield()
        process.kill()
        process.communicate()


def used_meanwhile(meter, seconds):
    """CPU that a tree uses while this process rests."""
    before = meter.cpu()
    time.sleep(seconds)
    return meter.cpu() - before


def descriptors():
    """How many this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def running(meter):
    """Wait until the tree computes."""
    deadline = time.monotonic() + 30
    while used_meanwhile(meter, 0.02) < 0.002:
        assert time.monotonic() < deadline, "it does not run"


STORM = "a storm of forks"


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.alone if kind == STORM else ()) for kind in TREES]
)
@pytest.mark.long("a storm of forks", quick=[kind for kind in TREES if kind != STORM])
def test_a_frozen_tree_uses_nothing_and_goes_on_when_thawed(root, kind):
    """Trees of every kind, five times each."""
    pid = root(TREES[kind])
    tree, meter = Freezer(pid), Meter(pid)
    for _ in range(5):
        running(meter)
        tree.freeze()
        still = members(pid)
        # A moment in which one that was missed would show: it is on this core, which is free now.
        assert used_meanwhile(meter, 0.02) < 0.0005
        assert still == members(pid)
        tree.thaw()
    running(meter)
    tree.close()
    meter.close()


def test_what_is_continued_by_others_is_stopped_again(root):
    """A freeze looks at what runs, not at what it has stopped before."""
    pid = root(SPIN)
    tree, meter = Freezer(pid), Meter(pid)
    running(meter)
    tree.freeze()
    os.kill(members(pid)[1], signal.SIGCONT)
    running(meter)
    tree.freeze()
    assert used_meanwhile(meter, 0.02) < 0.0005
    tree.close()
    meter.close()


def test_a_tree_that_is_gone_can_be_frozen_and_thawed(root):
    """Ends come at any moment, also to what is frozen."""
    pid = root(TREES["children"])
    tree = Freezer(pid)
    running(meter := Meter(pid))
    meter.close()
    tree.freeze()
    while len(found := members(pid)) > 1:
        for member in found[1:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        os.sched_yield()
    tree.thaw()
    tree.freeze()
    tree.thaw()
    tree.close()
    nobody = Freezer(2**22 + 1)
    nobody.freeze()
    nobody.thaw()
    nobody.close()


def test_no_descriptor_is_left(root):
    """Handles of processes are closed when they are gone, and at the end."""
    before = descriptors()
    pid = root(TREES[STORM])
    tree = Freezer(pid)
    for _ in range(20):
        tree.freeze()
        assert descriptors() <= before + 1 + len(members(pid))
        tree.thaw()
    tree.close()
    assert descriptors() == before + 1


def test_what_can_t_be_stopped_is_not_waited_for(root, monkeypatch):
    """A process that a loaded machine doesn't let stop costs its table a moment, no more."""
    pid = root(SPIN)
    tree, meter = Freezer(pid), Meter(pid)
    running(meter)
    meter.close()
    for way in ("_send", "_tgkill"):
        monkeypatch.setattr(freezer, way, lambda *_: None)
    begun = time.monotonic()
    tree.freeze()
    assert freezer.SETTLE_S < time.monotonic() - begun
    tree.close()
