"""The scheduling that the simulator relies on: trio's private switch, virtual time, threads."""

import itertools
import random
import time

import pytest
import trio
import trio._core._run as trio_run

from tests.simulator.loop import HangError, Loop, Signal, Threading, within
from tests.simulator.programs import Process


class World:
    parent = None

    @staticmethod
    def buried(process):
        del process


@pytest.fixture
def process():
    return Process(World(), "a process")


def test_trio_still_has_the_switch_and_the_random_source_that_make_it_deterministic():
    assert isinstance(trio_run._ALLOW_DETERMINISTIC_SCHEDULING, bool)
    assert isinstance(trio_run._r, random.Random)
    names = trio_run.unrolled_run.__code__.co_names
    assert {"_ALLOW_DETERMINISTIC_SCHEDULING", "_r", "shuffle"} <= set(names), names


def order_of(seed):
    """In which order six tasks that are always ready take their turns."""
    seen = []

    async def turn(name):
        for _ in range(4):
            seen.append(name)
            await trio.lowlevel.checkpoint()

    async def main():
        async with trio.open_nursery() as nursery:
            for name in "abcdef":
                nursery.start_soon(turn, name)

    Loop(seed).run(main)
    return "".join(seen)


def test_the_same_seed_gives_the_same_order_and_other_seeds_give_others():
    orders = [order_of(seed) for seed in range(10)]
    assert orders == [order_of(seed) for seed in range(10)]
    assert len(set(orders)) == len(orders)


def test_time_passes_only_where_something_waits_for_it(process):
    loop = Loop(1)
    begun = time.monotonic()
    within(process).run(loop.run, trio.sleep, 1000.0)
    assert loop.now() == pytest.approx(1000.0)
    within(process).run(loop.sleep, 500.0)
    assert loop.now() == pytest.approx(1500.0)
    assert time.monotonic() - begun < 100.0


def test_blocking_code_gives_way_where_it_waits(process):
    loop = Loop(1)
    threading = Threading(loop)
    seen = []

    def main():
        told = threading.Event()

        def work():
            seen.append("begun")
            told.wait()
            loop.sleep(5.0)
            seen.append(f"told, at {loop.now():.0f}")

        thread = threading.Thread(target=work)
        thread.start()
        seen.append("main")
        told.set()
        thread.join()

    within(process).run(main)
    assert seen == ["begun", "main", "told, at 5"]


def test_a_thread_goes_on_while_tasks_run(process):
    loop = Loop(1)
    threading = Threading(loop)
    times = []

    def work():
        for _ in range(3):
            loop.sleep(1.0)
            times.append(loop.now())

    async def main():
        thread = threading.Thread(target=work)
        thread.start()
        await trio.sleep(10.0)
        assert not thread.is_alive()

    within(process).run(loop.run, main)
    assert times == pytest.approx([1.0, 2.0, 3.0])


def test_code_that_waits_for_nothing_is_found(process):
    loop = Loop(1)
    with pytest.raises(HangError):
        within(process).run(loop.wait, Signal(lambda: False))


def test_a_killed_process_goes_on_nowhere(process):
    loop = Loop(1)
    threading = Threading(loop)
    steps = itertools.count()
    seen = []

    def work():
        for step in steps:
            seen.append(step)
            loop.sleep(1.0)

    within(process).run(threading.Thread(target=work).start)
    process.die(-9)
    loop.bury()
    assert seen == [0]
    assert not loop.threads
