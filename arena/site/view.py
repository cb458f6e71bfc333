"""Data that an event's pages are rendered from: its table, and what the log adds to it.

Pure data. The live pages have a `Table` and nothing else: `EventView(slug=..., name=...,
table=table)` is enough for ranking, matrix and method.

Invariant: nothing in a view is private; it has been through `clearance`. Bots are named by their
place in `names` wherever there are many.
"""

from __future__ import annotations

from arena.model import Frozen, Standing, Table
from arena.site.file_names import bot_slug


class Point(Frozen, frozen=True, kw_only=True):
    """A rating at a moment of the event."""

    matches: int
    """Matches of the whole event by then."""
    mu: float
    error: float
    """Standard deviation of mu against the field's mean."""


class Spread(Frozen, frozen=True, kw_only=True):
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
    """A bot's best or worst match."""

    match: str
    strokes: int
    lead: float
    """Strokes less than the mean of its opponents."""


class BotView(Frozen, frozen=True, kw_only=True):
    """What the log shows of one bot."""

    history: tuple[Point, ...] = ()
    strokes: tuple[tuple[int, int], ...] = ()
    """(strokes of a hole, how often), sorted."""
    seats: tuple[Spread, ...] = ()
    holes: tuple[Spread, ...] = ()
    """The first nine; holes of a playoff count nowhere."""
    decisions: int = 0
    think_ms: float = 0.0
    max_ms: float = 0.0
    waited_ms: float = 0.0
    faults: tuple[Failing, ...] = ()
    """The first of them."""
    failed: int = 0
    """All of them."""
    annulled: int = 0
    """Matches that it played, and that don't count since its results are annulled."""
    best: Notable | None = None
    worst: Notable | None = None


class EventView(Frozen, frozen=True, kw_only=True):
    """An event as it is published."""

    slug: str
    """Its folder in the site."""
    name: str
    """What people call it; empty: by its game and date."""
    table: Table
    bots: tuple[tuple[str, BotView], ...] = ()
    """By entrant; empty: there are no pages of bots."""
    names: tuple[str, ...] = ()
    """Its entrants' ids in the order in which files of matches name them."""
    replays: int = 0
    """Matches that can be looked at, card by card."""
    listed: int = 0
    """Matches in the lists."""
    ended: float = 0.0
    """When its last match ended; 0: not known."""
    missing: tuple[str, ...] = ()
    """Keys of what is missing and why, in the order of display."""
    anonymous: bool = False
    live: bool = False
    """Shown while it is played: numbers still change."""

    @property
    def place(self) -> dict[str, Standing]:
        """The rows by entrant."""
        return {row.entrant: row for row in self.table.rows}

    def page_of(self, entrant: str) -> str | None:
        """A bot's page, relative to the event's folder."""
        found = any(entrant == bot for bot, _ in self.bots)
        return f"b/{bot_slug(entrant)}.html" if found else None
