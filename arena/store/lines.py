"""The log's lines: a record as JSON with a checksum of its own, read from any of them on.

Invariant: a line is believed only if its checksum fits its bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from arena.model import FaultHost, MatchRecord
from arena.store.files import UNDECODABLE, opened

LOG = "matches.jsonl"
# What is longer was not written by us: a record with eight faults and all they may hold has half.
LONGEST_LINE = 16 << 20

_BLOCK = 65_536

_CHECK = b',"check":"'
_TAIL = len(_CHECK) + len('00000000"}')


class Head(msgspec.Struct, frozen=True):
    """What tells a record from others; a tenth of the time that decoding all of it takes."""

    id: str
    series: str
    attempt: int = 0
    digest: str = ""


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(MatchRecord).decode
_head = msgspec.json.Decoder(Head).decode


def sealed(encoded: bytes) -> bytes:
    """A JSON object with the checksum of its bytes as its last field."""
    body = encoded[:-1]
    return body + _CHECK + b'%08x"}' % zlib.crc32(body)


def unsealed(line: bytes) -> bytes | None:
    """The object without its checksum, or None when the bytes are not what was written."""
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != _CHECK + b'%08x"}' % zlib.crc32(body):
        return None
    return body + b"}"


def record_line(record: MatchRecord) -> bytes:
    """A record as a line of JSON, without a checksum."""
    return encode(record) + b"\n"


def canonical_line(record: MatchRecord) -> bytes:
    """The same on every machine: without timings, attempts and what a process said."""
    faults = tuple(
        msgspec.structs.replace(fault, stderr="", status="", host=FaultHost())
        for fault in record.faults
    )
    return record_line(msgspec.structs.replace(record, faults=faults, use=(), ended=0.0, attempt=0))


def head_of(body: bytes) -> Head:
    """The head of a line's record; a line that is none has no names."""
    try:
        return _head(body)
    except UNDECODABLE:
        return Head(id="", series="")


class Line(NamedTuple):
    """A line of the log: where it begins, and its object without the checksum."""

    start: int
    body: bytes | None
    """None: damaged, its checksum doesn't fit, or longer than any of ours."""
    torn: bool
    """The last one, without its newline: the trace of a killed writer."""


def read_lines(folder: Path, start: int = 0, stop: int | None = None) -> Iterator[Line]:
    """The lines that begin within a range of bytes; `start` is where one begins. Streams."""
    try:
        file = opened(folder / LOG)
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        while line := file.readline(LONGEST_LINE):
            if stop is not None and start >= stop:
                return
            size = len(line)
            torn = not line.endswith(b"\n")
            if torn and size == LONGEST_LINE:
                line = b""
                while torn and (more := file.readline(_BLOCK)):
                    size += len(more)
                    torn = not more.endswith(b"\n")
                yield Line(start, None, torn)
            else:
                yield Line(start, None if torn else unsealed(line[:-1]), torn)
            start += size


def line_at(log: BinaryIO, start: int) -> bytes | None:
    """The object of the whole line that begins at a byte; None if no such line does."""
    log.seek(start)
    line = log.readline(LONGEST_LINE)
    return unsealed(line[:-1]) if line.endswith(b"\n") else None
