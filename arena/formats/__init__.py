"""Formats decide which matches to play next: deterministic, pull-style, at the ends of waves only.

A format (a schedule) is a module here with a class that does what `Format` says, and a line of
`arena.registry.FORMATS`: then `--schedule` offers it, and its options with it. What several share:
`tables` (which bots sit together), `blocks` (from tables and deals to series).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from arena.deals import Deals
from arena.model import Entrant, Frozen, MatchSpec, Settings
from arena.schedule import ScheduleEnd, Wave, WaveResults


class Format(Protocol):
    """A way to run an event. UserError from `__init__` if it can't be run so."""

    adaptive: ClassVar[bool]
    """Whether later waves follow from results: then its parts can't be played apart, and unless
    the event says otherwise it rates on strokes less luck, which tell sooner."""

    Options: ClassVar[type[Frozen] | None] = None
    """Type of its own options, with a default for each that may be left out."""

    options_member: ClassVar[str] = "options"
    """Where the settings hold them. If that is `options`, the format reads them by `options_of`."""

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None: ...

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:
        """The wave after those `before`, from what they have shown."""

    def find(self, pairing: str, deal: int, rotation: int) -> tuple[int, MatchSpec] | None:
        """A match that may be in the schedule, and a number that is its alone; None if there
        can be no such match.
        """
