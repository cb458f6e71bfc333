"""Play an event into a results folder: schedule, executor, log, count.

Theory of operation. `Tournament` has a count of the log (`arena.ratings.incremental`), which knows
the schedule and what of it is left. `play` hands that to the executor, appends every record that
comes back, and goes through what is left again, until that is nothing or something stops it. A
series that the host's trouble has voided is played again (`arena.executors.attempts`); when that
is given up, the event stops with everything finished kept.

What counts is decided from the schedule and the set of records alone, so when and where a match
was played changes nothing.
"""

import functools
from collections.abc import Callable
from typing import Protocol

import trio
from msgspec.structs import replace

from arena.event.results import counting_of, shard_of
from arena.executors import Executor, Report, SeriesEnd
from arena.executors.attempts import Attempts
from arena.formats import Format
from arena.model import DERIVATION, HostError, MatchRecord, Table
from arena.ratings.outcomes import RatedOutcome
from arena.ratings.standings import table
from arena.registry import table_files
from arena.schedule import Wave
from arena.store import Store, read_records


class Watcher(Protocol):
    """Follows an event as it is played, as `Progress` does."""

    def match(self, record: MatchRecord) -> None: ...
    def rated(self, rated: RatedOutcome) -> None: ...
    def wave(self, wave: Wave) -> None: ...
    def trouble(self, series: str, message: str) -> None: ...


class Tournament:
    def __init__(
        self, store: Store, secret: bytes, watcher: Watcher, schedule: Format | None = None
    ) -> None:
        """`schedule`: of a whole event, where it has been made already."""
        self._store = store
        self._secret = secret
        self._watcher = watcher
        self.shard = shard_of(store.event)  # the part of an event that this is, if not all of it
        rated, decided = watcher.rated, watcher.wave
        self.counting = counting_of(
            store.event, secret, rated=rated, decided=decided, shard=self.shard, schedule=schedule
        )
        self.attempts = Attempts(self.counting.wanted, self._stop)
        self._awaited: set[str] | None = None
        """Series whose match in play is awaited before everything is stopped."""
        self._trouble = ""
        self._scope = trio.CancelScope()
        for record in read_records(store.folder, store.event):
            self.counting.add(record)

    @property
    def planned(self) -> int:
        return self.counting.plan.matches

    @property
    def left(self) -> int:
        """Matches that may still have to be played; 0 when the event is over."""
        return self.counting.left

    async def play(self, executor: Executor, stop: trio.Event) -> None:
        """Play what is unsettled. HostError when the machine's trouble does not pass."""
        with self._scope:
            while not stop.is_set() and self.counting.left:
                ahead, choose = self.counting.ahead(), self.attempts.begin
                await executor.play(ahead, choose=choose, report=self._report, stop=stop)
        self._store.sync()
        if self._trouble:
            raise HostError(self._trouble)

    def _report(self, report: Report) -> None:
        if isinstance(report, SeriesEnd):
            self._end(report)
            self._came(report.series)
            return
        record = report.record
        try:
            self._store.append(record, report.encoded)
            for entrant, text in report.stderr.items():
                self._store.add_stderr(entrant, record.id, text, failed=entrant in record.fallen)
        except HostError as error:
            self._stop(str(error))
            return
        self.counting.add(record)
        self._watcher.match(record)
        self.attempts.finished(record.series)
        self._came(record.series)

    def _end(self, end: SeriesEnd) -> None:
        series = self.attempts.in_play[end.series]
        self.attempts.end(series.id, completed=not (end.trouble or end.bug))
        if end.bug:
            raise RuntimeError(f"a worker failed in series {series.id}:\n{end.bug}")
        if end.trouble:
            if self.attempts.void(series, end.attempt, end.trouble, blameless=end.blameless):
                self._watcher.trouble(series.id, end.trouble)
        elif not self._trouble and self.counting.wanted(series) is not None:
            raise RuntimeError(f"a worker has left out matches of series {series.id}")

    def take_in(self, record: MatchRecord) -> None:
        """Add a match that was played elsewhere."""
        self._store.append(record)
        self.counting.add(record)
        self._watcher.match(record)

    def halt(self) -> None:
        """Stop as soon as each match in play has ended, or its series, where a series' records come
        all at once, as from a cluster. `stop` is to be set already, so that nothing more is begun.
        """
        self._awaited = set(self.attempts.in_play)
        self._came("")

    def _came(self, series: str) -> None:
        if self._awaited is not None:
            self._awaited.discard(series)
            if not self._awaited:
                self._scope.cancel()

    def _stop(self, trouble: str) -> None:
        self._trouble = self._trouble or trouble
        self._scope.cancel()

    def so_far(self) -> Callable[[], Table]:
        """The table of what lies behind the count's front; made by the call, in any thread."""
        return functools.partial(table, self._store.event, self.counting.so_far(), ahead=True)

    def result(self, rule: int = DERIVATION) -> Table:
        """The table of what counts so far, by a rule of derivation."""
        ahead = rule == DERIVATION
        return table(self._store.event, self.counting.counted(), rule=rule, ahead=ahead)

    def publish(self) -> Table:
        """Write the tables by the event's own rule of derivation. Returns today's, for people."""
        today, rule = self.result(), self._store.event.settings.rule
        ruled = today if rule == today.rule else self.result(rule)
        for name, report in table_files().items():
            self._store.write(name, report.file_text(ruled))
        return today

    def conclude(self) -> Table | None:
        """All is played: reveal the secret, write the tables, keep nothing private, in this order;
        each step can be taken again: where private.json is, not all were. Returns the table; None
        for a shard: the others are still being played, so nothing is revealed.
        """
        store, event = self._store, self._store.event
        if self.shard:
            store.sync()
            return None
        store.reveal(replace(event, finished=True, secret=self._secret.hex()))
        table = self.publish()
        store.forget()
        return table
