"""A guard: runs one of the user's own tools, and lets nothing of it outlive the arena.

Run as a script with a socket as its standard input: `python -I -S guard.py TOOL [ARGUMENT …]`. The
tool gets everything else that the guard has: environment, folder, outputs. When it has ended, or
the socket is closed (by the arena, or because that has died in whatever way), the whole tree is
killed, and only then one JSON message goes out: {"status": a wait status} or {"errno": why the
tool could not be started}.

Standard library only, one thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import types
from pathlib import Path
from typing import NoReturn

if __name__ == "__main__":
    # As in spawner.py: the package's own __init__ needs more than a guard may load.
    _here = Path(__file__).parent
    for _name, _folder in (("arena.sandbox", _here), ("arena", _here.parent)):
        sys.modules[_name] = types.ModuleType(_name)
        sys.modules[_name].__path__ = [str(_folder)]

from arena.sandbox import kernel, subreaper

REPORT_BYTES = 4096
"""Above the longest message."""


def main(argv: list[str]) -> None:
    """Run the tool, and report."""
    news = subreaper.become()
    connection = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    guard = os.getpid()
    ended: dict[int, int] = {}
    try:
        ready, failed = os.pipe2(os.O_CLOEXEC)
        tool = os.fork()
    except OSError as error:
        report = {"errno": error.errno}
    else:
        if tool == 0:
            _become(argv, guard, null, failed)
        os.close(failed)
        failure = os.read(ready, REPORT_BYTES)  # nothing: it is closed by the start of the tool
        if not failure:
            subreaper.attend(tool, news, connection.fileno(), ended)
        subreaper.fell(tool, news, ended)
        report = {"errno": int(failure)} if failure else {"status": ended[tool]}
    with contextlib.suppress(OSError):  # the arena is gone
        connection.send(json.dumps(report).encode(), socket.MSG_NOSIGNAL)


def _become(argv: list[str], guard: int, null: int, failed: int) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # Python's own doing
            signal.signal(number, signal.SIG_DFL)
        kernel.die_with(guard)
        os.dup2(null, 0)
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
