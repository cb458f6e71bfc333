"""Spread calls over processes; results come in the order of the calls.

Invariant: the same results whatever the number of processes; a few calls a process are in flight.
When the results are wanted no longer, the calls in flight are waited for: long ones look whether
they are `unwanted`.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Semaphore
from typing import Any, TypeVar

from arena.model import HostError

T = TypeVar("T")

AHEAD = 2  # calls that are submitted before the first of their results is needed, for each process


def map_ordered(
    function: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    *,
    jobs: int,
    begin: Callable[[Any], object],
    about: object,
    fork: bool = False,
) -> Iterator[T]:
    """The results of calls with these arguments. Each process first calls `begin(about)`.

    A process that isn't forked imports the caller's script again, which must be written for that; a
    forked one has none of the caller's threads.
    """
    context = multiprocessing.get_context("fork" if fork else "spawn")
    stop = context.Semaphore(0)  # an Event has a lock, which a killed process might hold
    pool = ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin, initargs=(begin, about, stop)
    )
    waiting: deque[Future[T]] = deque()
    try:
        for words in calls:
            waiting.append(pool.submit(function, *words))
            if len(waiting) > jobs * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise HostError(
            "a process of this command has been killed; try again, with fewer --jobs if memory is "
            "short"
        ) from None
    finally:
        stop.release()
        pool.shutdown(cancel_futures=True)


_stop: list[Semaphore] = []  # of this process: positive when its results are unwanted


def unwanted() -> bool:
    """Whether the caller wants no more results, so that the call of this process may end."""
    return any(stop.get_value() for stop in _stop)


def _begin(begin: Callable[[Any], object], about: object, stop: Semaphore) -> None:
    _stop[:] = [stop]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(about)


def _end_with_parent() -> None:
    """A killed parent shuts no pool down, and its processes would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
