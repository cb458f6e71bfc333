"""Count holes that only the turn cap ended, and find pairs that have more of them than others.

A pair is compared with the field: so many of all rated deals have a capped hole, and the pair's are
a draw from them. That is exact whatever the holes of a rated deal have in common.
"""

from collections import Counter, defaultdict
from itertools import combinations

from arena.audit.chance import holm, hypergeometric_tail
from arena.audit.rated_deals import RatedDeal, full_holes
from arena.audit.report import Capped
from arena.games.descriptor import Descriptor
from arena.model import HoleRecord
from arena.ratings.intervals import Moments


class Caps:
    def __init__(self, about: Descriptor, cap: int) -> None:
        self._about = about
        self._cap = cap
        self.moments = Moments()
        self._marked = 0
        self._pairs: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def add(self, rated: RatedDeal) -> None:
        holes = [hole for record in rated.records for hole in full_holes(record)]
        if not holes:
            return
        capped = sum(at_cap(self._about, hole, self._cap) for hole in holes)
        self.moments.add(capped, len(holes))
        self._marked += capped > 0
        for pair in combinations(sorted(rated.circle), 2):
            more = {"deals": 1, "marked": capped > 0, "holes": len(holes), "capped": capped}
            self._pairs[pair].update(more)

    def rows(self, _: bytes) -> list[Capped]:
        if not self._marked or len(self._pairs) < 2:
            return []
        marked, all_ = self._marked, self.moments.events
        alone = [
            hypergeometric_tail(pair["marked"], drawn=pair["deals"], marked=marked, all_=all_)
            for pair in self._pairs.values()
        ]
        return [
            Capped(bots=bots, holes=pair["holes"], capped=pair["capped"], **answer)
            for (bots, pair), answer in zip(self._pairs.items(), holm(alone), strict=True)
        ]


def at_cap(about: Descriptor, hole: HoleRecord, cap: int) -> bool:
    """Whether the turn cap ended a hole that was played to its end, of any moves."""
    # As many turns as the cap allows are at least as many moves, so nearly all holes stop here.
    return hole.moves.count(",") + 1 >= cap * len(hole.order) and not about.was_ended(hole)
