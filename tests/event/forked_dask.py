"""A process that has Dask loaded and forks itself for each scheduler and worker of a test.

A fresh interpreter takes more than a second of CPU to load Dask; a fork is what it would be then: a
process and a session of its own, with the environment and the log that are asked for.

Reads an order a line from standard input, as JSON: `kind`, `flags`, `env`, `log`. Answers a line:
the number of the process.
"""

import gc
import json
import os
import signal
import sys

import dask
from distributed.cli import dask_scheduler, dask_worker

MAINS = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}


def follow(order):
    """Be the scheduler, or the worker, to its end."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(log, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(order["env"])
    dask.config.refresh()
    sys.argv = [f"dask-{order['kind']}", *order["flags"]]
    MAINS[order["kind"]]()


if __name__ == "__main__":
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no process waits for its number
    for line in sys.stdin:
        child = os.fork()
        if not child:
            follow(json.loads(line))
            sys.exit()
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
