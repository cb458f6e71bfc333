"""The client of the spawner: start and kill programs, and learn how they ended.

`Spawner` starts the process of spawner.py and talks to it over a socket, without an event loop or
a thread. To wait is up to the caller: when `fileno()` is readable, call `receive()`. Its answers
come in the order in which things happened; `Started` is missing if a program died in its set-up.
This is the one place where the arena starts bots and builds; a simulator replaces this class.

Invariant: when the `Spawner` is closed, or this process has ended in whatever way, no program that
it started is left.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from typing import Any, Self

import msgspec

from arena.exhaustion import why_not, why_not_started
from arena.model import HostError
from arena.sandbox import Exited, SpawnPlan, Started, bare, cgroups, kernel, scope
from arena.sandbox.residence import Residence

ANSWER_BYTES = 1 << 16  # above the largest: a host's error, its longest part, has at most 2,000
STDERR_BYTES = 8192  # enough for the traceback of a bug in the spawner
SEND_S = 10.0  # the spawner is never busy for long: if it doesn't take a request by then, it hangs
CLOSE_S = 10.0  # twice what the spawner itself allows for the last kills

_NEWS: dict[str, type[Started | Exited]] = {"started": Started, "exited": Exited}


class BotProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A requested program, and our non-blocking ends of its pipes; the caller closes them."""

    id: int
    stdin: int
    stdout: int
    stderr: int


class Spawner:
    """A running spawner process, to be closed."""

    def __init__(self) -> None:
        self._last_id = 0
        self._residence = Residence()
        self.memory = ""  # what limits memory, as in `Probe`; empty before `receive`
        self.groupless = ""  # why no control groups do, and what to do about it; empty if they do
        try:
            self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            raise HostError(f"no socket for the spawner: {why_not(error)}") from error
        # It ignores the environment, PYTHONDONTWRITEBYTECODE too, so that is passed on as a flag.
        cacheless = ["-B"] if sys.dont_write_bytecode else []
        delegated = scope.launch_prefix()
        try:
            self._process = subprocess.Popen(
                [*delegated, sys.executable, "-I", "-S", *cacheless, bare.__file__, "spawner"],
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=scope.variables() if delegated else {},
                cwd="/",
                # Ctrl-C at the terminal is for the referee, which then closes the spawner.
                start_new_session=True,
            )
        except OSError as error:
            self._socket.close()
            reason = why_not_started(error)
            raise HostError(f"the spawner could not be started: {reason}") from error
        finally:
            its.close()
        assert self._process.stderr is not None
        self._stderr = self._process.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._socket.setblocking(False)  # noqa: FBT003 - its only signature

    def fileno(self) -> int:
        """Readable when `receive` has something."""
        return self._socket.fileno()

    def spawn(self, plan: SpawnPlan) -> BotProcess:
        """Request a program; `receive` tells its fate. Waits only where a folder is read first."""
        self._residence.hold(str(plan.options.get("resident", "")))
        self._last_id += 1
        ours: list[int] = []
        its: list[int] = []
        try:
            for ours_is_write in (True, False, False):
                read, write = os.pipe2(os.O_CLOEXEC)
                ours.append(write if ours_is_write else read)
                its.append(read if ours_is_write else write)
                os.set_blocking(ours[-1], False)
            request = {"op": "spawn", "id": self._last_id, "plan": msgspec.to_builtins(plan)}
            self._send(request, its)
        except BaseException as error:
            for descriptor in ours:
                os.close(descriptor)
            if isinstance(error, OSError):
                raise HostError(f"no pipes for another program: {why_not(error)}") from error
            raise
        finally:
            for descriptor in its:
                os.close(descriptor)
        stdin, stdout, stderr = ours
        return BotProcess(id=self._last_id, stdin=stdin, stdout=stdout, stderr=stderr)

    def kill(self, number: int) -> None:
        """Have a program's whole tree killed; its `Exited` follows. Harmless if it is gone."""
        self._send({"op": "kill", "id": number}, [])

    def receive(self) -> list[Started | Exited]:
        """What has happened since the last call; never waits. HostError: the spawner died."""
        news: list[Started | Exited] = []
        while True:
            try:
                data = self._socket.recv(ANSWER_BYTES)
            except BlockingIOError:
                return news
            except OSError:
                data = b""
            if data:
                ((kind, message),) = json.loads(data).items()
                if kind == "serves":
                    self.memory, self.groupless = message["memory"], message["groupless"]
                else:
                    news.append(msgspec.convert(message, _NEWS[kind]))
            elif news:
                return news  # the next call finds the end again
            else:
                raise self._death()

    def close(self) -> None:
        """Kill everything, and wait until nothing is left. HostError: something is left."""
        self._residence.release()
        self._socket.close()
        self._stderr.close()
        in_time = self._ended()
        if not in_time:
            self._process.kill()
        if self._process.wait():
            cgroups.sweep()  # it could not do so itself
        if not in_time:
            raise HostError("the spawner did not end when its socket was closed, and was killed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, request: dict[str, Any], descriptors: list[int]) -> None:
        data = json.dumps(request).encode()
        while True:
            try:
                socket.send_fds(self._socket, [data], descriptors)
            except BlockingIOError:
                # Some twenty requests are queued, each a millisecond's work.
                if not select.select([], [self._socket], [], SEND_S)[1]:
                    raise HostError("the spawner does not answer") from None
            except (BrokenPipeError, ConnectionResetError) as error:
                raise self._death() from error
            else:
                return

    def _death(self) -> HostError:
        if not self._ended():
            return HostError("the spawner has closed its connection without ending")
        code = self._process.wait()
        ended = f"signal {-code}" if code < 0 else f"exit {code}"
        text = ""
        with contextlib.suppress(OSError):
            text = os.read(self._stderr.fileno(), STDERR_BYTES).decode(errors="backslashreplace")
        last = text.strip().rpartition("\n")[2]
        return HostError(f"the spawner died ({ended})" + (f": {last}" if last else ""))

    def _ended(self) -> bool:
        """Wait for its end. A wait() with a timeout polls, and is late by up to 50 ms."""
        if self._process.poll() is not None:
            return True
        with kernel.closing(os.pidfd_open(self._process.pid)) as handle:
            return bool(select.select([handle], [], [], CLOSE_S)[0])
