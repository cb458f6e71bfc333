"""Asks by its number whether a process exists, and how much it has computed."""

import os
import sys
import time

how, pid = sys.argv[1], int(sys.argv[2])
try:
    if how == "exists":
        os.getpgid(pid)
        print("BROKE there is such a process")
    else:
        # The number of a process's CPU clock, as clock_getcpuclockid makes it.
        print("BROKE", time.clock_gettime(~pid << 3 | 2) > 0)
except OSError as error:
    print("HELD", error.strerror)
