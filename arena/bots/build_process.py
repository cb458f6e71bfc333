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
END_SECONDS = 10.0
"""For a killed command to end; after that the spawner itself is in trouble."""


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
                _kill(process, spawner)
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
                    ended = _end_of(process, spawner)
                    if ended is not None:
                        return ended
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


def _end_of(process: BotProcess, spawner: Spawner) -> Exited | None:
    for each in spawner.receive():
        if isinstance(each, Exited) and each.id == process.id:
            return each
    return None


def _kill(process: BotProcess, spawner: Spawner) -> None:
    """Kill it and wait for its end: its folder is removed next."""
    spawner.kill(process.id)
    deadline = clock.monotonic() + END_SECONDS
    with selectors.DefaultSelector() as waiting:
        waiting.register(spawner.fileno(), selectors.EVENT_READ)
        while (left := deadline - clock.monotonic()) > 0:
            if waiting.select(left) and _end_of(process, spawner) is not None:
                return
    raise HostError("the sandbox did not end a program that was killed")
