"""Open a match of a live event: its cards, if they may be shown.

Reads the log and replays the match, so it runs in a thread. Invariant: a match that
`EventState.shows` does not allow is never read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from arena import registry
from arena.live.event_state import EventState
from arena.live.pages import CLEARING
from arena.model import Event
from arena.replay.steps import unfold
from arena.site import segments
from arena.store import records_of_match

_ID = re.compile(r"([0-9a-f]{12})-([0-9]{6})-([0-7])")
_encode = msgspec.json.Encoder().encode


class MatchOpener:
    """The matches of one event. Keeps its secret to itself."""

    def __init__(self, folder: Path, event: Event, secret: bytes) -> None:
        self._folder = folder
        self._event = event
        self._secret = secret
        entrants = sorted(entrant.id for entrant in event.entrants)
        self._names = {entrant: place for place, entrant in enumerate(entrants)}

    def index(self) -> bytes:
        """The index that the viewer's script loads first; there is a single segment."""
        return _encode({"names": list(self._names), "files": [], "parts": [[""]]})

    @staticmethod
    def allowed(match: str, show: EventState) -> bool | None:
        """Whether a match may be shown; None for what is no match id."""
        found = _ID.fullmatch(match)
        return None if found is None else show.shows(found[1], int(found[2]))

    def match(self, match: str) -> bytes | None:
        """A match as the viewer's script loads it; None if there is none."""
        records = records_of_match(self._folder, match, self._event)
        if not records:
            return None
        # The attempt that counts is the first complete one: none was begun after that.
        record = max(records, key=lambda each: each.attempt)
        game = registry.game(self._event.settings.game)
        steps = unfold(record, self._event, game=game, secret=self._secret)
        shown: list[Any] = [segments.match(steps, self._names, CLEARING)]
        return _encode(shown)
