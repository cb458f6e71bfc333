"""Whose time it is, with real bots and real load: hogs, cheaters, a machine that stands still.

What is compared is what must hold on any machine: who is charged more than the limit and who isn't.
"""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio

from arena.executors.cores import cores
from arena.model import Limits
from arena.sandbox.meter import members

pytestmark = pytest.mark.process

MOVE_S = 0.1
LONG_S = 5.0

HOG = """
import os, sys

os.sched_setaffinity(0, {int(sys.argv[1])})
while True:
    pass
"""

PLAYER = (Path(__file__).parents[2] / "bench" / "bots" / "timed" / "bot.py").read_text()


@contextmanager
def hogs(count):
    """So many busy processes on the core of the worker."""
    started = [
        subprocess.Popen([sys.executable, "-S", "-c", HOG, str(cores()[0])]) for _ in range(count)
    ]
    try:
        yield
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()


@pytest.fixture
def played(ways, bots):
    """The records of some matches of four-card golf; one decision a hole and bot."""

    async def play(*kinds, matches=1, freeze=False):
        limits = Limits(move_ms=int(MOVE_S * 1000))
        field = bots(*kinds, program=PLAYER)
        series = ways(field, "four-card-golf", matches, limits=limits, freeze=freeze)
        return await series.by_worker()

    return play


@pytest.mark.long("a loaded machine")
async def test_a_bot_that_uses_half_of_its_time_loses_nothing(played):
    """Computing or sleeping, with a fifth of the core."""
    with hogs(4):
        (record,) = await played(("computes", MOVE_S / 2), ("sleeps", MOVE_S / 2))
    assert not record.faults


OVERSTAYS = [
    # How, and how many others want the core.
    *(("computes", 4), ("sleeps", 4), ("threads", 0), ("ending", 4)),
    *(("idle", 0), ("children", 4), ("unreaped", 0), ("stops", 4)),
]


@pytest.mark.parametrize(("how", "count"), OVERSTAYS)
@pytest.mark.long("every way to overstay", quick=("computes-4", "sleeps-4"))
async def test_who_overstays_is_caught(played, how, count):
    """A bot may do anything to look starved, with the whole core or a part of it."""
    with hogs(count):
        (record,) = await played((how, LONG_S), ("brisk", 0))
    assert [("timeout", 0)] == [(fault.kind.value, fault.seat) for fault in record.faults]
    host = record.faults[0].host
    assert MOVE_S * 1000 <= host.charged_ms <= host.wall_ms < LONG_S * 1000
    assert host.memory_mb > 0
    assert host.load >= 0


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.long("a loaded machine")
async def test_when_the_machine_stands_still_nobody_is_charged(played, freeze):
    """Referee, spawner and bots are stopped again and again for longer than a decision may take."""
    field = ("computes", MOVE_S / 5), ("sleeps", MOVE_S / 5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stand_still_now_and_then)
        records = await played(*field, matches=2, freeze=freeze)
        nursery.cancel_scope.cancel()
    assert not any(record.faults for record in records)
    uses = [use for record in records for use in record.use]
    assert sum(use.waited_ms for use in uses) > 1000 * STILL_S
    assert max(use.max_ms for use in uses) < MOVE_S * 1000


STILL_S = 0.3


async def stand_still_now_and_then():
    """Stop all that has been started from here for a while, as a suspended machine does."""
    below = []

    def send(number):
        for pid in below:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    try:
        while True:
            await trio.sleep(0.2)
            below = [pid for pid in members(os.getpid()) if pid != os.getpid()]
            send(signal.SIGSTOP)
            await trio.sleep(STILL_S)
            send(signal.SIGCONT)
    finally:
        send(signal.SIGCONT)
