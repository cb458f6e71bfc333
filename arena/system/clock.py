"""Read the clocks: monotonic, wall, CPU, sleep. trio's waits go by the clock of `trio.run`."""

import time
from collections.abc import Callable

monotonic: Callable[[], float] = time.monotonic
"""Seconds since some moment; the same for all processes of this machine."""

unix: Callable[[], float] = time.time  # seconds since 1970
thread_cpu: Callable[[], float] = time.thread_time  # seconds of CPU time of this thread
sleep: Callable[[float], None] = time.sleep  # block this thread


def local(form: str) -> str:
    return time.strftime(form)
