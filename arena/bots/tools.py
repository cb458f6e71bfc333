"""Run the user's own tools (pip, npm, cargo, `--version` of a program) outside the sandbox.

Invariant: when `run` returns or raises, or this process is killed, the tool has ended with all that
it started.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from arena.bots.plain_text import printable
from arena.bots.roster import FailedError
from arena.bots.trees import remove
from arena.exhaustion import ran_out_at_start, why_not, why_not_started
from arena.model import HostError
from arena.sandbox import bare, tool_keeper

FETCH_S = 900.0  # for one bot's packages over a slow line
ASK_S = 30.0  # for a `--version`
OUTPUT_BYTES = 16_384  # shown from the end of a tool's output, where the error stands
CONFIG_BYTES = 1 << 20  # that cargo writes for its configuration: a few lines for each registry


def ask(argv: Sequence[str]) -> str:
    """The one line that a program of this machine prints."""
    try:
        done = subprocess.run(
            argv,
            # Not the current folder: Python would import a stranger's modules from there.
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as e:
        if what := ran_out_at_start(e):
            raise HostError(f"{printable(argv[0])} can't be started: {what}") from e
        raise FailedError(f"can't tell the version of {printable(argv[0])}: {printable(e)}") from e
    return printable(os.fsdecode(done.stdout).strip())


def run(argv: Sequence[str], work: Path, env: Mapping[str, str], seconds: float = FETCH_S) -> bytes:
    """Run a tool in a folder with nothing but its input; return its output."""
    name = "pip" if "pip" in argv[:3] else Path(argv[0]).name
    beside = work.parent
    temporary = beside / "tmp"
    temporary.mkdir(exist_ok=True)
    with (beside / "stdout").open("w+b") as out, (beside / "stderr").open("w+b") as errors:
        for log in (out, errors):
            # A tool that fills the disk can still write its error.
            os.posix_fallocate(log.fileno(), 0, OUTPUT_BYTES)
        environment = {**os.environ, "TMPDIR": str(temporary), **env}
        status = _run_under_keeper(argv, work, environment, (out, errors), seconds)
        out.seek(0)
        written = out.read(CONFIG_BYTES).rstrip(b"\0")
        output = _tail(errors.name) or _tail(out.name)
    with contextlib.suppress(OSError):  # it is removed with its folder
        remove(temporary)
    if status is None:
        raise FailedError(f"{name} did not get its packages within {seconds:g} s", output)
    if code := os.waitstatus_to_exitcode(status):
        ended = f"exit {code}" if code > 0 else f"signal {-code}"
        raise FailedError(f"{name} could not get its packages ({ended})", output)
    return written


def _run_under_keeper(
    argv: Sequence[str],
    work: Path,
    env: Mapping[str, str],
    outputs: tuple[IO[bytes], IO[bytes]],
    seconds: float,
) -> int | None:
    """Run a tool under a keeper; return its wait status, None if it took too long."""
    cacheless = ["-B"] if sys.dont_write_bytecode else []
    try:
        ours, its = socket.socketpair()
    except OSError as e:
        raise HostError(f"no socket for {printable(argv[0])}: {why_not(e)}") from e
    with ours:
        with its:
            try:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", *cacheless, bare.__file__, "tool_keeper", *argv],
                    cwd=work,
                    env=env,
                    stdin=its.fileno(),
                    stdout=outputs[0],
                    stderr=outputs[1],
                    # Ctrl-C reaches us alone; we close the keeper's socket.
                    start_new_session=True,
                )
            except OSError as e:
                raise HostError(
                    f"{printable(argv[0])} can't be started: {why_not_started(e)}"
                ) from e
        try:
            ours.settimeout(seconds)
            received = ours.recv(tool_keeper.REPORT_BYTES)
            if not received:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        except TimeoutError:
            return None
        finally:
            ours.close()  # the keeper kills what is left
            process.wait()
    if not received:
        raise HostError(f"the keeper of {printable(argv[0])} has died")
    report = json.loads(received)
    if "errno" in report:
        error = OSError(report["errno"], os.strerror(report["errno"]))
        if what := ran_out_at_start(error):
            raise HostError(f"{printable(argv[0])} can't be started: {what}") from error
        raise FailedError(f"{printable(argv[0])} can't be run: {error.strerror}") from error
    return int(report["status"])


def _tail(log: str) -> bytes:
    with Path(log).open("rb") as file:
        file.seek(max(0, Path(log).stat().st_size - OUTPUT_BYTES))
        return file.read().rstrip(b"\0")
