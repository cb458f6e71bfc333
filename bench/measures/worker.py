"""A real worker process, fed and watched from outside.

It speaks the lines of `arena.executors`: WorkerConfig and Jobs in, Reports out. CPU time comes from
the scheduler's own count of its one thread.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from arena.engine.match import FinishedMatch
from arena.executors import Job, WorkerConfig
from arena.executors.local import parse_report
from arena.model import Bot, MatchRecord, Series
from measures.conversation import SECRET, settings_of

_encode = msgspec.json.Encoder().encode

COMMAND = (sys.executable, "-P", "-m", "arena.executors.worker")


def cpu_us(pid: int) -> float:
    """Microseconds of CPU that a process's first thread has used."""
    return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[0]) / 1e3


@dataclass(frozen=True)
class Seen:
    """A record, and when it came."""

    record: MatchRecord
    stderr: dict[str, str]
    at: float
    """Seconds, of the clock that all processes share."""

    @property
    def decisions(self) -> int:
        """Of all seats."""
        return sum(use.decisions for use in self.record.use)


class Worker:
    """See the module's docstring."""

    def __init__(
        self,
        bots: Sequence[Bot],
        *,
        core: int | None,
        game: str = "play-nine",
        sandbox: str = "none",
        freeze: bool = False,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self.names = tuple(bot.entrant.id for bot in bots)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._send(
            WorkerConfig(
                settings=settings_of(game, len(bots), freeze=freeze),
                secret=SECRET.hex(),
                bots=tuple(bots),
                sandbox=sandbox,
                core=core,
            )
        )

    def play(self, series: Series) -> Iterator[Seen]:
        """Play a series; its records as they come."""
        assert self.process.stdout is not None
        self._send(Job(series=series, attempt=0))
        while True:
            line = self.process.stdout.readline()
            at = time.monotonic()
            if not line:
                raise RuntimeError("the worker has gone")
            report = parse_report(line[:-1])
            if not isinstance(report, FinishedMatch):
                if report.trouble or report.bug:
                    raise RuntimeError(report.trouble or report.bug)
                return
            if report.record.faults:
                raise RuntimeError(f"a bot failed: {report.record.faults[0]}")
            yield Seen(report.record, dict(report.stderr), at)

    def close(self) -> None:
        """End its input and wait for it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()
        self.process.stdout.close()

    def _send(self, message: WorkerConfig | Job) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(_encode(message) + b"\n")
        self.process.stdin.flush()
