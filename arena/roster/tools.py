"""One of the user's own tools, run to its end outside the sandbox: pip, npm, cargo, a version.

Invariant: when `run` or `ask` returns or raises, the tool has ended, and on the way out of an
interruption or a time limit what it started has ended with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.roster.entries import FailedError
from arena.roster.plain import printable
from arena.roster.trees import remove

FETCH_S = 900.0
"""For one bot's packages over a slow line; a tool that hangs must not hang a script for ever."""
ASK_S = 30.0
"""For a question such as the version."""
OUTPUT_BYTES = 16_384
"""Shown from the end of what a tool wrote: the error stands there."""
CONFIG_BYTES = 1 << 20
"""Taken of what cargo writes for its configuration: a few lines for each registry."""


class ToolError(FailedError):
    """A tool that failed."""

    def __init__(self, line: str, output: bytes) -> None:
        super().__init__(line, output)
        self.output = output


def ask(argv: Sequence[str]) -> str:
    """The one line that a program of this machine answers."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=ASK_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as e:
        raise FailedError(f"can't tell the version of {printable(argv[0])}: {printable(e)}") from e
    return printable(os.fsdecode(done.stdout).strip())


def run(argv: Sequence[str], work: Path, env: Mapping[str, str], seconds: float = FETCH_S) -> bytes:
    """Run a tool in a folder that holds nothing but its input; return what it wrote."""
    name = "pip" if "pip" in argv[:3] else Path(argv[0]).name
    beside = work.parent
    temporary = beside / "tmp"
    temporary.mkdir(exist_ok=True)
    with (beside / "stdout").open("w+b") as out, (beside / "stderr").open("w+b") as errors:
        try:
            process = subprocess.Popen(
                argv,
                cwd=work,
                env={**os.environ, "TMPDIR": str(temporary), **env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                # A group of its own, so that what it starts ends with it.
                start_new_session=True,
            )
        except OSError as e:
            raise ToolError(f"{printable(argv[0])} can't be run: {e.strerror}", b"") from e
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        written = out.read(CONFIG_BYTES)
        said = _end(errors.name) or _end(out.name)
    with contextlib.suppress(OSError):  # it goes with the folder that it lies in
        remove(temporary)
    if code is None:
        raise ToolError(f"{name} did not get its packages within {seconds:g} s", said)
    if code != 0:
        ended = f"exit {code}" if code > 0 else f"signal {-code}"
        raise ToolError(f"{name} could not get its packages ({ended})", said)
    return written


def _end(log: str) -> bytes:
    """The last of what a tool wrote."""
    with Path(log).open("rb") as file:
        file.seek(max(0, Path(log).stat().st_size - OUTPUT_BYTES))
        return file.read()
