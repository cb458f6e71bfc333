"""Read a zip archive that a stranger made; zipfile trusts more of it than is good.

The directory at the end is read first, and held against every member's own header, before one byte
is unpacked. Invariants: members don't overlap, so no data is unpacked twice; a member has exactly
the bytes and the checksum that the directory states; memory grows with the number of members alone.
"""

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from arena.intake.caps import Quota, SubmissionError, UnfinishedError, refuse
from arena.intake.members import Member, text_of

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_CHUNK = 1 << 16
_COMMENT = 65_535
_FULL = 0xFFFFFFFF  # the number stands in the extra field
_SECRET = 0x1 | 0x40 | 0x2000  # flags: encrypted, strongly, and its header too
_LATER, _UTF8 = 0x8, 0x800  # flags: sizes stand behind the data; the name is UTF-8
_STORED, _DEFLATED = 0, 8
_FOLDER = 0x10  # of DOS
_UNIX = {3, 19}  # systems whose attributes hold modes: Unix, macOS
_FIELDS = 16  # extra fields that are looked through: there are fewer than ten kinds in use
_METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd"}
_AGAIN = "pack it again as an ordinary zip"
_NO_END = "its end is missing: the upload is not complete; upload it again"
_ODD = f"is no sound zip archive; {_AGAIN}"


class _Entry(NamedTuple):
    name: str
    kind: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    executable: bool | None


def zip_members(file: int, quota: Quota) -> Iterator[Member]:
    """The members of an open file; everything but their data is checked before the first one."""
    count, start, end = _directory(file)
    Quota(quota.caps).count_files(count)  # before they are looked at
    quota.packed = quota.packed or os.fstat(file).st_size
    spans = []
    entries = []
    place = start
    for _ in range(count):
        entry, raw, place = _entry(file, place, quota.caps.path_bytes)
        begin = _begin(file, entry, raw)
        spans.append((entry.offset, begin + entry.packed, entry.name))
        entries.append((entry, begin))
    if place != end:
        raise SubmissionError(f"its directory has another length than its end states; {_AGAIN}")
    spans.sort()
    for (_, until, name), (after, *_) in pairwise([*spans, (start, start, "")]):
        if until > after:
            raise refuse(name, f"its data overlaps with other data in the archive; {_AGAIN}")
    for entry, begin in entries:
        chunks = partial(_data, file, entry, begin)
        yield Member(entry.name, entry.kind, entry.size, entry.executable, chunks)


def _directory(file: int) -> tuple[int, int, int]:
    """The number of members, and where the directory begins and ends."""
    size = os.fstat(file).st_size
    first = max(0, size - _COMMENT - _END.size)
    tail = os.pread(file, _COMMENT + _END.size, first)
    at = len(tail)
    while (at := tail.rfind(b"PK\5\6", 0, at)) >= 0:
        if at + _END.size <= len(tail):
            _, disk, disk2, here, count, length, start, comment = _END.unpack_from(tail, at)
            if at + _END.size + comment == len(tail):
                break
    else:
        raise UnfinishedError(_NO_END)
    end = first + at
    if 0xFFFF in {here, count} or _FULL in {length, start}:
        locator = os.pread(file, _LOCATOR.size, max(0, end - _LOCATOR.size))
        if len(locator) < _LOCATOR.size or not locator.startswith(b"PK\6\7"):
            raise SubmissionError(_ODD)
        end = _LOCATOR.unpack(locator)[2]
        record = os.pread(file, _END64.size, end) if end < size else b""
        if len(record) < _END64.size or not record.startswith(b"PK\6\6"):
            raise SubmissionError(_ODD)
        _, _, _, _, disk, disk2, here, count, length, start = _END64.unpack(record)
    if disk or disk2 or here != count:
        raise SubmissionError(f"is one of several parts of an archive; {_AGAIN}")
    if start + length > end:
        raise SubmissionError(_ODD)
    return count, start, start + length


def _entry(file: int, place: int, longest: int) -> tuple[_Entry, bytes, int]:
    """A record of the directory, its name as it was written, and where the next record begins."""
    record = os.pread(file, _ENTRY.size, place)
    if len(record) < _ENTRY.size or not record.startswith(b"PK\1\2"):
        raise SubmissionError(f"its directory has fewer members than its end states; {_AGAIN}")
    _, made, _, flags, method, _, _, crc, packed, size, *rest = _ENTRY.unpack(record)
    name_size, extra_size, comment_size, disk, _, attributes, offset = rest
    if name_size > longest:
        raise SubmissionError(f"a path in it has {name_size} bytes, {longest} are allowed")
    raw = os.pread(file, name_size, place + _ENTRY.size)
    name = raw.decode("utf-8", "surrogateescape") if flags & _UTF8 else text_of(raw)
    wide = _wide(os.pread(file, extra_size, place + _ENTRY.size + name_size))
    numbers = []
    for number in (size, packed, offset):
        value = number
        if number == _FULL and len(wide) >= 8:
            value, wide = int.from_bytes(wide[:8], "little"), wide[8:]
        numbers.append(value)
    size, packed, offset = numbers
    if disk:
        raise SubmissionError(f"is one of several parts of an archive; {_AGAIN}")
    if flags & _SECRET:
        raise refuse(name, "is encrypted; pack it without a password")
    if method not in {_STORED, _DEFLATED}:
        known = _METHODS.get(method, f"method {method}")
        raise refuse(name, f"is compressed by {known}; {_AGAIN} (Deflate)")
    mode = attributes >> 16 if made >> 8 in _UNIX else 0
    kind = _kind(name, mode, attributes)
    if kind == "folder" and size:
        raise refuse(name, f"is a folder that has data; {_AGAIN}")
    executable = bool(mode & stat.S_IXUSR) if stat.S_IMODE(mode) else None
    found = _Entry(name, kind, flags, method, crc, packed, size, offset, executable)
    return found, raw, place + _ENTRY.size + name_size + extra_size + comment_size


def _kind(name: str, mode: int, attributes: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "a device or a pipe"
    is_folder = name.endswith(("/", "\\")) or stat.S_ISDIR(mode) or attributes & _FOLDER
    return "folder" if is_folder else "file"


def _wide(extra: bytes) -> bytes:
    """The extra field of numbers that need 64 bits."""
    at = 0
    for _ in range(_FIELDS):
        number, size = struct.unpack_from("<2H", extra[at : at + 4].ljust(4, b"\0"))
        if number == 1:
            return extra[at + 4 : at + 4 + size]
        at += 4 + size
    return b""


def _begin(file: int, entry: _Entry, raw: bytes) -> int:
    """Where a member's data begins; its own header must agree with the directory."""
    header = os.pread(file, _LOCAL.size, entry.offset) if entry.offset < 1 << 62 else b""
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise refuse(entry.name, f"it isn't where the archive's directory says; {_AGAIN}")
    _, _, flags, method, _, _, crc, packed, size, name_size, extra_size = _LOCAL.unpack(header)
    same = os.pread(file, name_size, entry.offset + _LOCAL.size) == raw and method == entry.method
    unknown = {0, _FULL} if flags & _LATER else {_FULL}
    for own, stated in ((packed, entry.packed), (size, entry.size)):
        same = same and (own == stated or own in unknown)
    if not same or flags & _SECRET or (crc != entry.crc and not flags & _LATER):
        raise refuse(entry.name, f"its header disagrees with the archive's directory; {_AGAIN}")
    return entry.offset + _LOCAL.size + int(name_size) + int(extra_size)


def _data(file: int, entry: _Entry, begin: int) -> Iterator[bytes]:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if entry.method == _DEFLATED else None
    crc = count = 0
    at, end, packed = begin, begin + entry.packed, b""
    try:
        while not (inflate.eof if inflate else at == end):
            if not packed:
                packed = os.pread(file, min(_CHUNK, end - at), at)
                at += len(packed)
            chunk = inflate.decompress(packed, _CHUNK) if inflate else packed
            if not packed and not chunk:
                break
            packed = inflate.unconsumed_tail if inflate else b""
            crc, count = zlib.crc32(chunk, crc), count + len(chunk)
            if count > entry.size:
                raise refuse(entry.name, f"it has more data than its header says; {_AGAIN}")
            yield chunk
    except zlib.error:
        raise refuse(entry.name, f"its data is damaged; {_AGAIN}, or upload it again") from None
    left = at != end or bool(inflate and (inflate.unused_data or not inflate.eof))
    if left or (count, crc) != (entry.size, entry.crc):
        raise refuse(entry.name, f"its data is damaged; {_AGAIN}, or upload it again")
