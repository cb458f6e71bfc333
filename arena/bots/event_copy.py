"""Bots that travel with an event: their snapshots in its own folder, until it has been played.

    <event's folder>/bots/<content hash>/   a bot's files as they were

So a copy of a prepared folder has all that another machine needs. The folder is its owner's alone,
as bots are their authors' business.

Invariant: what is taken from here goes through the cache under the hash of its own bytes, so
a file that was changed on the way is found.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from arena.bots.cache import BOTS
from arena.bots.plain_text import printable
from arena.bots.snapshot import HASH, find
from arena.bots.trees import remove
from arena.exhaustion import ran_out, ran_out_in
from arena.model import Entrant, HostError, UserError


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
        if what := ran_out(error) or ran_out_in(str(error)):
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
