"""Bots that travel with an event: their snapshots in its own folder, until it has been played.

    <event's folder>/bots/<content hash>/   a bot's files as they were

So a copy of a prepared folder has all that another machine needs. The folder is its owner's alone,
as bots are their authors' business. To nodes that share no folder they travel as bundles of bytes.

Invariant: what is taken from here goes through the cache under the hash of its own bytes, so
a file that was changed on the way is found.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from arena.exhaustion import ran_out, told
from arena.model import Entrant, HostError, UserError
from arena.roster.cache import BOTS
from arena.roster.plain import printable
from arena.roster.snapshot import HASH, find, listing
from arena.roster.trees import remove


def carry(entrants: Iterable[Entrant], folder: Path, *, cache: Path) -> None:
    """Copy the entrants' snapshots from the cache into an event's folder."""
    try:
        (folder / BOTS).mkdir(mode=0o700)
        for content in sorted({entrant.hash for entrant in entrants}):
            snapshot = find(cache, content)
            if snapshot is None:
                raise UserError(
                    f"{printable(cache)}: a bot's snapshot has just vanished from there; try again"
                )
            shutil.copytree(snapshot.folder, folder / BOTS / content)
    except OSError as error:  # shutil.Error is one, with a list in the place of the reason
        if what := ran_out(error) or told(str(error)):
            raise HostError(f"{printable(folder)}: can't write there: {what}") from None
        reason = error.strerror or "a bot's files can't be copied"
        raise UserError(f"{printable(folder)}: can't write there: {reason}") from None


def carried(folder: Path, content: str) -> Path | None:
    """Where the bot with that hash lies in an event's folder, if it does."""
    place = folder / BOTS / content
    return place if HASH.fullmatch(content) and place.is_dir() else None


def unload(entrants: Iterable[Entrant], folder: Path) -> None:
    """Remove the entrants' snapshots from an event's folder, and nothing else."""
    with contextlib.suppress(OSError):
        for entrant in entrants:
            if place := carried(folder, entrant.hash):
                remove(place)
        (folder / BOTS).rmdir()


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A file of a bundle."""

    path: str
    executable: bool
    content: bytes


_pack = msgspec.msgpack.Encoder().encode
_files = msgspec.msgpack.Decoder(tuple[_Packed, ...]).decode


def lacking(entrants: Iterable[Entrant], *, cache: Path) -> tuple[str, ...]:
    """The hashes of bots that are not in the cache."""
    wanted = sorted({entrant.hash for entrant in entrants})
    return tuple(content for content in wanted if find(cache, content) is None)


def pack(content: str, *, cache: Path) -> bytes:
    """The bot with that hash as bytes, for a machine that has no folder in common with this one."""
    snapshot = find(cache, content)
    if snapshot is None:
        raise UserError(f"{printable(cache)}: a bot's snapshot has vanished from there; try again")
    return _pack(
        tuple(
            _Packed(file.path, file.executable, Path(file.place).read_bytes())
            for file in listing(snapshot.folder)
        )
    )


def unpack(bundle: bytes, content: str, folder: Path) -> None:
    """Lay a packed bot into a folder as `carry` does; its hash is checked when it is taken."""
    place = folder / BOTS / content
    for file in _files(bundle):
        target = place / file.path
        if not target.resolve().is_relative_to(place.resolve()):
            raise UserError(f"a bundle names a file outside its folder: {printable(file.path)}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        target.chmod(0o700 if file.executable else 0o600)
