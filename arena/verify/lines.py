"""Check a part of the log: every line's checksum, and every match by replaying it.

This runs in each of the processes. Invariant: the result depends on nothing but the part.
"""

from __future__ import annotations

import msgspec

from arena.model import MatchRecord
from arena.ratings.archive import pack_summary
from arena.store import LogLine, read_lines
from arena.store.files import UNDECODABLE
from arena.store.lines import decode, encode
from arena.validate import record_fault
from arena.verify.event import VerifiedEvent
from arena.verify.findings import Difference, differs, unlike_bytes
from arena.verify.records import RecordCheck


class VerifiedRecord(msgspec.Struct, frozen=True, array_like=True):
    """Summary of a true record, for counting the log."""

    line: int
    """From the part's first, which is 1."""
    byte: int
    id: str
    place: int
    """How many matches come before it in the schedule."""
    attempt: int
    series: str
    played: bytes
    faulted: bool


class LogPart(msgspec.Struct, frozen=True, array_like=True):
    lines: int
    torn: int | None
    """Where a last line begins that has no newline."""
    moves: int
    kept: list[VerifiedRecord]
    differing: int
    """Lines that aren't what they should be."""
    first: Difference | None
    """The first of these; its line is counted from the part's first."""


class PartReader:
    def __init__(self, case: VerifiedEvent) -> None:
        self._case = case
        self._entrants = frozenset(entrant.id for entrant in case.event.entrants)
        self._spelled = case.event.settings.rule > 1
        self._check: RecordCheck | None = None
        if case.secret is not None:
            deals = case.deals
            self._check = RecordCheck(
                game=case.game,
                deals=deals,
                schedule=case.schedule(deals),
                settings=case.event.settings,
            )

    def read(self, start: int, stop: int) -> LogPart:
        kept: list[VerifiedRecord] = []
        lines = moves = differing = 0
        first, torn = None, None
        for line in read_lines(self._case.folder, start, stop):
            if line.torn:
                torn = line.start
                break
            lines += 1
            record = self._record(line)
            found = record if isinstance(record, Difference) else self._kept(lines, line, record)
            if isinstance(found, VerifiedRecord):
                kept.append(found)
            elif found is not None:
                differing += 1
                first = first or msgspec.structs.replace(found, line=lines, byte=line.start)
            if isinstance(record, MatchRecord):
                moves += sum(hole.moves.count(",") + 1 for hole in record.holes if hole.moves)
        return LogPart(lines, torn, moves, kept, differing, first)

    def _record(self, line: LogLine) -> MatchRecord | Difference:
        """The record of a line; from rule 2 on a line is what encoding its record gives."""
        if line.body is None:
            return differs("checksum", "one that fits the line", "another: the line is damaged")
        try:
            record = decode(line.body)
        except UNDECODABLE as error:
            return _no_record(str(error))
        if self._spelled and (right := encode(record)) != line.body:
            expected, found = unlike_bytes(right, line.body)
            return differs("spelling", expected, found, match=record.id)
        return record

    def _kept(
        self, number: int, line: LogLine, record: MatchRecord
    ) -> VerifiedRecord | Difference | None:
        """The true record, its difference, or None while the secret is unknown."""
        check = self._check
        if wrong := record_fault(record, self._entrants):
            return _no_record(wrong, match=record.id)
        if check is None:
            if record.digest == record.computed_digest():
                return None
            return differs("digest", record.computed_digest(), record.digest, match=record.id)
        place = check.place(record)
        if isinstance(place, Difference):
            return place
        if found := check.difference(record):
            return found
        return VerifiedRecord(
            number,
            line.start,
            record.id,
            place,
            record.attempt,
            record.series,
            pack_summary(record),
            bool(record.faults),
        )


def _no_record(found: str, match: str = "") -> Difference:
    return differs("line", "a record of this event", found, match=match)


# ---------------------------------------------------------------------- in another process

_encode = msgspec.msgpack.Encoder().encode
decode_part = msgspec.msgpack.Decoder(LogPart).decode

_readers: list[PartReader] = []
"""The one of this process, if it reads parts."""


def begin(case: VerifiedEvent) -> None:
    """Prepare a process of the pool for `read_part`."""
    _readers.append(PartReader(case))


def read_part(start: int, stop: int) -> bytes:
    return _encode(_readers[0].read(start, stop))
