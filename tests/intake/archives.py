"""Archives made by hand, so that any number in them may be a lie."""

import functools
import struct
import zlib
from dataclasses import dataclass, field

UNIX = 3 << 8
REGULAR = 0o100644 << 16


@dataclass
class Zipped:
    """A member of a zip; `lie` and `local_lie` put other numbers into its two headers."""

    name: bytes
    data: bytes = b""
    method: int = 8
    flags: int = 0
    made: int = UNIX
    attributes: int = REGULAR
    extra: bytes = b""
    lie: dict = field(default_factory=dict)
    local_lie: dict = field(default_factory=dict)

    @functools.cached_property
    def packed(self):
        if self.method != 8:
            return self.data
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
        return deflate.compress(self.data) + deflate.flush()

    def numbers(self, offset):
        return {
            "method": self.method,
            "flags": self.flags,
            "crc": zlib.crc32(self.data),
            "packed": len(self.packed),
            "size": len(self.data),
            "offset": offset,
            "name": self.name,
            "disk": 0,
        }

    def local(self):
        n = self.numbers(0) | self.local_lie
        head = struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, n["flags"], n["method"], 0, 0,
            n["crc"], n["packed"], n["size"], len(n["name"]), 0,
        )  # fmt: skip
        return head + n["name"] + self.packed

    def entry(self, offset):
        n = self.numbers(offset) | self.lie
        head = struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", self.made | 20, 20, n["flags"], n["method"], 0, 0, n["crc"],
            n["packed"], n["size"], len(n["name"]), len(self.extra), 0, n["disk"], 0,
            self.attributes, n["offset"],
        )  # fmt: skip
        return head + n["name"] + self.extra


def zip_bytes(*members, end=None, comment=b""):
    """A zip archive; `end` puts other numbers into its last record."""
    locals_, entries_, start = [], [], 0
    for member in members:
        entries_.append(member.entry(start))
        locals_.append(member.local())
        start += len(locals_[-1])
    body, entries = b"".join(locals_), b"".join(entries_)
    numbers = {"disk": 0, "here": len(members), "count": len(members)}
    numbers |= {"length": len(entries), "start": len(body)} | (end or {})
    last = struct.pack(
        "<4s4H2LH", b"PK\5\6", numbers["disk"], 0, numbers["here"], numbers["count"],
        numbers["length"], numbers["start"], len(comment),
    )  # fmt: skip
    return body + entries + last + comment


def tar_header(name=b"bot.py", size=0, type_=b"0", mode=b"0000644\0", **fields):
    """One header, with its checksum; `fields`: raw bytes for `size`, `magic`, `prefix`, `sum`."""
    block = bytearray(512)

    def put(at, data):
        block[at : at + len(data)] = data

    put(0, name[:100])
    put(100, mode)
    put(124, fields.get("raw_size", b"%011o\0" % size))
    put(136, b"00000000000\0")
    put(156, type_)
    put(257, fields.get("magic", b"ustar\00000"))
    put(345, fields.get("prefix", b""))
    put(148, b" " * 8)
    put(148, fields.get("sum", b"%06o\0 " % sum(block)))
    return bytes(block)


def padded(data):
    return data + b"\0" * (-len(data) % 512)


def tar_file(name=b"bot.py", data=b"x", **fields):
    return tar_header(name, len(data), **fields) + padded(data)


def pax(*records, type_=b"x"):
    """An extended header; a record is (key, value), or bytes as they are."""
    data = b""
    for record in records:
        if isinstance(record, tuple):
            text = b" " + record[0] + b"=" + record[1] + b"\n"
            length = len(text) + 1
            while length != len(text) + len(str(length)):
                length += 1
            record = str(length).encode() + text
        data += record
    return tar_header(b"PaxHeader", len(data), type_) + padded(data)


def tar_bytes(*parts, end=b"\0" * 1024):
    return b"".join(parts) + end
