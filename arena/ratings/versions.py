"""Which of a bot's versions is its latest.

Versions of one bot have its author, name and setting. Of each event a version enters with the event
itself or with an epoch. The latest is the one that entered last: in the event that began last by
its first match, there in the last epoch, then by the version in natural order (1.10 after 1.9).
Versions that entered together and are but digits of their content have no order: all are latest.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.model import VERSION_DIGITS, Entrant


class FieldOfEvent(NamedTuple):
    root: str  # the commitment of the event of which this is an epoch, or its own
    began: float  # when its first match ended
    entrants: frozenset[str]  # by their ids in the table


def former_versions(fields: Iterable[FieldOfEvent], bots: Sequence[Entrant]) -> frozenset[str]:
    """The ids of all versions but the latest. `fields`: an event before its epochs."""
    entered: dict[str, tuple[float, int]] = {}
    moments: dict[str, tuple[float, int]] = {}
    known: dict[str, set[str]] = {}
    for root, began, entrants in fields:
        before, epoch = moments.get(root, (began, -1))
        moment = moments[root] = (max(before, began), epoch + 1)  # a clock may be set back
        for entrant in entrants - known.setdefault(root, set()):
            entered[entrant] = max(moment, entered.get(entrant, moment))
        known[root] |= entrants
    places = {each.id: (*entered[each.id], _natural(each)) for each in bots}
    latest: dict[tuple[str, ...], tuple[float, int, tuple[object, ...]]] = {}
    for each in bots:
        place = places[each.id]
        latest[bot_of(each)] = max(place, latest.get(bot_of(each), place))
    return frozenset(each.id for each in bots if places[each.id] < latest[bot_of(each)])


def bot_of(version: Entrant) -> tuple[str, ...]:
    """What all versions of a bot have in common."""
    return version.author, version.name, *map("=".join, sorted(version.setting.items()))


def _natural(entrant: Entrant) -> tuple[object, ...]:
    if entrant.version.partition("-")[0] == entrant.snapshot[:VERSION_DIGITS]:
        return ()
    parts = re.findall(r"\d+|\D+", entrant.version)
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)
