"""What `arena audit` has found, as data: `--json` writes this, the terminal shows it. Pure.

Invariant: `p` is what chance alone does to a whole report: in a fair event one in twenty reports
has any that is 0.05 or less, however many bots, pairs and parts it has. `p_alone` is of that row.
"""

import enum

from arena.model import Frozen

VERSION = 1
UNUSUAL = 0.05  # of a whole report, how often chance alone calls something unusual
STRICT = 0.01  # the p-value below which `--strict` calls a row unusual


class AuditPart(enum.StrEnum):
    """A part of the audit that can have unusual rows."""

    CAPS = "caps"
    LUCK = "luck"
    LATER = "later"
    LIFT = "lift"
    FEEDING = "feeding"
    SERIES = "series"
    TREND = "trend"
    WAITS = "waits"


class Question(Frozen, frozen=True, kw_only=True):
    """A part of the report that could be tested, and its most unusual row."""

    part: AuditPart
    rows: int  # how many bots or pairs were asked about
    bots: tuple[str, ...]  # the most unusual of them
    p: float


class Effect(Frozen, frozen=True, kw_only=True):
    """What a seat, or a place in the order of play, is worth."""

    strokes: float  # above (worse) or below the table's mean
    low: float | None  # of the 95 % interval; none with a single rated deal
    high: float | None


class Proportion(Frozen, frozen=True, kw_only=True):
    """How many of how many."""

    count: int
    of: int
    share: float
    low: float  # of the 95 % interval, by rated deal
    high: float


class Capped(Frozen, frozen=True, kw_only=True):
    """A pair at one table, and how often the turn cap ended their holes."""

    bots: tuple[str, str]
    holes: int
    capped: int
    p_alone: float
    p: float


class Luck(Frozen, frozen=True, kw_only=True):
    """What chance cost a bot."""

    bot: str
    strokes: float  # a match; expected is 0
    error: float
    z: float
    p_alone: float
    p: float


class Later(Frozen, frozen=True, kw_only=True):
    """A bot where its deal had been played before, against where it had not."""

    bot: str
    deals: int
    strokes: float
    """A match, less the opponents' and what the seats are worth; less than 0: better later."""
    error: float
    p_alone: float
    p: float


class Lift(Frozen, frozen=True, kw_only=True):
    """A pair at one table, against both without each other."""

    bots: tuple[str, str]
    events: int  # rated deals that they shared
    strokes: float  # a match, for each of the two; less than 0: better together
    p_alone: float
    p: float


class Feeding(Frozen, frozen=True, kw_only=True):
    """How often a bot takes what another leaves it."""

    giver: str
    taker: str
    left: int
    taken: int
    expected: float  # how many it would take by what both do with others
    p_alone: float
    p: float


class Together(Frozen, frozen=True, kw_only=True):
    """How far a bot's results by the same processes are correlated."""

    bot: str
    blocks: int  # in pairings with more than one: all that follows is about these
    events: int  # rated deals in these blocks
    correlation: float
    """Within a block, of strokes less the opponents' (intraclass); 0: rated deals are
    independent, as the table takes them to be."""
    wider: float
    """How many times as wide the table's interval of its strokes would be, if it took blocks
    for what is independent."""
    p_alone: float
    p: float


class Trend(Frozen, frozen=True, kw_only=True):
    """How a bot's results change from match to match of a series."""

    bot: str
    blocks: int  # with more than one deal
    strokes: float
    """A match, less the opponents', along a line from the first deal of the longest block to
    its last; less than 0: it gets better."""
    error: float
    p_alone: float
    p: float


class Waits(Frozen, frozen=True, kw_only=True):
    """How long the machine kept a bot waiting."""

    bot: str
    longer_ms: float  # a decision, than the others at its tables; negative: shorter
    p_alone: float
    p: float


class TimeUse(Frozen, frozen=True, kw_only=True):
    """What a bot used of its time, over all matches that count."""

    bot: str
    matches: int
    mean_ms: float  # a decision
    max_ms: float
    share: float  # of the limit of a decision, the most it used
    bank_share: float  # of the bank of a match, the most it used
    waited_ms: float  # a match, that the machine kept it waiting; not charged
    off_turn_ms: float  # a match, CPU time while it wasn't asked


class FaultCounts(Frozen, frozen=True, kw_only=True):
    """A bot's faults of one kind."""

    bot: str
    kind: str
    early: int  # in the half of the matches that ended first
    late: int


class Audit(Frozen, frozen=True, kw_only=True):
    """The whole report: the object that `--json` writes."""

    v: int = VERSION
    game: str
    seats: int
    matches: int  # that count
    events: int
    """Rated deals that are whole and without a fault: all but time and faults is about these."""
    left_out: int  # rated deals that aren't
    unusual: float = UNUSUAL
    """Of fair events, the share in which chance alone makes some `p` no greater than this."""
    tested: tuple[Question, ...]  # the parts that could be tested, the most unusual first
    by_place: tuple[Effect, ...]  # by place in the order of play, strokes a hole
    by_seat: tuple[Effect, ...]  # by seat, strokes a match
    rotation: float
    """What the seats are worth to the bot that they favour most, over all its matches that count:
    0 where all rotations do."""
    tied_matches: Proportion  # with more than one first
    tied_events: Proportion
    capped: Proportion  # holes that no player ended
    capped_pairs: tuple[Capped, ...]
    luck: tuple[Luck, ...]  # empty: the log has none
    adjusted: bool  # whether what follows is about strokes less luck: where the log has it for all
    later: tuple[Later, ...]
    lift: tuple[Lift, ...]
    """The most unusual pairs first, ten at most and all that are unusual; so in what follows."""
    feeding: tuple[Feeding, ...]
    blocks: int  # the series that share deals count as one
    single: int  # pairings with a single block, which shows no correlation
    together: tuple[Together, ...]
    """Empty: no bot has a pairing with several blocks of which one has several deals."""
    trends: tuple[Trend, ...]  # by bot, of those with ten blocks of several deals
    waits: tuple[Waits, ...]  # empty: no bot was kept waiting
    time: tuple[TimeUse, ...]
    faults: tuple[FaultCounts, ...]
    load: float  # the greatest load average that a fault was recorded with; 0: none

    @property
    def strange(self) -> bool:
        """Whether something in it is unusual at the level of `--strict`."""
        return any(one.p <= STRICT for one in self.tested)
