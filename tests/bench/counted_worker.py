"""A worker process, which counts the calls that go to the system, by name.

    python counted_worker.py FILE

FILE is mapped; it always holds the number of calls so far, and how many of them were waits, as 8
bytes each. Calls of trio's own loop are
left out: how often it gets its turn depends on the time.
"""

import mmap
import struct
import sys
from pathlib import Path

from arena.executors.worker import main

# What asks the kernel: modules of plain functions, types of objects with methods.
MODULES = {"posix", "select", "_socket", "_posixsubprocess", "fcntl"}
TYPES = {"epoll", "poll", "socket", "FileIO", "BufferedReader", "BufferedWriter"}
# What only reads a number that is at hand.
FREE = {"fileno", "fspath"}


def counting(file):
    """A profile function that counts into a mapped file."""
    calls = waits = 0

    def profile(frame, event, function):
        nonlocal calls, waits
        if event == "c_call" and not frame.f_globals["__name__"].startswith("trio"):
            owner = type(function.__self__).__name__
            asks = function.__module__ in MODULES or owner in TYPES
            if asks and function.__name__ not in FREE:
                calls += 1
                waits += function.__name__ == "poll"
                struct.pack_into("=QQ", file, 0, calls, waits)

    return profile


if __name__ == "__main__":
    with Path(sys.argv[1]).open("r+b") as counted:
        sys.setprofile(counting(mmap.mmap(counted.fileno(), 16)))
    main()
