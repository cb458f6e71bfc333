"""Test a sandbox: start a program in it that tries forbidden things and reports what it could do.

What the program (canary_program.py) can only claim, its namespaces and its uid, is compared with
what this process sees from outside.
"""

import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.model import HostError
from arena.sandbox import Launch, SpawnPlan, Started, mounts
from arena.sandbox.client import Spawner
from arena.sandbox.environment import has_spare_uids
from arena.sandbox.installations import find_installation, own_python
from arena.sandbox.temporary import temporary_folder

PROGRAM = Path(__file__).with_name("canary_program.py")
DEADLINE_S = 15.0  # a start takes 30 ms; on a machine that needs seconds nothing can be concluded
OUTPUT_BYTES = 16_384  # the program prints some 20 lines, and more only where nothing is confined
NOBODY = 65534
NAMESPACES = ("net", "pid", "mnt", "ipc", "uts", "user")


def run_canary(plan: Callable[[Launch], SpawnPlan], *, namespaces: bool) -> tuple[str, str]:
    """Test the sandbox of a `plan`: what is wrong with it, or ""; what limits memory, as in
    `Spawner.memory`. `namespaces`: whether it has to have its own.
    """
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    with temporary_folder("arena-canary-") as folder:
        folder.chmod(0o711)  # root's programs run as another user
        root = folder / "bot"
        root.mkdir()
        secret = folder / "secret"
        secret.write_text("the referee's own\n")
        shown, hidden = _neighbours(folder / "home")
        arguments = (str(secret), str(os.getpid()), *hidden)
        launch = Launch(
            run=(python, "-I", "-S", "-c", PROGRAM.read_text(), *arguments),
            root=str(root),
            expose=(*own_python(), *shown),
            scratch_mb=1,
        )
        try:
            with Spawner() as spawner:
                problem = _observe(spawner, plan(launch), namespaces=namespaces)
                return problem, spawner.memory
        except HostError as error:
            return str(error), ""


def _neighbours(home: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make a home of another user. Returns what a program there exposes, and what stays hidden."""
    programs, hidden = ("bin/hello", "bin/python3"), ("config/master.key", "share/key", "key")
    for name in (*programs, "lib/python3.11/os.py", *hidden):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755 if name in programs else 0o600 if name in hidden else 0o644)
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):  # a container without that user
            mounts.change_owner(str(home), NOBODY)
    found = [find_installation(home / name) for name in programs]
    shown = (str(part) for each in found if each for part in each.parts)
    return tuple(shown), tuple(str(home / name) for name in hidden)


def _observe(spawner: Spawner, plan: SpawnPlan, *, namespaces: bool) -> str:
    bot = spawner.spawn(plan)
    try:
        output = b""
        pid = 0
        deadline = time.monotonic() + DEADLINE_S
        while not (output.endswith(b"done\n") and pid):
            left = deadline - time.monotonic()
            news_fd = spawner.fileno()
            ready, _, _ = select.select([news_fd, bot.stdout], [], [], max(left, 0))
            if not ready:
                return "the canary did not answer in time"
            if news_fd in ready:
                for news in spawner.receive():
                    if isinstance(news, Started):
                        pid = news.pid
                    else:
                        words = " ".join(os.read(bot.stderr, 500).decode(errors="replace").split())
                        early = f"the canary ended early ({news.code}, {news.signal}): {words}"
                        return news.host_error or early
            elif chunk := os.read(bot.stdout, OUTPUT_BYTES):
                output += chunk
                if len(output) > OUTPUT_BYTES:
                    return "the canary prints without end"
        report = output.decode(errors="replace")
        problem = next(_problems(report, pid, namespaces=namespaces), "")
        return problem and f"the canary {problem}"
    finally:
        for descriptor in (bot.stdin, bot.stdout, bot.stderr):
            os.close(descriptor)


def _problems(output: str, pid: int, *, namespaces: bool) -> Iterator[str]:
    for what in re.findall(r"^reach (.*)$", output, re.MULTILINE):
        yield f"could reach {what}"
    facts = dict(re.findall(r"^(?:namespace|fact) (\S+) (.*)$", output, re.MULTILINE))
    for name in NAMESPACES if namespaces else ():
        if facts.get(name) == str(Path(f"/proc/self/ns/{name}").readlink()):
            yield f"shares the {name} namespace with the referee"
    for key in ("CapEff", "CapPrm", "CapAmb", *(["CapBnd"] if namespaces else [])):
        if facts.get(key, "?").strip("0"):
            yield f"has capabilities ({key} {facts.get(key, 'unknown')})"
    if facts.get("NoNewPrivs") != "1" or facts.get("Seccomp") != "2":
        yield "makes system calls that are not filtered"
    if not namespaces and facts.get("signal") != "no":
        yield "could send a signal to the referee"
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Uid:") and "0" in line.split() and has_spare_uids():
            yield "runs as root"
