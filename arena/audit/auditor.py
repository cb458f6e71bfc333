"""All parts of the report, from the counted records in the order of their ids.

Each part that asks something of chance answers for all bots or pairs together; with several parts
each answer counts for as many times as likely (Bonferroni), so that the whole report calls
something unusual in no more fair events than it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from arena.audit.blocks import Blocks
from arena.audit.caps import Caps
from arena.audit.discards import Discards
from arena.audit.groups import rated_events
from arena.audit.hosts import Hosts
from arena.audit.luck import Fortune
from arena.audit.report import UNUSUAL, Audit, AuditPart, Question
from arena.audit.rotations import Order, Rotations
from arena.audit.seats import Seats
from arena.audit.table_mates import Company
from arena.audit.trends import Place, Trends
from arena.games.descriptor import Descriptor
from arena.model import Event, MatchRecord

CELLS, FEWER_CELLS = 128, 32
MANY = 40
"""Bots, from which on there are fewer cells: pairs are many then, and cells of each."""
SHOWN = 10
"""Pairs of each kind, and all that are unusual."""

Row = TypeVar("Row")


def audited(
    event: Event, about: Descriptor, order: Order, place: Place, records: Iterable[MatchRecord]
) -> Audit:
    """The report; `records` are those that count, in the order of their ids."""
    settings = event.settings
    cells = CELLS if len(event.entrants) < MANY else FEWER_CELLS
    seats, caps, fortune = Seats(settings.seats), Caps(about, settings.turn_cap), Fortune()
    rotations, hosts = Rotations(settings.seats, order, cells), Hosts(settings.limits)
    blocks, trends = Blocks(settings.seats), Trends(settings.seats, cells, place)
    company, discards = Company(settings.seats, cells), Discards(about, cells)
    matches = events = left_out = 0
    for rated in rated_events(records):
        matches += len(rated.records)
        for record in rated.records:
            seats.sat(record)
            hosts.add(record)
        if not rated.whole:
            left_out += 1
            continue
        events += 1
        for part in (seats, caps, fortune, rotations, blocks, trends):
            part.add(rated)
        if settings.seats > 2:
            company.add(rated)
            discards.add(rated)
    seed = f"nine-arena/1/audit/{event.commitment}/".encode()
    found: dict[AuditPart, Sequence[Any]] = {
        AuditPart.CAPS: caps.pairs(),
        AuditPart.LUCK: fortune.rows(),
        AuditPart.LATER: rotations.rows(seed + b"later"),
        AuditPart.LIFT: company.rows(seed + b"lift") if settings.seats > 2 and events else (),
        AuditPart.FEEDING: discards.rows(seed + b"feeding"),
        AuditPart.SERIES: blocks.together(seed + b"series"),
        AuditPart.TREND: trends.rows(seed + b"trend"),
    }
    asked = sum(map(bool, found.values()))
    found = {part: _together(rows, asked) for part, rows in found.items()}
    tied_matches, tied_events = seats.ties()
    return Audit(
        game=settings.game,
        seats=settings.seats,
        matches=matches,
        events=events,
        left_out=left_out,
        tested=_tested(found),
        by_place=seats.places(),
        by_seat=seats.effects(),
        rotation=seats.left(),
        tied_matches=tied_matches,
        tied_events=tied_events,
        capped=caps.share(),
        capped_pairs=_first(found[AuditPart.CAPS]),
        luck=tuple(sorted(found[AuditPart.LUCK], key=lambda row: row.bot)),
        adjusted=bool(found[AuditPart.LUCK]),
        later=tuple(sorted(found[AuditPart.LATER], key=lambda row: row.bot)),
        lift=_first(found[AuditPart.LIFT]),
        feeding=_first(found[AuditPart.FEEDING]),
        blocks=blocks.many,
        single=blocks.alone,
        together=tuple(sorted(found[AuditPart.SERIES], key=lambda row: row.bot)),
        trends=tuple(sorted(found[AuditPart.TREND], key=lambda row: row.bot)),
        time=hosts.time(),
        faults=hosts.faults(),
        load=hosts.load,
    )


def _together(rows: Sequence[Any], parts: int) -> list[Any]:
    """The rows of a part with what they mean in a whole report, the most unusual first."""
    scaled = [
        msgspec.structs.replace(
            row, p=min(1.0, round(parts * row.p, 9)), p_alone=round(row.p_alone, 9)
        )
        for row in rows
    ]
    return sorted(scaled, key=lambda row: (row.p, row.p_alone))


def _tested(found: dict[AuditPart, Sequence[Any]]) -> tuple[Question, ...]:
    tested = [
        Question(part=part, rows=len(rows), bots=_bots(rows[0]), p=rows[0].p)
        for part, rows in found.items()
        if rows
    ]
    return tuple(sorted(tested, key=lambda one: one.p))


def _bots(row: Any) -> tuple[str, ...]:  # noqa: ANN401 - of any part
    for names in (("bots",), ("giver", "taker")):
        if hasattr(row, names[0]):
            named = [getattr(row, name) for name in names]
            return tuple(named[0] if names == ("bots",) else named)
    return (row.bot,)


def _first(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The most unusual ones."""
    return tuple(row for at, row in enumerate(rows) if at < SHOWN or row.p <= UNUSUAL)  # type: ignore[attr-defined]
