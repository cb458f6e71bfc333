"""A part of the log: every line's checksum, and every match played again.

What runs in each of the processes. Invariant: what is found in a part depends on nothing but
that part.
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
from arena.verify.findings import LOG, Difference, shown, unlike_bytes
from arena.verify.records import Judge


class VerifiedRecord(msgspec.Struct, frozen=True, array_like=True):
    """What the count of the log needs of a record that is true."""

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
    """What was found in a part of the log."""

    lines: int
    torn: int | None
    """Where a last line begins that has no newline."""
    moves: int
    kept: list[VerifiedRecord]
    differing: int
    """Lines that aren't what they should be."""
    first: Difference | None
    """The first of these; its line is counted from the part's first."""


class Reader:
    """Reads parts of one log."""

    def __init__(self, case: VerifiedEvent) -> None:
        self._case = case
        self._entrants = frozenset(entrant.id for entrant in case.event.entrants)
        self._spelled = case.event.settings.rule > 1
        self._judge: Judge | None = None
        if case.secret is not None:
            deals = case.deals
            self._judge = Judge(
                game=case.game,
                deals=deals,
                schedule=case.schedule(deals),
                settings=case.event.settings,
            )

    def read(self, start: int, stop: int) -> LogPart:
        """The lines that begin in these bytes."""
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
            return Difference(
                file=LOG,
                what="checksum",
                expected="one that fits the line",
                found="another: the line is damaged",
            )
        try:
            record = decode(line.body)
        except UNDECODABLE as error:
            return _no_record(shown(str(error)))
        if self._spelled and (right := encode(record)) != line.body:
            expected, found = unlike_bytes(right, line.body)
            return Difference(
                file=LOG, match=record.id, what="spelling", expected=expected, found=found
            )
        return record

    def _kept(
        self, number: int, line: LogLine, record: MatchRecord
    ) -> VerifiedRecord | Difference | None:
        """What is needed of a record, how it differs, or nothing if that can't be said yet."""
        judge = self._judge
        if wrong := record_fault(record, self._entrants):
            return _no_record(wrong, match=record.id)
        if judge is None:
            if record.digest == record.computed_digest():
                return None
            return Difference(
                file=LOG,
                match=record.id,
                what="digest",
                expected=record.computed_digest(),
                found=record.digest,
            )
        place = judge.place(record)
        if isinstance(place, Difference):
            return place
        if found := judge.difference(record):
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
    return Difference(
        file=LOG, match=match, what="line", expected="a record of this event", found=found
    )


# ---------------------------------------------------------------------- in another process

_encode = msgspec.msgpack.Encoder().encode
decode_part = msgspec.msgpack.Decoder(LogPart).decode
"""What `read_part` returns."""

_readers: list[Reader] = []
"""This process's own, if it is one of those that read parts."""


def begin(case: VerifiedEvent) -> None:
    """Prepare a process of the pool for `read_part`."""
    _readers.append(Reader(case))


def read_part(start: int, stop: int) -> bytes:
    """What was found in these bytes."""
    return _encode(_readers[0].read(start, stop))
