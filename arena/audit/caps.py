"""Count holes that only the turn cap ended, and find pairs that have more of them than others.

A pair is compared with the field: so many of all rated events have a capped hole, and the pair's
events are a draw from them. That is exact whatever the holes of a rated event have in common.
"""

from __future__ import annotations

from itertools import combinations

import msgspec

from arena.audit.chance import holm, hypergeometric_tail
from arena.audit.rated_events import RatedEvent, full_holes
from arena.audit.report import Capped, Proportion
from arena.audit.seats import proportion
from arena.audit.turns import at_cap
from arena.games.descriptor import Descriptor
from arena.ratings.intervals import Moments


class _Pair(msgspec.Struct):
    events: int = 0
    marked: int = 0
    """With a capped hole."""
    holes: int = 0
    capped: int = 0


class Caps:
    def __init__(self, about: Descriptor, cap: int) -> None:
        self._about = about
        self._cap = cap
        self._moments = Moments()
        self._marked = 0
        self._pairs: dict[tuple[str, str], _Pair] = {}

    def add(self, event: RatedEvent) -> None:
        holes = capped = 0
        for record in event.records:
            for hole in full_holes(record):
                holes += 1
                capped += at_cap(self._about, hole, self._cap)
        if not holes:
            return
        self._moments.add(capped, holes)
        self._marked += capped > 0
        for pair in combinations(sorted(event.circle), 2):
            found = self._pairs.setdefault(pair, _Pair())
            found.events += 1
            found.marked += capped > 0
            found.holes += holes
            found.capped += capped

    def proportion(self) -> Proportion:
        return proportion(self._moments)

    def pairs(self) -> list[Capped]:
        """All pairs; none where there is nothing to compare; `p` is corrected for all of them."""
        if not self._marked or len(self._pairs) < 2:
            return []
        alone = [
            hypergeometric_tail(
                pair.marked, drawn=pair.events, marked=self._marked, all_=self._moments.events
            )
            for pair in self._pairs.values()
        ]
        return [
            Capped(bots=bots, holes=pair.holes, capped=pair.capped, p_alone=own, p=p)
            for (bots, pair), own, p in zip(self._pairs.items(), alone, holm(alone), strict=True)
        ]
