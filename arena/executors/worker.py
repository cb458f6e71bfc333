"""Run a worker process: series in, records out, as lines over standard input and output.

One trio loop, one spawner, one series at a time, on one core if the WorkerConfig names one. It
lives until its input ends: when its parent is gone, by whatever cause, it ends too, and its spawner
kills what it started.
"""

import os
import select
import sys
import traceback
from contextlib import AsyncExitStack, suppress

import msgspec
import trio

from arena import registry
from arena.deals import Deals
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import Pipes, open_pipes
from arena.executors import TAB, Job, Report, SeriesEnd, WorkerConfig
from arena.exhaustion import ran_out
from arena.model import HostError
from arena.system import clock, processes

_encode = msgspec.json.Encoder().encode
_READ_BYTES = 1 << 16
HELD_S = 0.05  # how long a finished match may wait for others before it is sent
HELD_BYTES = 1 << 16  # more than a pipe's worth is not collected: we wait for the parent to take it
# So many trials in a row have to find that others take the core; with pauses between them.
CROWDED_TRIES = 3
PAUSE_S = 0.05


def main() -> None:
    try:
        trio.run(serve, 0, sys.stdout.fileno())
    except* (BrokenPipeError, KeyboardInterrupt, HostError):
        pass  # the parent is gone, or it is about a series that is void already


async def serve(input_pipe: int, output_pipe: int) -> None:
    jobs_in, jobs_out = trio.open_memory_channel[bytes](1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, input_pipe, jobs_in, nursery.cancel_scope)
        config = msgspec.json.decode(await jobs_out.receive(), type=WorkerConfig)
        if config.core is not None:
            # Before the spawner starts, so that the bots inherit the core.
            os.sched_setaffinity(0, {config.core})
        backend = registry.backend(config.sandbox)
        if config.probe is not None:
            backend.take_over(config.probe)
        context = MatchContext(
            settings=config.settings,
            game=registry.game(config.settings.game),
            deals=Deals(bytes.fromhex(config.secret)),
            bots={bot.entrant.id: bot for bot in config.bots},
            backend=backend,
        )
        out = _Output(output_pipe)
        nursery.start_soon(out.write_in_time)
        async with AsyncExitStack() as stack:
            pipes: Pipes | None = None
            async for line in jobs_out:
                job = msgspec.json.decode(line, type=Job)
                trouble = bug = ""
                try:
                    if pipes is None:
                        pipes = await stack.enter_async_context(open_pipes())
                    async for match in play_series(pipes, context, job.series, job.attempt):
                        out.send(match)
                except HostError as error:
                    trouble = str(error)
                except Exception as error:  # noqa: BLE001 - our own bug unless it is the machine's
                    trouble = ran_out(error)
                    bug = "" if trouble else traceback.format_exc()
                if trouble or bug:
                    pipes = None  # whatever state it is in: the next has a new spawner
                    with suppress(HostError):  # one trouble is enough
                        await stack.aclose()
                crowded = _crowded(pipes) if job.try_core and pipes is not None else None
                out.send(
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
        clock.sleep(PAUSE_S)
    return True


def report_line(report: Report) -> bytes:
    if isinstance(report, SeriesEnd):
        return _encode(report) + b"\n"
    stderr = TAB + _encode(report.stderr) if report.stderr else b""
    return b"%b%b\n" % (_encode(report.record), stderr)


class _Output:
    """Lines to the parent, a few at a time: to wake it for each would take as much of its time
    again, on the core of another match. We wait for a slow parent only between two matches, since a
    bot that is being timed would pay for it.
    """

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._held = bytearray()  # not yet taken: at most HELD_BYTES and a match
        self._some = trio.Event()

    def send(self, report: Report) -> None:
        """A match may wait for others; not so the end of a series: the parent waits for it."""
        self._held += report_line(report)
        self._some.set()
        if isinstance(report, SeriesEnd) or len(self._held) > HELD_BYTES:
            self._write_all()

    async def write_in_time(self) -> None:
        """Keep nothing for longer than HELD_S, if the parent takes it."""
        while True:
            await self._some.wait()
            while self._held:
                await trio.sleep(HELD_S)
                self._write()
            self._some = trio.Event()

    def _write(self) -> None:
        with suppress(BlockingIOError):
            del self._held[: processes.write(self._pipe, self._held)]

    def _write_all(self) -> None:
        self._write()
        while self._held:
            select.select([], [self._pipe], [])
            self._write()


async def _read(pipe: int, jobs: trio.MemorySendChannel[bytes], scope: trio.CancelScope) -> None:
    """Hand on whole lines; the end of the input ends everything."""
    buffer = bytearray()
    async with trio.lowlevel.FdStream(os.dup(pipe)) as stream:
        while data := await stream.receive_some(_READ_BYTES):
            buffer += data
            while (end := buffer.find(b"\n")) >= 0:
                line = bytes(buffer[:end])
                del buffer[: end + 1]
                await jobs.send(line)
    scope.cancel()


if __name__ == "__main__":
    main()
