"""Which matches to play next: pull-style, deterministic, deciding only at ends of waves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from arena.model import MatchSpec
from arena.schedule import End, Results, Wave


class Format(Protocol):
    """A way to run an event. Made from settings, entrants and deals; see the registry."""

    @property
    def adaptive(self) -> bool:
        """Whether later waves follow from results: then its parts can't be played apart."""

    def wave(self, before: Sequence[Wave], results: Results) -> Wave | End:
        """The wave after those `before`, from what they have shown."""

    def find(self, pairing: str, deal: int, rotation: int) -> tuple[int, MatchSpec] | None:
        """A match that may be in the schedule, and a number that is its alone; None if there
        can be no such match.
        """
