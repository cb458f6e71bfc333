"""One program run to its end through the spawner, its output kept from the end.

Invariant: when `run` returns or raises, the program's whole tree has ended and our ends of its
pipes are closed.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Sequence
from typing import Protocol

from arena.model import HostError
from arena.sandbox import Exited, Plan, Started

OUTPUT_BYTES = 16_384
"""Kept of a build's output, from its end: the error stands there, and it may be endless."""
END_SECONDS = 10.0
"""For the news of a killed program's end; beyond it the spawner itself is in trouble."""


class Process(Protocol):
    """A started program, as the spawner's client gives it."""

    @property
    def id(self) -> int:
        """Its name in `Exited`."""

    @property
    def stdin(self) -> int:
        """Descriptor of our end."""

    @property
    def stdout(self) -> int:
        """Descriptor of our end."""

    @property
    def stderr(self) -> int:
        """Descriptor of our end."""


class Spawns(Protocol):
    """The part of the spawner's client that builds need."""

    def spawn(self, plan: Plan, /) -> Process:
        """Start a program."""

    def kill(self, number: int, /) -> None:
        """End a program and its tree."""

    def receive(self) -> Sequence[Started | Exited]:
        """What has happened since; called when `fileno` is readable."""

    def fileno(self) -> int:
        """Readable when something has happened."""


def run(plan: Plan, spawner: Spawns, deadline: float) -> tuple[Exited | None, bytes]:
    """Run one program; None when it had to be killed at the deadline (monotonic).

    Gives the end of what it wrote on both of its outputs, in the order of arrival.
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
            # Its tree has ended, so whatever it wrote is in the pipes by now.
            for pipe in pipes:
                while _read(pipe, output):
                    pass
        finally:
            for pipe in pipes:
                os.close(pipe)
    return ended, bytes(output)


def _wait(process: Process, spawner: Spawns, deadline: float, output: bytearray) -> Exited | None:
    with selectors.DefaultSelector() as waiting:
        for descriptor in (process.stdout, process.stderr, spawner.fileno()):
            waiting.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                if key.fd == spawner.fileno():
                    ended = _end_of(process, spawner)
                    if ended is not None:
                        return ended
                elif not _read(key.fd, output):
                    waiting.unregister(key.fd)
    return None


def _read(pipe: int, output: bytearray) -> bool:
    """Take what is there; False at the end, or when there is nothing for now."""
    try:
        data = os.read(pipe, 65_536)
    except BlockingIOError:
        return False
    output += data
    del output[:-OUTPUT_BYTES]
    return bool(data)


def _end_of(process: Process, spawner: Spawns) -> Exited | None:
    news = spawner.receive()
    ends = (each for each in news if isinstance(each, Exited) and each.id == process.id)
    return next(ends, None)


def _kill(process: Process, spawner: Spawns) -> None:
    """End it, and wait for the news: its folder is removed next."""
    spawner.kill(process.id)
    deadline = time.monotonic() + END_SECONDS
    with selectors.DefaultSelector() as waiting:
        waiting.register(spawner.fileno(), selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if waiting.select(left) and _end_of(process, spawner) is not None:
                return
    raise HostError("the sandbox did not end a program that was killed")
