"""Check that events and records of a results folder are ones that an arena could have written.

A folder may come from a stranger, with forged checksums. Types and ranges are checked while
decoding; this module checks relations between fields. Whether a record is true is for
`arena verify`.

Pure. Invariant: in what passes every seat has an entrant, a total and a place, and entrants' ids
are labels: they may be file names, and words of a command that is printed for copying.
"""

import re
import unicodedata

import msgspec
from msgspec import UNSET

from arena.model import Entrant, Event, MatchRecord, Settings, TrialSettings, label_fault
from arena.model.parameters import NAME, VALUE, setting_hash

_HASH = re.compile(r"[0-9a-z]{0,64}")
_SECRET = re.compile(r"([0-9a-f]{64})?")
_RULED, _RULED_TRIAL = (
    [field.name for field in msgspec.structs.fields(kind) if field.default is UNSET]
    for kind in (Settings, TrialSettings)
)
"""Names of settings that no event of the first rule has."""

# The fit inverts a matrix whose entries span the square of sigma over what a result's spread is,
# times the number of results. With these, 5,000,000 matches that all agree leave some three of the
# 15 digits of a float; with ten times as much nothing would be left. Every event has 2 and 200.
_MOST_BETAS = 1_000
_MOST_SPREADS = 10_000


def event_fault(event: Event) -> str:
    """What is wrong with it; empty if nothing."""
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
    return _rating_fault(event.settings) or _rule_fault(event)


def _rule_fault(event: Event) -> str:
    """Settings that the named rule of derivation doesn't have."""
    settings = event.settings
    if settings.derivation is UNSET:
        stated = [name for name in _RULED if getattr(settings, name) is not UNSET]
        if trial := settings.trial:
            stated += [name for name in _RULED_TRIAL if getattr(trial, name) is not UNSET]
        return f"its settings have {stated[0]}, and name no derivation" if stated else ""
    if settings.predictable is not event.predictable:
        return "whether it is predictable, its settings say otherwise"
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
    return _setting_fault(entrant)


def _setting_fault(entrant: Entrant) -> str:
    content, params = entrant.content, entrant.params
    if content is UNSET and params is UNSET:
        return ""
    if content is UNSET or not params or not _HASH.fullmatch(content):
        return "of content and parameters it has one alone"
    if not all(NAME.fullmatch(name) and VALUE.fullmatch(text) for name, text in params.items()):
        return "its parameters are not names with numbers"
    if entrant.hash != setting_hash(content, params):
        return "its hash is not that of its content and its parameters"
    return ""


def _rating_fault(settings: Settings) -> str:
    """Why ratings can't be computed with its constants; empty if they can."""
    rating = settings.rating
    wrong = f"its rating: sigma {rating.sigma:g} is more than"
    if rating.sigma > _MOST_BETAS * rating.beta:
        return f"{wrong} {_MOST_BETAS} times beta {rating.beta:g}"
    spread = rating.beta * rating.least_spread
    if rating.sigma > _MOST_SPREADS * spread:
        return f"{wrong} {_MOST_SPREADS} times beta times least_spread, {spread:g}"
    if not 0 <= rating.tau <= rating.sigma:
        return f"its rating: tau {rating.tau:g} is not between 0 and sigma {rating.sigma:g}"
    return ""


def record_fault(record: MatchRecord, entrants: frozenset[str]) -> str:
    """What is wrong with it in an event of these entrants; empty if nothing."""
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
