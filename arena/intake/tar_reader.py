"""Read a tar archive that a stranger made, plain or compressed, as a stream.

One pass, from the first byte to the last: a member is a header and as many bytes as it states, so
no number in it can lead to other data. Headers of pax (x, g) and GNU (L, K) are understood; what
isn't a plain file or folder is handed on by its kind, for the caller to refuse.
Invariant: memory is bounded by `_MOST`, `_DICTIONARY` and a few chunks.
"""

from __future__ import annotations

import bz2
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from arena.intake.caps import Quota, SubmissionError, UnfinishedError, refuse
from arena.intake.members import Member, text_of

_BLOCK = 512
_CHUNK = 1 << 16
_MOST = 1 << 20  # bytes of a pax header: macOS keeps icons and attributes of files in them
_ALL = 32 << 20  # bytes of all such headers: 20,000 files with as many times and attributes
_DICTIONARY = 128 << 20  # bytes for unpacking; xz -9 needs 65 MB
_PIECES = 10_000  # compressed streams one behind the other: bgzip makes one of 64 KB
_NO_END = "its end is missing: the upload is not complete; upload it again"
_AGAIN = "pack it again with tar -czf"
_KINDS = {
    b"0": "file", b"\0": "file", b"7": "file", b"5": "folder", b"1": "a hard link", b"2": "a link",
    b"3": "a device", b"4": "a device", b"6": "a pipe", b"S": "a sparse file",
}  # fmt: skip
_EXTENSIONS = (b"x", b"g", b"L", b"K")  # headers that say something of the next, or of all
_DIGITS = 20  # of a size: enough for 64 bits


def _gunzip() -> Any:  # noqa: ANN401 - zlib, bz2 and lzma have no type in common
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _unxz() -> Any:  # noqa: ANN401 - the same
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_DICTIONARY)


COMPRESSED: dict[str, Callable[[], Any]] = {
    "gzip": _gunzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": _unxz,
}


class _Header(NamedTuple):
    name: str
    kind: str
    size: int
    executable: bool


def tar_members(file: int, how: str, quota: Quota) -> Iterator[Member]:
    """The members of an open file, which may be compressed; `how` says it."""
    quota.packed = quota.packed or os.fstat(file).st_size
    chunks = _chunks(file)
    if how in COMPRESSED:
        chunks = _decompressed(chunks, COMPRESSED[how])
    caps = quota.caps
    stream = _Stream(chunks, (caps.total_mb << 20) + caps.files * 3 * _BLOCK + _MOST)
    while header := _next_header(stream):
        end = stream.count + header.size + -header.size % _BLOCK
        name, kind, size, executable = header
        yield Member(name, kind, size, executable, partial(stream.some, size))
        stream.skip(end - stream.count)
    if any(chunk.strip(b"\0") for chunk in stream.rest()):
        raise SubmissionError(f"holds data behind its end; {_AGAIN}")


def _next_header(stream: _Stream) -> _Header | None:
    """The next member's header, with what headers before it say of it; None at the end."""
    long_name: bytes | None = None
    pax: dict[str, bytes] = {}
    while (block := stream.exactly(_BLOCK)).strip(b"\0"):
        size, name, type_ = _plain_header(block, first=stream.count == _BLOCK)
        if type_ in _EXTENSIONS:
            data = _extension(stream, size, name)
            if type_ == b"L":
                long_name = data.rstrip(b"\0")
            elif type_ == b"x":
                pax = _records(data, name)
            elif type_ == b"g" and {"path", "size"} & _records(data, name).keys():
                raise SubmissionError(f"states a path or a size for all members; {_AGAIN}")
            continue
        shown = text_of(pax.get("path", name if long_name is None else long_name))
        if not (digits := pax.get("size", b"0")).isdigit() or len(digits) > _DIGITS:
            raise refuse(shown, f"its header states a size that is none; {_AGAIN}")
        size = int(digits) if "size" in pax else size
        sparse = any(key.startswith("GNU.sparse") for key in pax)
        kind = _KINDS.get(b"S" if sparse else type_, f"of the unknown type {type_!r}")
        kind = "folder" if kind == "file" and shown.endswith("/") else kind
        if kind == "folder" and size:
            raise refuse(shown, f"is a folder that has data; {_AGAIN}")
        return _Header(shown, kind, size, bool(_number(block[100:108]) & stat.S_IXUSR))
    return None


def _chunks(file: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(file, _CHUNK, at):
        at += len(chunk)
        yield chunk


def _decompressed(packed: Iterator[bytes], start: Callable[[], Any]) -> Iterator[bytes]:
    """What compressed streams one behind the other hold; zeros behind them are padding."""
    data = next(packed, b"")
    for _ in range(_PIECES):
        machine = start()
        while not machine.eof:
            try:
                chunk = machine.decompress(data, _CHUNK)
            except (zlib.error, OSError, lzma.LZMAError) as error:
                if "emory" in str(error):
                    most = f"more than {_DICTIONARY >> 20} MB of memory"
                    raise SubmissionError(f"takes {most} to unpack; {_AGAIN}") from None
                raise SubmissionError(f"is damaged; {_AGAIN}, or upload it again") from None
            data = getattr(machine, "unconsumed_tail", b"")
            if chunk:
                yield chunk
            elif not machine.eof and not data and not (data := next(packed, b"")):
                raise UnfinishedError(_NO_END)
        data = machine.unused_data.lstrip(b"\0")
        while not data:
            if not (data := next(packed, b"")):
                return
            data = data.lstrip(b"\0")
    raise SubmissionError(f"is made of more than {_PIECES} compressed pieces; {_AGAIN}")


class _Stream:
    """Bytes one after the other, up to a limit."""

    def __init__(self, chunks: Iterator[bytes], most: int) -> None:
        self._chunks = chunks
        self._most = most
        self._got = 0
        self._buffer = b""
        self.count = 0  # bytes handed out
        self.headers = 0  # of these in headers that say something of others

    def _fill(self) -> bool:
        while not self._buffer:
            self._buffer = next(self._chunks, b"")
            if not self._buffer:
                return False
            self._got += len(self._buffer)
            if self._got > self._most:
                raise SubmissionError(
                    f"unpacks to more than {self._most >> 20} MB; leave out what the bot doesn't "
                    "need"
                )
        return True

    def some(self, size: int) -> Iterator[bytes]:
        """So many bytes, in chunks."""
        while size:
            if not self._fill():
                raise UnfinishedError(_NO_END)
            chunk, self._buffer = self._buffer[:size], self._buffer[size:]
            size -= len(chunk)
            self.count += len(chunk)
            yield chunk

    def exactly(self, size: int) -> bytes:
        return b"".join(self.some(size))

    def skip(self, size: int) -> None:
        for _ in self.some(size):
            pass

    def rest(self) -> Iterator[bytes]:
        while self._fill():
            yield from self.some(len(self._buffer))


def is_tar(head: bytes) -> bool:
    """Whether the header in the first block has its checksum; old programs summed signed bytes."""
    block = head[:_BLOCK]
    try:
        stated = _number(block[148:156]) if len(block) == _BLOCK else 0
    except SubmissionError:
        return False
    total = sum(block[:148]) + sum(b" " * 8) + sum(block[156:])
    signed = total - 256 * sum(byte > 127 for byte in block[:148] + block[156:])
    return stated > 0 and stated in {total, signed}


def _number(field: bytes) -> int:
    """Octal digits, or for large numbers binary ones."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise SubmissionError(f"a header in it has a number that is none; {_AGAIN}")
    return int(digits or b"0", 8)


def _plain_header(block: bytes, *, first: bool) -> tuple[int, bytes, bytes]:
    """Size, name and type."""
    if not is_tar(block):
        what = "is no tar archive" if first else "has a header that is damaged"
        raise SubmissionError(f"{what}; {_AGAIN}, or upload it again")
    name, prefix = (field.split(b"\0", 1)[0] for field in (block[:100], block[345:500]))
    # GNU's own form has other things in the place of the prefix.
    if prefix and block[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    return _number(block[124:136]), name, block[156:157]


def _extension(stream: _Stream, size: int, name: bytes) -> bytes:
    stream.headers += size
    if size > _MOST or stream.headers > _ALL:
        what = (
            f"is a header of more than {_MOST >> 20} MB, or one of too many; {_AGAIN} --no-xattrs"
        )
        raise refuse(text_of(name), what)
    data = stream.exactly(size)
    stream.skip(-size % _BLOCK)
    return data


def _records(data: bytes, name: bytes) -> dict[str, bytes]:
    """Records `LENGTH KEY=VALUE` of a pax header; of several with one key the last counts."""
    found: dict[str, bytes] = {}
    at, end = 0, len(data.rstrip(b"\0"))
    while at < end:
        digits, space, _ = data[at : at + 9].partition(b" ")
        length = int(digits) if digits.isdigit() and space else 0
        key, equals, value = data[at + len(digits) + 1 : at + length].partition(b"=")
        if not equals or at + length > len(data) or not value.endswith(b"\n"):
            raise refuse(text_of(name), f"is a pax header that can't be read; {_AGAIN}")
        found[key.decode("utf-8", "replace")] = value[:-1]
        at += length
    return found
