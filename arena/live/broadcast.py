"""An event, broadcast to whoever looks: from what is known of it to what viewers are sent.

Theory of operation. While somebody looks, the fragments of the page are made again every EVERY_S
seconds, whoever and however many look; while nobody does, nothing is made. The ranking is dear, so
it is made in a thread, from a copy of the sums, and no more often than that it takes a hundredth of
the time. What a viewer is sent is the hub's business, what of an event may be shown `showing`'s.

The event never waits for any of this. What goes wrong here is told once, and the page stays as it
was.

Invariant: no exception leaves `run`, whatever is asked of the server; what is sent has gone through
`Look` and `Show.shows`.
"""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Callable
from secrets import token_hex

import trio
from starlette.applications import Starlette

from arena.live.hub import RETRY_MS, Hub
from arena.live.pages import Pages
from arena.live.server import Server, guarded
from arena.live.showing import Pace, Show, State
from arena.model import Table

# Faster than this nobody reads.
EVERY_S = 1.0
# How often the ranking is made at most, in lengths of the time that it takes.
RARELY = 100
RANKING_EVERY_S = 2.0
# Behind which a proxy or a browser would take a silent connection for a dead one.
SILENCE_S = 15.0

Ranking = Callable[[], Callable[[], Table]]
"""A copy of the sums, taken in the event's own task; from it the table, in any thread."""


class Broadcast:
    """See the module's docstring. `failed` is told of what goes wrong, in words."""

    def __init__(
        self,
        show: Show,
        pace: Pace,
        pages: Pages,
        ranking: Ranking | None,
        *,
        failed: Callable[[str], None],
    ) -> None:
        self._show = show
        self._pace = pace
        self._pages = pages
        self._ranking = ranking
        self._failed = failed
        self._told: set[str] = set()
        self._table: Table | None = None
        self._ranked = self._refreshed = float("-inf")
        self._pause = 0.0
        self._one = trio.Lock()
        self._thread = trio.CapacityLimiter(1)
        self._server: Server | None = None
        self.hub = Hub(token_hex(4))

    async def run(
        self,
        listening: socket.socket,
        host: str,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until `finish`. The socket is taken over."""
        app = Starlette(routes=self._pages.routes(self))
        self._server = Server(guarded(app, listening, host), listening, failed=self._fail)
        task_status.started()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._keep_up)
                await self._server.serve()
                nursery.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - nothing that happens here ends the event
            self._fail(error)

    async def finish(self, state: State, table: Table | None) -> None:
        """Play is over: show how it ended, and let everybody go."""
        self._show.state = state
        try:
            async with self._one:
                if table is not None:
                    self._table, self._ranking = table, None
                    self._show.surer(table)
                await self._make()
        except Exception as error:  # noqa: BLE001 - as in `run`
            self._fail(error)
        self.hub.end()
        if self._server is not None:
            await self._server.stop()

    async def refresh(self) -> None:
        """Have the fragments as they are now, or were less than EVERY_S seconds ago."""
        self.hub.look()
        async with self._one:
            if time.monotonic() - self._refreshed >= EVERY_S and not self.hub.over:
                await self._make()

    async def stream(self, seen: int) -> AsyncIterator[bytes]:
        """What a viewer is sent who has seen everything up to a number."""
        hub = self.hub
        with hub.viewer():
            hello = f"retry: {RETRY_MS}\nevent: hello\ndata: {self._show.event.commitment}\n\n"
            yield hello.encode()
            while True:
                if hub.number > seen:
                    now = hub.number
                    yield hub.since(seen)
                    seen = now
                elif hub.over:
                    yield f"event: end\ndata: {self._show.state}\n\n".encode()
                    return
                with trio.move_on_after(SILENCE_S) as silence:
                    await hub.changed(seen)
                if silence.cancelled_caught:
                    yield b": still here\n\n"

    async def _keep_up(self) -> None:
        """Make fragments as long as somebody looks."""
        while True:
            await self.hub.looked()
            try:
                await self.refresh()
            except Exception as error:  # noqa: BLE001 - as in `run`
                self._fail(error)
            await trio.sleep(EVERY_S)

    async def _make(self) -> None:
        self._refreshed = time.monotonic()
        if self._ranking is not None and self._refreshed - self._ranked >= self._pause:
            begun = time.thread_time()
            table = self._ranking()
            copied = time.thread_time() - begun
            ranked, took = await trio.to_thread.run_sync(
                _timed, table, abandon_on_cancel=True, limiter=self._thread
            )
            self._table = ranked
            self._show.surer(ranked)
            self._ranked = self._refreshed
            self._pause = max(RANKING_EVERY_S, RARELY * (copied + took))
        self.hub.put(self._pages.fragments(self._show.look(self._pace, self._table)))

    def _fail(self, error: Exception) -> None:
        """Say it once: a page that is asked for again fails again."""
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        words = f"{type(error).__name__}: {error}"
        if words not in self._told and len(self._told) < 3:
            self._told.add(words)
            self._failed(f"the live page: {words}; the event goes on")


def _timed(table: Callable[[], Table]) -> tuple[Table, float]:
    begun = time.thread_time()
    return table(), time.thread_time() - begun
