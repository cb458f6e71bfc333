"""Play blocks on this machine: one worker process a core, each playing one series at a time.

A worker and its bots stay on a core of their own: what one writes the other reads from the same
cache, and no match runs on another's time. With more workers than cores none is pinned.

The parent's death, by whatever cause, ends a worker's input and so the worker. A worker's death
voids the series at hand, and a new worker takes its place; so it does after any other void. After a
void a worker pauses before it takes another series.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import IO, Any

import msgspec
import trio
from msgspec.structs import replace

from arena.engine.match import FinishedMatch
from arena.executors import SERIES_END, TAB, Choose, Job, Report, Reporter, SeriesEnd, WorkerConfig
from arena.executors.cores import cores
from arena.executors.series_queue import SeriesQueue, WorkerId, pause
from arena.exhaustion import why_not_started
from arena.model import Block, MatchRecord
from arena.system import processes

_encode = msgspec.json.Encoder().encode
_decode_record = msgspec.json.Decoder(MatchRecord).decode
_decode_stderr = msgspec.json.Decoder(Mapping[str, str]).decode
_decode_end = msgspec.json.Decoder(SeriesEnd).decode
_READ_BYTES = 1 << 16
_END_S = 5  # for a worker whose input has ended to kill its bots


def parse_report(line: bytes) -> Report:
    if line.startswith(SERIES_END):
        return _decode_end(line)
    encoded, _, stderr = line.partition(TAB)
    said = _decode_stderr(stderr) if stderr else {}
    return FinishedMatch(record=_decode_record(encoded), stderr=said, encoded=encoded)


class LocalExecutor:
    def __init__(self, config: WorkerConfig, *, jobs: int, pin: bool) -> None:
        own = cores() if pin and jobs <= len(cores()) else [None] * jobs
        self._configs = {
            WorkerId("", str(index)): replace(config, core=own[index]) for index in range(jobs)
        }

    async def play(
        self, blocks: Iterator[Block], *, choose: Choose, report: Reporter, stop: trio.Event
    ) -> None:
        pausing: set[WorkerId] = set()
        queue = SeriesQueue(
            blocks,
            workers=len(self._configs),
            present=lambda: [here for here in self._configs if here not in pausing],
        )

        async def close_queue() -> None:
            await stop.wait()
            queue.close()

        async def work(here: WorkerId) -> None:
            worker, voids = _Worker(self._configs[here]), 0
            try:
                while not stop.is_set() and (turn := await queue.take(here)) is not None:
                    if stop.is_set() or (attempt := choose(turn.series)) is None:
                        queue.give_back(turn)
                        continue
                    end = await worker.play(Job(series=turn.series, attempt=attempt), report)
                    report(end)
                    if not end.trouble:
                        voids = 0
                        queue.give_back(turn)
                        continue
                    pausing.add(here)
                    queue.put_void(turn, here)
                    await worker.close()
                    voids += 1
                    with trio.move_on_after(pause(voids)):
                        await queue.over.wait()
                    pausing.remove(here)
            finally:
                with trio.CancelScope(shield=True):
                    await worker.close()

        async with trio.open_nursery() as stopping:
            stopping.start_soon(close_queue)
            async with trio.open_nursery() as nursery:
                for here in self._configs:
                    nursery.start_soon(work, here)
            stopping.cancel_scope.cancel()


def start_worker(**how: Any) -> tuple[processes.Process, IO[bytes], IO[bytes]]:  # noqa: ANN401
    """A worker process, its input and its output. `how`: as to start any process."""
    process = processes.start(
        [sys.executable, "-P", "-m", "arena.executors.worker"],
        stdin=processes.PIPE,
        stdout=processes.PIPE,
        # A group of its own: Ctrl-C in a terminal is for the parent to deal with.
        start_new_session=True,
        **how,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return process, process.stdin, process.stdout


def not_started(job: Job, error: OSError) -> SeriesEnd:
    return job.end(f"can't start a worker process: {why_not_started(error)}")


class _Worker:
    """A worker process and its two pipes; it is started when a series needs it."""

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._process: processes.Process | None = None

    def _start(self) -> processes.Process:
        # Started by this, the main, thread: a process opener with threads of its own would
        # send parent-death signals when an idle thread retires.
        process, input_, self._output = start_worker(bufsize=0)
        try:
            self._input = trio.lowlevel.FdStream(os.dup(input_.fileno()))
        except OSError:
            process.kill()
            process.communicate()
            raise
        input_.close()
        # Read without a stream of trio's, which would go round its loop twice for each record.
        self._buffer = bytearray()
        self._first = _encode(self._config) + b"\n"
        return process

    async def play(self, job: Job, report: Reporter) -> SeriesEnd:
        """Play one series: every line of the worker goes to `report` but the last."""
        try:
            self._process = self._process or self._start()
        except OSError as error:
            return not_started(job, error)
        try:
            await self._input.send_all(self._first + _encode(job) + b"\n")
            self._first = b""
            while True:
                message = parse_report(await self._line())
                if isinstance(message, SeriesEnd):
                    return message
                report(message)
        except (trio.BrokenResourceError, EOFError):
            code = await self.close()
            end = f"signal {-code}" if code < 0 else f"exit {code}"
            return job.end(f"a worker process ended unexpectedly ({end})")

    async def close(self) -> int:
        """End its input and wait: it kills what it started. Kill it if it doesn't end in time."""
        if self._process is None:
            return 0
        await self._input.aclose()
        with trio.move_on_after(_END_S):
            # Reading to the end is waiting for it without a thread: its bots are gone by then.
            while await self._some():
                pass
        process, self._process = self._process, None
        self._output.close()
        process.kill()
        return process.wait()

    async def _some(self) -> bytes:
        await trio.lowlevel.wait_readable(self._output)
        return processes.read(self._output.fileno(), _READ_BYTES)

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            data = await self._some()
            if not data:
                raise EOFError
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line
