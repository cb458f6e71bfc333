"""Entrants of an event as its log names them, and bots as they are started."""

from __future__ import annotations

from arena.model.fields import Frozen, Label, Text


class Entrant(Frozen, frozen=True, kw_only=True):
    """A contestant as the log knows it. `id` is name@version and unique in an event."""

    id: Label
    name: Label
    version: Label
    author: Label = ""
    hash: Label
    """SHA-256 over the content of the bot's folder: what it was, byte for byte."""


class Bot(Frozen, frozen=True, kw_only=True):
    """An entrant that can be started: where its snapshot lies and how it is run.

    Only for the machine it was made on; never published.
    """

    entrant: Entrant
    root: str
    """Folder with the snapshot (and what its build made); inside the sandbox it is /bot."""
    run: tuple[str, ...]
    """Argument vector; paths into the snapshot are given as they appear inside (/bot/...)."""
    expose: tuple[str, ...] = ()
    """Folders outside the system's own (an interpreter's installation) to show read-only."""
    env: tuple[tuple[str, str], ...] = ()
    """Added to the fixed environment: where its packages lie."""
    scratch_mb: int = 0
    """Size of its private /tmp; 0: none."""
    source: str = ""
    """The path that the user named."""


class NotRun(Frozen, frozen=True, kw_only=True):
    """An entrant that takes no part, and why (one line)."""

    name: Text
    reason: Text
