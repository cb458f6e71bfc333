"""Records out of a log: all of them, one match's, one series'.

What the index says is checked against the lines; where it says nothing, or something else than
they do, the log is read from its beginning. Each function takes the folder's `Event`, so that
event.json is read once by a command; it is read here if the caller has not done so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from arena.model import Event, MatchRecord, UserError
from arena.store.files import UNDECODABLE, opened, reason
from arena.store.folder import read_event
from arena.store.index import Index, made
from arena.store.lines import LOG, Head, decode, head_of, line_at, read_lines
from arena.validate import record_fault

# A smaller log is read as fast as its index is made.
_WORTH_AN_INDEX = 1 << 20
_NUL = b"\0"  # sorts before everything that can follow in a longer id


class DamagedError(UserError):
    """A log has a damaged line before its end."""


def read_records(
    folder: Path,
    event: Event | None = None,
    *,
    start: int = 0,
    damaged: Callable[[int], None] | None = None,
) -> Iterator[MatchRecord]:
    """Every record of a log, counted or not, in the order of the file. Streams.

    A last line without its newline is skipped. `start` is where a line begins. Without `damaged`
    a damaged line raises DamagedError; with it, it is called with the line's byte, and reading goes
    on. UserError if a line is no record of this event.
    """
    for _, record in read_placed(folder, event, start=start, damaged=damaged):
        yield record


def read_placed(
    folder: Path,
    event: Event | None = None,
    *,
    start: int = 0,
    damaged: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, MatchRecord]]:
    """The same, each record with the byte at which its line begins."""
    entrants = _entrants(folder, event)
    for place, body in _bodies(folder, start, damaged):
        yield place, _sound(folder, entrants, place, body)


def read_some(
    folder: Path, wanted: Callable[[Head], bool], event: Event | None = None
) -> Iterator[MatchRecord]:
    """The wanted records of a log, in the order of the file. Streams."""
    entrants = _entrants(folder, event)
    for start, body in _bodies(folder):
        if wanted(head_of(body)):
            yield _sound(folder, entrants, start, body)


def read_by_id(
    folder: Path, wanted: Callable[[Head], bool], event: Event | None = None
) -> Iterator[MatchRecord]:
    """The wanted records of a log, sorted by their ids.

    Holds of each its id and its place, some 80 bytes, and reads the log twice.
    """
    yield from read_at(
        folder,
        ((head.id, start) for start, body in _bodies(folder) if wanted(head := head_of(body))),
        event,
    )


def read_at(
    folder: Path, places: Iterable[tuple[str, int]], event: Event | None = None
) -> Iterator[MatchRecord]:
    """The records whose lines begin at these bytes, sorted by the names that stand beside them."""
    found = sorted(name.encode() + _NUL + start.to_bytes(8) for name, start in places)
    if not found:
        return
    entrants = _entrants(folder, event)
    with opened(folder / LOG) as log:
        for place in found:
            start = int.from_bytes(place[-8:])
            body_there = line_at(log, start)
            if body_there is None:
                raise UserError(f"{folder / LOG}: it was changed while it was read")
            yield _sound(folder, entrants, start, body_there)


def log_size(folder: Path) -> int:
    """Bytes of a log; 0 where there is none, or none that can be looked at."""
    try:
        return (folder / LOG).stat().st_size
    except OSError:
        return 0


def _bodies(
    folder: Path, start: int = 0, damaged: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """The whole lines of a log, each with where it begins."""
    for line in read_lines(folder, start):
        if line.torn:
            return
        if line.body is not None:
            yield line.start, line.body
        elif damaged is None:
            raise damage(folder, line.start)
        else:
            damaged(line.start)


def _sound(folder: Path, entrants: frozenset[str], start: int, body: bytes) -> MatchRecord:
    """The record of a line; UserError if it is none of this event's."""
    try:
        record = decode(body)
    except UNDECODABLE as error:
        raise _strange(folder, start, reason(error)) from None
    if wrong := record_fault(record, entrants):
        raise _strange(folder, start, wrong)
    return record


def _entrants(folder: Path, event: Event | None) -> frozenset[str]:
    return frozenset(entrant.id for entrant in (event or read_event(folder)).entrants)


def _strange(folder: Path, start: int, wrong: str) -> UserError:
    """What to say about a line that is whole, but was not written by an arena."""
    number = 1 + sum(1 for _ in read_lines(folder, 0, start))
    return UserError(
        f"{folder / LOG}: line {number} (byte {start}) is no record of this event: {wrong}"
    )


def damage(folder: Path, start: int) -> DamagedError:
    """The error for a log whose line at a byte is damaged. Reads the log."""
    number = whole = lines = 0
    for lines, line in enumerate(read_lines(folder), 1):
        whole += line.body is not None
        if line.start == start:
            number = lines
    return DamagedError(
        f"{folder / LOG}: line {number} (byte {start}) is damaged: its checksum does not match; "
        f"{whole} of {lines} lines are whole; to set the others aside and play their matches "
        f"again: arena resume --repair {folder}"
    )


def records_of_match(folder: Path, match: str, event: Event | None = None) -> list[MatchRecord]:
    """Every playing of one match, in the order of the file."""
    return _meant(
        folder, event, lambda index: index.match(match), wanted=lambda record: record.id == match
    )


def records_of_series(folder: Path, series: str, event: Event | None = None) -> list[MatchRecord]:
    """Every playing of the matches of a series, in the order of the file."""
    return _meant(
        folder,
        event,
        lambda index: index.series(series),
        wanted=lambda record: record.series == series,
    )


def is_indexed(folder: Path) -> bool:
    """Whether a match is found without reading the log."""
    return Index.load(folder).count > 0


def _meant(
    folder: Path,
    event: Event | None,
    look: Callable[[Index], Iterator[int]],
    *,
    wanted: Callable[[MatchRecord], bool],
) -> list[MatchRecord]:
    index = Index.load(folder)
    if not index.count and log_size(folder) >= _WORTH_AN_INDEX:
        index = made(folder)
    return (_looked_up(folder, event, index, list(look(index)), wanted) if index.count else []) or [
        record for record in read_records(folder, event) if wanted(record)
    ]


def _looked_up(
    folder: Path,
    event: Event | None,
    index: Index,
    numbers: list[int],
    wanted: Callable[[MatchRecord], bool],
) -> list[MatchRecord]:
    """By the index, and from its last line on by the log; none where the two disagree."""
    last = index.count - 1
    found = []
    try:
        with opened(folder / LOG) as log:
            for number in numbers:
                body = line_at(log, index.start(number))
                if body is None or not index.names(number, body):
                    return []
                if number != last:
                    found.append(decode(body))
    except (OSError, *UNDECODABLE):
        return []
    entrants = _entrants(folder, event)
    if any(record_fault(record, entrants) for record in found):
        return []
    return [
        record
        for records in (found, read_records(folder, event, start=index.start(last)))
        for record in records
        if wanted(record)
    ]
