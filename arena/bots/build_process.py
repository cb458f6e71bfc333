"""Run one build command to its end through the spawner; keep the end of its output.

Invariant: when `run` returns or raises, the command's whole process tree has ended and our ends of
its pipes are closed.
"""

from __future__ import annotations

import os
import selectors
from typing import TYPE_CHECKING

from arena.model import HostError
from arena.sandbox import Exited, SpawnPlan
from arena.system import clock

if TYPE_CHECKING:
    from arena.sandbox.client import BotProcess, Spawner

OUTPUT_BYTES = 16_384
"""Kept of a build's output, from its end: the error stands there, and it may be endless."""
END_SECONDS = 10.0  # for a killed command to end; after that the spawner itself is in trouble


def run(plan: SpawnPlan, spawner: Spawner, deadline: float) -> tuple[Exited | None, bytes]:
    """Run one command; None if it had to be killed at the deadline (monotonic). Also return the end
    of its stdout and stderr together, in the order of arrival.
    """
    process = spawner.spawn(plan)
    pipes = (process.stdout, process.stderr)
    output = bytearray()
    ended: Exited | None = None
    try:
        os.close(process.stdin)
        for pipe in pipes:
            os.set_blocking(pipe, False)
        ended = _wait(process, spawner, deadline, output)
    finally:
        try:
            if ended is None:
                spawner.kill(process.id)
                # Its folder is removed next.
                if not _wait(process, spawner, clock.monotonic() + END_SECONDS, output):
                    raise HostError("the sandbox did not end a program that was killed")
            # Its tree has ended: all its output is in the pipes.
            for pipe in pipes:
                while _read(pipe, output):
                    pass
        finally:
            for pipe in pipes:
                os.close(pipe)
    return ended, bytes(output)


def _wait(
    process: BotProcess, spawner: Spawner, deadline: float, output: bytearray
) -> Exited | None:
    with selectors.DefaultSelector() as waiting:
        for descriptor in (process.stdout, process.stderr, spawner.fileno()):
            waiting.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - clock.monotonic()) > 0:
            for key, _ in waiting.select(left):
                if key.fd == spawner.fileno():
                    for each in spawner.receive():
                        if isinstance(each, Exited) and each.id == process.id:
                            return each
                elif not _read(key.fd, output):
                    waiting.unregister(key.fd)
    return None


def _read(pipe: int, output: bytearray) -> bool:
    """Read what is there; False at the end, or if there is nothing now."""
    try:
        data = os.read(pipe, 65_536)
    except BlockingIOError:
        return False
    output += data
    del output[:-OUTPUT_BYTES]
    return bool(data)
