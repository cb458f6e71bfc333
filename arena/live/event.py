"""Join an event that is played to its live pages. Invariant: nothing here ends an event."""

import socket
from pathlib import Path

import trio

from arena.event.options import LiveOptions
from arena.event.progress import Progress
from arena.event.session import pass_on_stops
from arena.event.tournament import Tournament, Watcher
from arena.live.app import MatchOpener
from arena.live.broadcast import Broadcast
from arena.live.event_state import EventState
from arena.live.server import url_of
from arena.model import Event, MatchRecord, Table
from arena.ratings.outcomes import RatedOutcome
from arena.schedule import Wave


class LivePage:
    def __init__(self, wanted: LiveOptions, listening: socket.socket) -> None:
        self._wanted = wanted
        self._listening = listening
        self._joined: tuple[EventState, MatchOpener] | None = None
        self._broadcast: Broadcast | None = None
        self.url = url_of(listening)

    def join(self, watcher: Watcher, event: Event, folder: Path, secret: bytes) -> Watcher:
        """A watcher that passes everything on to another one and to the pages."""
        show = EventState(event)
        self._joined = show, MatchOpener(folder, event, secret)
        return _Both(watcher, show)

    async def serve(
        self, tournament: Tournament, progress: Progress, nursery: trio.Nursery
    ) -> None:
        assert self._joined is not None, "an event has joined"
        show, opening = self._joined
        ranking = None if tournament.shard else tournament.so_far
        self._broadcast = Broadcast(show, progress, opening, ranking, failed=progress.note)
        # A socket of its own, since the server closes it; ours goes on listening.
        await nursery.start(self._broadcast.run, self._listening.dup(), self._wanted.host)

    async def finish(self, tournament: Tournament) -> None:
        if self._broadcast is None:
            return
        if tournament.left:
            await self._broadcast.finish("stopped", None)
        elif self._wanted.stay:
            await self._broadcast.finish("playing", None)  # they come back, and find it over
        else:
            await self._broadcast.finish("over", _result(tournament))

    def stay(self, tournament: Tournament, progress: Progress, event: Event) -> None:
        """The event is over: go on showing it until Ctrl-C, if that was asked for."""
        if not self._wanted.stay:
            return
        assert self._joined is not None
        self._joined[0].event = event  # with its secret

        async def serve() -> None:
            over = trio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pass_on_stops, progress, lambda *_: over.set())
                await self.serve(tournament, progress, nursery)
                assert self._broadcast is not None
                await self._broadcast.settle("over", _result(tournament))
                await over.wait()
                nursery.cancel_scope.cancel()

        progress.note(f"the event is over; still shown at {self.url} until Ctrl-C")
        trio.run(serve)


def _result(tournament: Tournament) -> Table | None:
    return None if tournament.shard else tournament.result()


class _Both:
    def __init__(self, one: Watcher, other: Watcher) -> None:
        self._watchers = (one, other)

    def match(self, record: MatchRecord) -> None:
        for watcher in self._watchers:
            watcher.match(record)

    def rated(self, rated: RatedOutcome) -> None:
        for watcher in self._watchers:
            watcher.rated(rated)

    def wave(self, wave: Wave) -> None:
        for watcher in self._watchers:
            watcher.wave(wave)

    def trouble(self, series: str, message: str) -> None:
        for watcher in self._watchers:
            watcher.trouble(series, message)
