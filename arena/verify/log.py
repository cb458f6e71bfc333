"""Check the log in parts, by several processes: each line's checksum, each match by replaying it.

Invariant: what is found in a part depends on nothing else, and results are yielded in the order of
the file, so the first difference doesn't depend on the number of processes.
"""

from collections.abc import Iterator
from itertools import tee
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.executors.ordered_pool import map_ordered
from arena.model import MatchRecord
from arena.ratings.archive import pack_summary
from arena.store.files import UNDECODABLE, open_regular
from arena.store.lines import LOG, LogLine, decode, encode, read_lines
from arena.validate import record_fault
from arena.verify.event import VerifiedEvent
from arena.verify.findings import Difference, DiffersError, refused, unlike_bytes
from arena.verify.records import RecordCheck

# Some hundred matches a part: half a second's work, and little to keep of each.
PART_BYTES = 1 << 20
# Starting a process takes as long as some hundred matches.
ALONE_BYTES = 1 << 20
_LOOK_BYTES = 1 << 16
_OURS = "a record of this event"


class VerifiedRecord(msgspec.Struct, frozen=True, array_like=True):
    line: int  # from the part's first, which is 1
    byte: int
    id: str
    place: int  # how many matches come before it in the schedule
    attempt: int
    series: str
    played: bytes
    faulted: bool


class LogPart(msgspec.Struct, frozen=True, array_like=True):
    lines: int
    torn: int | None  # where a last line begins that has no newline
    moves: int
    kept: list[VerifiedRecord]
    differing: int  # lines that aren't what they should be
    first: Difference | None  # the first of these; its line is counted from the part's first


class PartReader:
    def __init__(self, case: VerifiedEvent) -> None:
        self._case = case
        self._entrants = frozenset(entrant.id for entrant in case.event.entrants)
        self._spelled = case.event.settings.rule > 1
        self._check = None if case.secret is None else RecordCheck(case)

    def read(self, start: int, stop: int) -> LogPart:
        kept: list[VerifiedRecord] = []
        lines = moves = differing = 0
        first, torn = None, None
        for line in read_lines(self._case.folder, start, stop):
            if line.torn:
                torn = line.start
                break
            lines += 1
            try:
                record = self._record(line)
                moves += sum(hole.moves.count(",") + 1 for hole in record.holes if hole.moves)
                place = self._place(record)
            except DiffersError as error:
                differing += 1
                found = replace(error.difference, line=lines, byte=line.start)
                first = first or found
                continue
            if place is not None:
                name, attempt, series = record.id, record.attempt, record.series
                played = pack_summary(record), bool(record.faults)
                at = lines, line.start, name, place
                kept.append(VerifiedRecord(*at, attempt, series, *played))
        return LogPart(lines, torn, moves, kept, differing, first)

    def _record(self, line: LogLine) -> MatchRecord:
        """The record of a line; from rule 2 on a line is what encoding its record gives."""
        if line.body is None:
            raise refused("checksum", "one that fits the line", "another: the line is damaged")
        try:
            record = decode(line.body)
        except UNDECODABLE as error:
            raise refused("line", _OURS, str(error)) from None
        if self._spelled and (right := encode(record)) != line.body:
            raise refused("spelling", *unlike_bytes(right, line.body), match=record.id)
        return record

    def _place(self, record: MatchRecord) -> int | None:
        """The place of a true record in the schedule; None while the secret is unknown."""
        if wrong := record_fault(record, self._entrants):
            raise refused("line", _OURS, wrong, match=record.id)
        if self._check is not None:
            return self._check.place(record)
        if (right := record.computed_digest()) != record.digest:
            raise refused("digest", right, record.digest, match=record.id)
        return None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LogPart).decode

_readers: list[PartReader] = []  # the one of this process, if it reads parts for another


def _begin(case: VerifiedEvent) -> None:
    _readers.append(PartReader(case))


def _read_part(start: int, stop: int) -> bytes:
    return _encode(_readers[0].read(start, stop))


def processes(case: VerifiedEvent, jobs: int) -> int:
    log = case.folder / LOG
    size = log.stat().st_size if log.is_file() else 0
    return max(1, min(jobs, size // ALONE_BYTES))


def read_log(case: VerifiedEvent, jobs: int) -> Iterator[tuple[int, LogPart]]:
    """Every part in the order of the file, each with the byte at which the next one begins."""
    ranges = parts(case.folder / LOG)
    if jobs == 1:
        reader = PartReader(case)
        for start, stop in ranges:
            yield stop, reader.read(start, stop)
        return
    starts, calls = tee(ranges)
    found = map_ordered(_read_part, calls, jobs=jobs, begin=_begin, about=case)
    yield from ((stop, _decode(part)) for (_, stop), part in zip(starts, found, strict=True))


def parts(log: Path) -> Iterator[tuple[int, int]]:
    """Ranges of bytes that begin where lines begin, and cover the file."""
    try:
        file = open_regular(log)
    except FileNotFoundError:
        return
    with file:
        size = file.seek(0, 2)
        start = 0
        while start < size:
            file.seek(min(start + PART_BYTES, size))
            while (piece := file.readline(_LOOK_BYTES)) and not piece.endswith(b"\n"):
                pass
            stop = file.tell()
            yield start, stop
            start = stop
