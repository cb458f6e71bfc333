"""Statistics of each bot, gathered from an event's records one by one.

Pure. Keeps sums, a histogram of strokes and the first faults of each bot, the same amount for ten
matches as for a million. Invariant: the order of the records decides only which of several equal
matches is called the best or the worst: the first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from arena.model import MatchRecord
from arena.site.clearance import Clearance
from arena.site.view import BotView, Notable, Spread

HOLES = 9
MOST_FAULTS = 50
"""Of a bot's faults on its page; the log has all of them."""


class Statistics:
    def __init__(self, ids: Mapping[str, str], seats: int, clearing: Clearance) -> None:
        """`ids`: entrants' own ids -> published ids."""
        self._ids = ids
        self._clearing = clearing
        self.bots = {
            shown: BotView(
                seats=[Spread() for _ in range(seats)], holes=[Spread() for _ in range(HOLES)]
            )
            for shown in sorted(set(ids.values()))
        }
        """By published id."""
        self.ended = 0.0
        """When the last match ended."""

    def add(self, record: MatchRecord, *, over: bool, annulled: Collection[str] = ()) -> bool:
        """Add a match, and say whether it counts; `over`: its event is. Of `annulled` bots only
        faults count; a match that leaves one bot or none does not count.
        """
        self.ended = max(self.ended, record.ended)
        bots = [self.bots[self._ids[seat]] for seat in record.seats]
        gone = [entrant in annulled for entrant in record.seats]
        counts = gone.count(False) > 1
        # From the hole on which it failed, the game's fallback plays for it.
        fallen = {fault.seat: fault.hole for fault in record.faults}
        for seat, bot in enumerate(bots):
            if gone[seat]:
                bot.annulled += 1
            elif counts:
                _play(bot, record, seat, fallen.get(seat, HOLES + 1))
        for fault in record.faults:
            bot = bots[fault.seat]
            bot.failed += 1
            if len(bot.faults) < MOST_FAULTS:
                bot.faults.append(self._clearing.failing(record.id, fault, over=over))
        if not record.faults and not any(gone):
            for seat, bot in enumerate(bots):
                self._compare(bot, record, record.totals[seat])
        return counts

    def _compare(self, bot: BotView, record: MatchRecord, own: int) -> None:
        """Keep the match if it is the bot's best or worst."""
        lead = (sum(record.totals) - own) / (len(record.totals) - 1) - own
        if bot.best and bot.worst and bot.worst.lead <= lead <= bot.best.lead:
            return
        found = Notable(match=self._clearing.match(record.id), strokes=own, lead=lead)
        if bot.best is None or lead > bot.best.lead:
            bot.best = found
        if bot.worst is None or lead < bot.worst.lead:
            bot.worst = found


def _play(bot: BotView, record: MatchRecord, seat: int, until: int) -> None:
    """Add the strokes before a hole, and the time of all of them."""
    for number, hole in enumerate(record.holes[: max(0, until - 1)][:HOLES]):
        if hole.scores:
            score = hole.scores[seat]
            bot.strokes[score] += 1
            for spread in (bot.seats[seat], bot.holes[number]):
                spread.count += 1
                spread.strokes += score
    for use in record.use[seat : seat + 1]:  # an older record may have none
        bot.decisions += use.decisions
        bot.think_ms += use.think_ms
        bot.max_ms = max(bot.max_ms, use.max_ms)
        bot.waited_ms += use.waited_ms
