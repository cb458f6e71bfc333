"""Measure cores by working on them: how fast each is, and whether other work takes it.

Theory of operation. A process for each core does a fixed piece of work there, all at the same time,
as matches will be played. The speed counts the CPU time of the work, so other work on the core
doesn't lower it; the share is that CPU time over the time by the clock. Other work comes in bursts,
so a core with too low a share is tried again, TRIES times.

Invariant: no threads where this is called, since it forks; a core is ours for TRIAL_S at a time.
"""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from arena.model import Frozen
from arena.sandbox.delays import SHARE
from arena.system import clock

TRIAL_S = 0.05
TRIES = 4
PAUSE_S = 0.1
_BATCH = 200  # rounds between two looks at the clock: less than a tenth of a millisecond


class CoreTrial(Frozen, frozen=True, kw_only=True):
    core: int | None
    speed: int  # rounds of the work in a millisecond of its time
    share: float  # of the time by the clock, at best

    @property
    def free(self) -> bool:
        return self.share >= SHARE


def try_cores(cores: Sequence[int | None]) -> list[CoreTrial]:
    """Try these cores at the same time; None: whichever the system gives."""
    fork = multiprocessing.get_context("fork")
    running = []
    for core in cores:
        output, input_ = fork.Pipe(duplex=False)
        process = fork.Process(target=lambda core, out: out.send(_trial(core)), args=(core, input_))
        process.start()
        input_.close()
        running.append((process, output))
    found = []
    for process, output in running:
        with suppress(EOFError):
            found.append(output.recv())
        process.join()
    if len(found) < len(running):
        raise OSError("a core could not be tried")
    return found


def _trial(core: int | None) -> CoreTrial:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core is not None:
        os.sched_setaffinity(0, {core})
    speed = share = 0.0
    for attempt in range(TRIES):
        if attempt:
            clock.sleep(PAUSE_S)
        rounds, cpu, wall = _work()
        speed, share = max(speed, rounds / cpu), max(share, cpu / wall)
        if share >= SHARE:
            break
    return CoreTrial(core=core, speed=round(speed / 1000), share=round(share, 2))


def _work() -> tuple[int, float, float]:
    """Rounds, and the seconds that they took: of the core, and by the clock."""
    rounds, number, begun, cpu = 0, 1, clock.monotonic(), clock.thread_cpu()
    while (took := clock.monotonic() - begun) < TRIAL_S:
        seen: dict[int, int] = {}
        for _ in range(_BATCH):
            number = (number * 1103515245 + 12345) & 0x7FFFFFFF
            seen[number >> 20] = seen.get(number >> 20, 0) + 1
        rounds += _BATCH
    return rounds, clock.thread_cpu() - cpu, took
