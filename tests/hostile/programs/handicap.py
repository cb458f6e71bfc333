"""Slows another process down, or has it fail: its limits, its core, its scheduling."""

import os
import resource
import sys

how, pid = sys.argv[1], int(sys.argv[2])
try:
    if how == "limits":
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, hard))
    elif how == "core":
        os.sched_setaffinity(pid, {max(os.sched_getaffinity(pid))})
    else:
        os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))
    print("BROKE", how)
except OSError as error:
    print("HELD", error.strerror)
