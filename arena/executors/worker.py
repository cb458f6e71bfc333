"""A worker: series in, records out, as JSON lines over standard input and output.

One trio loop, one spawner, one series at a time, on one core if told so. It lives until its
input ends: when whoever feeds it is gone, by whatever cause, it goes too, and its spawner
kills what it started.
"""

from __future__ import annotations

import os
import select
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

import msgspec
import trio

from arena.deals import Deals
from arena.engine.match import MatchContext, Played, play_series
from arena.engine.pipes import Pipes, open_pipes
from arena.executors import Finished, Job, SeriesEnd, WorkerConfig
from arena.exhaustion import ran_out
from arena.games import Game
from arena.model import HostError
from arena.sandbox import Backend

_encode = msgspec.json.Encoder().encode
_READ_BYTES = 1 << 16
# How long a finished match may wait for others before it is told.
HELD_S = 0.05
# So many trials in a row have to find that others take the core; with pauses between them.
CROWDED_TRIES = 3
PAUSE_S = 0.05
# More than a pipe's worth is not collected, but waited with for whoever feeds us to take it.
HELD_BYTES = 1 << 16


def main(game: Callable[[str], Game], backend: Callable[[str], Backend]) -> None:
    """Run until the input ends. `game` and `backend` look names up."""
    try:
        trio.run(_work, game, backend)
    except* (BrokenPipeError, KeyboardInterrupt, HostError):
        pass  # whoever fed us is gone, or a series that is void already


async def _work(game: Callable[[str], Game], backend: Callable[[str], Backend]) -> None:
    jobs_in, jobs_out = trio.open_memory_channel[bytes](1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, jobs_in, nursery.cancel_scope)
        line = await jobs_out.receive()
        config = msgspec.json.decode(line, type=WorkerConfig)
        if config.core is not None:
            # Before the spawner starts, so that the bots inherit the core.
            os.sched_setaffinity(0, {config.core})
        context = MatchContext(
            settings=config.settings,
            game=game(config.settings.game),
            deals=Deals(bytes.fromhex(config.secret)),
            bots={bot.entrant.id: bot for bot in config.bots},
            backend=backend(config.sandbox),
        )
        out = _Out(sys.stdout.fileno())
        nursery.start_soon(out.write_in_time)
        stack = AsyncExitStack()
        async with stack:
            pipes: Pipes | None = None
            async for line in jobs_out:
                job = msgspec.json.decode(line, type=Job)
                trouble = bug = ""
                try:
                    if pipes is None:
                        pipes = await stack.enter_async_context(open_pipes())
                    await play_series(pipes, context, job.series, job.attempt, out.report)
                except HostError as error:
                    trouble = str(error)
                except Exception as error:  # noqa: BLE001 - told, and our own bug unless the machine's
                    trouble = ran_out(error)
                    bug = "" if trouble else traceback.format_exc()
                if trouble or bug:
                    # Whatever state it is in: a new table has a new spawner.
                    pipes = None
                    with suppress(HostError):  # one trouble is enough
                        await stack.aclose()
                crowded = _crowded(pipes) if job.try_core and pipes is not None else None
                out.end(
                    SeriesEnd(
                        series=job.series.id,
                        attempt=job.attempt,
                        trouble=trouble,
                        bug=bug,
                        crowded=crowded,
                    )
                )


def _crowded(pipes: Pipes) -> bool:
    """Whether others take the core, while no bot plays; others' work comes in bursts."""
    for _ in range(CROWDED_TRIES):
        if not pipes.core.overloaded():
            return False
        time.sleep(PAUSE_S)
    return True


class _Out:
    """Lines to whoever feeds us, a few at a time: to wake them for each would take as much of their
    time again, and mostly on the core of another match.

    They may be slow, or stopped: then we wait for them between two matches and at no other time,
    since a bot that is being timed would pay for it.
    """

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._held = bytearray()  # what they have not taken: at most HELD_BYTES and a match
        self._some = trio.Event()

    def report(self, played: Played) -> None:
        """A match is finished."""
        self._held += _encode(Finished(record=played.record, stderr=played.stderr)) + b"\n"
        self._some.set()
        if len(self._held) > HELD_BYTES:
            self._write_all()

    def end(self, end: SeriesEnd) -> None:
        """A series is over: they wait for it."""
        self._held += _encode(end) + b"\n"
        self._write_all()

    async def write_in_time(self) -> None:
        """Keep nothing for longer than HELD_S, if they take it."""
        while True:
            await self._some.wait()
            while self._held:
                await trio.sleep(HELD_S)
                self._write()
            self._some = trio.Event()

    def _write(self) -> None:
        with suppress(BlockingIOError):
            del self._held[: os.write(self._pipe, self._held)]

    def _write_all(self) -> None:
        self._write()
        while self._held:
            select.select([], [self._pipe], [])
            self._write()


async def _read(jobs: trio.MemorySendChannel[bytes], scope: trio.CancelScope) -> None:
    """Hand on whole lines; the end of the input ends everything."""
    buffer = bytearray()
    async with trio.lowlevel.FdStream(os.dup(0)) as stream:
        while data := await stream.receive_some(_READ_BYTES):
            buffer += data
            while (end := buffer.find(b"\n")) >= 0:
                line = bytes(buffer[:end])
                del buffer[: end + 1]
                await jobs.send(line)
    scope.cancel()
