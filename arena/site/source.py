"""An event out of a results folder, as it may be published: its table, and what its log shows.

Theory of operation. What can be read is read, and what can't is named by a key of `missing`: a
folder that is unfinished, empty, damaged, or without its secret has a page that says so, and `why`
has the reason. The log is read twice: for the count, the ratings at some moments and the places of
its records, and then, a record at a time, in the order in which those that count are published. An
event with epochs is read once more, as all its logs are rated together. No pass holds more than
some 100 bytes a match.

Invariant: before an event is over nothing is read of it that its deals follow from.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from arena.event.epochs import epochs_of
from arena.event.rerate import Wanted, rated
from arena.event.results import Counts, counting_of, key_of
from arena.model import Event, MatchRecord, Table, UserError, canonical
from arena.ratings.archive import DIGEST_HEX
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.site.clearance import Clearing
from arena.site.view import Point
from arena.store import log_size, read_at, read_event, read_placed, secret_of

MOMENTS = 12
"""At how many moments of an event its ratings are taken."""
_SMALL_FIELD = 100
"""Bots up to which that is done: each fit takes time that grows with the cube of their number."""


class Part(NamedTuple):
    """A log of an event: its own, or that of an epoch."""

    folder: Path
    event: Event
    counts: Counts
    places: _Places
    over: bool
    """Whether its deals may be known."""


class Source(NamedTuple):
    """An event that can be published, with its own names."""

    folder: Path
    event: Event
    table: Table
    history: dict[str, list[Point]]
    """By entrant."""
    parts: tuple[Part, ...]
    missing: tuple[str, ...]
    why: str = ""
    """What stands in the way of a table; for people."""

    @property
    def seats(self) -> int:
        """At a table."""
        return self.event.settings.seats


def source_of(folder: Path) -> Source:
    """Everything that is there. UserError if it is no event, or only a part of one."""
    event = read_event(folder)
    if event.shard:
        raise UserError(
            f"{folder}: shard {event.shard} of an event; put all together first: "
            "arena merge SHARD... --out FOLDER"
        )
    epochs = epochs_of(folder)
    missing: list[str] = []
    history: dict[str, list[Point]] = {}
    parts: tuple[Part, ...] = ()
    why = ""
    try:
        if epochs:
            found = rated([folder])
            parts = tuple(_parts([folder, *epochs]))
        else:
            counting, part = _part(folder, event, history)
            counted = counting.counted()
            found = table(event, counted)
            _note(history, found)
            missing += ["missing_matches"] if event.finished and counted.missing else []
            parts = (part,)
    except UserError as error:
        why = str(error)
        history.clear()
        found = _what_is_whole(folder, event)
        missing.append("missing_damaged" if found.rows else "missing_table")
    if not event.finished:
        missing.append("missing_unfinished")
    if found.rows and not found.matches and "missing_matches" not in missing:
        missing.append("missing_empty")
    if len(event.entrants) == 1:
        missing.append("missing_single")
    return Source(folder, event, found, history, parts, tuple(missing), why)


def _what_is_whole(folder: Path, event: Event) -> Table:
    """Of a log that is damaged, or that can't be counted: its table, if that can be told."""
    try:
        return rated([folder], Wanted(skip_damaged=True))
    except UserError:
        return Table(event=event, rows=(), duels=(), matches=0, planned=0)


def _parts(folders: Sequence[Path]) -> Iterator[Part]:
    """Of an event and its epochs: who was withdrawn counts in no later one."""
    gone: frozenset[str] = frozenset()
    for folder in folders:
        _, part = _part(folder, read_event(folder), gone=gone)
        gone = part.counts.gone
        yield part


def _part(
    folder: Path,
    event: Event,
    history: dict[str, list[Point]] | None = None,
    *,
    gone: frozenset[str] = frozenset(),
) -> tuple[Counting, Part]:
    """Read a log once: its count, where its records are, and ratings of entrants into `history`.

    `gone`: who was withdrawn before this epoch.
    """
    counting, places = counting_of(event, secret_of(folder, event)), _Places()
    moments = _moments(folder) if len(event.entrants) <= _SMALL_FIELD else []
    for start, record in read_placed(folder, event):
        if history is not None and moments and start >= moments[0]:
            _note(history, table(event, counting.counted()))
            moments = [moment for moment in moments if moment > start]
        counting.add(record)
        places.add(start, record)
    counts = Counts(folder, counting, annulled=True, gone=gone)
    places.keep(counts)
    over = event.finished and bool(event.secret)
    return counting, Part(folder, event, counts, places, over)


def _moments(folder: Path) -> list[int]:
    """Places in a log that part it into as many pieces as there are moments."""
    size = log_size(folder)
    return [size * (at + 1) // MOMENTS for at in range(MOMENTS - 1)]


class _Places:
    """Where the records of a log are; of those that count when `keep` has been told which do."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._starts = array("Q")
        self._keys = array("Q")

    def add(self, start: int, record: MatchRecord) -> None:
        """A record whose line begins at this byte."""
        self._ids.append(record.id)
        self._starts.append(start)
        self._keys.append(key_of(record.id, record.attempt, record.digest[:DIGEST_HEX]))

    def keep(self, counts: Counts) -> None:
        """Forget those that don't count."""
        kept = bytes(map(counts.takes, self._keys))
        self._ids = list(compress(self._ids, kept))
        self._starts = array("Q", compress(self._starts, kept))
        del self._keys

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self._ids, self._starts, strict=True)


def _note(history: dict[str, list[Point]], now: Table) -> None:
    for row in now.rows:
        if row.mu is not None and row.sigma_field is not None:
            point = Point(matches=now.matches, mu=row.mu, error=row.sigma_field)
            history.setdefault(row.entrant, []).append(point)


def records(part: Part, clearing: Clearing) -> Iterator[MatchRecord]:
    """Its records that count, or would if nobody were annulled, in the order of the ids that are
    published.
    """
    places = ((clearing.match(match), start) for match, start in part.places)
    return read_at(part.folder, places, part.event)


def made_from(source: Source, clearing: Clearing, version: str) -> str:
    """Hash of all that the files of an event's matches follow from."""
    found = hashlib.sha256(canonical([version, clearing.stderr, clearing.key.hex()]))
    for part in source.parts:
        found.update(canonical(part.event))
        found.update(part.counts.fingerprint())
    return found.hexdigest()


def replayable(source: Source, clearing: Clearing) -> bool:
    """Whether cards may be shown. Not under aliases where the deals can be guessed: from the
    deals of two names follows who they are.
    """
    return not (clearing.anonymous and any(part.event.predictable for part in source.parts))


def secret_in(part: Part) -> bytes:
    """What the deals of a part follow from; only of one that is over."""
    assert part.over, "the deals of an event are nobody's business before its end"
    return bytes.fromhex(part.event.secret)
