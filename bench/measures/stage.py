"""What measures share: cores, a sandbox, compiled programs, bots that are ready to run, workers.

All of it is made once, on first use, in a temporary folder that is gone at the end.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from arena import registry
from arena.bots import build, load
from arena.model import Bot, Entrant
from arena.sandbox.client import Spawner
from measures import SkippedError
from measures.worker import Worker

BENCH = Path(__file__).parents[1]
FOLDERS = {
    "instant": BENCH / "bots" / "instant",
    "lean": BENCH / "bots" / "lean",
    "follower": BENCH / "bots" / "follower",
    "steady": BENCH / "bots" / "steady",
    "timed": BENCH / "bots" / "timed",
    "quick": BENCH.parent / "example_bots" / "quick",
}


@contextlib.contextmanager
def staying_on(cores: set[int]) -> Iterator[None]:
    """Keep this process, and what it starts, to some cores for a while."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Bystanders:
    """How much of the machine was used by programs that are none of the bench's."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._before = self._busy()

    def cores(self) -> float:
        """How many cores they kept busy; to be asked when all that was started has ended."""
        return max(0.0, (self._busy() - self._before) / (time.monotonic() - self._begun))

    @staticmethod
    def _busy() -> float:
        """Seconds of CPU that all programs have used, less ours."""
        user, nice, system, _idle, _wait, *rest = Path("/proc/stat").read_text().split()[1:9]
        ticks = sum(map(int, (user, nice, system, *rest)))
        ours = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return ticks / os.sysconf("SC_CLK_TCK") - sum(r.ru_utime + r.ru_stime for r in ours)


class Stage:
    """See the module's docstring."""

    def __init__(self, folder: Path, *, long: bool = False) -> None:
        folder.chmod(0o755)  # bots may run as another user
        self.folder = folder
        self.long = long
        self.cores = sorted(os.sched_getaffinity(0))
        self.core = self.cores[-1]
        """Where everything that is to be on one core is."""
        self.others = set(self.cores[:-1]) or {self.core}
        """Cores of the processes that only watch."""
        self._workers: dict[tuple[str, ...], Worker] = {}
        self._numbers = iter(range(1 << 30))

    def close(self) -> None:
        """End what was kept."""
        for worker in self._workers.values():
            worker.close()

    def empty(self) -> Path:
        """The name of a new folder."""
        return self.folder / f"{next(self._numbers)}"

    @functools.cached_property
    def sandbox(self) -> str:
        """The best sandbox that works here, as in an event."""
        for name in registry.SANDBOXES:
            if name == "none" or registry.backend(name).probe().works:
                return name
        raise AssertionError

    @functools.cache  # noqa: B019 - there is one stage, and it lives as long as the bench
    def program(self, name: str) -> str:
        """A program of bench/programs, compiled."""
        if shutil.which("cc") is None:
            raise SkippedError("there is no C compiler (cc)")
        out = self.folder / name
        source = BENCH / "programs" / f"{name}.c"
        subprocess.run(["cc", "-O2", "-o", str(out), str(source)], check=True)
        return str(out)

    @functools.cache  # noqa: B019 - as above
    def bot(self, name: str) -> Bot:
        """A bot, taken in and built as for an event."""
        cache = self.folder / "cache"
        roster = load([FOLDERS[name]], cache=cache)
        backend = registry.backend(self.sandbox)
        built = build(roster.candidates, cache=cache, backend=backend, spawners=Spawner)
        if not built.bots:
            reasons = [*roster.problems, *built.problems, *(each.reason for each in built.skipped)]
            raise SkippedError(f"bot {name}: {' '.join(map(str, reasons))}")
        return built.bots[0]

    def field(self, name: str, count: int, *words: str) -> tuple[Bot, ...]:
        """So many copies of a bot under names of their own; `words` go to their command line."""
        bot = self.bot(name)
        return tuple(
            msgspec.structs.replace(
                bot,
                run=(*bot.run, *words),
                entrant=Entrant(
                    id=f"{name}-{number:03d}@1",
                    name=f"{name}-{number:03d}",
                    version="1",
                    hash=bot.entrant.hash,
                ),
            )
            for number in range(count)
        )

    def worker(
        self, bot: str, *words: str, game: str = "play-nine", seats: int = 2, sandbox: str = ""
    ) -> Worker:
        """A worker that plays copies of one bot; the same one in every round."""
        key = (bot, *words, game, str(seats), sandbox)
        if key not in self._workers:
            bots = self.field(bot, seats, *words)
            with staying_on(self.others):
                self._workers[key] = Worker(
                    bots, core=self.core, game=game, sandbox=sandbox or self.sandbox
                )
        return self._workers[key]
