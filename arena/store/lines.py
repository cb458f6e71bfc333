"""The log's lines: a record as JSON, each line with a checksum of its own.

Invariant: a line is believed only if its checksum fits its bytes.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec.structs import replace

from arena.model import FaultHost, MatchRecord
from arena.store.files import UNDECODABLE, open_regular

LOG = "matches.jsonl"
# We write no longer line: a record with eight faults and the longest texts has half of this.
LONGEST_LINE = 16 << 20

_BLOCK = 65_536

_CHECK = b',"check":"'
_TAIL = len(_CHECK) + len('00000000"}')


class Head(msgspec.Struct, frozen=True):
    """The identity of a record; decoded in a tenth of the time that the whole record takes."""

    id: str
    series: str
    attempt: int = 0
    digest: str = ""


NO_HEAD = Head(id="", series="")

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(MatchRecord).decode
_head = msgspec.json.Decoder(Head).decode


def add_checksum(encoded: bytes) -> bytes:
    """A JSON object with the checksum of its bytes as its last field."""
    body = encoded[:-1]
    return body + _CHECK + b'%08x"}' % zlib.crc32(body)


def strip_checksum(line: bytes) -> bytes | None:
    """The object without its checksum; None if the checksum doesn't fit."""
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != _CHECK + b'%08x"}' % zlib.crc32(body):
        return None
    return body + b"}"


def record_line(record: MatchRecord) -> bytes:
    return encode(record) + b"\n"


def canonical_line(record: MatchRecord) -> bytes:
    """The same on every machine: without timings, attempts and a process's own output."""
    faults = tuple(
        replace(fault, stderr="", status="", host=FaultHost()) for fault in record.faults
    )
    return record_line(replace(record, faults=faults, use=(), ended=0.0, attempt=0))


def head_of(body: bytes | None) -> Head:
    """The head of a line's record; NO_HEAD for a damaged line, or one that is no record."""
    try:
        return NO_HEAD if body is None else _head(body)
    except UNDECODABLE:
        return NO_HEAD


class LogLine(NamedTuple):
    start: int
    body: bytes | None
    """Its object without the checksum. None: damaged, that is, the checksum doesn't fit, or the
    line is longer than LONGEST_LINE."""
    torn: bool  # the last line, without its newline: a writer was killed


def read_lines(folder: Path, start: int = 0, stop: int | None = None) -> Iterator[LogLine]:
    """The lines that begin within a range of bytes; a line must begin at `start`. Streams."""
    try:
        log = open_regular(folder / LOG)
    except FileNotFoundError:
        return
    with log:
        yield from lines_of(log, start, stop)


def lines_of(log: BinaryIO, start: int = 0, stop: int | None = None) -> Iterator[LogLine]:
    """The same of an open log."""
    log.seek(start)
    while (stop is None or start < stop) and (line := log.readline(LONGEST_LINE)):
        size = len(line)
        torn = not line.endswith(b"\n")
        body = None if torn else strip_checksum(line[:-1])
        if size == LONGEST_LINE:
            del line
            while torn and (more := log.readline(_BLOCK)):
                size += len(more)
                torn = not more.endswith(b"\n")
        yield LogLine(start, body, torn)
        start += size


def line_at(log: BinaryIO, start: int) -> bytes | None:
    """The object of the whole line that begins at a byte; None if no such line does."""
    log.seek(start)
    line = log.readline(LONGEST_LINE)
    return strip_checksum(line[:-1]) if line.endswith(b"\n") else None
