"""Whether what was read from a results folder is what an arena could have written there.

A folder may come from a stranger, and whoever forges a line forges its checksum too. Types and
ranges are stated in `arena.model` and checked while it is decoded; here is what holds between
fields. Whether it is true is another question: `arena verify` answers it.

Pure. Invariant: in what passes every seat has an entrant, a total and a place, and entrants' ids
are labels: they may be file names, and words of a command that is printed for copying.
"""

from __future__ import annotations

import re
import unicodedata

from arena.labels import label_fault
from arena.model import Entrant, Event, MatchRecord

_HASH = re.compile(r"[0-9a-z]{0,64}")
_SECRET = re.compile(r"([0-9a-f]{64})?")


def event_fault(event: Event) -> str:
    """What no arena would have written, or nothing."""
    seen = set()
    for number, entrant in enumerate(event.entrants, 1):
        if fault := _entrant_fault(entrant):
            return f"entrant {number}: {fault}"
        if entrant.id in seen:
            return f"entrant {number}: {entrant.id} is there twice"
        seen.add(entrant.id)
    if not _HASH.fullmatch(event.commitment):
        return "its commitment is no hash"
    if not _SECRET.fullmatch(event.secret):
        return "its secret is not 64 hex digits"
    return ""


def _entrant_fault(entrant: Entrant) -> str:
    for what, label in (("name", entrant.name), ("version", entrant.version)):
        if not unicodedata.is_normalized("NFC", label):
            return f"its {what} is not in the normal form NFC"
        if fault := label_fault(label):
            return f"its {what}: {fault}"
    if entrant.id != f"{entrant.name}@{entrant.version}":
        return "its id is not its name@version"
    if not _HASH.fullmatch(entrant.hash):
        return "its hash is none"
    return ""


def record_fault(record: MatchRecord, entrants: frozenset[str]) -> str:
    """What no arena would have written in an event of these entrants, or nothing."""
    seats = len(record.seats)
    if not entrants.issuperset(record.seats) or len(set(record.seats)) != seats:
        return "its seats are not taken by different entrants of the event"
    if len(record.totals) != seats or len(record.places) != seats:
        return "not every seat has a total and a place"
    for what in ("use", "luck"):
        if len(getattr(record, what)) not in {0, seats}:
            return f"not every seat has its {what}"
    for hole in record.holes:
        if hole.scores and len(hole.scores) != seats:
            return "not every seat has a score"
    for fault in record.faults:
        if fault.seat >= seats:
            return f"a fault of seat {fault.seat}, which is not there"
    return ""
