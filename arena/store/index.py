"""The index beside the log: where each match and series is, and how much of the log is durable.

    header   magic, the synced mark, a checksum of the two
    entry    where a line begins, hash of its series, hash of its match, a running checksum

One entry a line, in the order of the lines, all of one width: a match is found by a search for
eight bytes. The running checksum covers all entries up to its own, so the last one vouches for all,
and entries are appended without touching others. The synced mark is the number of the log's bytes
known to be on disk; damage before it is damage to what was durable.

The index is derived. It may lag behind the log, be missing, be damaged or belong to another log:
what it says is checked against the lines, and the next writer rebuilds it. So does a reader that
looks for a match in a large log, if the folder is its own; such an index has no mark.

Invariant: a trusted index names every line up to its last entry.
"""

from __future__ import annotations

import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Self

from arena.model import UserError
from arena.store.files import open_regular, refuse_links
from arena.store.folder import write_atomically
from arena.store.lines import LOG, head_of, line_at, read_lines
from arena.store.lock import writer
from arena.system import files

INDEX = "matches.index"

_MAGIC = b"arena-1\n"
_HEADER = struct.Struct(">8sQI")
_ENTRY = struct.Struct(">Q8s8sI")
SERIES, MATCH = 8, 16  # where their hashes lie in an entry


def _hash(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=8).digest()


class Index:
    """The entries of an index, and how many bytes of the log are durable; None: unknown."""

    def __init__(self, entries: bytes = b"", mark: int | None = None) -> None:
        self.count = len(entries) // _ENTRY.size
        self._entries = entries[: self.count * _ENTRY.size]
        self.mark = mark

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what can be trusted; a bad index has neither mark nor entries."""
        try:
            with open_regular(folder / INDEX) as file, open_regular(folder / LOG) as log:
                size = os.fstat(log.fileno()).st_size
                header = file.read(_HEADER.size)
                # Lines are longer than entries: an index is never larger than its log.
                index = cls(file.read(size))
                mark = int.from_bytes(header[len(_MAGIC) : -4])
                if len(header) == _HEADER.size and header == _header(mark):
                    index.mark = mark
                if header.startswith(_MAGIC) and index._sound(log, size):
                    return index
                return cls(mark=index.mark)
        except (OSError, UserError):
            return cls()

    def _sound(self, log: BinaryIO, size: int) -> bool:
        """Whether its checksum fits, and its last line within the log's size is where it says."""
        if zlib.crc32(memoryview(self._entries)[:-4]) != self.check:
            return False
        last = self.within(size) - 1
        return last < 0 or self.names(last, line_at(log, self.start(last)))

    @property
    def check(self) -> int:
        """The running checksum of all entries."""
        return int.from_bytes(self._entries[-4:])

    def start(self, number: int) -> int:
        at = number * _ENTRY.size
        return int.from_bytes(self._entries[at : at + SERIES])

    def names(self, number: int, body: bytes | None) -> bool:
        head = head_of(body)
        entry = self._entries[number * _ENTRY.size : (number + 1) * _ENTRY.size]
        return body is not None and entry[SERIES:-4] == _hash(head.series) + _hash(head.id)

    def within(self, size: int) -> int:
        """How many entries are for lines that begin within the first `size` bytes of the log."""
        return bisect_left(range(self.count), size, key=self.start)

    def cut(self, count: int) -> Index:
        return Index(self._entries[: count * _ENTRY.size], self.mark)

    def find(self, name: str, kind: int) -> Iterator[int]:
        """The numbers of the entries that may belong to a name: MATCH or SERIES."""
        wanted = _hash(name)
        at = self._entries.find(wanted)
        while at >= 0:
            number, where = divmod(at, _ENTRY.size)
            if where == kind:
                yield number
            at = self._entries.find(wanted, at + 1)


def build_index(folder: Path) -> Index:
    """Build the index of a log; write it if the folder is ours and has no writer."""
    entries = bytearray()
    check = 0
    for line in read_lines(folder):
        if not line.torn:
            head = head_of(line.body)
            entry, check = _packed(check, line.start, head.series, head.id)
            entries += entry
    with suppress(OSError, UserError):
        refuse_links(folder)
        if folder.stat().st_uid == os.geteuid() and not writer(folder):
            # With a wrong checksum: a reader doesn't know how much of the log is durable.
            write_atomically(folder / INDEX, _header(0, flip=0xFFFFFFFF) + entries)
    return Index(bytes(entries))


def _header(mark: int, flip: int = 0) -> bytes:
    head = struct.pack(">8sQ", _MAGIC, mark)
    return head + (zlib.crc32(head) ^ flip).to_bytes(4)


def _packed(check: int, start: int, series: str, match: str) -> tuple[bytes, int]:
    """The next entry after others with this running checksum, and the new checksum."""
    body = struct.pack(">Q8s8s", start, _hash(series), _hash(match))
    check = zlib.crc32(body, check)
    tail = check.to_bytes(4)
    return body + tail, zlib.crc32(tail, check)


class IndexWriter:
    """Brings the index up to a log's size, and writes its entries as the log grows."""

    def __init__(self, folder: Path, size: int) -> None:
        index = Index.load(folder)
        index = index.cut(index.within(size))
        last = index.start(index.count - 1) if index.count else None
        self._folder = folder
        self._file = files.open_file(folder / INDEX, "r+b" if index.count else "w+b", buffering=0)
        try:
            self._end = _HEADER.size + index.count * _ENTRY.size
            # The next entry's checksum continues from all bytes before it.
            self._check = zlib.crc32(index.check.to_bytes(4), index.check) if index.count else 0
            self._pending = bytearray()
            self._file.truncate(self._end)
            for line in read_lines(folder, last or 0, size):
                # A damaged line gets an entry without names.
                if line.start != last:
                    head = head_of(line.body)
                    self.add(line.start, head.series, head.id)
        except BaseException:
            self._file.close()
            raise

    def add(self, start: int, series: str, match: str) -> None:
        """Add an entry for the next line; `write` writes it."""
        entry, self._check = _packed(self._check, start, series, match)
        self._pending += entry

    def write(self, mark: int) -> None:
        """Write the new entries, and how much of the log is durable."""
        while self._pending:  # after a partial write the next one raises the reason
            written = files.write_at(self._file, self._pending, self._end)
            self._end += written
            del self._pending[:written]
        files.write_at(self._file, _header(mark), 0)

    def sync(self) -> None:
        """Make the index durable, and its name: the next writer needs the mark in it."""
        files.sync(self._file)
        files.sync_folder(self._folder)

    def close(self) -> None:
        self._file.close()
