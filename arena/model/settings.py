"""Settings of an event: what is played, under which limits, and how it is rated.

All of it is under the event's commitment. A new setting is `X | UnsetType = UNSET`, so that an
event that was published before it keeps its bytes.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from arena.model.fields import Bytes, Count, Frozen, Label, Milliseconds, Rating, Text, Width

OptionValue = (
    bool
    | Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000)]
    | Annotated[float, Meta(ge=-1e9, le=1e9)]
    | Label
)

DERIVATION = 2
"""The rule that new events name: how their lines are spelled and their tables derived. DEALS.md
lists the rules; an event of the first names none."""


class Limits(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bot may use. Echoed in `hello`; the one table of them is in protocol/SPEC.md."""

    move_ms: Milliseconds = 1_000
    match_ms: Milliseconds = 60_000
    start_ms: Milliseconds = 10_000
    memory_mb: Annotated[int, Meta(ge=1, le=1 << 20)] = 512
    tasks: Annotated[int, Meta(ge=1, le=100_000)] = 64
    scratch_mb: Annotated[int, Meta(ge=0, le=1 << 16)] = 16
    """The most that a bot may ask for as its private /tmp; it gets none unless it asks."""
    line_bytes: Bytes = 65_536
    stderr_bytes: Bytes = 65_536


RateOn = Literal["results", "adjusted"]
"""What an event rates on: results as played, or strokes less luck."""

FAULTS_IN_A_ROW, HALF = 3, 0.5
"""When a bot is withdrawn, and annulled, in events that don't state it."""

SHUFFLED: Literal["shuffled"] = "shuffled"
BLOCKS: Literal["blocks"] = "blocks"

RESULTS: RateOn = "results"
ADJUSTED: RateOn = "adjusted"


class RatingSettings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TrueSkill's constants, published with every table. tau is 0: the field is fixed.

    Constants that decide which matches follow stand here too, as in `RaceSettings` and
    `TrialSettings`: so the commitment covers them, and later defaults change no old event.
    """

    mu: Rating = 25.0
    sigma: Width = 25.0 / 3
    beta: Width = 25.0 / 6
    tau: Rating = 0.0
    draw_probability: Annotated[float, Meta(ge=0, le=0.9)] = 0.01
    forfeit_margin: Annotated[float, Meta(ge=0, le=1e6)] = 123.0
    """Strokes by which a forfeit counts as lost in stroke statistics: three standard
    deviations (41) of a two-seat play-nine match difference. A forfeit that counted as
    nothing would let a bot erase a loss by crashing."""
    event_sd: Width = 23.0
    """Standard deviation of the strokes a match by which two equals differ over a rated deal,
    as played: what makes strokes and skills one scale."""
    error_rate: Annotated[float, Meta(ge=1e-6, le=0.5)] = 0.05
    """The probability that any equal neighbours in a table are told apart: for ranges of ranks, and
    for the end of a race."""
    borrowed: Annotated[int, Meta(ge=0, le=1_000)] = 4
    """Rated deals for which other pairs' spread of strokes counts in a pair's own, at most."""
    least_spread: Annotated[float, Meta(ge=1e-4, le=1)] = 0.01
    """The least standard deviation of strokes, in event_sd: bots that always tie show none."""


class RaceSettings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pairs of a race play on, and when it is over. They do so by the event's `deals`."""

    close: Annotated[float, Meta(ge=0, le=1000)] = 2.0
    """Strokes a match: neighbours shown to differ by less needn't be told apart."""
    budget: Annotated[int, Meta(ge=1, le=5_000_000)] | None = None  # matches at most
    growth: Annotated[float, Meta(ge=0.05, le=10)] = 0.2
    """A pair plays on for this share of the deals that it has played."""
    looks: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """As how many independent looks the looks of a race count, if it has no `mixture`."""
    mixture: Annotated[float, Meta(gt=0, le=1000)] | UnsetType = UNSET
    """Bounds hold at every look, and are the narrowest at a lead with an error of so many strokes.
    Absent: they hold at `looks`, as in events of older arenas."""
    spread: Annotated[int, Meta(ge=1, le=500)] | UnsetType = UNSET
    """A bot meets at most so many others in a wave; in the warm-up so many, or all, and plays at
    least so many deals. Absent: all, and every pair plays the event's deals in the warm-up, as in
    events of older arenas."""


class TrialSettings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sequential test of a new bot against an old one: 0 strokes a match against `effect`; where
    it is to be `no_worse`, minus `effect` against 0.
    """

    new: Label  # the entrant that is tested
    effect: Annotated[float, Meta(gt=0, le=1000)] = 2.0  # strokes a match that count as better
    alpha: Annotated[float, Meta(gt=0, lt=0.5)] = 0.05
    """The probability that a bot that is not better is called better."""
    beta: Annotated[float, Meta(gt=0, lt=0.5)] = 0.05
    """The probability that a bot that is better by the effect is not called so."""
    budget: Annotated[int, Meta(ge=1, le=5_000_000)] = 4_000  # matches at most
    first: Annotated[int, Meta(ge=2, le=100_000)] = 20
    """Deals before the first look: with fewer the variance is too unsure."""
    step: Annotated[int, Meta(ge=1, le=100_000)] = 20
    """Deals of each later wave: several series, so that several cores have work."""
    forfeits: Annotated[float, Meta(ge=0, le=100)] | UnsetType = UNSET
    """Test apart that strokes gain more than forfeits cost, with so many nats of evidence more than
    `alpha` asks, since there are several looks (python bench/calibration.py forfeits). Absent: a
    forfeit is noise like any other, as in events of older arenas."""
    skew: Annotated[float, Meta(ge=0, le=100)] | UnsetType = UNSET
    """Correct for skewed differences of rated deals, up to so many standard errors. Absent: no
    correction, as in events of older arenas."""
    no_worse: bool | UnsetType = UNSET
    """Ask whether the new bot is weaker by `effect` strokes or as strong; `alpha` is then how often
    one that is weaker by so much passes, `beta` how often one that is as strong fails. Absent: ask
    whether it is better."""
    looks: Annotated[int, Meta(ge=1, le=1_000)] = 4
    """As how many independent looks the end of a trial counts for the interval of its lead, if it
    has no `mixture`."""
    mixture: Annotated[float, Meta(gt=0, le=1000)] | UnsetType = UNSET
    """As of a race."""


class LadderSettings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round of a standing ladder: what is played follows from earlier rounds and from its own."""

    round: Annotated[int, Meta(ge=1, le=1_000_000)]  # of all games of the ladder, from 1
    head: Label
    """The hash of the chain's last line before the round: all that it tells was decided by then."""
    budget: Annotated[int, Meta(ge=1, le=5_000_000)]  # matches at most
    close: Annotated[float, Meta(ge=0, le=1000)] = 2.0  # as of a race
    mixture: Annotated[float, Meta(gt=0, le=1000)] = 2.0 / 3  # as of a race
    spread: Annotated[int, Meta(ge=1, le=500)] = 6
    """A bot meets at most so many others in a wave."""
    waves: Annotated[int, Meta(ge=1, le=10_000)] = 16
    """The budget is for about so many waves."""
    skills: Annotated[tuple[Rating, ...], Meta(max_length=10_000)] | UnsetType = UNSET
    """What earlier rounds say, by the bots in the order of their ids: the mean of each skill above
    the rating's mu. Absent: there were none."""
    precision: Annotated[tuple[float, ...], Meta(max_length=200_000)] | UnsetType = UNSET
    """And the inverse of their covariance: the lower triangle, row by row."""


class Settings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything about an event but its bots and its secret. Part of the commitment."""

    game: Label
    game_version: Count = 1
    """Of the game's rules: moves are replayed by the rules that they were made under."""
    format: Label = "round-robin"
    seats: Annotated[int, Meta(ge=2, le=8)] = 2
    deals: Annotated[int, Meta(ge=1, le=1_000_000)] = 10
    tables: Annotated[int, Meta(ge=1, le=50_000)] | None = None
    """So many tables of a seeded balanced design; absent: all subsets."""
    same_author: bool = True
    series: Annotated[int, Meta(ge=1, le=10_000)] = 25
    """Matches that one bot process plays; 1 means fresh processes for every match."""
    turn_cap: Annotated[int, Meta(ge=1, le=1_000)] = 60
    playoff: bool = False
    freeze: bool = False  # stop bots while it isn't their turn
    beacon: Text = ""
    """Where a public value will come from that is not known yet when the secret is chosen, for
    people ("drand round 4182001"); the value is in the event. Empty: none was announced."""
    rate_on: RateOn = RESULTS  # what μ, the order, ranges of ranks and P(better) follow from
    evaluator: Label = ""
    """What measures luck: game, version and the beginning of its hash; empty: nothing."""
    heroes: Annotated[tuple[Label, ...], Meta(max_length=10_000)] = ()
    """Of a gauntlet: the entrants that meet all others."""
    racing: RaceSettings | None = None  # options of a race
    trial: TrialSettings | None = None  # options of a trial of a new bot against an old one
    ladder: LadderSettings | UnsetType = UNSET  # options of a round of a ladder
    limits: Limits = Limits()
    rating: RatingSettings = RatingSettings()
    derivation: Annotated[int, Meta(ge=2, le=1_000)] | UnsetType = UNSET
    """The rule by which the event's files are spelled and derived; absent: the first."""
    deal_order: Literal["shuffled"] | UnsetType = UNSET
    """In which order a series plays the deals of its block. "shuffled": in one that was drawn for
    it, so that a place in the series doesn't tell the deal; absent: by number, in all rotations."""
    withdraw_after: Annotated[int, Meta(ge=1, le=1_000)] | UnsetType = UNSET
    """Faulted matches in a row after which a bot is withdrawn; absent: 3."""
    annul_below: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    """A bot that is withdrawn before this share of its matches is annulled; absent: a half."""
    units: Literal["blocks"] | UnsetType = UNSET
    """The unit that errors take as independent. "blocks": series that share deals, for bots whose
    blocks differ by more than their deals explain; absent: rated deals, as in older events."""
    holes: Annotated[int, Meta(ge=1, le=9)] | UnsetType = UNSET
    """Of a match; absent: 9. This arena plays no other number."""
    predictable: bool | UnsetType = UNSET
    """True when the secret came from --seed; stated from rule 2 on."""
    withdrawn: Annotated[tuple[Label, ...], Meta(max_length=10_000)] | UnsetType = UNSET
    """Of an epoch, from rule 2 on: bots that were withdrawn before it, and take no part."""
    retired: Annotated[tuple[Label, ...], Meta(max_length=10_000)] | UnsetType = UNSET
    """Of an epoch: former versions of its heroes and of those of earlier epochs, which take no
    part. Absent: former versions play on."""
    name: Label | UnsetType = UNSET
    """What the organiser calls the event; absent: it has no name."""
    options: Annotated[dict[Label, OptionValue], Meta(max_length=100)] | UnsetType = UNSET
    """The format's own options, by name; absent: it has none. If results decide what is played
    next, `looks` says as how many independent looks at them all looks count."""

    @property
    def withdrawn_after(self) -> int:
        return FAULTS_IN_A_ROW if self.withdraw_after is UNSET else self.withdraw_after

    @property
    def annulled_below(self) -> float:
        return HALF if self.annul_below is UNSET else self.annul_below

    @property
    def looks(self) -> int:
        """As how many independent looks at the results all looks of the format count."""
        if decided := self.trial or self.racing:
            return decided.looks
        looks = 1 if self.options is UNSET else self.options.get("looks", 1)
        return looks if isinstance(looks, int) and looks > 1 else 1

    @property
    def adaptive(self) -> bool:
        """Whether results decide what is played next."""
        return bool(self.trial or self.racing or self.ladder) or self.looks > 1

    @property
    def mixture(self) -> float | None:
        """The error of a lead, in strokes, for which bounds that hold at every look are made."""
        decided = self.trial or self.racing or self.ladder
        return None if not decided or decided.mixture is UNSET else decided.mixture

    @property
    def rule(self) -> int:
        return 1 if self.derivation is UNSET else self.derivation


STATED: Mapping[str, Any] = {
    "derivation": DERIVATION,
    "deal_order": SHUFFLED,
    "units": BLOCKS,
    "withdraw_after": FAULTS_IN_A_ROW,
    "annul_below": HALF,
    "holes": 9,
}
"""Settings that the first events didn't have, as new events state them; also `predictable`."""
