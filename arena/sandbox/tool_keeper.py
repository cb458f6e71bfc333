"""Run one of the user's own tools, unconfined, so that none of its processes outlives the arena.

Run by bare.py with the tool and its arguments, and with a socket as its standard input.
The tool gets everything else that the keeper has: environment, folder, outputs. When it has ended,
or the socket is closed (by the arena, or since that has died in whatever way), the whole tree is
killed, and only then one JSON message is sent: {"status": a wait status} or {"errno": why the tool
could not be started}.

Standard library only, one thread.
"""

import contextlib
import json
import os
import signal
import socket
from typing import NoReturn

from arena.sandbox import kernel, subreaper

REPORT_BYTES = 4096  # above the longest message


def main(*argv: str) -> None:
    connection = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        failure, status = subreaper.keep(
            lambda keeper, failed: _become(argv, keeper, null, failed),
            connection.fileno(),
            lambda _: None,
        )
        report: dict[str, int | None] = {"errno": int(failure)} if failure else {"status": status}
    except OSError as error:
        report = {"errno": error.errno}
    with contextlib.suppress(OSError):  # the arena is gone
        connection.send(json.dumps(report).encode(), socket.MSG_NOSIGNAL)


def _become(argv: tuple[str, ...], keeper: int, null: int, failed: int) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python
            signal.signal(number, signal.SIG_DFL)
        kernel.die_with(keeper)
        os.dup2(null, 0)
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(1)
