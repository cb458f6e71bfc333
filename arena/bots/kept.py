"""Bots of an event in its results folder, so that it never needs the cache again.

    bots/<content hash>/   a bot's files
    bots/sources.json      where each bot lay, by its id
    bots/place             the path of another such folder, which has them instead

An event that is prepared takes its bots along; any other keeps them when it begins. Events may
share a place: an epoch keeps its bots with those of its event, a tuning those of its stages. They
are for the owner alone (mode 0700, nothing for git): the rest of a results folder proves a table.

Invariant: nothing here is trusted. A bot that is taken from here goes through the cache under the
hash of its own bytes; a copy appears whole, by one rename, and is never changed.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from arena.bots.cache import BOTS, in_cache
from arena.bots.folder import os_errors
from arena.bots.plain_text import printable
from arena.bots.snapshot import HASH
from arena.bots.trees import ShapeError, copy_into, inside, measure
from arena.model import Entrant, UserError, canonical
from arena.sandbox.temporary import locked_folder, sweep
from arena.store.files import UNDECODABLE, read_small

MOST_BYTES = 256 << 20
"""Of copies in one place: 60 bots of 4 MB. Larger ones are linked where the disk allows it."""
LINKED_FROM = 4 << 20
"""Bytes of a bot from which on its files are hard links to those in the cache."""
_SOURCES, _PLACE = "sources.json", "place"
_FRESH = ".new-"  # prefix of a copy that is being made
_IGNORED = (
    "# The event's bots, for its owner alone: leave this folder out when you hand out results.\n*\n"
)


def keep_bots(
    entrants: Iterable[Entrant],
    folder: Path,
    sources: Mapping[str, str],
    *,
    cache: Path,
    place: Path | None = None,
    most: int = MOST_BYTES,
) -> list[str]:
    """Keep the entrants' snapshots in a results folder, or in `place`, which others share. Returns
    the ids of those that are too large. UserError if the folder can't be written to.
    """
    bots, lost = {each.snapshot: each.id for each in entrants}, []
    with os_errors(f"{printable(folder)}: can't keep the bots there", UserError):
        kept = _begin(folder, place)
        left = most - sum(info.st_size for _, info in inside(kept) if info.st_nlink == 1)
        for content, name in sorted(bots.items()):
            if (kept / content).is_dir():
                continue
            snapshot = cache / BOTS / content
            if not in_cache(snapshot):
                raise UserError(
                    f"{printable(cache)}: a bot's snapshot has just vanished from there; try again"
                )
            size = measure(snapshot)[1]
            if size >= LINKED_FROM and _put(snapshot, kept, linked=True):
                continue
            if size > left:
                lost.append(name)
                continue
            left -= size
            _put(snapshot, kept)
        known = sources_in(folder)
        new = {name: path for name, path in sources.items() if not _inside(path, cache, kept)}
        if new.keys() - known.keys():
            fresh = kept / f".{_SOURCES}"
            fresh.write_bytes(canonical(new | known))
            fresh.rename(kept / _SOURCES)
    return lost


def share_bots(folder: Path, place: Path) -> None:
    """Have the bots of a results folder found in `place`, by content; wherever both are moved."""
    at = os.path.relpath(place.absolute(), (folder / BOTS).absolute())
    (_made(folder / BOTS) / _PLACE).write_text(at)  # a results folder has no links


def _made(kept: Path) -> Path:
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    if kept.is_symlink():
        raise UserError(f"{kept}: a link, so nothing is written there")
    return kept


def _begin(folder: Path, place: Path | None) -> Path:
    if place is not None:
        share_bots(folder, place)
    kept = _made(place or folder / BOTS)
    (kept / ".gitignore").write_text(_IGNORED)
    sweep(kept, _FRESH)
    return kept


def _put(snapshot: Path, kept: Path, *, linked: bool = False) -> bool:
    """False: another disk, or one without links, or with too many."""
    with locked_folder(kept, _FRESH) as fresh:
        made = fresh / snapshot.name
        made.mkdir()
        try:
            if linked:
                for path, _ in inside(snapshot):
                    target = made / path.relative_to(snapshot)
                    target.mkdir() if path.is_dir() else target.hardlink_to(path)
            else:
                copy_into(snapshot, made)
        except OSError:
            if linked:
                return False
            raise
        try:
            made.rename(kept / snapshot.name)
        except OSError:
            if not (kept / snapshot.name).is_dir():  # else another event has just kept it
                raise
    return True


def _inside(path: str, *places: Path) -> bool:
    return not path or any(Path(path).is_relative_to(place.absolute()) for place in places)


def hand_over(entrants: Iterable[Entrant], folder: Path, to: Path) -> None:
    """Copy what one results folder keeps of its bots to another, as far as it is whole."""
    for content in sorted({each.snapshot for each in entrants}):
        if (there := kept_copy(folder, content)) and not kept_copy(to, content):
            with contextlib.suppress(OSError, ShapeError):
                _put(there, _begin(to, None))
    if known := sources_in(folder):
        with contextlib.suppress(OSError):
            (_begin(to, None) / _SOURCES).write_bytes(canonical(known))


def kept_copy(folder: Path, content: str) -> Path | None:
    place = _place(folder) / content
    there = HASH.fullmatch(content) and place.is_dir() and not place.is_symlink()
    return place if there else None


def sources_in(folder: Path) -> dict[str, str]:
    """Where the bots of an event lay, by id, as far as it is known; these are anybody's words."""
    with contextlib.suppress(OSError, UserError, *UNDECODABLE):
        return msgspec.json.decode(read_small(_place(folder) / _SOURCES), type=dict[str, str])
    return {}


def _place(folder: Path) -> Path:
    with contextlib.suppress(OSError, UserError, *UNDECODABLE):
        return folder / BOTS / read_small(folder / BOTS / _PLACE).decode()
    return folder / BOTS
