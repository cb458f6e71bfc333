"""A process that has the package loaded and forks itself for what a test wants started: a command
whose output the test reads while it runs, a scheduler, a worker; each a session of its own.

As `tests/warm.py`, which it follows. Dask, which takes more than a second to load, is loaded before
the first that needs it.

Reads an order a line from standard input, as JSON. Of a command: what `warm.follow` wants,
`constants` of `arena.executors` (module_NAME), and `ended`, a file for the exit code as
`subprocess` has it. Of a scheduler or a worker: `kind`, `flags`, `env`, `log`. Of all: `machine`,
one of `machines.py`, or null. Answers a line: the process's number. Its outputs are open by then.
"""

import ctypes
import gc
import importlib
import importlib.util
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path

NEW_NETWORK, NEW_NAMES = 0x4000_0000, 0x0400_0000  # clone(2)


def load_warm():
    """`tests/warm.py` as a module."""
    path = Path(__file__).parents[1] / "warm.py"
    spec = importlib.util.spec_from_file_location("warm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_dask():
    """Import what commands on a cluster, schedulers and workers do."""
    importlib.import_module("distributed.cli")
    for name in ("dask_scheduler", "dask_worker"):
        importlib.import_module(f"distributed.cli.{name}")
    for name in ("cluster", "crew", "dask"):
        importlib.import_module(f"arena.executors.{name}")
    gc.freeze()


def move(machine):
    """Be on another machine: its network, a name of its own, its cores."""
    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(machine["network"], os.O_RDONLY)
    assert not libc.setns(network, NEW_NETWORK), os.strerror(ctypes.get_errno())
    assert not libc.unshare(NEW_NAMES), os.strerror(ctypes.get_errno())
    os.close(network)
    socket.sethostname(machine["name"])
    os.sched_setaffinity(0, machine["cores"])


def keep(warm, order):
    """Fork the command, and tell how it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = [os.open(path, os.O_WRONLY) for path in (*order["out"], order["ended"])]
    child = os.fork()
    if not child:
        os.setsid()
        if order["machine"]:
            move(order["machine"])
        for name, value in order["constants"].items():
            module, constant = re.fullmatch("([a-z_]+)_([A-Z_]+)", name).groups()
            setattr(importlib.import_module(f"arena.executors.{module}"), constant, value)
        warm.follow(order | {"out": [f"/proc/self/fd/{file}" for file in files[:2]]})
    for file in files[:2]:
        os.close(file)
    sys.stdout.write(f"{child}\n")
    sys.stdout.flush()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(files[2], str(code).encode())
    os._exit(0)


def serve(warm, order):
    """Be the scheduler, or the worker, to its end; `arena` and its workers are forks of it."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if order["machine"]:
        move(order["machine"])
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND)
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    for number in (1, 2):
        os.dup2(log, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(order["env"])
    sys.modules["dask"].config.refresh()
    # Each worker gives itself a name when it loads it.
    del sys.modules["arena.executors.dask_tasks"], sys.modules["arena.executors"].dask_tasks
    warm.processes.start, warm.processes.run = warm.start, warm.run
    sys.argv = [f"dask-{order['kind']}", *order["flags"]]
    sys.modules[f"distributed.cli.dask_{order['kind']}"].main()


if __name__ == "__main__":
    warm = load_warm()
    warm.load()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that nobody waits for its children
    for line in sys.stdin:
        order = json.loads(line)
        if "kind" in order or "--on" in order["words"]:
            load_dask()
        if not os.fork():
            (serve if "kind" in order else keep)(warm, order)
            sys.exit()
