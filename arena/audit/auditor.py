"""Run all parts of the audit over the counted records.

Each part corrects its p-values for all bots or pairs that it asks about; a report of n parts
multiplies them by n (Bonferroni).
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol

from msgspec.structs import replace

from arena.audit.caps import Caps
from arena.audit.discards import Discards
from arena.audit.hosts import Hosts
from arena.audit.luck import LuckByBot
from arena.audit.rated_deals import RatedDeal, rated_deals
from arena.audit.report import UNUSUAL, Audit, AuditPart, Question
from arena.audit.rotations import Order, Rotations
from arena.audit.seats import Seats, proportion
from arena.audit.series import Blocks, Place, Trends
from arena.audit.table_mates import TableMates
from arena.audit.waits import WaitsByBot
from arena.games.descriptor import Descriptor
from arena.model import Event, MatchRecord

CELLS, FEWER_CELLS = 128, 32
MANY = 40  # from so many bots on there are fewer cells: each of many pairs has its own
SHOWN = 10  # pairs of each kind; unusual ones are shown beyond that


class _Part(Protocol):
    def add(self, rated: RatedDeal) -> None: ...

    def rows(self, seed: bytes) -> Sequence[Any]:
        """What is found of each bot or pair; `p` is corrected for all of them."""


def audit_records(
    event: Event, about: Descriptor, order: Order, place: Place, records: Iterable[MatchRecord]
) -> Audit:
    """The report; `records` are those that count, in the order of their ids."""
    settings = event.settings
    size = settings.seats
    cells = CELLS if len(event.entrants) < MANY else FEWER_CELLS
    seats, hosts = Seats(size), Hosts(settings.limits)
    caps, blocks = Caps(about, settings.turn_cap), Blocks(size)
    pairs: dict[AuditPart, _Part] = {
        AuditPart.LIFT: TableMates(size, cells),
        AuditPart.FEEDING: Discards(about, cells),
    }
    parts: dict[AuditPart, _Part] = {
        AuditPart.CAPS: caps,
        AuditPart.LUCK: LuckByBot(),
        AuditPart.LATER: Rotations(size, order, cells),
        **(pairs if size > 2 else {}),
        AuditPart.SERIES: blocks,
        AuditPart.TREND: Trends(size, cells, place),
        AuditPart.WAITS: WaitsByBot(cells),
    }
    matches = events = left_out = 0
    for rated in rated_deals(records):
        matches += len(rated.records)
        for record in rated.records:
            seats.add_seating(record)
            hosts.add(record)
        events += rated.whole
        left_out += not rated.whole
        if rated.whole:
            seats.add(rated)
            for part in parts.values():
                part.add(rated)
    seed = f"nine-arena/1/audit/{event.commitment}/".encode()
    rows = {kind: part.rows(seed + kind.encode()) for kind, part in parts.items()}
    asked = sum(map(bool, rows.values()))
    found = {kind: _corrected(some, asked) for kind, some in rows.items()}
    return Audit(
        game=settings.game,
        seats=size,
        matches=matches,
        events=events,
        left_out=left_out,
        tested=_tested(found),
        by_place=seats.places(),
        by_seat=seats.effects(),
        rotation=seats.rotation_bias(),
        tied_matches=proportion(seats.tied_matches),
        tied_events=proportion(seats.tied_deals),
        capped=proportion(caps.moments),
        capped_pairs=_first(found[AuditPart.CAPS]),
        luck=_by_bot(found[AuditPart.LUCK]),
        adjusted=bool(found[AuditPart.LUCK]),
        later=_by_bot(found[AuditPart.LATER]),
        lift=_first(found.get(AuditPart.LIFT, ())),
        feeding=_first(found.get(AuditPart.FEEDING, ())),
        blocks=blocks.many,
        single=blocks.alone,
        together=_by_bot(found[AuditPart.SERIES]),
        trends=_by_bot(found[AuditPart.TREND]),
        waits=_by_bot(found[AuditPart.WAITS]),
        time=hosts.time(),
        faults=hosts.faults(),
        load=hosts.load,
    )


def _corrected(rows: Sequence[Any], parts: int) -> list[Any]:
    """The rows of a part, corrected for the number of parts, the most unusual first."""
    scaled = (
        replace(row, p=min(1.0, round(parts * row.p, 9)), p_alone=round(row.p_alone, 9))
        for row in rows
    )
    return sorted(scaled, key=attrgetter("p", "p_alone"))


def _by_bot(rows: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sorted(rows, key=attrgetter("bot")))


def _tested(found: Mapping[AuditPart, Sequence[Any]]) -> tuple[Question, ...]:
    tested = (
        Question(part=part, rows=len(rows), bots=_bots(rows[0]), p=rows[0].p)
        for part, rows in found.items()
        if rows
    )
    return tuple(sorted(tested, key=lambda one: one.p))


def _bots(row: Any) -> tuple[str, ...]:  # noqa: ANN401 - of any part
    if hasattr(row, "bots"):
        return tuple(row.bots)
    return (row.giver, row.taker) if hasattr(row, "giver") else (row.bot,)


def _first(rows: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(row for at, row in enumerate(rows) if at < SHOWN or row.p <= UNUSUAL)
