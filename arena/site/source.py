"""Read a results folder for publishing: the table, ratings over time, the places of its records.

Theory of operation. What can't be read is named by a key of `missing`: a folder that is unfinished,
empty, damaged, or without its secret gets a page that says so, and `why` has the reason. A log is
read twice: for the count, the ratings at some moments and the places of its records; then record by
record, sorted by the published ids. Neither pass holds more than some 100 bytes a match.

Invariant: before an event is over, nothing that its deals follow from is read.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from arena.event.epochs import epochs_of
from arena.event.rerate import RateOptions, rate_events, refuse_unknown_bots
from arena.event.results import Counts, counting_of, incomplete, record_key
from arena.model import Event, MatchRecord, Table, UserError, canonical
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.site.clearance import Clearance
from arena.site.view import Point
from arena.store import damage, log_size, read_event, secret_of

MOMENTS = 12  # at how many moments of an event its ratings are taken
_SMALL_FIELD = 100
"""Bots up to which that is done: each fit takes time that grows with the cube of their number."""


class SourceLog(NamedTuple):
    """One log of an event: its own, or an epoch's."""

    folder: Path
    event: Event
    counts: Counts
    ids: list[str]
    starts: array[int]  # where the records with these ids begin that count
    over: bool  # whether its deals may be known


class SiteSource(NamedTuple):
    folder: Path
    event: Event
    table: Table
    history: dict[str, list[Point]]  # by entrant
    parts: tuple[SourceLog, ...]
    missing: tuple[str, ...]
    why: str = ""  # why there is no table; for people


def read_source(folder: Path, wanted: RateOptions) -> SiteSource:
    """Read an event. UserError if the folder holds none, only a shard of one, or not the bots that
    are wanted.
    """
    event = read_event(folder)
    if event.shard:
        raise UserError(
            f"{folder}: shard {event.shard} of an event; put all together first: "
            "arena merge SHARD... --out FOLDER"
        )
    if wanted.selects:
        refuse_unknown_bots(folder, wanted)
    epochs = epochs_of(folder)
    timeless = epochs or wanted.selects or len(event.entrants) > _SMALL_FIELD
    size = 0 if timeless else log_size(folder)
    moments = [size * (at + 1) // MOMENTS for at in range(MOMENTS - 1)] if size else []
    reading = _Reading(event, moments)
    try:
        if len(event.entrants) > 1 or epochs:
            found = rate_events([folder], wanted, reader=reading, events={folder: event})
        else:  # a bot without an opponent
            counting = counting_of(event, secret_of(folder, event))
            reading.event(folder, event, counting, ())
            found = table(event, counting.counted())
        why = reading.damaged or (reading.incomplete if epochs else "")
    except UserError as error:
        found = Table(event=event, rows=(), duels=(), matches=0, planned=0)
        why = str(error)
    if not (epochs or wanted.selects or why):
        _note(reading.history, found)
    missing = _missing(event, found, reading, damaged=bool(why))
    history, parts = ({}, ()) if why else (reading.history, tuple(reading.parts))
    return SiteSource(folder, event, found, history, parts, missing, why)


def _missing(event: Event, found: Table, reading: _Reading, *, damaged: bool) -> tuple[str, ...]:
    incomplete = bool(reading.incomplete) and not damaged
    keys = {
        "missing_damaged": damaged and found.rows,
        "missing_table": damaged and not found.rows,
        "missing_matches": incomplete,
        "missing_unfinished": not event.finished,
        "missing_empty": found.rows and not found.matches and not incomplete,
        "missing_single": len(event.entrants) == 1,
    }
    return tuple(key for key, holds in keys.items() if holds)


class _Reading:
    """A `Reader` of `rated`: notes what publishing needs besides the table."""

    def __init__(self, event: Event, moments: list[int]) -> None:
        self._event = event
        self.history: dict[str, list[Point]] = {}
        """Ratings by entrant, at these bytes of the log."""
        self.parts: list[SourceLog] = []
        self.damaged = ""  # which line is the first damaged one
        self.incomplete = ""  # what a finished event has lost
        self._moments = moments
        self._begin()

    def _begin(self) -> None:
        self._ids: list[str] = []
        self._starts, self._keys = array("Q"), array("Q")

    def record(self, counting: Counting, start: int, record: MatchRecord) -> None:
        if self._moments and start >= self._moments[0]:
            _note(self.history, table(self._event, counting.counted()))
            self._moments = [moment for moment in self._moments if moment > start]
        self._ids.append(record.id)
        self._starts.append(start)
        self._keys.append(record_key(record))

    def event(self, folder: Path, event: Event, counting: Counting, damaged: Sequence[int]) -> None:
        # A bot that was withdrawn counts in no later epoch.
        gone = self.parts[-1].counts.gone if self.parts else frozenset[str]()
        counts = Counts(folder, counting, annulled=True, gone=gone)
        kept = bytes(map(counts.takes, self._keys))
        ids, starts = list(compress(self._ids, kept)), array("Q", compress(self._starts, kept))
        self._begin()
        over = event.finished and bool(event.secret)
        self.parts.append(SourceLog(folder, event, counts, ids, starts, over))
        if damaged and not self.damaged:
            self.damaged = str(damage(folder, damaged[0]))
        if event.finished and counts.missing and not self.incomplete:
            self.incomplete = str(incomplete(folder, counts.missing, counts.planned))


def _note(history: dict[str, list[Point]], now: Table) -> None:
    for row in now.rows:
        if row.mu is not None and row.sigma_field is not None:
            point = Point(matches=now.matches, mu=row.mu, error=row.sigma_field)
            history.setdefault(row.entrant, []).append(point)


def origin_of(source: SiteSource, clearing: Clearance, version: str) -> str:
    """A hash of everything that the files of an event's matches follow from."""
    found = hashlib.sha256(canonical([version, clearing.stderr, clearing.key.hex()]))
    if source.table.selected:  # sites of older versions have no such lines
        found.update(canonical(source.table.selected))
    for part in source.parts:
        found.update(canonical(part.event))
        found.update(part.counts.fingerprint())
    return found.hexdigest()
