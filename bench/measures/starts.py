"""Starting: a series against the bare spawn of its bots; the command line; a worker and its memory.

A series has started when its first bot has its first question: the bots note that moment, by the
clock that all processes share. The bare spawn is what the sandbox alone takes for the same bots,
one after another: ask the spawner, say hello, hear `ready`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from arena import registry
from arena.referee import hello
from arena.sandbox import Exited, Launch, SpawnPlan
from arena.sandbox.client import Spawner
from arena.wire.session import encode
from measures import Measure, Row
from measures.conversation import series_of, settings_of
from measures.event import memory_mb
from measures.stage import Stage, staying_on
from measures.worker import COMMAND

TIMES = 8
"""Starts of each kind in a round."""


def starts(stage: Stage, *, bot: str) -> Mapping[str, float]:
    """A series of two bots, and the bare spawn of both, in turns."""
    found = stage.worker(bot, "stamp")
    series = series_of(found.names, 1)
    launch = stage.field(bot, 1)[0]
    plan = registry.backend(stage.sandbox).plan(
        Launch(run=launch.run, root=launch.root, expose=launch.expose, env=dict(launch.env))
    )
    line = encode(hello(settings_of()))
    ours = bare = 0.0
    with staying_on({stage.core}), Spawner() as spawner:
        _spawned(spawner, plan, line)
        for _ in range(TIMES):
            with staying_on(stage.others):
                begun = time.monotonic()
                (seen,) = found.play(series)
            ours += min(map(int, seen.stderr.values())) / 1e9 - begun
            bare += _spawned(spawner, plan, line) + _spawned(spawner, plan, line)
    return {f"start.{bot}.series": ours / TIMES * 1e3, f"start.{bot}.bare": bare / TIMES * 1e3}


def _spawned(spawner: Spawner, plan: SpawnPlan, line: bytes) -> float:
    """Start a bot, hear that it is ready, be rid of it; seconds to the answer."""
    begun = time.monotonic()
    bot = spawner.spawn(plan)
    os.write(bot.stdin, line)
    answer = b""
    while not answer.endswith(b"\n"):
        select.select([bot.stdout], [], [])
        with contextlib.suppress(BlockingIOError):
            data = os.read(bot.stdout, 4096)
            if not data:
                raise RuntimeError("a bot that was spawned has ended")
            answer += data
    seconds = time.monotonic() - begun
    spawner.kill(bot.id)
    while not any(isinstance(news, Exited) for news in spawner.receive()):
        select.select([spawner.fileno()], [], [])
    for descriptor in (bot.stdin, bot.stdout, bot.stderr):
        os.close(descriptor)
    return seconds


def command_line(_stage: Stage) -> Mapping[str, float]:
    """`arena --help`, and a worker that has nothing to do; beside the bare interpreter."""
    script = shutil.which("arena", path=str(Path(sys.executable).parent))
    arena = [script] if script else [sys.executable, "-P", "-m", "arena"]
    return {
        "help": _wall([*arena, "--help"]),
        "import": _wall([sys.executable, "-P", "-c", "import arena.executors.worker"]),
        "idle": _wall(COMMAND),
        "python": _wall([sys.executable, "-P", "-c", ""]),
    }


def _wall(command: list[str] | tuple[str, ...]) -> float:
    """The fastest of three, in milliseconds: what it takes, not what got in its way."""
    seen = []
    for _ in range(3):
        begun = time.monotonic()
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        seen.append(time.monotonic() - begun)
    return min(seen) * 1e3


def memory(stage: Stage) -> Mapping[str, float]:
    """What the worker of the rounds so far holds: its series are as many as there were rounds."""
    found = stage.worker("instant")
    if not any(stage.folder.glob("long-series")):
        (stage.folder / "long-series").touch()
        with staying_on(stage.others):
            for _ in found.play(series_of(found.names, 400)):
                pass
    held = memory_mb(found.process.pid)
    return {"memory.resident": held["Rss"], "memory.share": held["Pss"]}


def _start(bot: str, text: str) -> Measure:
    return Measure(
        name=f"start-{bot}",
        about=f"starting a series of two {text}",
        run=functools.partial(starts, bot=bot),
        rows=(
            Row(key=f"start.{bot}.bare", text="bare spawn, to both ready", unit="ms"),
            Row(
                key=f"start.{bot}.series",
                text="job to first question / bare",
                unit="ms",
                of=f"start.{bot}.bare",
                goal=1.3,
            ),
        ),
    )


MEASURES = (
    _start("instant", "C bots"),
    _start("lean", "lean Python bots"),
    Measure(
        name="commands",
        about="the command line",
        run=command_line,
        rows=(
            Row(key="help", text="arena --help", unit="ms", goal=100),
            Row(key="import", text="import of the worker", unit="ms", of="python"),
            Row(key="idle", text="a worker that has nothing to do", unit="ms", of="python"),
            Row(key="python", text="python -c ''", unit="ms"),
        ),
    ),
    Measure(
        name="memory",
        about="a worker's memory after a series of 400 matches and the rounds",
        run=memory,
        rows=(
            Row(key="memory.resident", text="resident", unit="MB", goal=100),
            Row(key="memory.share", text="with shared pages by their share", unit="MB"),
        ),
        warm=False,
    ),
)
