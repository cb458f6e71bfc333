"""The log and what is derived from it: records appended, records counted, the table of all."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Iterator, Mapping

import msgspec

from arena.deals import commitment
from arena.event.results import counting_of, first_wave, schedule_of
from arena.model import Entrant, Event, MatchRecord
from arena.ratings.standings import table
from arena.registry import render
from arena.store import Private, Store
from measures import RATE, Measure, Row
from measures.conversation import SECRET, Conversation, series_of, settings_of
from measures.stage import Stage

BOTS, DEALS = 10, 111


def _event() -> Event:
    settings = settings_of(deals=DEALS)
    entrants = tuple(
        Entrant(id=f"bot-{number}@1", name=f"bot-{number}", version="1", hash="")
        for number in range(BOTS)
    )
    sealed = commitment(SECRET, settings, entrants)
    return Event(settings=settings, entrants=entrants, commitment=sealed)


@functools.cache
def _records() -> tuple[MatchRecord, ...]:
    """10,000 records of an event: some real matches, over and over, under its ids."""
    conversation = Conversation(settings_of())
    played = [conversation.play(spec) for spec in series_of(("a", "b"), 40).matches]

    def records() -> Iterator[MatchRecord]:
        for block in first_wave(schedule_of(_event(), SECRET)).blocks():
            for series in block.series:
                for spec in series.matches:
                    record = msgspec.structs.replace(
                        played[len(seen) % len(played)],
                        **{name: getattr(spec, name) for name in spec.__struct_fields__},
                    )
                    seen.append(record)
                    digest = record.computed_digest()
                    yield msgspec.structs.replace(record, digest=digest, ended=1e9)

    seen: list[MatchRecord] = []
    return tuple(records())


def log(stage: Stage) -> Mapping[str, float]:
    """Records appended, records counted, the table of all of them."""
    event, records = _event(), _records()
    folder = stage.empty()
    private = Private(secret=SECRET.hex(), sources={}, cache="")
    with Store.create(folder, event, private) as store:
        begun = time.monotonic()
        for record in records:
            store.append(record)
        appended = time.monotonic() - begun
    begun = time.monotonic()
    counting = counting_of(event, SECRET)
    for record in records:
        counting.add(record)
    counted = time.monotonic() - begun
    begun = time.monotonic()
    count = counting.counted()
    assert count.missing == 0, count.missing
    for kind in ("text", "md", "csv", "json"):
        render(table(event, count), kind)
    tabled = time.monotonic() - begun
    shutil.rmtree(folder)
    return {
        "log.append": len(records) / appended,
        "log.count": len(records) / counted,
        "log.table": tabled * 1e3,
    }


MEASURES = (
    Measure(
        name="log",
        about="the log and the table of 10,000 matches of 10 bots",
        run=log,
        rows=(
            Row(key="log.append", text="records appended", unit=RATE),
            Row(key="log.count", text="records counted", unit=RATE),
            Row(key="log.table", text="the table, in all four forms", unit="ms"),
        ),
        most=5,
        warm=False,
    ),
)
