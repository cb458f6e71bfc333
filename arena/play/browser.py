"""Serve the page that a person plays on, on this machine (`arena play --browser`).

The socket is opened first, so that a port in use is reported at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from arena.model import UserError
from arena.play.seat import Person

METHODS = frozenset({"GET", "HEAD", "POST"})


class BrowserSeat:
    """A server that has its port, and serves while a person plays."""

    def __init__(self, port: int, delay: float, say: Callable[[str], None]) -> None:
        try:
            from arena.live.server import LOOPBACK, Server, guard_app, listen, url_of
            from arena.play.page import Page
        except ModuleNotFoundError as error:
            raise UserError(
                f"--browser needs {error.name}, of the extra `live`: pip install 'nine-arena[live]'"
            ) from None
        self._say = say
        self._listening = listen(port)
        self._page = Page(delay, told=say)
        self._server = Server(
            guard_app(self._page, self._listening, LOOPBACK, METHODS), self._listening
        )
        self._url = f"{url_of(self._listening)}{self._page.token}/"

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Person]:
        async with trio.open_nursery() as nursery:
            await nursery.start(self._server.serve)
            self._say(f"play here: {self._url}")
            self._say("the address is for you alone; Ctrl-C ends it")
            try:
                yield self._page
            finally:
                with trio.CancelScope(shield=True):
                    await self._page.farewell()
                nursery.cancel_scope.cancel()
