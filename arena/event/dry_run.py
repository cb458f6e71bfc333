"""Forecast of an event (`--dry-run`): what would be played, and how long, from a few matches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import trio

from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.event.results import first_wave, schedule_of
from arena.model import Event, Frozen, Series
from arena.system import clock


class Forecast(Frozen, frozen=True, kw_only=True):
    """The number of matches that would be played, and how long they take."""

    event: Event
    tables: int
    deals: int
    """A table."""
    matches: int
    adaptive: bool
    """Whether results decide what follows these matches."""
    workers: int
    """Matches at a time."""
    samples: int
    """Matches that were played to find out the seconds."""
    series_seconds: float
    """To start and end the bots of a series."""
    match_seconds: float
    seconds: float
    """For all matches."""


def forecast(event: Event, context: MatchContext, secret: bytes, workers: int) -> Forecast:
    """Play one match for each bot to see how long all of them take."""
    schedule = schedule_of(event, secret)
    wave = first_wave(schedule)
    settings = event.settings
    unseen = {entrant.id for entrant in event.entrants}
    samples: list[Series] = []
    for block in wave.blocks():
        series = block.series[0]
        if not unseen.isdisjoint(series.entrants):
            unseen.difference_update(series.entrants)
            samples.append(Series(id=series.id, matches=series.matches[:1]))
        if not unseen:
            break
    starting, playing = trio.run(_sample, context, samples)
    started = math.ceil(wave.matches / min(settings.series, settings.deals))
    tables = len(wave.deals)
    return Forecast(
        event=event,
        tables=tables,
        deals=wave.matches // (tables * settings.seats),
        matches=wave.matches,
        adaptive=schedule.adaptive,
        workers=workers,
        samples=len(samples),
        series_seconds=starting,
        match_seconds=playing,
        seconds=(started * starting + wave.matches * playing) / workers,
    )


async def _sample(context: MatchContext, samples: Sequence[Series]) -> tuple[float, float]:
    """Mean seconds to start a series' bots, and to play a match."""
    starting = playing = 0.0
    async with open_pipes() as table:
        for series in samples:
            begun = clock.monotonic()
            records = [played async for played in play_series(table, context, series)]
            took = clock.monotonic() - begun
            thought = sum(use.think_ms for played in records for use in played.record.use) / 1000
            starting += took - thought
            playing += thought
    return starting / len(samples), playing / len(samples)
