"""Count the attempts at each series: which number is next, what is in play, what was void.

Theory of operation. An executor calls `begin` before it plays a series, and what it reports goes to
`finished` and `end`. A series that was void is played again, at most RETRIES times, under a new
number, since an attempt that left no record has used its number too. After that, or when attempt
numbers run out (MOST_ATTEMPTS), `give_up` is called. Memory grows only with the series that are in
play or were void.

Invariant: a series is in play between `begin` and `end`, and no attempt has a number twice.
"""

import math
from collections import Counter
from collections.abc import Callable

from arena.exhaustion import ran_out_in
from arena.model import MOST_ATTEMPTS, Series

RETRIES = 3  # a series that the machine has voided this often will be voided again
# A bot is a suspect if it sat in at least this many void series and in more than half of them all,
# and if that many would be a chance bot's with at most this probability.
SUSPICIOUS = 3
UNLIKELY = 0.01


class Attempts:
    def __init__(
        self, wanted: Callable[[Series], int | None], give_up: Callable[[str], None]
    ) -> None:
        """`wanted`: the least number of the next attempt at a series, None if it needs none."""
        self._wanted = wanted
        self._give_up = give_up
        self.in_play: dict[str, Series] = {}
        self._matches: dict[str, int] = {}  # matches that are finished of each series in play
        self.completed = 0  # series that have come to their end
        self._next: dict[str, int] = {}  # the next number of void series
        self._voids: Counter[str] = Counter()
        self._void_tables: dict[str, tuple[str, ...]] = {}
        self._unexplained: Counter[str] = Counter()
        """Voids of each series that a lack of memory, disk or the like does not explain."""
        self._begun: Counter[str] = Counter()
        """Series by entrant, however often each was played; "" for all."""

    def begin(self, series: Series) -> int | None:
        """The number of the attempt that begins now; None: nothing is to be played."""
        if (wanted := self._wanted(series)) is None:
            return None
        attempt = max(wanted, self._next.get(series.id, 0))
        if attempt >= MOST_ATTEMPTS:
            self._give_up(
                f"series {series.id} was begun {attempt} times and never came to its end; "
                "play an event of shorter ones (--series)"
            )
            return None
        self.in_play[series.id] = series
        self._matches[series.id] = 0
        if series.id not in self._voids:
            self._begun.update(("", *series.entrants))
        return attempt

    def finished(self, series: str) -> None:
        self._matches[series] += 1

    def end(self, series: str, *, completed: bool) -> None:
        del self.in_play[series], self._matches[series]
        self.completed += completed

    def void(self, series: Series, attempt: int, trouble: str, *, blameless: bool) -> bool:
        """An attempt was void; whether the series is played again."""
        self._next[series.id] = attempt + 1
        self._voids[series.id] += 1
        self._void_tables[series.id] = series.entrants
        if not blameless and not ran_out_in(trouble):
            self._unexplained[series.id] += 1
        if self._voids[series.id] <= RETRIES:
            return True
        names = ", ".join(series.entrants)
        self._give_up(f"series {series.id} ({names}) was void {RETRIES + 1} times: {trouble}")
        return False

    @property
    def cut(self) -> tuple[int, int]:
        """Series that were cut short after a match or more, and how many matches that were."""
        matches = [finished for finished in self._matches.values() if finished]
        return len(matches), sum(matches)

    def suspects(self) -> list[tuple[str, int, int]]:
        """(entrant, void series it sat in, void series) of bots that most of them have in common: a
        bot that can make the machine stumble could void the games that it is losing. One series
        alone says nothing of those at its table; nor does what the machine has run out of, nor what
        strikes any series, as a worker that is killed from outside.
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
