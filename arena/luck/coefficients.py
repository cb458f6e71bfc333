"""The frozen numbers by which luck is measured: whole ones, one file a game.

bench/train_luck makes the files. They are read when they are first wanted.

Invariant: what is read is part of the package and never written by it; the digest is that of the
very bytes the numbers come from.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import msgspec

from arena.model import Frozen, sha256_hex


class Coefficients(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file says."""

    about: str
    """What the numbers are, and what has made them."""
    version: int
    """Goes up with any change by which a match would have had other luck."""
    weights: dict[str, int]
    """By what is weighed, in hundredths."""
    rows: tuple[tuple[int, ...], ...]
    """Hundredths of a stroke; the game's module says in which order."""


@functools.cache
def read(name: str) -> tuple[Coefficients, str]:
    """A file's numbers and the SHA-256 of its bytes."""
    text = (files("arena.luck") / name).read_bytes()
    return msgspec.json.decode(text, type=Coefficients), sha256_hex(text)
