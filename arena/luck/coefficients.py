"""Load the trained coefficients by which the luck of a game is measured: integers, one file a game.

bench/train_luck writes the files. Invariant: the digest is that of the very bytes they come from.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import msgspec

from arena.luck.walk import LuckWalk
from arena.model import Frozen, sha256_hex


class Coefficients(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    """What the numbers are, and how they were made."""
    version: int
    """Increases with any change that alters the luck of a match."""
    weights: dict[str, int]
    """By kind of weight, in hundredths."""
    rows: tuple[tuple[int, ...], ...]
    """Hundredths of a stroke; the game's module says in which order."""


class Measure(Frozen, frozen=True):
    """How the luck of a game is measured: what `Descriptor.luck` names."""

    file: str
    """Of the coefficients, in this package."""
    tables: Callable[..., Any]
    """Lookup tables, from rows and weights."""
    walk: Callable[..., LuckWalk]
    """One hole: `walk(hole, seats=…, order=…, deck=…, tables=…)`."""


@functools.cache
def read(name: str) -> tuple[Coefficients, str]:
    """A file's numbers and the SHA-256 of its bytes."""
    text = (files("arena.luck") / name).read_bytes()
    return msgspec.json.decode(text, type=Coefficients), sha256_hex(text)


@functools.cache
def tables(measure: Measure) -> Any:  # noqa: ANN401 - each game has its own
    frozen, _ = read(measure.file)
    return measure.tables(frozen.rows, frozen.weights)
