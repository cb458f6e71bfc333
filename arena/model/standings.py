"""Results that follow from an event and its records: rows of a table, and the table."""

import enum

from msgspec import UNSET, UnsetType

from arena.model.event import Event
from arena.model.fields import Frozen
from arena.model.settings import DERIVATION


class TrialVerdict(enum.StrEnum):
    """Result of a trial of a new bot."""

    BETTER = "better"
    NOT_BETTER = "not better"
    NO_WORSE = "no worse"
    WORSE = "worse"
    UNDECIDED = "no decision"


class Withdrawal(Frozen, frozen=True, kw_only=True):
    """A bot taken out after so many faulted matches in a row, in the order of the specs."""

    entrant: str
    after: str  # id of the last of the faulted matches
    annulled: bool
    """True: too few of its matches were played, so all its results are void. False: the
    rest of its matches are forfeits."""


class Standing(Frozen, frozen=True, kw_only=True):
    """One row of the table. A number that was not measured is None."""

    rank: int | None = None
    """1 is best; None: no rated deal of it counts, or its results are annulled."""
    rank_last: int | None = None  # equal to `rank` unless the row shares a range of ranks
    entrant: str
    mu: float | None = None
    sigma: float | None = None
    """Standard deviation of mu, including that of the level of the whole field, which stays however
    much is played, since results only tell of differences."""
    sigma_field: float | None = None
    """Standard deviation of mu less the field's mean mu; every match lowers it. None if there is
    nothing to compare with."""
    p_next: float | None = None  # probability that its mu is above the next row's; None in the last
    win: float | None = None  # share of opponents beaten in rated deals, a tie counting half
    win_low: float | None = None
    win_high: float | None = None
    """The 95 % interval of `win`: not symmetric, and never beyond 0 and 1."""
    delta: float | None = None
    """Strokes a match below (better, negative) or above its opponents' mean."""
    delta_ci: float | None = None
    adjusted: float | None = None  # the same less luck; None without a ledger
    adjusted_ci: float | None = None
    luck: float | None = None
    """Strokes a match that chance cost it, less what it cost its opponents."""
    disputed: bool = False
    """Its rank by what the event doesn't rate on would be outside its range of ranks."""
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    deals: int = 0
    matches: int = 0  # those that count
    strokes: float | None = None  # strokes a hole, over the holes it finished itself
    ms: float | None = None  # mean milliseconds a decision
    off_turn_ms: float | None = None
    """Mean milliseconds of CPU a match that it used while it wasn't asked."""
    faults: tuple[tuple[str, int], ...] = ()
    """(kind, count), sorted by kind; also those in matches that don't count."""
    note: str = ""  # withdrawn, annulled, not reproducible, not run
    source: str | UnsetType = UNSET
    """Where it lay, as its owner is told on request; in no file and on no page."""


class Duel(Frozen, frozen=True, kw_only=True):
    """One cell of the win matrix: row against column in rated deals."""

    row: str
    column: str
    wins: int
    ties: int
    losses: int


class OpenPair(Frozen, frozen=True, kw_only=True):
    """Neighbours that are not told apart."""

    bots: tuple[str, str]  # the first stands above
    deals: int
    """More deals of each table (in a race between the two, if they alone play on) that tell them
    apart with an even chance, if their lead is what it is now."""
    at_least: bool
    """The lead is less than its error: so many deals it takes if it is larger by that error."""


class SourceEvent(Frozen, frozen=True, kw_only=True):
    """One of the events that a table was made from."""

    event: Event
    matches: int  # matches of it that count in the table
    planned: int
    withdrawn: tuple[Withdrawal, ...] = ()
    ended: str = ""  # why nothing more was played, where results decided that
    aliases: tuple[tuple[str, str], ...] = ()
    """Entrants that have another id in the table: theirs, and that one."""
    damaged: int = 0  # damaged lines of its log, skipped
    gone: tuple[str, ...] = ()
    """Of an epoch: bots that play in it though withdrawn before; their results don't count."""


class Table(Frozen, frozen=True, kw_only=True):
    """The derived result of an event, or of several that were rated together; reports turn it
    into bytes.
    """

    event: Event
    """Of several: what they have in common. A setting in which they differ has its default."""
    rows: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    matches: int  # counted matches
    planned: int  # matches of the whole schedule, 0 when not known in advance
    withdrawn: tuple[Withdrawal, ...] = ()
    ended: str = ""  # why nothing more was played, where results decided that
    verdict: TrialVerdict | None = None  # of a trial that is over
    sources: tuple[SourceEvent, ...] = ()
    """The events that were rated, in the order of their commitments; empty: all of `event`."""
    selected: tuple[str, ...] = ()  # what was left out of them on request; for people
    open_pairs: tuple[OpenPair, ...] | UnsetType = UNSET
    """Neighbours that share ranks; absent where nobody asked, as in all files of an event."""
    rule: int = DERIVATION
    """The rule of derivation; an older one only for files of an event that names it."""
