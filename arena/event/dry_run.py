"""`--dry-run`: what would be played, and how long it takes, from a few real matches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import click
import trio

from arena.bots import printable
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.event.results import first_wave, schedule_of
from arena.model import Event, Series, Settings
from arena.system import clock
from arena.terminal.progress import JsonLines, Progress, spoken

# Bots that are named.
_NAMED = 20


def dry_run(
    event: Event, context: MatchContext, secret: bytes, workers: int, watcher: Progress
) -> int:
    """Say what would be played; play one match for each bot to see how long it takes."""
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
    seconds = (started * starting + wave.matches * playing) / workers
    tables = len(wave.deals)
    deals = wave.matches // (tables * settings.seats)
    if isinstance(watcher, JsonLines):
        watcher.say(
            "dry-run",
            bots=[entrant.id for entrant in event.entrants],
            tables=tables,
            planned=wave.matches,
            seconds=round(seconds, 1),
        )
        return 0
    click.echo(
        f"{len(event.entrants)} bots, {settings.game} at {settings.seats} seats: {tables} tables x "
        f"{deals} deals x {settings.seats} rotations = {wave.matches} matches"
        + (_later(settings) if schedule.adaptive else "")
    )
    click.echo(
        f"about {spoken(seconds)} with {workers} at a time "
        f"({playing * 1000:.0f} ms a match, {starting * 1000:.0f} ms to start and end a series; "
        f"from {len(samples)} matches just played)"
    )
    for line in bot_lines(event):
        click.echo(line)
    return 0


def bot_lines(event: Event) -> Iterator[str]:
    """The bots, a line each; of many the first ones."""
    for entrant in event.entrants[:_NAMED]:
        author = f" by {printable(entrant.author)}" if entrant.author else ""
        yield f"{entrant.id}{author}"
    if (more := len(event.entrants) - _NAMED) > 0:
        yield f"and {more} more; all of them: --dry-run --json"


def _later(settings: Settings) -> str:
    """What the first wave is followed by."""
    most = settings.racing.budget if settings.racing else None
    return " to begin with; what follows depends on results" + (
        f", {most} matches at most" if most else ""
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
