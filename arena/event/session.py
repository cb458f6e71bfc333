"""Session of an event: play what is left, stop on signals, conclude, and report to its `Progress`.

However play ends, `Progress.over` gets an `Outcome` with the command that goes on, if anything is
left to play. Signals are handled in the main thread only; elsewhere `Progress.stop` stops play.
"""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import trio

from arena.event.commands import resume_line
from arena.event.epochs import epochs_of, event_of_epoch
from arena.event.options import RunOptions
from arena.event.progress import Outcome, Progress, Start
from arena.event.rerate import rate_events
from arena.event.results import announce_reading
from arena.event.tournament import Tournament, Watcher
from arena.executors import Executor
from arena.model import Event, Table, UserError
from arena.store import Store

TICK_S = 0.2  # how often the display is drawn
AT_ONCE = signal.SIGUSR1  # stops an event without waiting for the series in play
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, AT_ONCE)


class EventPage(Protocol):
    """Live pages of an event: see `LivePage` of `arena.live.event`."""

    url: str

    def join(self, watcher: Watcher, event: Event, folder: Path, secret: bytes) -> Watcher: ...
    async def serve(
        self, tournament: Tournament, progress: Progress, nursery: trio.Nursery
    ) -> None: ...
    async def finish(self, tournament: Tournament) -> None: ...
    def stay(self, tournament: Tournament, progress: Progress, event: Event) -> None: ...


class Session(NamedTuple):
    options: RunOptions
    progress: Progress
    page: EventPage | None = None
    whole: Path | None = None
    """The folder of a tuning or a ladder that the event is a part of: it is what can be resumed,
    and shows the results."""
    command: str = "resume"
    """What goes on with an event that is not finished."""
    bots: Path | None = None
    """Where the bots are kept, if not with the results."""

    def show(self, outcome: Outcome) -> None:
        if self.whole is None:
            self.progress.result(outcome)

    def watcher(self, event: Event, folder: Path, secret: bytes) -> Watcher:
        self.progress.open_event(event, folder)
        if self.page is None:
            return self.progress
        return self.page.join(self.progress, event, folder, secret)


def play(store: Store, tournament: Tournament, executor: Executor, session: Session) -> Outcome:
    """Play until the end or a stop, and write the tables."""
    progress, page, cluster = session.progress, session.page, session.options.cluster
    planned, url = tournament.planned, page.url if page else ""
    done, folder = planned - tournament.left, store.folder
    progress.start(Start(event=store.event, folder=folder, planned=planned, done=done, url=url))
    player = _Player(tournament, executor, session)
    complete, table = False, None
    try:
        trio.run(player.play)
        progress.end()
        if tournament.left == 0:
            table = conclude(store, tournament, session).table
            complete = True
        else:
            table = _of_whole(folder, tournament.publish(), session)
            session.show(Outcome(folder=folder, event=store.event, table=table))
    finally:
        progress.end()
        command = resume_line(session.whole or folder, store.event.sandbox, session.command)
        outcome = Outcome(
            folder=folder,
            event=store.event,
            complete=complete,
            table=table,
            signal=0 if complete else player.signal,
            resume="" if complete else f"{command} {cluster.flags if cluster else ''}".rstrip(),
            cut=tournament.attempts.cut,
            series=tournament.attempts.completed,
            suspects=tuple(tournament.attempts.suspects()),
        )
        progress.finish(outcome)
    if page and complete:
        page.stay(tournament, progress, store.event)
    return outcome


def conclude(store: Store, tournament: Tournament, session: Session) -> Outcome:
    table = tournament.conclude()
    if table is not None:
        table = _of_whole(store.folder, table, session)
    outcome = Outcome(folder=store.folder, event=store.event, complete=True, table=table)
    session.show(outcome)
    return outcome


def _of_whole(folder: Path, table: Table, session: Session) -> Table:
    """Of an epoch the table of the whole event: its own is that of the newcomers' matches alone."""
    whole = event_of_epoch(folder)
    if whole is None:
        return table
    try:
        announce_reading(session.progress.say, whole, *epochs_of(whole))
        return rate_events([whole])
    except UserError as error:
        session.progress.say(f"note: this is the epoch's table alone: {error}")
        return table


class _Player:
    """Plays an event beside the clock of its display, and stops it when asked."""

    def __init__(self, tournament: Tournament, executor: Executor, session: Session) -> None:
        self._tournament = tournament
        self._executor = executor
        self._session = session
        self.signal = 0

    async def play(self) -> None:
        self._stop = trio.Event()
        session = self._session
        async with trio.open_nursery() as nursery:
            self._scope = nursery.cancel_scope
            nursery.start_soon(self._tick)
            nursery.start_soon(pass_on_stops, session.progress, self._halt)
            if session.options.max_seconds is not None:
                nursery.start_soon(self._alarm, session.options.max_seconds)
            if session.page:
                await session.page.serve(self._tournament, session.progress, nursery)
            await self._tournament.play(self._executor, self._stop)
            if session.page:
                await session.page.finish(self._tournament)
            nursery.cancel_scope.cancel()

    async def _tick(self) -> None:
        while True:
            self._session.progress.tick()
            await trio.sleep(TICK_S)

    def _halt(self, number: int, at_once: bool) -> None:  # noqa: FBT001 - a callback
        again, self.signal = self.signal, self.signal or number
        asked = self._stop.is_set()
        self._stop.set()
        if at_once or (again and number):
            self._scope.cancel()
        once_more = "; once more to stop at once" if number and not again else ""
        if once_more or not asked:
            self._session.progress.note(f"stopping after the series in play{once_more}")

    async def _alarm(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self._stop.set()
        # A cluster's workers report a series when it has ended.
        last = "series" if self._session.options.cluster else "match"
        self._session.progress.note(f"the time is over: stopping after the {last} in play")
        self._tournament.halt()


async def pass_on_stops(progress: Progress, halt: Callable[[int, bool], None]) -> None:
    """Call `halt(signal, at_once)` for each signal, and with 0 for `Progress.stop`; never ends."""
    token = trio.lowlevel.current_trio_token()

    def stop(at_once: bool) -> None:  # noqa: FBT001 - a callback
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(halt, 0, at_once)

    progress.attach(stop)
    try:
        if threading.current_thread() is threading.main_thread():
            with trio.open_signal_receiver(*STOPS) as signals:
                async for number in signals:
                    halt(number, number == AT_ONCE)
        await trio.sleep_forever()
    finally:
        progress.attach(None)
