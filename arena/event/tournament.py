"""An event: format -> executor -> store -> ratings.

Theory of operation. `Tournament` knows the schedule (a pure function of settings, entrants and
secret) and, from the log, what of it is settled. `play` hands the executor whatever is not,
appends every record that comes back, and goes through what is left again, until that is nothing
or something stops it. A series that the host's trouble has voided is played again, at most
RETRIES times; then the event stops, with everything finished kept. It holds what is in play and
what was void, nothing for each of the other series.

What counts is decided by `arena.ratings.counts` from the schedule and the set of records
alone, so when and where a match was played changes nothing.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Protocol

import msgspec
import trio

from arena.event.results import counting_of, shard_of
from arena.executors import Executor, Finished, Report
from arena.exhaustion import ran_out_in
from arena.model import (
    DERIVATION,
    MOST_ATTEMPTS,
    HostError,
    MatchRecord,
    Series,
    Table,
)
from arena.ratings.outcomes import RatedOutcome
from arena.ratings.standings import table
from arena.schedule import Wave
from arena.store import Store, read_records

# A series that the machine has voided this often will be voided again.
RETRIES = 3
# So many void series of one bot, and more than half of all, are worth a line, if so many of them
# are by chance a bot's that sits in as many series as seldom as this.
SUSPICIOUS = 3
UNLIKELY = 0.01


class Watcher(Protocol):
    """Whoever follows an event as it is played: a progress bar, JSON lines."""

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""

    def rated(self, rated: RatedOutcome) -> None:
        """A rated event is settled."""

    def wave(self, wave: Wave) -> None:
        """So much has been decided to be played next."""

    def trouble(self, series: str, message: str) -> None:
        """A series is void by the machine's trouble and is played again."""


class Tournament:
    """An event being played into a store."""

    def __init__(self, store: Store, secret: bytes, watcher: Watcher) -> None:
        self._store = store
        self._secret = secret
        self._watcher = watcher
        self.shard = shard_of(store.event)
        """The part of an event that this is, if not all of it."""
        self._counting = counting_of(
            store.event, secret, rated=watcher.rated, decided=watcher.wave, shard=self.shard
        )
        self._voids: Counter[str] = Counter()
        self._void_tables: dict[str, tuple[str, ...]] = {}
        self._unexplained: Counter[str] = Counter()
        """Voids of each series that were not for want of something."""
        self._begun: Counter[str] = Counter()
        """Series by entrant, however often each was played; "" for all."""
        self._next_attempt: dict[str, int] = {}
        """Of void series: one that left no record has used its number too."""
        self._in_play: dict[str, Series] = {}
        self._begun_matches: dict[str, int] = {}
        """Matches that are finished of each series in play."""
        self._awaited: set[str] | None = None
        """Series whose match in play is awaited before everything is stopped."""
        self.completed = 0
        """Series that have come to their end."""
        self._trouble = ""
        self._scope = trio.CancelScope()
        for record in read_records(store.folder, store.event):
            self._counting.add(record)

    @property
    def planned(self) -> int:
        """Matches of the schedule, or of the shard."""
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
        attempt = max(wanted, self._next_attempt.get(series.id, 0))
        if attempt >= MOST_ATTEMPTS:
            self._stop(
                f"series {series.id} was begun {attempt} times and never came to its end; "
                "play an event of shorter ones (--series)"
            )
            return None
        self._in_play[series.id] = series
        self._begun_matches[series.id] = 0
        if series.id not in self._voids:
            self._begun.update(("", *series.entrants))
        return attempt

    def _report(self, message: Report) -> None:
        if isinstance(message, Finished):
            self._finished(message)
            return
        series = self._in_play.pop(message.series)
        del self._begun_matches[series.id]
        self.completed += not (message.trouble or message.bug)
        if message.bug:
            raise RuntimeError(f"a worker failed in series {series.id}:\n{message.bug}")
        if message.trouble:
            self._next_attempt[series.id] = message.attempt + 1
            self._void(series, message.trouble, blameless=message.blameless)
        elif not self._trouble and self._counting.wanted(series) is not None:
            raise RuntimeError(f"a worker has left out matches of series {series.id}")
        self._came(series.id)

    def take_in(self, record: MatchRecord) -> None:
        """Add a match that was played elsewhere."""
        self._store.append(record)
        self._counting.add(record)
        self._watcher.match(record)

    def _finished(self, message: Finished) -> None:
        try:
            self._store.append(message.record)
            for entrant, text in message.stderr.items():
                failed = entrant in message.record.fallen
                self._store.add_stderr(entrant, message.record.id, text, failed=failed)
        except HostError as error:
            self._stop(str(error))
            return
        self._counting.add(message.record)
        self._watcher.match(message.record)
        self._begun_matches[message.record.series] += 1
        self._came(message.record.series)

    def halt(self) -> None:
        """Stop as soon as each match that is in play has ended. The rest of a series is not played.

        `stop` is to be set already, so that nothing more is begun. Where a series' records come
        all at once, as from a cluster, that is when the series has ended.
        """
        self._awaited = set(self._in_play)
        self._came("")

    def _came(self, series: str) -> None:
        if self._awaited is not None:
            self._awaited.discard(series)
            if not self._awaited:
                self._scope.cancel()

    @property
    def cut(self) -> tuple[int, int]:
        """Series that were cut short after a match or more, and how many matches that were.

        They stay in the log, but a series counts whole, and is played again from its first match.
        """
        matches = [finished for finished in self._begun_matches.values() if finished]
        return len(matches), sum(matches)

    def _void(self, series: Series, trouble: str, *, blameless: bool) -> None:
        self._voids[series.id] += 1
        self._void_tables[series.id] = series.entrants
        if not blameless and not ran_out_in(trouble):
            self._unexplained[series.id] += 1
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

        A bot that can make the machine stumble could void the games that it is losing. One series
        alone, voided over and over, says nothing of those at its table; nor does what the machine
        has run out of, nor what strikes any series, as a worker that is killed from outside.
        """
        seats: Counter[str] = Counter()
        tables: Counter[str] = Counter()
        for series, times in self._unexplained.items():
            seats.update(dict.fromkeys(self._void_tables[series], times))
            tables.update(self._void_tables[series])
        voids, struck = self._unexplained.total(), len(self._unexplained)
        return [
            (entrant, times, voids)
            for entrant, times in sorted(seats.items())
            if times >= SUSPICIOUS
            and 2 * times > voids
            and self._by_chance(entrant, tables[entrant], struck) <= UNLIKELY
        ]

    def _by_chance(self, entrant: str, found: int, struck: int) -> float:
        """How often so many of the void series are an entrant's if any series is as likely."""
        own, all_ = self._begun[entrant], self._begun[""]
        ways = sum(
            math.comb(own, some) * math.comb(all_ - own, struck - some)
            for some in range(found, min(own, struck) + 1)
        )
        return ways / math.comb(all_, struck)

    def so_far(self) -> Callable[[], Table]:
        """The table of what lies behind the count's front; made by the call, in any thread."""
        return functools.partial(table, self._store.event, self._counting.so_far())

    def result(self, rule: int = DERIVATION) -> Table:
        """The table of what counts so far, by a rule of derivation."""
        return table(self._store.event, self._counting.counted(), rule=rule)

    def reveal(self) -> None:
        """The event is over: reveal the secret."""
        assert not self.shard, "others are still being played"
        self._store.reveal(
            msgspec.structs.replace(self._store.event, finished=True, secret=self._secret.hex())
        )

    def conclude(self) -> None:
        """The event is over: reveal the secret, and keep nothing private."""
        self.reveal()
        self._store.forget()
