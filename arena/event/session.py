"""Playing an event that is prepared: the display, signals, the table, how to go on.

Whatever ends the playing, the command that goes on is printed if anything is left to play.
"""

from __future__ import annotations

import signal

import click
import msgspec
import trio

from arena.event.tournament import Tournament
from arena.executors import Executor
from arena.live.event import LivePage
from arena.model import ADJUSTED, Table, Verdict
from arena.ratings.intervals import most_likely_share
from arena.registry import render
from arena.reports.escape import plain
from arena.store import Store
from arena.terminal.progress import JsonLines, Progress
from arena.terminal.screen import command_line, going_on, say, warn
from arena.terminal.table import details_of, print_table

# How often the display is drawn.
TICK_S = 0.2
MERGE = "arena merge SHARD... --out FOLDER"
# Signals that stop an event, and the exit codes that tell so.
AT_ONCE = signal.SIGUSR1
# What a trial has shown.
VERDICTS = {Verdict.BETTER: 0, Verdict.NOT_BETTER: 6, Verdict.UNDECIDED: 7}
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, AT_ONCE: 143}


def play(
    store: Store,
    tournament: Tournament,
    executor: Executor,
    watcher: Progress,
    *,
    max_time: int | None,
    page: LivePage | None = None,
    where: str = "",
) -> int:
    """Play until the end or a stop; print the table, and how to go on if it isn't over.

    `where`: the flags that say so, if it is played on a cluster.
    """
    planned, left = tournament.planned, tournament.left
    watcher.begin(planned, planned - left)
    event = store.event
    if isinstance(watcher, JsonLines):
        watcher.say(
            "start",
            folder=str(store.folder),
            commitment=event.commitment,
            predictable=event.predictable,
            bots=[entrant.id for entrant in event.entrants],
            planned=planned,
            done=planned - left,
            sandbox=event.sandbox,
        )
        if page:
            watcher.say("live", url=page.url)
    else:
        kept = f"{planned - left:,} of {planned:,} matches kept, " if left < planned else ""
        to_play = f"{left:,} to play" if kept else f"{left:,} matches to play"
        watcher.note(f"{len(event.entrants)} bots, {kept}{to_play}, results in {store.folder}")
        watcher.note(f"commitment {event.commitment}")
        if page:
            warn(f"live at {page.url}")
        if event.sandbox == "none":
            warn("warning: --sandbox none: the bots can do whatever you can do")
    player = _Player(tournament, executor, watcher, page, elsewhere=bool(where))
    shown = 0
    concluded = False
    try:
        trio.run(player.play, max_time)
        watcher.end()
        if tournament.left == 0:
            shown = conclude(store, tournament, watcher)
            concluded = True
        else:
            show(tournament.publish(), store, watcher)
    finally:
        watcher.end()
        _tell_trouble(store, tournament, watcher)
        if not concluded:
            _tell_cut(tournament, watcher)
            _tell_resume(store, watcher, where)
    if page and concluded:
        page.stay(tournament, watcher, store.event)
    return shown if concluded else player.outcome


def conclude(store: Store, tournament: Tournament, watcher: Progress) -> int:
    """All is played: show the table. The exit code: what a trial has shown."""
    table = tournament.conclude()
    if table is None:
        _tell_merge(store, watcher)
        return 0
    show(table, store, watcher)
    return VERDICTS[table.verdict] if table.verdict else 0


class _Player:
    """Plays an event, with a clock for the display and an ear for signals."""

    def __init__(
        self,
        tournament: Tournament,
        executor: Executor,
        watcher: Progress,
        page: LivePage | None,
        *,
        elsewhere: bool,
    ) -> None:
        self._tournament = tournament
        self._executor = executor
        self._watcher = watcher
        self._page = page
        self._elsewhere = elsewhere
        self._stop: trio.Event
        self.outcome = 0
        """The exit code of the first signal that came."""

    async def play(self, max_time: int | None) -> None:
        """Play, until all is played or somebody has enough."""
        self._stop = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tick)
            nursery.start_soon(self._listen, nursery.cancel_scope)
            if max_time is not None:
                nursery.start_soon(self._alarm, max_time / 1000)
            if self._page:
                await self._page.serve(self._tournament, self._watcher, nursery)
            await self._tournament.play(self._executor, self._stop)
            if self._page:
                await self._page.finish(self._tournament)
            nursery.cancel_scope.cancel()

    async def _tick(self) -> None:
        while True:
            self._watcher.tick()
            await trio.sleep(TICK_S)

    async def _listen(self, scope: trio.CancelScope) -> None:
        with trio.open_signal_receiver(*STOPPED) as signals:
            async for number in signals:
                again, self.outcome = self.outcome, self.outcome or STOPPED[signal.Signals(number)]
                if again or number == AT_ONCE:
                    scope.cancel()
                self._stop.set()
                if not again:
                    self._watcher.note(
                        "stopping after the series in play; once more to stop at once"
                    )

    async def _alarm(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self._stop.set()
        # A cluster's workers tell of a series when it has ended.
        last = "series" if self._elsewhere else "match"
        self._watcher.note(f"the time is over: stopping after the {last} in play")
        self._tournament.halt()


def show(table: Table, store: Store, watcher: Progress) -> None:
    """Print the table, or tell it."""
    if isinstance(watcher, JsonLines):
        watcher.say("table", table=msgspec.json.decode(render(table, "json")))
        watcher.say("end", finished=store.event.finished, done=watcher.done)
        return
    print_table(table, more=details_of(store.folder))
    if table.verdict:
        click.echo(_verdict(table))


def _verdict(table: Table) -> str:
    """What a trial has shown, in a line."""
    trial = table.event.settings.trial
    assert trial is not None
    (row,) = (row for row in table.rows if row.entrant == trial.new)
    (other,) = (row for row in table.rows if row.entrant != trial.new)
    told = f"{plain(trial.new)} against {plain(other.entrant)}: {table.verdict}"
    if table.withdrawn:  # what it did may count for nothing, and it is not what decided
        return f"{told}, since {plain(table.ended)}"
    above, error = row.delta, row.delta_ci
    if row.adjusted is not None and table.event.settings.rate_on == ADJUSTED:
        above, error = row.adjusted, row.adjusted_ci
    if above is None or error is None:  # no deal was played in both seatings
        return told
    where = "ahead" if above < 0 else "behind"
    told = f"{told}, {where} by {abs(above):.1f} ± {error:.1f} strokes a match in {table.matches}"
    counts = [sum(count for _, count in each.faults) for each in (row, other)]
    most = [
        100 * most_likely_share(min(count, each.matches), each.matches)
        for count, each in zip(counts, (row, other), strict=True)
    ]
    # In a match of two each fault is a forfeit.
    return (
        f"{told}; forfeits: new {counts[0]}, old {counts[1]} "
        f"(at most {most[0]:.1f} and {most[1]:.1f} % of matches, at 95 %)"
    )


def _tell_merge(store: Store, watcher: Progress) -> None:
    """A part of an event is over: there is no table before all are."""
    shard = store.event.shard
    if isinstance(watcher, JsonLines):
        watcher.say("shard", shard=shard, folder=str(store.folder), command=MERGE)
    else:
        say(f"shard {shard} is played, in {store.folder}; when all are: {MERGE}")


def _tell_trouble(store: Store, tournament: Tournament, watcher: Progress) -> None:
    """What went wrong, a line for each bot: to be mended by its author, or by us."""
    if not isinstance(watcher, JsonLines):
        for _, line in sorted(watcher.first_faults.items()):
            say(line)
        if watcher.first_faults:
            say(f"all faults: {command_line('log', store.folder)} --faults")
    for entrant, times, voids in tournament.attempts.suspects():
        say(f"{entrant} was at the table in {times} of {voids} void series")


def _tell_cut(tournament: Tournament, watcher: Progress) -> None:
    """What was finished and will be played again."""
    series, matches = tournament.attempts.cut
    if not series:
        return
    kept = "1 finished match" if matches == 1 else f"{matches:,} finished matches"
    cut = "a series that was cut short" if series == 1 else f"{series:,} series that were cut short"
    stays = "stays in the log but doesn't" if matches == 1 else "stay in the log but don't"
    watcher.note(
        f"{kept} of {cut} {stays} count: a series counts whole, and is played again from its "
        "first match"
    )
    if not tournament.attempts.completed:
        watcher.note(
            "no series has come to its end: where one takes longer than there is time, allow more "
            "of it, or play an event of shorter series (--series)"
        )


def _tell_resume(store: Store, watcher: Progress, where: str) -> None:
    command = f"{going_on(store.folder, store.event.sandbox)} {where}".rstrip()
    if isinstance(watcher, JsonLines):
        try:
            watcher.say("resume", command=command)
        except OSError:  # whoever read our lines is gone: tell whoever started us
            pass
        else:
            return
    warn(f"not finished; whole series are kept; go on with: {command}")
