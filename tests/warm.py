"""A process that has the package loaded and forks itself for each command of a test.

A fresh interpreter takes a quarter of a second of CPU to load the package; hundreds of tests run a
command each. A fork of this process is what that interpreter would be once it has loaded: a process
of its own, with the folder, environment and outputs that are asked for, in which nothing has run.
So are the workers that a command starts, forks of the command (`Fork`).

Reads an order a line from standard input, as JSON: `words`, `cwd`, `env`, `out` (files for standard
output and error), `stdin` (a text that fits into a pipe). Answers a line: the exit code as
`subprocess` has it, once the command has ended.
"""

import atexit
import contextvars
import gc
import importlib
import inspect
import json
import os
import pkgutil
import signal
import subprocess
import sys
import traceback
import weakref
from pathlib import Path

import trio

import arena
from arena import registry
from arena.__main__ import main
from arena.executors import worker
from arena.luck import _measure, tables
from arena.system import processes

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
    for game in registry.GAMES:  # tables that each command and worker needs
        if luck := registry.game(game).about.luck:
            tables(_measure(luck))


class Fork(subprocess.Popen):
    """A process of this program's as a fork of this process: what a fresh interpreter would be once
    it has loaded. What has been found out here about the machine it finds out anew.
    """

    def _execute_child(self, *given):
        told = inspect.signature(super()._execute_child).bind(*given).arguments
        files = [told[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        self.pid = os.fork()
        if not self.pid:
            try:
                become(told["args"], files, told["start_new_session"])
            finally:
                os._exit(1)
        self._child_created = True
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(told[name] for name in names))


PROGRAMS = {
    ("-P", "-m", "arena.executors.worker"): worker.main,
    ("-P", "-m", "arena", "node"): main,
}
PATH = os.environ.get("PYTHONPATH")
FOUND_OUT = ("arena.bots", "arena.machine", "arena.sandbox")


def start(words, **options):
    """`subprocess.Popen`, unless it is one of our own programs."""
    ours = tuple(words[1:]) in PROGRAMS and os.environ.get("PYTHONPATH") == PATH
    return (Fork if ours else subprocess.Popen)(words, **options)


def run(words, *, input, capture_output, check, **options):  # noqa: A002 - its name there
    """`subprocess.run`, as far as it is used, likewise."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    assert capture_output
    assert not check
    with start(words, **pipes, **options) as process:
        output, errors = process.communicate(input)
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def become(words, files, new_session):
    """Be one of our own programs, to its end, wherever its parent is at work."""
    gc.freeze()  # its objects own numbers of files that are others' here
    if new_session:
        os.setsid()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) not in (signal.SIG_DFL, signal.SIG_IGN, None):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        if file != -1:
            os.dup2(file, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    Path("/proc/self/comm").write_text(words[3])  # the first 15 characters
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    atexit._clear()
    weakref.finalize._registry.clear()
    weakref.finalize._registered_with_atexit = False
    sys.set_asyncgen_hooks(None, None)
    vars(trio._core._run.GLOBAL_RUN_CONTEXT).clear()
    for name, module in list(sys.modules.items()):
        if name.startswith(FOUND_OUT):
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
    sys.argv = ["arena", *words[4:]]
    contextvars.Context().run(end, PROGRAMS[tuple(words[1:])])


def end(program):
    """Run a program, and end as an interpreter does."""
    code = 1
    try:
        program()
        code = 0
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code)


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
    processes.start, processes.run = start, run
    sys.argv = ["arena", *order["words"]]
    end(main)


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
