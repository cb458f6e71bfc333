"""The chain of a ladder: an append-only file of what was decided, each line bound to all before it.

A line is canonical JSON with `n`, its number from 1 on, and `prev`, the SHA-256 of the line before
it (of the text "nine-arena ladder 1" for the first). The hash of the last line is the *head*. So a
line that is changed, left out or moved shows, up to the last head that somebody else has.

A line is appended after what it tells of is durable, and is durable before anything follows from
it. A killed writer may leave a torn last line; the next writer removes it.

Invariant: `Chain.lines` are what the file has, in order, with unbroken hashes.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.model import Entrant, Frozen, HostError, UserError, canonical
from arena.model.fields import Count, Label, Text
from arena.store.files import UNDECODABLE, open_regular, reason
from arena.store.folder import writes_into
from arena.system import files

CHAIN = "chain.jsonl"
_BEFORE_ALL = sha256(b"nine-arena ladder 1").hexdigest()
_LONGEST = 1 << 20
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Line(Frozen, frozen=True, kw_only=True, tag_field="what", forbid_unknown_fields=True):
    n: Count = 0
    prev: Hash = _BEFORE_ALL


class Founded(Line, frozen=True, kw_only=True, tag="founded"):
    """The first line. `rules`: what the ladder plays, as canonical JSON."""

    name: Text
    rules: msgspec.Raw


class RulesChanged(Line, frozen=True, kw_only=True, tag="rules"):
    rules: msgspec.Raw


class Accepted(Line, frozen=True, kw_only=True, tag="accepted"):
    """A submission plays from now on. The author's former version is retired by this line."""

    author: Label
    entrant: Entrant
    submission: Hash
    received: Text
    """When it came in: the organiser's word."""


class Rejected(Line, frozen=True, kw_only=True, tag="rejected"):
    """A submission that changes nothing; its author's report says why."""

    author: Label
    submission: Hash
    received: Text
    why: Label


class Retired(Line, frozen=True, kw_only=True, tag="retired"):
    """An entrant plays no more, and nothing takes its place."""

    author: Label
    entrant: Label
    why: Label


class RoundBegun(Line, frozen=True, kw_only=True, tag="round"):
    """A round is about to be played: written before its first match."""

    round: Count
    game: Label
    commitment: Hash
    final: bool | UnsetType = UNSET


class RoundEnded(Line, frozen=True, kw_only=True, tag="played"):
    round: Count
    log: Hash
    """SHA-256 of its canonical log."""
    matches: Count


class Closed(Line, frozen=True, kw_only=True, tag="frozen"):
    """Nothing is accepted any more."""

    received: Text


AnyLine = Founded | RulesChanged | Accepted | Rejected | Retired | RoundBegun | RoundEnded | Closed
_decode = msgspec.json.Decoder(AnyLine).decode


def encode(line: AnyLine) -> bytes:
    return canonical(line)


class Chain:
    """A chain that was read; `append` needs the ladder's lock."""

    def __init__(self, folder: Path, lines: Sequence[AnyLine], head: str, size: int) -> None:
        self.path = folder / CHAIN
        self.lines = list(lines)
        self.head = head
        self._size = size

    def append(self, line: AnyLine) -> AnyLine:
        """Add a line, durably; returns it as it stands in the chain."""
        line = msgspec.structs.replace(line, n=len(self.lines) + 1, prev=self.head)
        data = encode(line)
        with writes_into(self.path), files.open_file(self.path, "ab+", buffering=0) as file:
            file.truncate(self._size)  # a torn line of a killed writer
            if file.write(data + b"\n") != len(data) + 1:
                raise HostError(f"{self.path}: can't write: the disk is full")
            files.sync(file)
            if not self.lines:
                files.sync_folder(self.path.parent)
        self.lines.append(line)
        self.head = sha256(data).hexdigest()
        self._size += len(data) + 1
        return line


def read_chain(folder: Path) -> Chain:
    """UserError if it is damaged; a torn last line is left out."""
    path = folder / CHAIN
    lines: list[AnyLine] = []
    head, size = _BEFORE_ALL, 0
    for number, text in enumerate(_texts(path), 1):
        try:
            line = _decode(text)
        except UNDECODABLE as error:
            raise UserError(
                f"{path}: line {number} is no line of a chain: {reason(error)}"
            ) from None
        if line.n != number or line.prev != head or encode(line) != text:
            raise UserError(
                f"{path}: line {number} doesn't follow from the one before it: a line was changed, "
                "left out or added; put back the chain as it was"
            )
        if isinstance(line, Founded) is not (number == 1):
            raise UserError(f"{path}: line {number}: a chain begins with one line 'founded'")
        head = sha256(text).hexdigest()
        size += len(text) + 1
        lines.append(line)
    return Chain(folder, lines, head, size)


def _texts(path: Path) -> Iterator[bytes]:
    try:
        with open_regular(path) as file:
            while text := file.readline(_LONGEST):
                if not text.endswith(b"\n"):
                    if len(text) == _LONGEST:
                        raise UserError(f"{path}: a line of more than {_LONGEST} bytes")
                    return  # torn
                yield text[:-1]
    except FileNotFoundError:
        return


def heads(chain: Chain) -> Iterator[str]:
    """The head before each line, and at the end."""
    for line in chain.lines:
        yield line.prev
    yield chain.head
