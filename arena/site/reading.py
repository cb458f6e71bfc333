"""An event out of a results folder, as it may be published: its table, and what its log shows.

Theory of operation. What can be read is read, and what can't is named by a key of `missing`: a
folder that is unfinished, empty, damaged, or without its secret has a page that says so. The log is
gone through three times: its ids, its count with the ratings at some moments, and its counted
records in the order in which they are published. No pass holds more than some 100 bytes a match.

Invariant: before an event is over nothing is read of it that its deals follow from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.epochs import epochs_of
from arena.model import Event, MatchRecord, Table, UserError, canonical
from arena.ratings.standings import table
from arena.rerating import Wanted, rated
from arena.site.clearing import Clearing
from arena.site.view import Point
from arena.store import Head, read_by_id, read_event, read_records, read_some, secret_of
from arena.tournament import Counts, counting_of

MOMENTS = 12
"""At how many moments of an event its ratings are taken."""
_SMALL_FIELD = 100
"""Bots up to which that is done: each fit takes time that grows with the cube of their number."""


class Part(NamedTuple):
    """A log of an event: its own, or that of an epoch."""

    folder: Path
    event: Event
    counts: Counts
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
    try:
        if epochs:
            found = rated([folder])
        else:
            found, history, lost = _counted(folder, event)
            missing += ["missing_matches"] if lost else []
        parts = tuple(_parts([folder, *epochs]))
    except UserError:
        found, parts = _what_is_whole(folder, event)
        missing.append("missing_damaged" if found.rows else "missing_table")
    if not event.finished:
        missing.append("missing_unfinished")
    if found.rows and not found.matches and "missing_matches" not in missing:
        missing.append("missing_empty")
    if len(event.entrants) == 1:
        missing.append("missing_single")
    return Source(folder, event, found, history, parts, tuple(missing))


def _what_is_whole(folder: Path, event: Event) -> tuple[Table, tuple[Part, ...]]:
    """Of a log that is damaged, or that can't be counted: its table, if that can be told."""
    try:
        return rated([folder], Wanted(skip_damaged=True)), ()
    except UserError:
        return Table(event=event, rows=(), duels=(), matches=0, planned=0), ()


def _counted(folder: Path, event: Event) -> tuple[Table, dict[str, list[Point]], bool]:
    """The table; the ratings at some moments; whether a finished event lacks matches."""
    counting = counting_of(event, secret_of(folder, event))
    many = _number(folder)
    small = len(event.entrants) <= _SMALL_FIELD
    moments = {many * (at + 1) // MOMENTS for at in range(MOMENTS - 1)} if small else set()
    history: dict[str, list[Point]] = {}
    for number, record in enumerate(read_records(folder), 1):
        counting.add(record)
        if number in moments:
            _note(history, table(event, counting.counted()))
    counted = counting.counted()
    found = table(event, counted)
    _note(history, found)
    return found, history, event.finished and bool(counted.missing)


def _note(history: dict[str, list[Point]], now: Table) -> None:
    for row in now.rows:
        if row.deals:
            point = Point(matches=now.matches, mu=row.mu, sigma=row.sigma)
            history.setdefault(row.entrant, []).append(point)


def _number(folder: Path) -> int:
    """Of the lines of a log."""
    many = 0

    def seen(_: Head) -> bool:
        nonlocal many
        many += 1
        return False

    for _ in read_some(folder, seen):
        raise AssertionError("none was wanted")
    return many


def _parts(folders: Sequence[Path]) -> Iterator[Part]:
    for folder in folders:
        event = read_event(folder)
        yield Part(folder, event, Counts(folder), event.finished and bool(event.secret))


def records(part: Part, clearing: Clearing) -> Iterator[MatchRecord]:
    """Its counted records, in the order of the ids that are published."""
    return read_by_id(part.folder, part.counts, named=clearing.match)


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
