"""This machine: one worker process a core, each playing one series at a time.

A worker and its bots stay on a core of their own: what one writes the other reads from the same
cache, and no match runs on another's time. With more workers than cores none is pinned.

The parent's death, by whatever cause, ends a worker's input and so the worker; a worker's
death is the host's trouble: the series at hand is void and a new worker takes its place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import msgspec
import trio

from arena.executors import Config, Job, Report, SeriesEnd
from arena.executors.cores import cores
from arena.executors.handout import Handout
from arena.exhaustion import why_not_started
from arena.model import Block, Series

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Report).decode
_READ_BYTES = 1 << 16
# After a worker could not be started.
AGAIN_S = 1.0


class LocalExecutor:
    """See the module's docstring."""

    def __init__(self, config: Config, *, jobs: int, pin: bool) -> None:
        self._config = config
        self._jobs = jobs
        self._cores = cores() if pin and jobs <= len(cores()) else []

    async def play(
        self,
        blocks: Iterator[Block],
        *,
        choose: Callable[[Series], int | None],
        report: Callable[[Report], None],
        stop: trio.Event,
    ) -> None:
        """Play everything that `choose` wants of the blocks."""
        handout = Handout(blocks, workers=self._jobs)

        async def work(index: int) -> None:
            core = self._cores[index] if self._cores else None
            config = msgspec.structs.replace(self._config, core=core)
            worker: _Worker | None = None
            try:
                while not stop.is_set() and (turn := await handout.take()) is not None:
                    while not stop.is_set() and (attempt := choose(turn.series)) is not None:
                        job = Job(series=turn.series, attempt=attempt)
                        try:
                            if worker is None or worker.dead:
                                worker = _Worker(config)
                        except OSError as error:
                            reason = why_not_started(error)
                            report(_void(job, f"can't start a worker process: {reason}"))
                            # What has run out may be there again in a moment.
                            with trio.move_on_after(AGAIN_S):
                                await stop.wait()
                        else:
                            await worker.play(job, report)
                    handout.give_back(turn)
            finally:
                if worker is not None:
                    with trio.CancelScope(shield=True):
                        await worker.close()

        async with trio.open_nursery() as nursery:
            for index in range(self._jobs):
                nursery.start_soon(work, index)


class _Worker:
    """A worker process and its two pipes."""

    def __init__(self, config: Config) -> None:
        self.dead = False
        # Popen on this, the main, thread: a process opener with threads of its own would
        # send parent-death signals when an idle thread retires.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", "worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A group of its own: Ctrl-C in a terminal is for the parent to deal with.
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._input = trio.lowlevel.FdStream(os.dup(self._process.stdin.fileno()))
        except OSError:
            self._process.kill()
            self._process.communicate()
            raise
        self._process.stdin.close()
        # Read without a stream of trio's, which would go round its loop twice for each record.
        self._output = self._process.stdout
        self._buffer = bytearray()
        self._first = _encode(config) + b"\n"

    async def play(self, job: Job, report: Callable[[Report], None]) -> None:
        """Play one series; every line of the worker goes to `report`."""
        try:
            await self._input.send_all(self._first + _encode(job) + b"\n")
            self._first = b""
            while True:
                message = _decode(await self._line())
                report(message)
                if isinstance(message, SeriesEnd):
                    return
        except (trio.BrokenResourceError, EOFError):
            self.dead = True
            await self.close()
            end = _end(self._process.returncode)
            report(_void(job, f"a worker process ended unexpectedly ({end})"))

    async def close(self) -> None:
        """End its input and wait; it kills what it started. Kill it if it does not go."""
        self.dead = True
        if self._output.closed:
            return
        await self._input.aclose()
        with trio.move_on_after(5):
            # Reading to the end is waiting for it without a thread: its bots are gone by then.
            while await self._some():
                pass
        self._output.close()
        self._process.kill()
        self._process.wait()

    async def _some(self) -> bytes:
        await trio.lowlevel.wait_readable(self._output)
        return os.read(self._output.fileno(), _READ_BYTES)

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            data = await self._some()
            if not data:
                raise EOFError
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


def _void(job: Job, trouble: str) -> SeriesEnd:
    return SeriesEnd(series=job.series.id, attempt=job.attempt, trouble=trouble)


def _end(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {-code}"
    return f"exit {code}"
