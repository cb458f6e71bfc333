"""All measures, in the order in which a round takes them: the unit first."""

from __future__ import annotations

from measures import Measure, Row, decisions, events, lengths, logs, loop, neighbours, rings, starts

MEASURES: tuple[Measure, ...] = (
    *decisions.MEASURES,
    *loop.MEASURES,
    *neighbours.MEASURES,
    *events.MEASURES,
    *starts.MEASURES,
    *lengths.MEASURES,
    *logs.MEASURES,
    *rings.MEASURES,
)

ROWS: dict[str, Row] = {row.key: row for measure in MEASURES for row in measure.rows}
