"""Whole events: matches a second, two workers against one, more matches, more bots."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from statistics import median

from measures import RATE, Measure, Row
from measures.event import play_event
from measures.stage import Stage

# ----------------------------------------------------------------------------- whole events

DEALS = {"instant": 50, "quick": 25, "lean": 25}
"""Of each of the six pairs of four bots, and for each worker."""


def whole(stage: Stage, bot: str, *, jobs: int, series: int = 25, deals: int = 0) -> dict:
    """An event of four copies of a bot."""
    deals = deals or DEALS[bot] * jobs
    name = bot if series > 1 else f"{bot}-fresh"
    found = play_event(stage, stage.field(bot, 4), deals=deals, jobs=jobs, series=series)
    return {f"event.{name}.{jobs}.{part}": value for part, value in found.items()}


def one_and_two(stage: Stage) -> Mapping[str, float]:
    """The same event by one worker and, twice as large, by two."""
    found = whole(stage, "instant", jobs=1)
    if len(stage.cores) > 1:
        found |= whole(stage, "instant", jobs=2)
        for part in ("rate", "steady"):
            one, two = (found[f"event.instant.{jobs}.{part}"] for jobs in (1, 2))
            found[f"cores.{part}"] = two / one
    return found


PARTS = ("cpu", "parent", "workers", "spawners", "bots")
PART_TEXTS = ("CPU of all processes", "  parent", "  workers", "  spawners", "  bots")


def _split(prefix: str) -> tuple[Row, ...]:
    return tuple(
        Row(key=f"{prefix}.{part}", text=f"{text}, a match", unit="µs")
        for part, text in zip(PARTS, PART_TEXTS, strict=True)
    )


def _rate(key: str, text: str, goal: float | None = None) -> Row:
    return Row(key=key, text=text, unit=RATE, goal=goal)


# ---------------------------------------------------------------------------------- growth


def growth(stage: Stage) -> Mapping[str, float]:
    """Events of more and more matches, all of four bots; the steady rates are compared."""
    sizes = [100, 1_000, 10_000, *([100_000] if stage.long else [])]
    found: dict[str, float] = {}
    for size in sizes:
        # As long a series in all of them, and small events more than once.
        several = [
            play_event(
                stage,
                stage.field("instant", 4),
                deals=-(-size // 12),
                series=9,
                jobs=len(stage.cores[:2]),
            )
            for _ in range(max(1, 500 // size))
        ]
        for part in ("steady", "memory"):
            found[f"growth.{size}.{part}"] = median(each[part] for each in several)
        found[f"growth.{size}.share"] = found[f"growth.{size}.steady"] / found["growth.100.steady"]
    return found


def field(stage: Stage) -> Mapping[str, float]:
    """Events of as many matches and series, by 4, 50 and 200 bots."""
    found = {}
    for bots, tables in ((4, 6), (50, 100), (200, 100)):
        played = play_event(
            stage,
            stage.field("instant", bots),
            deals=500 // tables,
            tables=tables if bots > 4 else None,
            series=5,
            jobs=len(stage.cores[:2]),
        )
        found[f"field.{bots}.steady"] = played["steady"]
        found[f"field.{bots}.parent"] = played["parent"]
        found[f"field.{bots}.share"] = played["steady"] / found["field.4.steady"]
    return found


def _growth_rows(sizes: tuple[int, ...]) -> tuple[Row, ...]:
    rows = [_rate(f"growth.{size}.steady", f"{size:,} matches, steady") for size in sizes]
    shares = [
        Row(
            key=f"growth.{size}.share",
            text=f"{size:,} matches / 100",
            unit="x",
            goal=0.9,
            more=True,
        )
        for size in sizes[1:]
    ]
    memory = [
        Row(key=f"growth.{size}.memory", text=f"a worker's memory, {size:,}", unit="MB", goal=100)
        for size in sizes
    ]
    return (*rows, *shares, *memory)


MEASURES = (
    Measure(
        name="event",
        about="whole events on two cores, C bots that answer at once",
        run=one_and_two,
        rows=(
            _rate("event.instant.2.rate", "matches, two workers", 450),
            _rate("event.instant.2.steady", "matches, two workers, steady", 450),
            _rate("event.instant.1.rate", "matches, one worker"),
            _rate("event.instant.1.steady", "matches, one worker, steady"),
            Row(key="cores.steady", text="two workers / one", unit="x", goal=1.8, more=True),
            *_split("event.instant.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-lean",
        about="whole events on two cores, lean Python bots",
        run=functools.partial(whole, bot="lean", jobs=2),
        rows=(
            _rate("event.lean.2.rate", "matches", 250),
            _rate("event.lean.2.steady", "matches, steady"),
            *_split("event.lean.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-quick",
        about="whole events on two cores, example_bots/quick",
        run=functools.partial(whole, bot="quick", jobs=2),
        rows=(
            _rate("event.quick.2.rate", "matches"),
            _rate("event.quick.2.steady", "matches, steady"),
        ),
        most=3,
        warm=False,
    ),
    Measure(
        name="event-fresh",
        about="whole events on two cores, fresh C bots for every match",
        run=functools.partial(whole, bot="instant", jobs=2, series=1, deals=8),
        rows=(
            _rate("event.instant-fresh.2.rate", "matches", 25),
            _rate("event.instant-fresh.2.steady", "matches, steady"),
            *_split("event.instant-fresh.2"),
        ),
        most=4,
        warm=False,
    ),
    Measure(
        name="event-fresh-lean",
        about="whole events on two cores, fresh lean Python bots for every match",
        run=functools.partial(whole, bot="lean", jobs=2, series=1, deals=8),
        rows=(
            _rate("event.lean-fresh.2.rate", "matches", 25),
            _rate("event.lean-fresh.2.steady", "matches, steady"),
        ),
        most=3,
        warm=False,
    ),
    Measure(
        name="field",
        about="as many matches by more bots",
        run=field,
        rows=(
            *(_rate(f"field.{bots}.steady", f"{bots} bots, steady") for bots in (4, 50, 200)),
            Row(key="field.50.share", text="50 bots / 4 bots", unit="x", goal=0.9, more=True),
            Row(key="field.200.share", text="200 bots / 4 bots", unit="x", goal=0.9, more=True),
            Row(key="field.200.parent", text="parent's CPU a match, 200 bots", unit="µs"),
        ),
        most=1,
        warm=False,
    ),
    Measure(
        name="growth",
        about="more matches in an event of four bots",
        run=growth,
        rows=_growth_rows((100, 1_000, 10_000, 100_000)),
        most=1,
        warm=False,
    ),
)
