"""The state of an event while it is played, as far as its live pages may show it.

Theory of operation. An `EventState` follows an event as a progress bar does, in the parent's own
task. An `EventSnapshot` is all of it at one moment, as plain data that other threads may read.

Shown at once are that a match is over, who sat where, strokes, places, kinds of faults. Cards,
moves and bots' own words are shown when their deal is counted in all its rotations: until then it
will be dealt again to the same bots. Deals of which a rotation is void by a withdrawal, or whose
series a withdrawal cut short, are over only with the event: a late record could undo that.

Invariant: it holds SHOWN matches, POINTS of history, and a byte a deal.
"""

from collections import deque
from itertools import pairwise
from typing import Any, Literal

import msgspec

from arena.event.progress import Progress
from arena.model import Event, MatchRecord, Table
from arena.ratings.outcomes import RatedOutcome
from arena.schedule import Wave

SHOWN = 25  # on the page of an event; the log has the others
POINTS = 128  # enough for a curve; when there are more, every second one is forgotten

Status = Literal["playing", "stopped", "over"]


class RecentMatch(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    pairing: str
    deal: int
    seats: tuple[str, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[tuple[int, str], ...]  # (seat, kind)


class Uncertainty(msgspec.Struct, frozen=True, kw_only=True):
    matches: int
    error: float  # of mu against the field's mean: the mean of all
    apart: int  # neighbours that were told apart


class EventSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    event: Event
    state: Status
    planned: int
    more: int  # matches that are likely to be decided on later
    done: int
    faults: int
    rate: float
    waves: int
    note: str  # what the last wave is about
    voids: int
    matches: tuple[RecentMatch, ...]  # the last ones, the latest first
    open: frozenset[str]  # those of them whose cards may be shown
    table: Table | None = None
    history: tuple[Uncertainty, ...] = ()

    @property
    def left(self) -> float | None:
        return (self.planned + self.more - self.done) / self.rate if self.rate else None


class EventState:
    def __init__(self, event: Event) -> None:
        self.event = event
        self.state: Status = "playing"
        self.planned = 0
        self._waves = 0
        self._note = ""
        self._voids = 0
        self._matches: deque[RecentMatch] = deque(maxlen=SHOWN)
        self._over: dict[str, bytearray] = {}
        """By pairing, a byte a deal: 1 for one that is over."""
        self._history: list[Uncertainty] = []

    def match(self, record: MatchRecord) -> None:
        names = ("id", "pairing", "deal", "seats", "totals", "places")
        shown: dict[str, Any] = {name: getattr(record, name) for name in names}
        faults = tuple((fault.seat, fault.kind.value) for fault in record.faults)
        self._matches.appendleft(RecentMatch(**shown, faults=faults))

    def rated(self, rated: RatedOutcome) -> None:
        """Note that a deal is over: counted in all its rotations for good."""
        if rated.again:
            return
        deals = self._over.setdefault(rated.pairing, bytearray())
        if rated.deal >= len(deals):
            deals.extend(bytes(rated.deal + 1 - len(deals)))
        deals[rated.deal] = 1

    def wave(self, wave: Wave) -> None:
        self._waves += 1
        self._note = wave.note

    def trouble(self, series: str, message: str) -> None:
        """Count a void series; the reason is for the organiser alone."""
        del series, message
        self._voids += 1

    def shows(self, pairing: str, deal: int) -> bool:
        if self.state == "over":
            return True
        deals = self._over.get(pairing, b"")
        return deal < len(deals) and bool(deals[deal])

    def note_ranking(self, table: Table) -> None:
        rated = [row for row in table.rows if row.rank]
        if not rated or (self._history and self._history[-1].matches == table.matches):
            return
        # A bot that was withdrawn may take its matches with it: what was counted before is void.
        while self._history and self._history[-1].matches >= table.matches:
            self._history.pop()
        apart = sum((one.rank_last or 0) < (two.rank or 0) for one, two in pairwise(rated))
        errors = [row.sigma_field for row in rated if row.sigma_field is not None]
        error = sum(errors) / max(1, len(errors))
        if len(self._history) == POINTS:
            del self._history[1::2]
        self._history.append(Uncertainty(matches=table.matches, error=error, apart=apart))

    def snapshot(self, pace: Progress, table: Table | None) -> EventSnapshot:
        return EventSnapshot(
            event=self.event,
            state=self.state,
            planned=pace.planned,
            more=pace.more,
            done=pace.done,
            faults=pace.faults,
            rate=pace.rate() if self.state == "playing" else 0.0,
            waves=self._waves,
            note=self._note,
            voids=self._voids,
            matches=tuple(self._matches),
            open=frozenset(one.id for one in self._matches if self.shows(one.pairing, one.deal)),
            table=table,
            history=tuple(self._history),
        )
