"""The nouns that every other module speaks: entrants, specs, records, faults, standings.

Pure data, no behaviour beyond ids and sums. Two of these are durable contracts: `MatchSpec`
goes in (what is to be played), `MatchRecord` comes out (what was played). Resume, sharding,
clusters and re-rating follow from those two, so a field here is changed only by adding one. In
what is written to a results folder a new field is `X | UnsetType = UNSET`: absent from what was
written before it, so that reading and writing an old file gives the same bytes.

Invariant: everything here is frozen and encodes to the same bytes on every machine. What is
decoded keeps to the stated ranges, whoever wrote it; they are wider than anything that is played.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

FORMAT = 1
"""The version of event.json and matches.jsonl; readers refuse any other."""

DERIVATION = 2
"""The rule that new events name: how their lines are spelled and their tables derived. DEALS.md
lists the rules; an event of the first names none."""

MOST_ATTEMPTS = 1_000
"""At a series: whatever cuts it short so often would do so for ever."""

_canonical = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:  # noqa: ANN401 - any msgspec-encodable value
    """Encode as compact JSON with sorted keys: the only form that is ever hashed."""
    return _canonical.encode(value)


def sha256_hex(data: bytes) -> str:
    """Hex SHA-256, used for commitments, digests and content hashes."""
    return hashlib.sha256(data).hexdigest()


class Frozen(msgspec.Struct, frozen=True):
    """Common options of the durable records."""


# Ranges of what is read: they are checked while it is decoded, at no cost that can be measured.
Text = Annotated[str, Meta(max_length=10_000)]
Label = Annotated[str, Meta(max_length=200)]
Seat = Annotated[int, Meta(ge=0, le=7)]
Score = Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Milliseconds = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Bytes = Annotated[int, Meta(ge=0, le=1 << 30)]
Rating = Annotated[float, Meta(ge=-1e6, le=1e6)]
Width = Annotated[float, Meta(ge=1e-3, le=1e6)]
OptionValue = (
    bool
    | Annotated[int, Meta(ge=-(10**9), le=10**9)]
    | Annotated[float, Meta(ge=-1e9, le=1e9)]
    | Label
)
BySeat = Meta(max_length=8)


# --------------------------------------------------------------------------------- settings


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
"""When a bot is withdrawn, and annulled, unless the event says otherwise."""

SHUFFLED: Literal["shuffled"] = "shuffled"

RESULTS: RateOn = "results"
ADJUSTED: RateOn = "adjusted"


class RatingSettings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TrueSkill's constants, published with every table. tau is 0: the field is fixed.

    What decides who plays on stands here too, as in `Racing` and `Trial`: so the commitment covers
    it, and whoever has the event decides the same again when defaults have changed.
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
    """Standard deviation of the strokes a match by which two equals differ over a rated event,
    as played: what makes strokes and skills one scale."""
    error_rate: Annotated[float, Meta(ge=1e-6, le=0.5)] = 0.05
    """That any neighbours in a table are told apart though they are equal: for ranges of ranks, and
    for when a race is over."""
    borrowed: Annotated[int, Meta(ge=0, le=1_000)] = 4
    """Rated events for which other pairs' spread of strokes counts in a pair's own, at most."""
    least_spread: Annotated[float, Meta(ge=1e-4, le=1)] = 0.01
    """Of strokes, in event_sd: bots that always tie show none, and nobody is surer than by this."""


class Racing(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who plays on in a race, and when it is over. Its `deals` are those of the warm-up."""

    close: Annotated[float, Meta(ge=0, le=1000)] = 2.0
    """Neighbours that differ by fewer strokes a match, shown with confidence, needn't be told
    apart."""
    budget: Annotated[int, Meta(ge=1, le=5_000_000)] | None = None
    """Matches at most."""
    growth: Annotated[float, Meta(ge=0.05, le=10)] = 0.5
    """By which share of its deals a pair plays on."""
    looks: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """What it costs to look again and again, in looks at results of their own: some twelve looks
    at sums that grow by half each time, the first at few deals. With so many at most 5 % of races
    tell any neighbours apart wrongly, found by simulation (python bench/calibration.py looks): of 2
    to 12 bots, all equal or in pairs of equals, after warm-ups of 10 deals or more. Two bots, and
    four in pairs, need 8 to 10; two err in 6 to 7 % after 5 deals; twelve need 6 to 8."""


class Trial(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sequential test of a new bot against an old one: 0 strokes a match against `effect`."""

    new: Label
    """The entrant that is to be better."""
    effect: Annotated[float, Meta(gt=0, le=1000)] = 2.0
    """Strokes a match by which it has to be better."""
    alpha: Annotated[float, Meta(gt=0, lt=0.5)] = 0.05
    """The probability that one that is not better is called better."""
    beta: Annotated[float, Meta(gt=0, lt=0.5)] = 0.05
    """The probability that one that is better by the effect is not called so."""
    budget: Annotated[int, Meta(ge=1, le=5_000_000)] = 4_000
    """Matches at most."""
    first: Annotated[int, Meta(ge=2, le=100_000)] = 20
    """Deals before the first look: with fewer the spread is too unsure."""
    step: Annotated[int, Meta(ge=1, le=100_000)] = 20
    """Deals of each wave after it: several series, so that several cores have something to do."""
    forfeits: Annotated[float, Meta(ge=0, le=100)] | UnsetType = UNSET
    """That forfeits don't cost what strokes gain is shown apart, with so many nats of evidence more
    than `alpha` asks, since it is looked at again and again (python bench/calibration.py forfeits).
    Absent: a forfeit is noise like any other, as in events of older arenas."""
    skew: Annotated[float, Meta(ge=0, le=100)] | UnsetType = UNSET
    """Skewed differences of rated events are allowed for, by a correction that grows up to so many
    standard errors. Absent: they aren't, as in events of older arenas."""
    looks: Annotated[int, Meta(ge=1, le=1_000)] = 4
    """What it costs its lead's interval that it ends when things are clear, in looks at results of
    their own: with so many it holds the truth in 95 to 99 % of trials, with one in 91 to 96 %
    (python bench/calibration.py trials)."""


class Settings(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything about an event but its bots and its secret. Part of the commitment."""

    game: Label
    game_version: Count = 1
    """Of the game's rules: moves are replayed by the rules that they were made under."""
    format: Label = "round-robin"
    seats: Annotated[int, Meta(ge=2, le=8)] = 2
    deals: Annotated[int, Meta(ge=1, le=1_000_000)] = 10
    tables: Annotated[int, Meta(ge=1, le=50_000)] | None = None
    """With a number: that many tables of a seeded balanced design, not all subsets."""
    same_author: bool = True
    series: Annotated[int, Meta(ge=1, le=10_000)] = 25
    """Matches that one bot process plays; 1 means fresh processes for every match."""
    turn_cap: Annotated[int, Meta(ge=1, le=1_000)] = 60
    playoff: bool = False
    freeze: bool = False
    """Bots are stopped while it isn't their turn."""
    beacon: Text = ""
    """Where a public value will come from that nobody knew when the secret was chosen, for
    people ("drand round 4182001"); its value is in the event. Empty: none was announced."""
    rate_on: RateOn = RESULTS
    """What μ, the order, ranges of ranks and P(better) are about."""
    evaluator: Label = ""
    """Of the luck ledger: game, version and the beginning of its hash; empty: no ledger."""
    heroes: Annotated[tuple[Label, ...], Meta(max_length=10_000)] = ()
    """Of a gauntlet: the entrants that meet all others."""
    racing: Racing | None = None
    """Of a race: when it is over."""
    trial: Trial | None = None
    """Of a trial of a new bot against an old one: what is to be shown."""
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
    holes: Annotated[int, Meta(ge=1, le=9)] | UnsetType = UNSET
    """Of a match; absent: 9. This arena plays no other number."""
    predictable: bool | UnsetType = UNSET
    """True when the secret came from --seed; stated from rule 2 on."""
    withdrawn: Annotated[tuple[Label, ...], Meta(max_length=10_000)] | UnsetType = UNSET
    """Of an epoch, from rule 2 on: who of the bots before it was withdrawn, so takes no part."""
    options: Annotated[dict[Label, OptionValue], Meta(max_length=100)] | UnsetType = UNSET
    """The format's own options, by name; absent: it has none. Where results decide who plays on,
    `looks` is what it costs to look at them again and again."""

    @property
    def withdrawn_after(self) -> int:
        """Faulted matches in a row after which a bot is withdrawn."""
        return FAULTS_IN_A_ROW if self.withdraw_after is UNSET else self.withdraw_after

    @property
    def annulled_below(self) -> float:
        """The share of its matches before which a bot that is withdrawn is annulled."""
        return HALF if self.annul_below is UNSET else self.annul_below

    @property
    def looks(self) -> int:
        """As how many looks at results of their own all looks count that the format takes."""
        if decided := self.trial or self.racing:
            return decided.looks
        looks = 1 if self.options is UNSET else self.options.get("looks", 1)
        return looks if isinstance(looks, int) and looks > 1 else 1

    @property
    def rule(self) -> int:
        """The rule by which the event's files are spelled and derived."""
        return 1 if self.derivation is UNSET else self.derivation


STATED: Mapping[str, Any] = MappingProxyType(
    {
        "derivation": DERIVATION,
        "deal_order": SHUFFLED,
        "withdraw_after": FAULTS_IN_A_ROW,
        "annul_below": HALF,
        "holes": 9,
    }
)
"""What came to the settings after the first events, as new events state it; and `predictable`."""


# ---------------------------------------------------------------------------------- entrants


class Entrant(Frozen, frozen=True, kw_only=True):
    """A contestant as the log knows it. `id` is name@version and unique in an event."""

    id: Label
    name: Label
    version: Label
    author: Label = ""
    hash: Label
    """SHA-256 over the content of the bot's folder: what it was, byte for byte."""


class Bot(Frozen, frozen=True, kw_only=True):
    """An entrant that can be started: where its snapshot lies and how it is run.

    Only for the machine it was made on; never published.
    """

    entrant: Entrant
    root: str
    """Folder with the snapshot (and what its build made); inside the sandbox it is /bot."""
    run: tuple[str, ...]
    """Argument vector; paths into the snapshot are given as they appear inside (/bot/...)."""
    expose: tuple[str, ...] = ()
    """Folders outside the system's own (an interpreter's installation) to show read-only."""
    env: tuple[tuple[str, str], ...] = ()
    """Added to the fixed environment: where its packages lie."""
    scratch_mb: int = 0
    """Size of its private /tmp; 0: none."""
    source: str = ""
    """The path that the user named."""


# ------------------------------------------------------------------------------------- specs


class MatchSpec(Frozen, frozen=True, kw_only=True):
    """One match to be played. `seats[s]` is the id of the entrant in seat s."""

    id: str
    series: str
    pairing: str
    deal: int
    rotation: int
    seats: tuple[str, ...]


class Series(Frozen, frozen=True, kw_only=True):
    """Matches on different deals that one set of processes plays; the unit of determinism."""

    id: str
    matches: tuple[MatchSpec, ...]

    @property
    def entrants(self) -> tuple[str, ...]:
        """The ids of its bots, in the order of seats of its first match."""
        return self.matches[0].seats


class Block(Frozen, frozen=True, kw_only=True):
    """The series that share deals, one for each rotation; played one after another, never
    at the same time; the unit of distribution.
    """

    id: str
    series: tuple[Series, ...]


def pairing_id(entrants: Iterable[str]) -> str:
    """Name a set of entrants by what they are, never by their position in a list."""
    return sha256_hex(canonical(sorted(entrants)))[:12]


def match_id(pairing: str, deal: int, rotation: int) -> str:
    """Ids sort in the order of pairing, deal, rotation."""
    return f"{pairing}-{deal:06d}-{rotation}"


# ------------------------------------------------------------------------------------- plays


class Play(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one seat may know of one move: `seat` played `move`. Goes to bots as an event.

    `cards`: the two cards that a tee-off turned. `card`: the card that came to lie at the
    move's position (or was drawn), where the reader may know it. `out`: the card that went
    onto the pile. `reshuffled`: the pile became a new stock before this draw.
    """

    seat: int
    move: str
    card: int | None = None
    out: int | None = None
    cards: tuple[int, ...] = ()
    reshuffled: bool = False


# ------------------------------------------------------------------------------------ faults


class FaultKind(enum.StrEnum):
    """How a bot failed. For machines; the message beside it is for people."""

    START = "start"
    """Not ready within the start-up limit, or something else than `ready` came first."""
    TIMEOUT = "timeout"
    """A decision took longer than the move limit."""
    BANK = "bank"
    """The match bank ran out."""
    CRASH = "crash"
    """The process died of a signal or left with a status other than 0."""
    EXIT = "exit"
    """The process left with status 0, or closed its output, while it was asked."""
    MALFORMED = "malformed"
    """A line that is not an answer: no JSON object, fields missing or of the wrong type."""
    STALE = "stale"
    """An answer to another turn than the one that was asked."""
    ILLEGAL = "illegal"
    """An answer with a move that was not among the legal ones."""
    FLOOD = "flood"
    """A line longer than the line limit."""
    MEMORY = "memory"
    """Killed for using more memory than allowed."""
    LIMIT = "limit"
    """Killed for using more than its share of something else: processes, scratch space."""


class FaultHost(Frozen, frozen=True, kw_only=True):
    """What the bot used, and how the machine was, when it failed. Outside the digest."""

    memory_mb: Amount = 0.0
    """The most that its tree was seen to hold; 0: nobody looked."""
    cpu_ms: Amount = 0.0
    """CPU time of its tree in the match."""
    wall_ms: Amount = 0.0
    """How long the decision took by the clock."""
    charged_ms: Amount = 0.0
    """And how much of it was the bot's."""
    load: Amount = 0.0
    """The machine's load average of one minute."""


class Fault(Frozen, frozen=True, kw_only=True):
    """A bot's fault, as data. `turn` counts the match's questions from 1, a simultaneous
    tee-off being one: two faults with the same turn fell at the same decision. Hole 0 and turn
    0 are the start-up before the first.
    """

    kind: FaultKind
    seat: Seat
    hole: Annotated[int, Meta(ge=0, le=18)]
    turn: Count
    message: str
    line: str = ""
    """The offending line, capped, undecodable bytes escaped."""
    stderr: str = ""
    """The tail of what the bot wrote to stderr, capped."""
    status: str = ""
    """How the process ended, if it did: "exit 3", "signal SIGSEGV"."""
    host: FaultHost = FaultHost()


# ----------------------------------------------------------------------------------- records


class HoleRecord(Frozen, frozen=True, kw_only=True):
    """One hole as it was played.

    `moves` joins the moves in the order of play with commas, in the protocol's own notation:
    the rules say whose each is. `scores` is empty when a forfeit ended the match within it.
    Seats that take no part (a playoff) score 0 and are absent from `order`.
    """

    order: Annotated[tuple[Seat, ...], BySeat]
    """Seats in the order of play; the last is the dealer."""
    moves: str
    scores: Annotated[tuple[Score, ...], BySeat] = ()


class SeatUse(Frozen, frozen=True, kw_only=True):
    """What a seat used. Stands outside the digest."""

    decisions: Count = 0
    think_ms: Amount = 0.0
    max_ms: Amount = 0.0
    off_turn_ms: Amount = 0.0
    """CPU time that its processes used while others were asked, or nobody."""
    waited_ms: Annotated[float, Meta(ge=-0.001, le=1e12)] = 0.0
    """For how long its decisions stood still because the machine was busy with something else, or
    stood still itself: by the clock, in none of the times above."""
    stopped: Count | UnsetType = UNSET
    """After so many of its decisions it had computed more off turn than it may; from then on its
    processes were stopped whenever it wasn't asked. Left out where that wasn't so."""


class MatchRecord(Frozen, frozen=True, kw_only=True):
    """One finished match: the contract that everything published derives from.

    `digest` covers what the bots and the rules decided. `attempt`, `use` and `ended` are the
    host's business and stand outside it.
    """

    id: Label
    series: Label
    pairing: Label
    deal: Annotated[int, Meta(ge=0, lt=1_000_000)]
    rotation: Seat
    seats: Annotated[tuple[Label, ...], Meta(min_length=2, max_length=8)]
    deck: Label
    """Fingerprint of the packs that were dealt; checkable once the secret is known."""
    holes: Annotated[tuple[HoleRecord, ...], Meta(max_length=18)]
    totals: Annotated[tuple[Score, ...], BySeat]
    """Strokes of the nine holes by seat (of the finished ones, if a forfeit cut it short)."""
    places: Annotated[tuple[Annotated[int, Meta(ge=1, le=8)], ...], BySeat]
    """1 is best; equal numbers share a place; forfeiters come last."""
    faults: Annotated[tuple[Fault, ...], BySeat] = ()
    digest: Label = ""
    attempt: Annotated[int, Meta(ge=0, lt=MOST_ATTEMPTS)] = 0
    """Which playing of its series this belongs to: a series that is cut short is replayed."""
    use: Annotated[tuple[SeatUse, ...], BySeat] = ()
    luck: Annotated[tuple[Score, ...], BySeat] = ()
    """By seat, thousandths of strokes that chance cost it, as the event's evaluator sees it. It
    follows from the moves and the secret; empty without an evaluator."""
    ended: Amount = 0.0
    """Seconds since the epoch; for people."""

    def core(self) -> list[Any]:
        """What the digest covers, in the order that protocol/DEALS.md states."""
        return [
            self.id,
            list(self.seats),
            self.deck,
            [[list(h.order), h.moves, list(h.scores)] for h in self.holes],
            list(self.totals),
            list(self.places),
            [[f.kind.value, f.seat, f.hole, f.turn] for f in self.faults],
        ]

    def computed_digest(self) -> str:
        """Recompute the digest from the fields it covers."""
        return sha256_hex(canonical(self.core()))

    @property
    def forfeits(self) -> tuple[int, ...]:
        """The seats that forfeited, in the order in which they fell."""
        return tuple(f.seat for f in self.faults)

    @property
    def fallen(self) -> frozenset[str]:
        """The bots that forfeited."""
        return frozenset(self.seats[seat] for seat in self.forfeits)


# ------------------------------------------------------------------------------------- event


class NotRun(Frozen, frozen=True, kw_only=True):
    """An entrant that takes no part, and why (one line)."""

    name: Text
    reason: Text


class Machine(Frozen, frozen=True, kw_only=True):
    """Where it was played; host facts, left out of everything canonical."""

    system: Text = ""
    cpu: Text = ""
    cores: Count = 0
    python: Text = ""
    arena: Text = ""
    speed: Count | UnsetType = UNSET
    """Rounds of a fixed piece of work in a millisecond of a core, the slowest that played; left out
    where none was tried."""


class Confinement(Frozen, frozen=True, kw_only=True):
    """How the bots were held; what a live try found, not what a setting asked for."""

    detail: Text = ""
    """The means and its version: "bwrap 0.11.0", "Landlock ABI 7"."""
    tool: Text | UnsetType = UNSET
    """Which file it was, with its SHA-256; left out where that is the system's own."""
    memory: Text = ""
    """What holds a whole tree to its memory: "cgroup v2", "cgroup v1" or "watchdog"."""
    kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    """Guarantees that held, by name; SECURITY.md says what each means."""
    not_kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    gaps: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    """What this means of confinement is known not to close."""


class Event(Frozen, frozen=True, kw_only=True):
    """event.json: everything that the table needs besides the records."""

    format: int = FORMAT
    settings: Settings
    entrants: Annotated[tuple[Entrant, ...], Meta(max_length=10_000)]
    commitment: Label
    predictable: bool = False
    """True when the secret came from --seed: anybody can know the deals. From rule 2 on the
    settings say the same, under the commitment."""
    secret: Label = ""
    """Hex; empty until the event is over."""
    beacon: Text = ""
    """A public value that came after the commitment; the deals follow from it and the secret."""
    shard: Label = ""
    """"2/5": this folder holds the second of five parts of the event; empty: all of it."""
    sandbox: Label = ""
    confinement: Confinement = Confinement()
    machine: Machine = Machine()
    machines: tuple[Machine, ...] = ()
    """All of them, when it was played on several: resumed elsewhere, or merged from shards."""
    not_run: Annotated[tuple[NotRun, ...], Meta(max_length=10_000)] = ()
    finished: bool = False


# ----------------------------------------------------------------------------------- results


class Verdict(enum.StrEnum):
    """What a trial of a new bot has shown."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "no decision"


class Withdrawal(Frozen, frozen=True, kw_only=True):
    """A bot taken out after so many faulted matches in a row, in the order of the specs."""

    entrant: str
    after: str
    """Id of the last of the faulted matches."""
    annulled: bool
    """True: too few of its matches were played, so all its results are void. False: the
    rest of its matches are forfeits."""


class Standing(Frozen, frozen=True, kw_only=True):
    """One row of the table. A number that was not measured is None, never a default: nobody is
    ranked by it, and a program that sorts puts it last.
    """

    rank: int | None = None
    """1 is best; None: no rated event of it counts, or its results are annulled."""
    rank_last: int | None = None
    """Equal to `rank` unless the row shares a range of ranks."""
    entrant: str
    mu: float | None = None
    sigma: float | None = None
    """The standard deviation of what is not known of mu, where the whole field lies included: that
    part stays, however much is played, since results only tell of differences."""
    sigma_field: float | None = None
    """That of mu less the field's mean mu: what is compared, so every match lowers it. None where
    there is nobody to compare with."""
    p_next: float | None = None
    """Probability that its mu is above the next row's; None in the last."""
    win: float | None = None
    """Share of opponents beaten in rated events, a tie counting half."""
    win_low: float | None = None
    win_high: float | None = None
    """The 95 % interval of `win`: not symmetric, and never beyond 0 and 1."""
    delta: float | None = None
    """Strokes a match below (better, negative) or above its opponents' mean."""
    delta_ci: float | None = None
    adjusted: float | None = None
    """The same less luck; None without a ledger."""
    adjusted_ci: float | None = None
    luck: float | None = None
    """Strokes a match that chance cost it, less what it cost its opponents."""
    disputed: bool = False
    """By what the event doesn't rate on, its rank would be outside the range that it has."""
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    deals: int = 0
    matches: int = 0
    """Those that count."""
    strokes: float | None = None
    """Strokes a hole, over the holes it finished itself."""
    ms: float | None = None
    """Mean milliseconds a decision."""
    off_turn_ms: float | None = None
    """Mean milliseconds of CPU a match that it used while it wasn't asked."""
    faults: tuple[tuple[str, int], ...] = ()
    """(kind, count), sorted by kind; also those in matches that don't count."""
    note: str = ""
    """withdrawn, annulled, not reproducible, not run."""


class Duel(Frozen, frozen=True, kw_only=True):
    """One cell of the win matrix: row against column in rated events."""

    row: str
    column: str
    wins: int
    ties: int
    losses: int


class Source(Frozen, frozen=True, kw_only=True):
    """An event among those that a table was made from."""

    event: Event
    matches: int
    """Matches of it that count in the table."""
    planned: int
    withdrawn: tuple[Withdrawal, ...] = ()
    ended: str = ""
    """Why nothing more was played, where results decided that."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Entrants that have another id in the table: theirs, and that one."""
    damaged: int = 0
    """Lines of its log that were passed over."""
    gone: tuple[str, ...] = ()
    """Of an epoch: who plays in it though withdrawn before, so that nothing it did counts."""


class Table(Frozen, frozen=True, kw_only=True):
    """The derived result of an event, or of several that were rated together; reports turn it
    into bytes.
    """

    event: Event
    """Of several: what they have in common. A setting in which they differ has its default."""
    rows: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    matches: int
    """Counted matches."""
    planned: int
    """Matches of the whole schedule, 0 when not known in advance."""
    withdrawn: tuple[Withdrawal, ...] = ()
    ended: str = ""
    """Why nothing more was played, where results decided that."""
    verdict: Verdict | None = None
    """Of a trial that is over."""
    sources: tuple[Source, ...] = ()
    """The events that were rated, in the order of their commitments; empty: all of `event`."""
    selected: tuple[str, ...] = ()
    """What of them was left out by whoever rated them; for people."""
    rule: int = DERIVATION
    """By which it was derived: today's, but for the files of an event that names an older one."""


# ------------------------------------------------------------------------------------ errors


class ArenaError(Exception):
    """Base of the errors that are somebody's act, not our bug."""


class UserError(ArenaError):
    """The user's mistake: one or more lines that say what was wrong, where, what to do."""

    exit_code = 2


class UntrueError(UserError):
    """A record that the deals and the rules don't make of its moves."""


class StartError(UserError):
    """Bots that can't start, reported together before the first match."""

    exit_code = 3


class HostError(ArenaError):
    """The machine's trouble: voids the series at hand, is nobody's loss."""
