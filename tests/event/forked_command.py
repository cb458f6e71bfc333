"""A process that has the package and Dask loaded and forks itself for each command on a cluster.

As `tests/warm.py`, which it follows, but the tests read while the command runs, and send signals.

Reads an order a line from standard input, as JSON: what `warm.follow` wants, `constants` of
`arena.executors` (module_NAME) and `ended`, a file for the exit code as `subprocess` has it.
Answers a line: the number of the process, a session of its own. Its outputs are open by then.
"""

import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path

import distributed  # noqa: F401 - so that the commands have it


def load_warm():
    """`tests/warm.py` as a module."""
    path = Path(__file__).parents[1] / "warm.py"
    spec = importlib.util.spec_from_file_location("warm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def keep(warm, order):
    """Fork the command, and tell how it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = [os.open(path, os.O_WRONLY) for path in (*order["out"], order["ended"])]
    child = os.fork()
    if not child:
        os.setsid()
        for name, value in order["constants"].items():
            module, _, constant = name.partition("_")
            setattr(importlib.import_module(f"arena.executors.{module}"), constant, value)
        warm.follow(order | {"out": [f"/proc/self/fd/{file}" for file in files[:2]]})
    for file in files[:2]:
        os.close(file)
    sys.stdout.write(f"{child}\n")
    sys.stdout.flush()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(files[2], str(code).encode())
    os._exit(0)


if __name__ == "__main__":
    warm = load_warm()
    warm.load()
    for name in ("cluster", "crew", "dask"):
        importlib.import_module(f"arena.executors.{name}")
    gc.freeze()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no keeper waits for its number
    for line in sys.stdin:
        if not os.fork():
            keep(warm, json.loads(line))
