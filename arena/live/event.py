"""`--live`: the pages of an event while it is played, for the commands that play one.

`LivePage` joins an event to `arena.live`. The socket is opened before
anything else is begun, so that a port in use is said at once. Invariant: nothing in here ends an
event.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import trio

    from arena.event.tournament import Tournament
    from arena.live.broadcast import Broadcast
    from arena.live.event_state import Show
    from arena.live.open_match import Opening
    from arena.model import Event, MatchRecord, Table
    from arena.ratings.outcomes import RatedOutcome
    from arena.schedule import Wave
    from arena.terminal.progress import Progress

LOOPBACK = "127.0.0.1"


class Live(NamedTuple):
    """What was asked for."""

    port: int
    host: str
    stay: bool


@contextmanager
def opened(wanted: Live | None) -> Iterator[LivePage | None]:
    """The page that was asked for, if one was; its port is open from now on."""
    if wanted is None:
        yield None
        return
    try:
        from arena.live.server import listen
    except ModuleNotFoundError as error:
        from arena.model import UserError

        raise UserError(
            f"--live needs {error.name}, of the extra `live`: pip install 'nine-arena[live]'"
        ) from None
    with listen(wanted.port, wanted.host) as listening:
        yield LivePage(wanted, listening)


class LivePage:
    """The page of one event, from before its first match."""

    def __init__(self, wanted: Live, listening: socket.socket) -> None:
        from arena.live.server import url_of

        self._wanted = wanted
        self._listening = listening
        self._show: Show | None = None
        self._opening: Opening | None = None
        self._broadcast: Broadcast | None = None
        self.url = url_of(listening)

    def joined(self, watcher: Progress, event: Event, folder: Path, secret: bytes) -> Both:
        """Whom an event tells what happens: its display, and us."""
        from arena.live.event_state import Show
        from arena.live.open_match import Opening

        self._show = Show(event)
        self._opening = Opening(folder, event, secret)
        return Both(watcher, self._show)

    async def serve(self, tournament: Tournament, watcher: Progress, nursery: trio.Nursery) -> None:
        """Begin to serve, in a nursery of the event's."""
        from arena.live.broadcast import Broadcast

        assert self._show is not None, "somebody has joined"
        assert self._opening is not None
        ranking = None if tournament.shard else tournament.so_far
        self._broadcast = Broadcast(
            self._show, watcher, self._opening, ranking, failed=watcher.note
        )
        # A socket of its own, since the server closes it; ours goes on listening.
        await nursery.start(self._broadcast.run, self._listening.dup(), self._wanted.host)

    async def finish(self, tournament: Tournament) -> None:
        """Play is over, or was stopped: viewers get the last word."""
        if self._broadcast is None:
            return
        if tournament.left:
            await self._broadcast.finish("stopped", None)
        elif self._wanted.stay:
            await self._broadcast.finish("playing", None)  # they come back, and find it over
        else:
            await self._broadcast.finish("over", _result(tournament))

    def stay(self, tournament: Tournament, watcher: Progress, event: Event) -> None:
        """The event is over: go on showing it until Ctrl-C, if that was asked for."""
        if not self._wanted.stay:
            return
        import trio

        assert self._show is not None
        self._show.event = event  # with its secret

        async def serve() -> None:
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as ended:
                async with trio.open_nursery() as nursery:
                    await self.serve(tournament, watcher, nursery)
                    assert self._broadcast is not None
                    await self._broadcast.settle("over", _result(tournament))
                    async for _ in ended:
                        break
                    nursery.cancel_scope.cancel()

        watcher.note(f"the event is over; still shown at {self.url} until Ctrl-C")
        trio.run(serve)


def _result(tournament: Tournament) -> Table | None:
    """The final table; a part of an event has none."""
    return None if tournament.shard else tournament.result()


class Both:
    """Tells two watchers of an event."""

    def __init__(self, display: Progress, show: Show) -> None:
        self._watchers = (display, show)

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""
        for watcher in self._watchers:
            watcher.match(record)

    def rated(self, rated: RatedOutcome) -> None:
        """A rated event is settled."""
        for watcher in self._watchers:
            watcher.rated(rated)

    def wave(self, wave: Wave) -> None:
        """So much has been decided to be played next."""
        for watcher in self._watchers:
            watcher.wave(wave)

    def trouble(self, series: str, message: str) -> None:
        """A series is void."""
        for watcher in self._watchers:
            watcher.trouble(series, message)
