"""Run blocking functions of the API where an event loop may already run: a notebook, trio, asyncio.

Playing an event runs a trio loop of its own, which can't run inside another loop. So a function
that is called from a running loop plays in a thread, and blocks the caller all the same;
`run_async` does not block. Invariant: play has stopped when a function returns or raises.
"""

import contextvars
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import trio

from arena.event.progress import Progress

T = TypeVar("T")


def call(function: Callable[[], T], progress: Progress | None = None) -> T:
    """Call a function, in a thread if a loop runs; then Ctrl-C stops what `progress` follows."""
    if not in_loop():
        return function()
    future, thread = _started(function)
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            if progress is None:
                raise
            progress.stop(at_once=progress.stopping)
    return future.result()


async def call_async(function: Callable[[], T], progress: Progress) -> T:
    """Call a function in a thread. Cancellation stops the event at once, and waits for that."""
    future, thread = _started(function)
    if trio.lowlevel.in_trio_run():
        done = trio.Event()
        token = trio.lowlevel.current_trio_token()
        future.add_done_callback(lambda _: token.run_sync_soon(done.set))
        try:
            await done.wait()
        except trio.Cancelled:
            progress.stop(at_once=True)
            with trio.CancelScope(shield=True):
                await done.wait()
            raise
        thread.join()
        return future.result()
    import asyncio

    waiting = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        progress.stop(at_once=True)
        await asyncio.wait([waiting])
        raise


def in_loop() -> bool:
    if trio.lowlevel.in_trio_run():
        return True
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001 - raises nothing


def _started(function: Callable[[], T]) -> tuple[Future[T], threading.Thread]:
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - the caller raises it
            future.set_exception(error)

    thread = threading.Thread(target=work, name="arena")
    thread.start()
    return future, thread
