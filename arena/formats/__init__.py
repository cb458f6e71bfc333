"""Which matches to play next: pull-style, deterministic, deciding only at ends of waves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from arena.model import Block


class Format(Protocol):
    """A way to run an event. Made from settings, entrants and deals; see the registry."""

    @property
    def planned(self) -> int:
        """Matches in all, as far as is known."""

    def planned_for(self) -> dict[str, int]:
        """Matches by entrant, as far as is known."""

    def wave(self, number: int) -> Iterator[Block]:
        """The blocks of a wave in the order of the specs; none when the event is over."""
