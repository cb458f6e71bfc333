"""How long a series should be: what share of the time goes into starting bots, by its length.

One worker on one core plays the same matches in series of 1, 10, 25 and 100. Its idle time in
series of one says what could be had by starting bots earlier: no more than that.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from measures import RATE, Measure, Row
from measures.conversation import series_of
from measures.stage import Stage, staying_on

LENGTHS = {1: 20, 10: 6, 25: 4, 100: 1}
"""Matches a series, and how many series of them are played in a round."""


def lengths(stage: Stage, *, bot: str) -> Mapping[str, float]:
    """Matches a second by length; the share of starts; how idle the core was."""
    found = {}
    worker = stage.worker(bot)
    with staying_on(stage.others):
        for length, times in LENGTHS.items():
            whole = series_of(worker.names, length * times).matches
            idle, begun = _idle(stage.core), time.monotonic()
            for first in range(0, length * times, length):
                part = whole[first : first + length]
                for _ in worker.play(
                    msgspec.structs.replace(series_of(worker.names, 1), matches=part)
                ):
                    pass
            seconds = time.monotonic() - begun
            found[f"length.{bot}.{length}"] = length * times / seconds
            if length == 1:
                found[f"length.{bot}.idle"] = 100 * (_idle(stage.core) - idle) / seconds
    # Two lengths tell a match from a start.
    one, many = 1 / found[f"length.{bot}.1"], 1 / found[f"length.{bot}.100"]
    start = (one - many) / (1 - 1 / 100)
    match = one - start
    for length in (10, 25, 100):
        share = start / (start + length * match)
        found[f"length.{bot}.{length}.starts"] = 100 * share
    return found


def _idle(core: int) -> float:
    """Seconds that a core has been idle."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith(f"cpu{core} "):
            return int(line.split()[4]) / os.sysconf("SC_CLK_TCK")
    raise AssertionError(core)


def _rows(bot: str) -> tuple[Row, ...]:
    rows = []
    for length in LENGTHS:
        rows.append(Row(key=f"length.{bot}.{length}", text=f"series of {length}", unit=RATE))
        if length > 1:
            rows.append(
                Row(key=f"length.{bot}.{length}.starts", text="  of it for starts", unit="%")
            )
    rows.append(Row(key=f"length.{bot}.idle", text="the core idle, series of 1", unit="%"))
    return tuple(rows)


MEASURES = tuple(
    Measure(
        name=f"lengths-{bot}",
        about=f"matches of two {text} on one core, by the length of series",
        run=functools.partial(lengths, bot=bot),
        rows=_rows(bot),
        most=3,
        warm=False,
    )
    for bot, text in (("instant", "C bots"), ("lean", "lean Python bots"))
)
