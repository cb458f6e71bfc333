"""Playing by functions: options, functions as bots, event loops that run already, stopping."""

import asyncio
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trio

import arena
from arena.api import threads
from arena.api.paths import bot_path, bot_paths, folder_paths
from arena.event.progress import Progress
from arena.scaffolds import example_bot


def first(_view, legal):
    return legal[0]


def last(_view, legal):
    return legal[-1]


def test_functions_play_without_a_process():
    """The same functions and deal give the same record; seats are as they were named."""
    one, other = (arena.play_match([first, last], arena.MatchOptions(deal=3)) for _ in range(2))
    assert one == other
    assert ("first@0", "last@1") == one.record.seats
    assert one.record.digest == one.record.computed_digest()
    assert "" == one.sandbox


def test_a_function_that_answers_anything_else_is_our_callers_mistake():
    """An exception that says what would be legal."""
    with pytest.raises(arena.IllegalMoveError, match="'fly' on hole 1; legal there"):
        arena.play_match([first, lambda _view, _legal: "fly"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seats": 9}, "--seats 9: play-nine is for 2 to"),
        ({"deals": 0}, "--deals: "),
        ({"limits": arena.Limits(start_ms=0)}, "--start-time: "),
        ({"schedule": "swiss"}, "there are: round-robin, gauntlet, racing$"),
        ({"limits": arena.Limits(move_ms=2, match_ms=1)}, "--move-time 2 ms is more than"),
        ({"luck": False, "rate_on": "adjusted"}, "--no-luck doesn't measure it"),
    ],
)
def test_options_that_no_event_can_have_are_refused(options, words):
    """By name, before a bot is touched."""
    with pytest.raises(arena.UserError, match=words):
        arena.run(["a", "b"], event=arena.EventOptions(**options))
    with pytest.raises(arena.UserError, match="--jobs 0: at least one"):
        arena.RunOptions(jobs=0)
    with pytest.raises(arena.UserError, match="--tls-ca and --tls-cert go together"):
        arena.ClusterOptions(place="local:1", tls_ca="ca.pem")


def in_a_thread(test):
    """Run a test where no loop runs: Playwright leaves one in the main thread."""

    @functools.wraps(test)
    def run():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(test).result()

    return run


@in_a_thread
def test_a_call_in_a_running_loop_is_made_in_a_thread():
    """Of trio, of asyncio, and directly where none runs; errors come through."""
    here = threading.current_thread()

    def which():
        return threading.current_thread()

    def fails():
        raise arena.UserError("no")

    async def inside():
        with pytest.raises(arena.UserError, match="no"):
            threads.call(fails)
        return threads.call(which)

    assert here is threads.call(which)
    assert here is not asyncio.run(inside())


async def test_a_call_from_trio_is_made_in_a_thread():
    """And awaited without blocking the loop, if asked for."""
    here = threading.current_thread()
    assert here is not threads.call(threading.current_thread)
    assert here is not await threads.call_async(threading.current_thread, Progress())
    with pytest.raises(ZeroDivisionError):
        await threads.call_async(lambda: 1 // 0, Progress())


async def test_cancelling_in_trio_stops_at_once_and_waits():
    """The event has stopped when the cancellation goes on."""
    progress, stopped, over = Progress(), threading.Event(), []

    def play():
        progress.attach(lambda at_once: at_once and stopped.set())
        stopped.wait()
        over.append(True)

    with trio.move_on_after(0):
        await threads.call_async(play, progress)
    assert [True] == over
    assert progress.stopping


@in_a_thread
def test_cancelling_in_asyncio_stops_at_once_and_waits():
    """The same there."""
    progress, stopped, over = Progress(), threading.Event(), []

    def play():
        progress.attach(lambda at_once: at_once and stopped.set())
        stopped.wait()
        over.append(True)

    async def main():
        task = asyncio.ensure_future(threads.call_async(play, progress))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [True] == over


def test_a_stop_that_comes_before_play_is_kept():
    """It is passed on when play begins."""
    progress, calls = Progress(), []
    progress.stop()
    progress.attach(calls.append)
    progress.stop(at_once=True)
    progress.attach(None)
    progress.stop()
    assert [False, True] == calls


def test_example_bots_are_named_and_one_path_may_stand_alone(tmp_path, monkeypatch):
    """A string is a path or an example's name, never a sequence of letters; a Path is a path."""
    monkeypatch.chdir(tmp_path)
    assert bot_path("greedy") == example_bot("greedy")
    assert bot_path("./greedy") == Path("greedy") == bot_path(Path("greedy"))
    assert bot_paths("mine") == [Path("mine")] == folder_paths(Path("mine"))
    (tmp_path / "greedy").mkdir()
    assert bot_paths(["greedy", "random"]) == [Path("greedy"), example_bot("random")]


def test_what_rates_is_named_by_its_flag(tmp_path):
    """Anything else than the two ways to rate is refused before a log is read."""
    with pytest.raises(arena.UserError, match="--rate-on strokes: there are results and adjusted"):
        arena.rate(tmp_path, arena.RateOptions(rate_on="strokes"))
