"""What ran out is told from what went wrong otherwise."""

import errno
import importlib
import io
import os
import signal
import subprocess
import sys

import pytest

from arena.cli import main
from arena.exhaustion import (
    NO_PROCESSES,
    memory_ran_out,
    ran_out,
    ran_out_in,
    why_not,
    why_not_started,
)


def raised(number):
    return OSError(number, os.strerror(number))


def caused(error):
    """An error that was raised because of another, as nurseries and loops do."""
    wrapped = RuntimeError("internal error")
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (raised(errno.ENOSPC), "no space left on the disk"),
        (raised(errno.EDQUOT), "the disk quota is used up"),
        (raised(errno.EMFILE), "ulimit -n"),
        (raised(errno.EFBIG), "ulimit -f"),
        (MemoryError(), "out of memory"),
        (ImportError("libssl.so.3: failed to map segment from shared object"), "out of memory"),
        (RuntimeError("can't start new thread"), NO_PROCESSES),
        (caused(MemoryError()), "out of memory"),
        (ExceptionGroup("", [raised(errno.ENFILE), MemoryError()]), "file descriptors"),
    ],
)
def test_what_ran_out_is_named(error, told):
    """Also within groups, and behind an error that it has caused."""
    assert told in ran_out(error)


@pytest.mark.parametrize(
    "error",
    [
        raised(errno.ENOENT),
        raised(errno.EAGAIN),
        RuntimeError("a bug"),
        ImportError("cannot import name 'x' from 'y'"),
        ExceptionGroup("", [MemoryError(), KeyError()]),
    ],
)
def test_a_bug_is_not_taken_for_it(error):
    """Not even one that is raised beside it."""
    assert not ran_out(error)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("cc: fatal error: vfork: Resource temporarily unavailable", NO_PROCESSES),
        ("bwrap: Can't open /proc: Too many open files", "out of file descriptors"),
        (f"/results: can't write: {why_not(raised(errno.ENOSPC))}", "no space left on the disk"),
        (f"can't start a worker process: {NO_PROCESSES}", NO_PROCESSES),
        ("Error: Cannot allocate memory", "out of memory"),
        ("sh: 1: Cannot fork", NO_PROCESSES),
        ("runtime: failed to create new OS thread (errno=11)", NO_PROCESSES),
    ],
)
def test_words_for_it_are_understood(text, named):
    """The system's, and those that the arena itself has put in their place."""
    assert named in ran_out_in(text)


def test_other_words_say_nothing_of_it():
    """A void series may have any other reason."""
    assert not ran_out_in("the spawner died (signal 11)")
    assert not ran_out_in("")


def test_why_something_could_not_be_done():
    """What ran out, or the system's words; a process has a reason of its own."""
    assert "Permission denied" == why_not(raised(errno.EACCES))
    assert "No such file or directory" == why_not_started(raised(errno.ENOENT))
    assert NO_PROCESSES == why_not_started(raised(errno.EAGAIN))
    assert "no reason" == why_not(OSError("no reason"))


def unmapped(*_, **__):
    raise ImportError("x.so: failed to map segment from shared object")


@pytest.mark.parametrize("where", ["arena.open_results", "arena.cli.Arena.invoke"])
def test_a_command_that_runs_out_while_it_is_loaded_ends_in_one_line(monkeypatch, capsys, where):
    """Also when what would tell whose act an error is can't be loaded."""
    for name in ("arena.api.results", "arena.terminal.table"):
        importlib.import_module(name)  # they import what is missing below
    monkeypatch.setattr(sys, "argv", ["arena", "table", "x"])
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # it is closed
    monkeypatch.setattr(where, unmapped)
    monkeypatch.setitem(sys.modules, "arena.reports.escape", None)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert 4 == stopped.value.code
    told = capsys.readouterr().err
    assert "arena: can't go on: out of memory (a library can't be mapped into it)\n" == told


SCANT = """
import resource, sys
from arena.cli import main

words, most = sys.argv[1:3], int(sys.argv[3])
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
sys.argv = ["arena", *words]
resource.setrlimit(resource.RLIMIT_AS, (size + (most << 20), size + (most << 20)))
main()
"""


@pytest.mark.process
@pytest.mark.parametrize("megabytes", range(0, 40, 8))
def test_with_too_little_memory_a_command_ends_in_one_line(megabytes, tmp_path):
    """However far it comes: exit 4, or as with plenty; unless the interpreter itself dies of it."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCANT, "verify", tmp_path, str(megabytes)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == -signal.SIGSEGV:
        return
    assert done.returncode in {2, 4}, done.stderr
    *before, line = done.stderr.splitlines()
    assert line.startswith("arena: "), done.stderr
    assert not before or "hashlib.py" in done.stderr  # the standard library's own complaint


def test_memory_is_not_scarce_here():
    """Else every bug would be taken for it."""
    assert not memory_ran_out()
