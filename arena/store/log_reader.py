"""Read records from a log: all of them, those of a match, those of a series.

What the index says is checked against the lines; where the two disagree, or the index is missing,
the log is read from its beginning. Each function takes the folder's `Event` if the caller has read
it, so that a command reads event.json once.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from arena.model import Event, MatchRecord, UserError
from arena.store.files import UNDECODABLE, open_regular, reason
from arena.store.folder import read_event
from arena.store.index import MATCH, SERIES, Index, build_index
from arena.store.lines import LOG, Head, LogLine, decode, head_of, line_at, lines_of, read_lines
from arena.validate import record_fault

# A smaller log is read as fast as its index is built.
_WORTH_AN_INDEX = 1 << 20
_NUL = b"\0"  # sorts before everything that can follow in a longer id

Wanted = Callable[[Head], bool]
Damaged = Callable[[int], None]


class DamagedError(UserError):
    """A log has a damaged line."""


def read_records(
    folder: Path, event: Event | None = None, *, start: int = 0, damaged: Damaged | None = None
) -> Iterator[MatchRecord]:
    """Every record of a log, counted or not, in the order of the file. Streams. A last line without
    its newline is skipped. `damaged` is called with the byte of a damaged line; without it, that
    raises DamagedError. UserError if a line is no record of this event.
    """
    return (record for _, record in read_placed(folder, event, start=start, damaged=damaged))


def read_placed(
    folder: Path, event: Event | None = None, *, start: int = 0, damaged: Damaged | None = None
) -> Iterator[tuple[int, MatchRecord]]:
    """The same, each record with the byte at which its line begins."""
    entrants = _entrants(folder, event)
    for place, body in _bodies(folder, read_lines(folder, start), damaged):
        yield place, _record(folder, entrants, place, body)


def read_some(folder: Path, wanted: Wanted, event: Event | None = None) -> Iterator[MatchRecord]:
    """The wanted records of a log, in the order of the file. Streams."""
    entrants = _entrants(folder, event)
    for start, body in _bodies(folder, read_lines(folder)):
        if wanted(head_of(body)):
            yield _record(folder, entrants, start, body)


def read_by_id(folder: Path, wanted: Wanted, event: Event | None = None) -> Iterator[MatchRecord]:
    """The wanted records of a log, sorted by their ids. Keeps some 80 bytes of each."""
    return read_counted(folder, lambda _: wanted, event)


def read_counted(
    folder: Path, count: Callable[[Iterator[MatchRecord]], Wanted], event: Event | None = None
) -> Iterator[MatchRecord]:
    """The same of a log that is opened once; `count` sees all records, to tell which are wanted."""
    try:
        log = open_regular(folder / LOG)
    except FileNotFoundError:
        count(iter(()))
        return
    with log:
        entrants, bodies = _entrants(folder, event), _bodies(folder, lines_of(log))
        wanted = count(_record(folder, entrants, *placed) for placed in bodies)
        bodies = _bodies(folder, lines_of(log))
        places = ((head.id, start) for start, body in bodies if wanted(head := head_of(body)))
        yield from _at(folder, log, entrants, _packed(places))


def read_at(
    folder: Path, places: Iterable[tuple[str, int]], event: Event | None = None
) -> Iterator[MatchRecord]:
    """The records whose lines begin at these bytes, sorted by the name beside each."""
    if found := _packed(places):
        with open_regular(folder / LOG) as log:
            yield from _at(folder, log, _entrants(folder, event), found)


def _packed(places: Iterable[tuple[str, int]]) -> list[bytes]:
    return sorted(name.encode() + _NUL + start.to_bytes(8) for name, start in places)


def _at(
    folder: Path, log: BinaryIO, entrants: frozenset[str], places: Iterable[bytes]
) -> Iterator[MatchRecord]:
    for place in places:
        start = int.from_bytes(place[-8:])
        body = line_at(log, start)
        if body is None:
            raise UserError(f"{folder / LOG}: it was changed while it was read")
        yield _record(folder, entrants, start, body)


def log_size(folder: Path) -> int:
    """Bytes of a log; 0 if it is missing or can't be read."""
    try:
        return (folder / LOG).stat().st_size
    except OSError:
        return 0


def _bodies(
    folder: Path, lines: Iterable[LogLine], damaged: Damaged | None = None
) -> Iterator[tuple[int, bytes]]:
    """The whole lines of a log, each with where it begins."""
    for line in lines:
        if line.torn:
            return
        if line.body is not None:
            yield line.start, line.body
        elif damaged is None:
            raise damage(folder, line.start)
        else:
            damaged(line.start)


def _record(folder: Path, entrants: frozenset[str], start: int, body: bytes) -> MatchRecord:
    try:
        record = decode(body)
    except UNDECODABLE as error:
        raise _no_record(folder, start, reason(error)) from None
    if wrong := record_fault(record, entrants):
        raise _no_record(folder, start, wrong)
    return record


def _entrants(folder: Path, event: Event | None) -> frozenset[str]:
    return frozenset(entrant.id for entrant in (event or read_event(folder)).entrants)


def _no_record(folder: Path, start: int, wrong: str) -> UserError:
    line = f"line {1 + sum(1 for _ in read_lines(folder, 0, start))} (byte {start})"
    return UserError(f"{folder / LOG}: {line} is no record of this event: {wrong}")


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
    """All attempts at a match, in the order of the file."""
    return _find(folder, event, MATCH, lambda record: record.id == match, match)


def records_of_series(folder: Path, series: str, event: Event | None = None) -> list[MatchRecord]:
    """All attempts at the matches of a series, in the order of the file."""
    return _find(folder, event, SERIES, lambda record: record.series == series, series)


def is_indexed(folder: Path) -> bool:
    return Index.load(folder).count > 0


def _find(
    folder: Path, event: Event | None, kind: int, wanted: Callable[[MatchRecord], bool], name: str
) -> list[MatchRecord]:
    index = Index.load(folder)
    if not index.count and log_size(folder) >= _WORTH_AN_INDEX:
        index = build_index(folder)
    found = _by_index(folder, event, index, list(index.find(name, kind)))
    return list(filter(wanted, found)) or list(filter(wanted, read_records(folder, event)))


def _by_index(
    folder: Path, event: Event | None, index: Index, numbers: list[int]
) -> Iterator[MatchRecord]:
    """By the index, and from its last line on by the log; none if the two disagree."""
    if not index.count:
        return
    last = index.count - 1
    found = []
    try:
        with open_regular(folder / LOG) as log:
            for number in numbers:
                body = line_at(log, index.start(number))
                if body is None or not index.names(number, body):
                    return
                if number != last:
                    found.append(decode(body))
    except (OSError, *UNDECODABLE):
        return
    entrants = _entrants(folder, event)
    if not any(record_fault(record, entrants) for record in found):
        yield from found
        yield from read_records(folder, event, start=index.start(last))
