"""Render a live event for its viewers, and stream what changes.

Theory of operation. While there are viewers, the page's fragments are rendered every EVERY_S
seconds, however many viewers there are; without viewers nothing is rendered. The ranking is
expensive: it is made in a thread, from a copy of the sums, and takes at most a hundredth of the
time. `hub` decides what each viewer is sent, `event_state` what may be shown.

The event never waits for any of this. An error here is reported once, and the page stays as it was.

Invariant: no exception leaves `run`, whatever is requested; everything sent has gone through
`EventSnapshot` and `EventState.shows`.
"""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeVar

import trio

from arena.event.progress import Progress
from arena.live.app import App, MatchOpener
from arena.live.event_state import EventSnapshot, EventState, Status
from arena.live.hub import RETRY_MS, Hub
from arena.live.pages import quick_fragments, slow_fragments
from arena.live.server import Server, guard_app
from arena.model import Table
from arena.system import clock, network, randomness

EVERY_S = 1.0  # people read no faster
RARELY = 100  # the ranking takes at most one part in so many of the time
RANKING_EVERY_S = 2.0
SILENCE_S = 15.0  # proxies and browsers drop a connection that is silent for longer

T = TypeVar("T")
Ranking = Callable[[], Callable[[], Table]]
"""A copy of the sums, taken in the event's own task; from it the table, in any thread."""


class Broadcast:
    def __init__(
        self,
        show: EventState,
        pace: Progress,
        opening: MatchOpener,
        ranking: Ranking | None,
        *,
        failed: Callable[[str], None],
    ) -> None:
        self.show = show
        self._pace = pace
        self._opening = opening
        self._ranking = ranking
        self._failed = failed
        self._told: set[str] = set()
        self._table: Table | None = None
        self._ranked = self._refreshed = float("-inf")
        self._pause = 0.0
        self._one = trio.Lock()
        self._thread = trio.CapacityLimiter(1)
        self._server: Server | None = None
        self.hub = Hub(randomness.token_hex(4))

    async def run(
        self,
        listening: network.Socket,
        host: str,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until `finish`; closes the socket."""
        app = App(self, self._opening).build()
        self._server = Server(guard_app(app, listening, host), listening, failed=self._fail)
        task_status.started()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._keep_up)
                await self._server.serve()
                nursery.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - nothing that happens here ends the event
            self._fail(error)

    async def settle(self, state: Status, table: Table | None) -> None:
        """Play is over: show how it ended; nothing changes from now on."""
        self.show.state = state
        async with self._one:
            self._pause = 0.0
            if table is not None:
                self._ranking = lambda: lambda: table
            await self._make()
        self.hub.end()

    async def finish(self, state: Status, table: Table | None) -> None:
        await self.settle(state, table)
        if self._server is not None:
            await self._server.stop()

    async def refresh(self) -> None:
        self.hub.wake()
        async with self._one:
            if clock.monotonic() - self._refreshed >= EVERY_S and not self.hub.over:
                await self._make()

    @property
    def snapshot(self) -> EventSnapshot:
        return self.show.snapshot(self._pace, self._table)

    async def stream(self, seen: int, names: frozenset[str]) -> AsyncIterator[bytes]:
        """What a viewer of some fragments is sent who has seen all changes up to a number."""
        hub = self.hub
        with hub.viewer():
            hello = f"retry: {RETRY_MS}\nevent: hello\ndata: {self.show.event.commitment}\n\n"
            yield hello.encode()
            while True:
                if hub.number > seen:
                    message, seen = hub.since(seen, names), hub.number
                    if message:
                        yield message
                elif hub.over:
                    yield f"event: end\ndata: {self.show.state}\n\n".encode()
                    return
                with trio.move_on_after(SILENCE_S) as silence:
                    await hub.changed(seen)
                if silence.cancelled_caught:
                    yield b": still here\n\n"

    async def _keep_up(self) -> None:
        while True:
            await self.hub.awaited()
            await self.refresh()
            await trio.sleep(EVERY_S)

    async def _make(self) -> None:
        try:
            self._refreshed = clock.monotonic()
            made: dict[str, str] = {}
            if self._ranking is None:
                if not self.hub.number:  # a shard has no ranking: once is enough
                    made, _ = await self._in_thread(partial(slow_fragments, self.snapshot))
            elif self._refreshed - self._ranked >= self._pause:
                made = await self._rank(self._ranking)
            self.hub.put({**made, **quick_fragments(self.snapshot)})
        except Exception as error:  # noqa: BLE001 - as in `run`
            self._fail(error)

    async def _rank(self, ranking: Ranking) -> dict[str, str]:
        begun = clock.thread_cpu()
        table = ranking()
        copied = clock.thread_cpu() - begun
        ranked, took = await self._in_thread(table)
        self.show.note_ranking(ranked)
        self._table = ranked
        self._ranked = self._refreshed
        made, drawing = await self._in_thread(partial(slow_fragments, self.snapshot))
        self._pause = max(RANKING_EVERY_S, RARELY * (copied + took + drawing))
        return made

    async def _in_thread(self, make: Callable[[], T]) -> tuple[T, float]:
        """(result, CPU seconds); a cancelled caller does not wait."""
        return await trio.to_thread.run_sync(
            _timed, make, abandon_on_cancel=True, limiter=self._thread
        )

    def _fail(self, error: Exception) -> None:
        """Report it once: a page that is requested again fails again."""
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        words = f"{type(error).__name__}: {error}"
        if words not in self._told and len(self._told) < 3:
            self._told.add(words)
            self._failed(f"the live page: {words}; the event goes on")


def _timed(make: Callable[[], T]) -> tuple[T, float]:
    begun = clock.thread_cpu()
    return make(), clock.thread_cpu() - begun
