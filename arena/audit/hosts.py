"""Sum up time, faults and load: what the machine and its clock had to do with the result.

Invariant: holds eight bytes of each match, and some of each fault.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict

import msgspec

from arena.audit.report import FaultCounts, TimeUse
from arena.model import Limits, MatchRecord


class _Use(msgspec.Struct):
    matches: int = 0
    decisions: int = 0
    think_ms: float = 0.0
    max_ms: float = 0.0
    most_ms: float = 0.0  # of a match
    waited_ms: float = 0.0
    off_turn_ms: float = 0.0


class Hosts:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._uses: dict[str, _Use] = defaultdict(_Use)
        self._ended = array("d")
        self._faults: dict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
        self.load = 0.0

    def add(self, record: MatchRecord) -> None:
        self._ended.append(record.ended)
        for entrant, used in zip(record.seats, record.use, strict=False):
            use = self._uses[entrant]
            use.matches += 1
            use.decisions += used.decisions
            use.think_ms += used.think_ms
            use.max_ms = max(use.max_ms, used.max_ms)
            use.most_ms = max(use.most_ms, used.think_ms)
            use.waited_ms += used.waited_ms
            use.off_turn_ms += used.off_turn_ms
        for fault in record.faults:
            self._faults[record.seats[fault.seat], fault.kind.value].append(record.ended)
            self.load = max(self.load, fault.host.load)

    def time(self) -> tuple[TimeUse, ...]:
        return tuple(
            TimeUse(
                bot=bot,
                matches=use.matches,
                mean_ms=round(use.think_ms / max(1, use.decisions), 3),
                max_ms=round(use.max_ms, 3),
                share=round(use.max_ms / self._limits.move_ms, 4),
                bank_share=round(use.most_ms / self._limits.match_ms, 4),
                waited_ms=round(use.waited_ms / use.matches, 3),
                off_turn_ms=round(use.off_turn_ms / use.matches, 3),
            )
            for bot, use in sorted(self._uses.items())
        )

    def faults(self) -> tuple[FaultCounts, ...]:
        """By bot and kind, in the half of the matches that ended first and in the other."""
        ended = sorted(self._ended) if self._faults else [0.0]
        middle = ended[(len(ended) - 1) // 2]
        found = []
        for (bot, kind), times in sorted(self._faults.items()):
            early = bisect_right(sorted(times), middle)
            found.append(FaultCounts(bot=bot, kind=kind, early=early, late=len(times) - early))
        return tuple(found)
