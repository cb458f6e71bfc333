"""Data that an event's pages are rendered from: its table and what the log adds; their file names.

The live pages have a `Table` and nothing else: `EventView(slug=..., name=..., table=table)` is
enough for ranking, matrix and method.

Pure. Invariant: nothing in a view is private; it has been through `clearance`. Bots are named by
their place in `names` wherever there are many. A file name has letters a to z, digits and hyphens,
whatever a bot is called; two bots never share one; it reveals nothing that the page doesn't say.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from arena.model import Frozen, Standing, Table
from arena.regret.summary import RegretReport

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_TOLD_APART = 16
"""Hex digits: with eight, a name that takes over another bot's page is found within an hour."""


def bot_slug(entrant: str) -> str:
    """A file name for a bot's id or name: readable, with a hash that makes it unique."""
    simple = unicodedata.normalize("NFKD", entrant).encode("ascii", "ignore").decode().lower()
    shown = _OTHER.sub("-", simple).strip("-")[:_LONGEST].strip("-")
    told_apart = hashlib.sha256(entrant.encode("utf-8", "surrogatepass")).hexdigest()[:_TOLD_APART]
    return f"{shown or 'bot'}-{told_apart}"


def event_slug(commitment: str) -> str:
    """A folder name for an event, from its commitment, which is unique."""
    return commitment[:12] or "event"


class Point(Frozen, frozen=True, kw_only=True):
    matches: int  # matches of the whole event by then
    mu: float
    error: float  # standard deviation of mu against the field's mean


class Spread(msgspec.Struct):
    count: int = 0
    strokes: int = 0

    @property
    def mean(self) -> float:
        return self.strokes / self.count if self.count else 0.0


class Failing(Frozen, frozen=True, kw_only=True):
    """A fault of a bot, as far as it may be published."""

    match: str
    kind: str
    hole: int
    turn: int
    message: str = ""
    line: str = ""
    status: str = ""
    stderr: str = ""


class Notable(Frozen, frozen=True, kw_only=True):
    match: str
    strokes: int
    lead: float  # strokes less than the mean of its opponents


class BotView(msgspec.Struct, kw_only=True):
    """What the log shows of one bot; `Statistics` adds it up."""

    history: Sequence[Point] = ()
    strokes: Counter[int] = msgspec.field(default_factory=Counter)
    """Strokes of a hole -> how often."""
    seats: list[Spread] = []
    holes: list[Spread] = []  # the first nine; holes of a playoff count nowhere
    decisions: int = 0
    think_ms: float = 0.0
    max_ms: float = 0.0
    waited_ms: float = 0.0
    faults: list[Failing] = []  # the first of them
    failed: int = 0  # all of them
    annulled: int = 0
    """Matches that it played, and that don't count since its results are annulled."""
    best: Notable | None = None
    worst: Notable | None = None


class EventView(Frozen, frozen=True, kw_only=True):
    slug: str  # its folder in the site
    name: str  # what people call it; empty: by its game and date
    table: Table
    bots: Mapping[str, BotView] = {}  # by entrant; empty: there are no pages of bots
    names: tuple[str, ...] = ()
    """Its entrants' ids in the order in which files of matches name them."""
    replays: int = 0  # matches that can be looked at, card by card
    listed: int = 0  # matches in the lists
    ended: float = 0.0  # when its last match ended; 0: not known
    missing: tuple[str, ...] = ()  # keys of what is missing and why, in the order of display
    anonymous: bool = False
    regret: RegretReport | None = None  # where its bots lost strokes, in some of its matches

    @property
    def place(self) -> dict[str, Standing]:
        return {row.entrant: row for row in self.table.rows}

    def page_of(self, entrant: str) -> str | None:
        """A bot's page, relative to the event's folder."""
        return f"b/{bot_slug(entrant)}.html" if entrant in self.bots else None
