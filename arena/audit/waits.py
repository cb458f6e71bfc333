"""Find bots that the machine kept waiting longer than the others at their tables.

A wait is charged to no bot, but a machine that starves one bot of its cores has not treated all
alike. What is compared is the wait a decision, less the mean of the others at the table. Up to
TOLERATED more is not asked about, nor is as much as the bot has thought itself: on a busy core one
that computes longer waits longer.

By chance alone a cell's sum could as well have had the other sign.
"""

from array import array
from collections import Counter, defaultdict

from arena.audit.chance import cell_of, permutation_test, sign_flips
from arena.audit.rated_deals import RatedDeal
from arena.audit.report import Waits

TOLERATED = 1.0  # ms a decision


class WaitsByBot:
    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._longer: dict[str, array[float]] = defaultdict(lambda: array("d", [0.0]) * cells)
        self._excess: dict[str, array[float]] = defaultdict(lambda: array("d", [0.0]) * cells)
        self._matches: Counter[str] = Counter()

    def add(self, rated: RatedDeal) -> None:
        cell = cell_of(rated.pairing, rated.deal, self._cells)
        for record in rated.records:
            if len(record.use) < len(record.seats):
                continue
            waits = [use.waited_ms / max(1, use.decisions) for use in record.use]
            for bot, use, wait in zip(record.seats, record.use, waits, strict=True):
                longer = wait - (sum(waits) - wait) / (len(waits) - 1)
                self._matches[bot] += 1
                self._longer[bot][cell] += longer
                self._excess[bot][cell] += longer - TOLERATED - use.think_ms / max(1, use.decisions)

    def rows(self, seed: bytes) -> list[Waits]:
        bots = {bot: sum(self._longer[bot]) for bot in sorted(self._longer)}
        if not any(bots.values()):
            return []  # nobody was kept waiting
        answers = permutation_test([sign_flips(self._excess[bot]) for bot in bots], seed, ways=2)
        return [
            Waits(bot=bot, longer_ms=round(longer / self._matches[bot], 6) + 0.0, **answer)
            for (bot, longer), answer in zip(bots.items(), answers, strict=True)
        ]
