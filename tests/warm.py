"""A process that has the package loaded and forks itself for each command of a test.

A fresh interpreter takes a quarter of a second of CPU to load the package; hundreds of tests run a
command each. A fork of this process is what that interpreter would be once it has loaded: a process
of its own, with the folder, environment and outputs that are asked for, in which nothing has run.

Reads an order a line from standard input, as JSON: `words`, `cwd`, `env`, `out` (files for standard
output and error), `stdin` (a text that fits into a pipe). Answers a line: the exit code as
`subprocess` has it, once the command has ended.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import traceback

import arena
from arena.__main__ import main

APART = (
    "arena.rl",  # an extra
    "arena.executors.",  # likewise, but for what the command line needs
    "arena.scaffolds.",  # programs
    "arena.sandbox.canary_program",  # programs, too
    "arena.sandbox.spawner",
)


def load():
    """Import what the commands import when they are called."""
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        if not module.name.startswith(APART) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def follow(order):
    """Be the command, to its end."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if text := order["stdin"].encode():
        heard, said = os.pipe()
        os.set_blocking(said, False)
        assert len(text) == os.write(said, text)
        os.close(said)
    else:
        heard = os.open(os.devnull, os.O_RDONLY)
    os.dup2(heard, 0)
    for number, name in enumerate(order["out"], 1):
        os.dup2(os.open(name, os.O_WRONLY), number)
    os.closerange(3, 64)
    sys.argv = ["arena", *order["words"]]
    code = 1
    try:
        main()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    load()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            follow(json.loads(line))
        ended = os.waitpid(child, 0)[1]
        sys.stdout.write(f"{os.waitstatus_to_exitcode(ended)}\n")
        sys.stdout.flush()
