"""Statistics of each bot, gathered from an event's records one by one.

Pure. Keeps sums, a histogram of strokes and the first faults of each bot, the same amount for ten
matches as for a million. Invariant: the order of the records decides only which of several equal
matches is called the best or the worst: the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from arena.model import MatchRecord
from arena.site.clearance import Clearance
from arena.site.view import BotView, Failing, Notable, Point, Spread

HOLES = 9
MOST_FAULTS = 50
"""Of a bot's faults on its page; the log has all of them."""


class _Account:
    def __init__(self, seats: int) -> None:
        self.strokes: Counter[int] = Counter()
        self.seats = [[0, 0] for _ in range(seats)]
        self.holes = [[0, 0] for _ in range(HOLES)]
        self.decisions = 0
        self.think_ms = self.max_ms = self.waited_ms = 0.0
        self.faults: list[Failing] = []
        self.failed = 0
        self.annulled = 0
        self.best: Notable | None = None
        self.worst: Notable | None = None


def match_counts(record: MatchRecord, annulled: Collection[str]) -> bool:
    """Whether a match counts: two of its bots must be left."""
    return sum(entrant not in annulled for entrant in record.seats) > 1


class Statistics:
    def __init__(self, ids: Mapping[str, str], seats: int, clearing: Clearance) -> None:
        """`ids`: entrants' own ids -> published ids."""
        self._ids = ids
        self._clearing = clearing
        self._accounts = {shown: _Account(seats) for shown in ids.values()}
        self.ended = 0.0
        """When the last match ended."""

    def add(self, record: MatchRecord, *, over: bool, annulled: Collection[str] = ()) -> None:
        """Add a match; `over`: its event is. Of `annulled` bots only faults count; a match that
        leaves one bot or none does not count.
        """
        self.ended = max(self.ended, record.ended)
        accounts = [self._accounts[self._ids[seat]] for seat in record.seats]
        gone = {seat for seat, entrant in enumerate(record.seats) if entrant in annulled}
        for seat in gone:
            accounts[seat].annulled += 1
        if match_counts(record, annulled):
            self._holes(record, accounts, gone)
            self._time(record, accounts, gone)
        for fault in record.faults:
            account = accounts[fault.seat]
            account.failed += 1
            if len(account.faults) < MOST_FAULTS:
                account.faults.append(self._clearing.failing(record.id, fault, over=over))
        if not record.faults and not gone:
            self._notable(record, accounts)

    def _holes(
        self, record: MatchRecord, accounts: Sequence[_Account], gone: Collection[int]
    ) -> None:
        fallen = {fault.seat: fault.hole for fault in record.faults}
        for number, hole in enumerate(record.holes[:HOLES], 1):
            if not hole.scores:
                continue
            for seat, account in enumerate(accounts):
                # From the hole on which it failed, the game's fallback plays for it.
                if seat in gone or (seat in fallen and number >= fallen[seat]):
                    continue
                score = hole.scores[seat]
                account.strokes[score] += 1
                for place in (account.seats[seat], account.holes[number - 1]):
                    place[0] += 1
                    place[1] += score

    def _time(
        self, record: MatchRecord, accounts: Sequence[_Account], gone: Collection[int]
    ) -> None:
        for seat, (use, account) in enumerate(zip(record.use, accounts, strict=False)):
            if seat in gone:
                continue
            account.decisions += use.decisions
            account.think_ms += use.think_ms
            account.max_ms = max(account.max_ms, use.max_ms)
            account.waited_ms += use.waited_ms

    def _notable(self, record: MatchRecord, accounts: Sequence[_Account]) -> None:
        everybody, others = sum(record.totals), len(record.totals) - 1
        for seat, account in enumerate(accounts):
            own = record.totals[seat]
            lead = (everybody - own) / others - own
            best, worst = account.best, account.worst
            if best is None or lead > best.lead or worst is None or lead < worst.lead:
                found = Notable(match=self._clearing.match(record.id), strokes=own, lead=lead)
                if best is None or lead > best.lead:
                    account.best = found
                if worst is None or lead < worst.lead:
                    account.worst = found

    def bots(self, history: Mapping[str, Sequence[Point]]) -> tuple[tuple[str, BotView], ...]:
        """Everything, by published id."""
        return tuple(
            (shown, _view(account, history.get(shown, ())))
            for shown, account in sorted(self._accounts.items())
        )


def _view(account: _Account, history: Sequence[Point]) -> BotView:
    return BotView(
        history=tuple(history),
        strokes=tuple(sorted(account.strokes.items())),
        seats=_spreads(account.seats),
        holes=_spreads(account.holes),
        decisions=account.decisions,
        think_ms=account.think_ms,
        max_ms=account.max_ms,
        waited_ms=account.waited_ms,
        faults=tuple(account.faults),
        failed=account.failed,
        annulled=account.annulled,
        best=account.best,
        worst=account.worst,
    )


def _spreads(sums: Sequence[Sequence[int]]) -> tuple[Spread, ...]:
    return tuple(Spread(count=count, strokes=strokes) for count, strokes in sums)
