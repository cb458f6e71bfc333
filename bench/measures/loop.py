"""What trio takes: the same pump in trio, and in a loop that is nothing but its epoll.

A series is played in this process, on one core, by the very code of a worker. `Pipes` leaves to
trio in two places: where nothing has come for a while, and where other tasks are due. With both
taken out what plays a series is a coroutine that never suspends, so no event loop is needed.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Coroutine, Mapping

import trio

from arena import registry
from arena.deals import Deals
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import Pipes
from arena.sandbox.client import Spawner
from measures import Measure, Row
from measures.conversation import SECRET, series_of, settings_of
from measures.stage import Stage, staying_on

MATCHES = 31
"""In a series; the first one is left out, so that starts don't count."""
TIMES = 3
"""Series of each kind in a round, in turns."""

Play = Callable[[], Coroutine[None, None, None]]


class Bare(Pipes):
    """A table that waits for its own epoll and has no other tasks to think of."""

    async def rest(self, seconds: float) -> None:
        """Wait as a loop without trio does."""
        select.select([self._epoll.fileno()], [], [], seconds)

    async def checkpoint(self) -> None:
        """Never again."""
        self.due = float("inf")


def tax(stage: Stage) -> Mapping[str, float]:
    """Wall and CPU a decision, in trio and without."""
    spent = {"trio": [0.0, 0.0, 0.0], "bare": [0.0, 0.0, 0.0]}
    with staying_on({stage.core}):
        for _ in range(TIMES):
            for kind, (table, run) in {"trio": (Pipes, in_trio), "bare": (Bare, alone)}.items():
                found = _series(stage, table, run)
                spent[kind] = [sum(pair) for pair in zip(spent[kind], found, strict=True)]
    return {
        f"tax.{kind}.{name}": seconds * 1e6 / decisions
        for kind, (wall, cpu, decisions) in spent.items()
        for name, seconds in (("wall", wall), ("cpu", cpu))
    }


def in_trio(play: Play) -> None:
    """As a worker does, with a task beside it that waits for the next job."""

    async def both() -> None:
        receiving, sending = os.pipe()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.lowlevel.wait_readable, receiving)
                await play()
                nursery.cancel_scope.cancel()
        finally:
            os.close(receiving)
            os.close(sending)

    trio.run(both)


def alone(play: Play) -> None:
    """Without an event loop: one step from its beginning to its end."""
    try:
        play().send(None)
    except StopIteration:
        return
    raise RuntimeError("the series was to be played without a pause")


def _series(
    stage: Stage, table_of: Callable[[Spawner], Pipes], run: Callable[[Play], None]
) -> tuple[float, float, float]:
    """Wall seconds, seconds of CPU of this thread, decisions: after the first match."""
    bots = stage.field("instant", 2)
    seen: list[tuple[float, float, int]] = []

    settings = settings_of()
    context = MatchContext(
        settings=settings,
        game=registry.game(settings.game),
        deals=Deals(SECRET),
        bots={bot.entrant.id: bot for bot in bots},
        backend=registry.backend(stage.sandbox),
    )
    series = series_of(tuple(context.bots), MATCHES)
    with Spawner() as spawner:
        table = table_of(spawner)

        async def play() -> None:
            async for played in play_series(table, context, series):
                if played.record.faults:
                    raise RuntimeError(f"a bot failed: {played.record.faults[0]}")
                decisions = sum(use.decisions for use in played.record.use)
                seen.append((time.monotonic(), time.thread_time(), decisions))

        try:
            run(play)
        finally:
            table.close()
    (begun, used, _), (ended, used_after, _) = seen[0], seen[-1]
    return ended - begun, used_after - used, sum(decisions for *_, decisions in seen[1:])


MEASURES = (
    Measure(
        name="tax",
        about="the same pump in trio and in a bare epoll loop, a decision",
        run=tax,
        rows=(
            Row(key="tax.bare.cpu", text="bare loop, CPU", unit="µs"),
            Row(key="tax.bare.wall", text="bare loop, wall", unit="µs"),
            Row(
                key="tax.trio.cpu",
                text="trio, CPU / bare loop's",
                unit="µs",
                of="tax.bare.cpu",
                goal=1.1,
            ),
            Row(
                key="tax.trio.wall",
                text="trio, wall / bare loop's",
                unit="µs",
                of="tax.bare.wall",
                goal=1.1,
            ),
        ),
    ),
)
