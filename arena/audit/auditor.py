"""Run all parts of the audit over the counted records.

Each part corrects its p-values for all bots or pairs that it asks about. A report of n parts
multiplies them by n (Bonferroni), so that it calls something unusual in no more fair events than
it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from arena.audit.blocks import Blocks
from arena.audit.caps import Caps
from arena.audit.discards import Discards
from arena.audit.hosts import Hosts
from arena.audit.luck import LuckByBot
from arena.audit.rated_events import rated_events
from arena.audit.report import UNUSUAL, Audit, AuditPart, Question
from arena.audit.rotations import Order, Rotations
from arena.audit.seats import Seats
from arena.audit.table_mates import TableMates
from arena.audit.trends import Place, Trends
from arena.games.descriptor import Descriptor
from arena.model import Event, MatchRecord

CELLS, FEWER_CELLS = 128, 32
MANY = 40
"""From so many bots on there are fewer cells: there are many pairs, and each has its cells."""
SHOWN = 10
"""Pairs of each kind; unusual ones are shown beyond that."""


def audit_records(
    event: Event, about: Descriptor, order: Order, place: Place, records: Iterable[MatchRecord]
) -> Audit:
    """The report; `records` are those that count, in the order of their ids."""
    settings = event.settings
    cells = CELLS if len(event.entrants) < MANY else FEWER_CELLS
    seats, caps, fortune = Seats(settings.seats), Caps(about, settings.turn_cap), LuckByBot()
    rotations, hosts = Rotations(settings.seats, order, cells), Hosts(settings.limits)
    blocks, trends = Blocks(settings.seats), Trends(settings.seats, cells, place)
    company, discards = TableMates(settings.seats, cells), Discards(about, cells)
    matches = events = left_out = 0
    for rated in rated_events(records):
        matches += len(rated.records)
        for record in rated.records:
            seats.add_seating(record)
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
    found = {part: _corrected(rows, asked) for part, rows in found.items()}
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
        rotation=seats.rotation_bias(),
        tied_matches=tied_matches,
        tied_events=tied_events,
        capped=caps.proportion(),
        capped_pairs=_first(found[AuditPart.CAPS]),
        luck=_by_bot(found[AuditPart.LUCK]),
        adjusted=bool(found[AuditPart.LUCK]),
        later=_by_bot(found[AuditPart.LATER]),
        lift=_first(found[AuditPart.LIFT]),
        feeding=_first(found[AuditPart.FEEDING]),
        blocks=blocks.many,
        single=blocks.alone,
        together=_by_bot(found[AuditPart.SERIES]),
        trends=_by_bot(found[AuditPart.TREND]),
        time=hosts.time(),
        faults=hosts.faults(),
        load=hosts.load,
    )


def _corrected(rows: Sequence[Any], parts: int) -> list[Any]:
    """The rows of a part, corrected for the number of parts, the most unusual first."""
    scaled = [
        msgspec.structs.replace(
            row, p=min(1.0, round(parts * row.p, 9)), p_alone=round(row.p_alone, 9)
        )
        for row in rows
    ]
    return sorted(scaled, key=lambda row: (row.p, row.p_alone))


def _by_bot(rows: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sorted(rows, key=lambda row: row.bot))


def _tested(found: dict[AuditPart, Sequence[Any]]) -> tuple[Question, ...]:
    tested = [
        Question(part=part, rows=len(rows), bots=_bots(rows[0]), p=rows[0].p)
        for part, rows in found.items()
        if rows
    ]
    return tuple(sorted(tested, key=lambda one: one.p))


def _bots(row: Any) -> tuple[str, ...]:  # noqa: ANN401 - of any part
    if hasattr(row, "bots"):
        return tuple(row.bots)
    return (row.giver, row.taker) if hasattr(row, "giver") else (row.bot,)


def _first(rows: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(row for at, row in enumerate(rows) if at < SHOWN or row.p <= UNUSUAL)
