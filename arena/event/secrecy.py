"""Refuse to start bots where what is private lies in a folder that every bot sees."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from arena.bots import Candidate, default_cache, printable
from arena.model import UserError
from arena.sandbox.visible import public_folder_of
from arena.scaffolds.shipped import is_example


def refuse_shown_places(results: Path | None) -> None:
    """UserError if the user's home, the cache or the folder of the results is shown to bots."""
    # Path.home() raises where the user has no entry; then nothing is kept there either.
    _refuse("your home", Path(os.path.expanduser("~")), "set HOME to another folder")  # noqa: PTH111
    _refuse("the cache", default_cache(), "set XDG_CACHE_HOME to another folder")
    if results is not None:
        _refuse("the results folder", results, "move it, or name another with --out")


def refuse_shown_bots(candidates: Iterable[Candidate]) -> None:
    for candidate in candidates:
        if candidate.source and not is_example(Path(candidate.source)):  # those are public
            _refuse("the bot", Path(candidate.source), "move it to another folder")


def _refuse(what: str, place: Path, remedy: str) -> None:
    if folder := public_folder_of(place):
        raise UserError(
            f"{what} {printable(place.absolute())} lies in {folder}, which every bot sees; {remedy}"
        )
