"""Pack entries of the cache (bots, packages) as bytes, for machines that share no folder.

A bundle lists files, links and empty folders, in the order of their paths' bytes. Its sum is the
SHA-256 that a bot's content hash is, of the same lines; a link is one with `l` and what it leads
to, an empty folder one with `d`. So a bot's sum is its name. A key names what packages were made
of, not their bytes: the packing machine has to send their sum separately from the bundle.

Invariant: what `unpack` publishes has that sum, read from its files; nothing is written through a
link, and none leads outside.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.bots.cache import BOTS, PACKAGES, cache_errors, in_cache, in_use, publish, scratch
from arena.bots.plain_text import printable
from arena.bots.snapshot import HASH, digest, find, set_modes
from arena.bots.trees import MAX_DEPTH, ShapeError, inside, measure
from arena.exhaustion import ran_out
from arena.model import Entrant, HostError, UserError

MAX_BYTES = 512 << 20
"""Largest packages that are packed: numpy and scipy have 170 MB, a neural network's library for
processors 450 MB. A bundle briefly takes three times its size of a Dask worker's memory, and a
worker is ended at its core's share of the machine's memory: usually 2 GB."""

_ODD_NAMES = {errno.EEXIST, errno.ENOTDIR, errno.ENOENT, errno.ENAMETOOLONG}
"""Errors of a file system for impossible names."""


class Bundle(NamedTuple):
    sum: str
    content: bytes


class _Item(msgspec.Struct, frozen=True, array_like=True):
    """A file (`-`, or `x` if executable), a link (`l`) or an empty folder (`d`)."""

    path: bytes
    kind: str
    content: memoryview


_encode = msgspec.msgpack.Encoder().encode
# Contents are views of the bundle, not copies.
_decode = msgspec.msgpack.Decoder(tuple[_Item, ...]).decode


def missing_snapshots(entrants: Iterable[Entrant], *, cache: Path) -> tuple[str, ...]:
    wanted = sorted({entrant.snapshot for entrant in entrants})
    return tuple(f"{BOTS}/{content}" for content in wanted if find(cache, content) is None)


def pack(name: str, *, cache: Path) -> Bundle | None:
    """Pack an entry of the cache; None: no such packages, or too large; UserError: unreadable."""
    area, _, key = name.partition("/")
    folder = cache / area / key
    if area == BOTS and find(cache, key) is None:
        raise UserError(f"{printable(cache)}: a bot's snapshot has vanished from there; try again")
    if area not in {BOTS, PACKAGES} or not HASH.fullmatch(key) or not in_cache(folder):
        return None
    try:
        if area == PACKAGES and measure(folder)[1] > MAX_BYTES:
            return None
        items = tuple(_items_in(folder))
    except (OSError, ShapeError) as e:
        if what := ran_out(e):
            raise HostError(f"{printable(folder)}: can't be sent: {what}") from None
        raise UserError(f"{printable(folder)}: can't be sent: {printable(e)}") from None
    return Bundle(_sum(items), _encode(items))


def unpack(name: str, bundle: Bundle, *, cache: Path) -> None:
    """Add a bundle to the cache; UserError if it was changed on the way, or is hostile."""
    area, _, key = name.partition("/")
    if area not in {BOTS, PACKAGES} or not HASH.fullmatch(key):
        raise _refused("it has no place in the cache")
    if area == BOTS and bundle.sum != key:
        raise _refused("it is another bot's")
    with in_use(cache), scratch(cache, area) as folder, cache_errors(cache):
        made = folder / "made"
        made.mkdir()
        _write_items(bundle.content, made)
        try:
            found = _sum(_items_in(made))
        except ShapeError as e:
            raise _refused(f"it holds {e}") from None
        if found != bundle.sum:
            raise _refused("it was damaged on its way")
        set_modes(made, folders=0o755, files=0o444)
        publish(made, cache / area / key)


def _refused(why: str) -> UserError:
    return UserError(f"a bundle is refused: {why}")


def _items_in(folder: Path) -> Iterator[_Item]:
    """The content of a folder, sorted, one file at a time."""
    found = {
        os.fsencode(path.relative_to(folder)): (path, info.st_mode) for path, info in inside(folder)
    }
    for name, (path, mode) in sorted(found.items()):
        if stat.S_ISLNK(mode):
            yield _Item(name, "l", memoryview(os.fsencode(path.readlink())))
        elif stat.S_ISREG(mode):
            yield _Item(name, "x" if mode & stat.S_IXUSR else "-", memoryview(path.read_bytes()))
        elif not stat.S_ISDIR(mode):
            raise ShapeError(f"{printable(path.name)}, neither a file nor a folder nor a link")
        elif not any(path.iterdir()):
            yield _Item(name, "d", memoryview(b""))


def _sum(items: Iterable[_Item]) -> str:
    return digest((i.kind, hashlib.sha256(i.content).hexdigest(), i.path) for i in items)


def _write_items(bundle: bytes, made: Path) -> None:
    """Write a bundle's files into an empty folder, then its links."""
    links = []
    try:
        for item in _decode(bundle):
            path = _inner_path(item.path)
            target = made / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if item.kind == "l":
                links.append((target, os.fsdecode(bytes(item.content))))
            elif item.kind == "d":
                target.mkdir(exist_ok=True)
            elif item.kind in {"-", "x"}:
                with target.open("xb") as file:
                    file.write(item.content)
                    os.fchmod(file.fileno(), 0o700 if item.kind == "x" else 0o600)
            else:
                raise _refused(f"{printable(path)} is neither a file nor a folder nor a link")
        for target, to in links:
            target.symlink_to(to)
    except (msgspec.MsgspecError, ValueError, OSError) as e:
        if isinstance(e, OSError) and e.errno not in _ODD_NAMES:
            raise
        raise _refused("it can't be read") from None
    root = os.path.realpath(made)
    for target, to in links:
        if to.startswith("/") or not Path(os.path.realpath(target)).is_relative_to(root):
            shown = printable(target.relative_to(made))
            raise _refused(f"{shown} is a link to {printable(to)}, outside")


def _inner_path(path: bytes) -> str:
    parts = path.split(b"/")
    if {b"", b".", b".."} & set(parts) or len(parts) > MAX_DEPTH + 1:
        raise _refused(f"{printable(os.fsdecode(path))} is no path within a folder")
    return os.fsdecode(path)
