"""An event: format -> executor -> store -> ratings.

Theory of operation. `Tournament` knows the schedule (a pure function of settings, entrants and
secret) and, from the log, what of it is settled. `play` hands the executor whatever is not,
appends every record that comes back, and goes through what is left again, until that is nothing
or something stops it. A series that the host's trouble has voided is played again, at most
RETRIES times; then the event stops, with everything finished kept. It holds what is in play and
what was void, nothing for each of the other series.

What counts is decided by `arena.ratings.counting` from the schedule and the set of records
alone, so when and where a match was played changes nothing.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec
import trio

from arena import registry
from arena.deals import Deals
from arena.executors import Executor, Finished, Report
from arena.formats import Format
from arena.model import Block, Event, HostError, MatchRecord, Series, Table, UserError
from arena.ratings.counting import Plan
from arena.ratings.outcomes import Rated
from arena.ratings.played import DIGEST_HEX
from arena.ratings.running import Counting
from arena.ratings.standings import table
from arena.store import Store, read_event, read_records, secret_of

# A series that the machine has voided this often will be voided again.
RETRIES = 3
# So many void series of one bot, and more than half of all, are worth a line.
SUSPICIOUS = 3


class Watcher(Protocol):
    """Whoever follows an event as it is played: a progress bar, JSON lines."""

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""

    def rated(self, rated: Rated) -> None:
        """A rated event is settled."""

    def trouble(self, series: str, message: str) -> None:
        """A series is void by the machine's trouble and is played again."""


def schedule_of(event: Event, secret: bytes) -> Format:
    """The schedule of an event."""
    return registry.schedule(event.settings, event.entrants, Deals(secret))


def all_blocks(schedule: Format) -> Iterator[Block]:
    """Every wave's blocks, in the order of the specs."""
    for number in itertools.count():
        blank = True
        for block in schedule.wave(number):
            blank = False
            yield block
        if blank:
            return


def counting_of(
    event: Event, secret: bytes, *, rated: Callable[[Rated], None] | None = None
) -> Counting:
    """A count of an event, with nothing counted yet."""
    schedule = schedule_of(event, secret)
    return Counting(
        functools.partial(all_blocks, schedule),
        plan=Plan(matches=schedule.planned, by_entrant=schedule.planned_for()),
        rating=event.settings.rating,
        rated=rated,
    )


def count_folder(folder: Path) -> tuple[Event, Counting]:
    """The count of a results folder's log."""
    event = read_event(folder)
    counting = counting_of(event, secret_of(folder, event))
    for record in read_records(folder):
        counting.add(record)
    return event, counting


def table_of(folder: Path) -> Table:
    """The table of a results folder, derived from its log."""
    event, counting = count_folder(folder)
    counted = counting.counted()
    if event.finished and counted.missing:
        raise UserError(
            f"{folder}: the event is finished, but {counted.missing} of "
            f"{counted.plan.matches} matches are missing from matches.jsonl"
        )
    return table(event, counted)


def counted_records(folder: Path) -> Iterator[MatchRecord]:
    """The records that count, in the order of their file."""
    _, counting = count_folder(folder)
    wanted = {
        (played.id, played.attempt, played.digest)
        for chosen in counting.chosen()
        for _, played, _ in chosen.matches
    }
    for record in read_records(folder):
        key = (record.id, record.attempt, record.digest[:DIGEST_HEX])
        if key in wanted:
            wanted.discard(key)
            yield record


class Tournament:
    """An event being played into a store."""

    def __init__(self, store: Store, secret: bytes, watcher: Watcher) -> None:
        self._store = store
        self._secret = secret
        self._watcher = watcher
        self._counting = counting_of(store.event, secret, rated=watcher.rated)
        self._voids: Counter[str] = Counter()
        self._void_tables: dict[str, tuple[str, ...]] = {}
        self._next_attempt: dict[str, int] = {}
        """Of void series: one that left no record has used its number too."""
        self._in_play: dict[str, Series] = {}
        self._trouble = ""
        self._scope = trio.CancelScope()
        for record in read_records(store.folder):
            self._counting.add(record)

    @property
    def planned(self) -> int:
        """Matches of the schedule."""
        return self._counting.plan.matches

    @property
    def left(self) -> int:
        """Matches that may still have to be played; 0 when the event is over."""
        return self._counting.left

    async def play(self, executor: Executor, stop: trio.Event) -> None:
        """Play what is unsettled. HostError when the machine's trouble does not pass."""
        with self._scope:
            while not stop.is_set() and self._counting.left:
                await executor.play(
                    self._counting.ahead(), choose=self._choose, report=self._report, stop=stop
                )
        self._store.sync()
        if self._trouble:
            raise HostError(self._trouble)

    def _choose(self, series: Series) -> int | None:
        """The attempt at a series to be played now; None when it needs no playing."""
        wanted = self._counting.wanted(series)
        if wanted is None:
            return None
        self._in_play[series.id] = series
        return max(wanted, self._next_attempt.get(series.id, 0))

    def _report(self, message: Report) -> None:
        if isinstance(message, Finished):
            self._finished(message)
            return
        series = self._in_play.pop(message.series)
        if message.bug:
            raise RuntimeError(f"a worker failed in series {series.id}:\n{message.bug}")
        if message.trouble:
            self._next_attempt[series.id] = message.attempt + 1
            self._void(series, message.trouble)
        elif not self._trouble and self._counting.wanted(series) is not None:
            raise RuntimeError(f"a worker has left out matches of series {series.id}")

    def _finished(self, message: Finished) -> None:
        try:
            self._store.append(message.record)
            for entrant, text in message.stderr.items():
                self._store.add_stderr(entrant, message.record.id, text)
        except HostError as error:
            self._stop(str(error))
            return
        self._counting.add(message.record)
        self._watcher.match(message.record)

    def _void(self, series: Series, trouble: str) -> None:
        self._voids[series.id] += 1
        self._void_tables[series.id] = series.entrants
        if self._voids[series.id] > RETRIES:
            names = ", ".join(series.entrants)
            self._stop(f"series {series.id} ({names}) was void {RETRIES + 1} times: {trouble}")
        else:
            self._watcher.trouble(series.id, trouble)

    def _stop(self, trouble: str) -> None:
        """Give up: nothing more is played, everything finished is kept."""
        self._trouble = self._trouble or trouble
        self._scope.cancel()

    def suspects(self) -> list[tuple[str, int, int]]:
        """(entrant, void series it sat in, void series) of bots that most of them have in common.

        A bot that can make the machine stumble could void the games that it is losing.
        """
        seats: Counter[str] = Counter()
        for series, times in self._voids.items():
            seats.update(dict.fromkeys(self._void_tables[series], times))
        voids = self._voids.total()
        return [
            (entrant, times, voids)
            for entrant, times in sorted(seats.items())
            if times >= SUSPICIOUS and 2 * times > voids
        ]

    def result(self) -> Table:
        """The table of what counts so far."""
        return table(self._store.event, self._counting.counted())

    def conclude(self) -> None:
        """The event is over: reveal the secret, and keep nothing private."""
        self._store.conclude(
            msgspec.structs.replace(self._store.event, finished=True, secret=self._secret.hex())
        )
