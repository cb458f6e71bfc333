"""Find cycles of three bots, each of which beats the next: no ranking can show them.

Each of the three has beaten the next more often than chance lets an equal: by the sign test of the
rated deals that weren't tied. With many bots there are many triples, so each has to be surer; at
most one field of equals in twenty shows a cycle.
"""

import math
from collections.abc import Iterator

from arena.model import Duel, Table

_ERROR_RATE = 0.05
_MOST = 100  # more bots make too many triples to read, and minutes of search
SHOWN = 5


def cycles(table: Table) -> list[tuple[str, str, str]]:
    """Every cycle, from its best ranked on; a large field is not searched."""
    order = [row.entrant for row in table.rows]
    if len(order) > _MOST:
        return []
    beaten = {entrant: set[str]() for entrant in order}
    # Each triple has two ways round, of three duels each.
    level = (_ERROR_RATE / 2 / max(1, math.comb(len(order), 3))) ** (1 / 3)
    level = min(level, _ERROR_RATE / 2)
    for duel in table.duels:
        if duel.row in beaten and duel.column in beaten and _chance(duel) <= level:
            beaten[duel.row].add(duel.column)
    return list(_found(order, beaten))


def _found(order: list[str], beaten: dict[str, set[str]]) -> Iterator[tuple[str, str, str]]:
    place = {entrant: number for number, entrant in enumerate(order)}
    for one in order:
        for two in sorted(beaten[one], key=place.__getitem__):
            for three in sorted(beaten[two], key=place.__getitem__):
                if one in beaten[three] and place[one] < min(place[two], place[three]):
                    yield one, two, three


def _chance(duel: Duel) -> float:
    """The probability that an equal of the column wins as often as the row did."""
    events = duel.wins + duel.losses
    if 2 * duel.wins <= events:
        return 1.0
    # In logarithms and ratios: whole numbers of so many digits take minutes in a large event.
    ways = math.lgamma(events + 1) - math.lgamma(duel.wins + 1) - math.lgamma(duel.losses + 1)
    sum_ = term = 1.0
    for wins in range(duel.wins, events):
        term *= (events - wins) / (wins + 1)
        sum_ += term
    return sum_ * math.exp(ways - events * math.log(2))
