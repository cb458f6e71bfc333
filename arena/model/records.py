"""What is to be played: matches, series, blocks; records of what was: moves, faults, holes.

`MatchRecord` is a durable contract: a line of the log, from which everything published derives.
"""

import enum
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.model.fields import Amount, Count, Frozen, Label, Score, Seat, canonical, sha256_hex

BySeat = Meta(max_length=8)
MOST_ATTEMPTS = 1_000  # at a series: what cuts it short so often would do so for ever


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


class FaultKind(enum.StrEnum):
    """How a bot failed. For machines; the message beside it is for people."""

    START = "start"
    """Not ready within the start-up limit, or something else than `ready` came first."""
    TIMEOUT = "timeout"  # a decision took longer than the move limit
    BANK = "bank"  # the match bank ran out
    CRASH = "crash"  # the process died of a signal or exited with a status other than 0
    EXIT = "exit"  # the process exited with status 0, or closed its output, while it was asked
    MALFORMED = "malformed"
    """A line that is not an answer: no JSON object, fields missing or of the wrong type."""
    STALE = "stale"  # an answer to another turn than the one that was asked
    ILLEGAL = "illegal"  # an answer with a move that was not among the legal ones
    FLOOD = "flood"  # a line longer than the line limit
    MEMORY = "memory"  # killed for using more memory than allowed
    LIMIT = "limit"
    """Killed for using more than its share of something else: processes, scratch space."""


class FaultHost(Frozen, frozen=True, kw_only=True):
    """Use of the bot and load of the machine when it failed. Outside the digest."""

    memory_mb: Amount = 0.0  # the most that its process tree held; 0: not measured
    cpu_ms: Amount = 0.0  # CPU time of its tree in the match
    wall_ms: Amount = 0.0  # wall time of the decision
    charged_ms: Amount = 0.0  # the part of it that was charged to the bot
    load: Amount = 0.0  # the machine's load average of one minute


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
    line: str = ""  # the offending line, capped, undecodable bytes escaped
    stderr: str = ""  # the tail of what the bot wrote to stderr, capped
    status: str = ""  # how the process ended, if it did: "exit 3", "signal SIGSEGV"
    host: FaultHost = FaultHost()


class HoleRecord(Frozen, frozen=True, kw_only=True):
    """One hole as it was played.

    `moves` joins the moves in the order of play with commas, in the protocol's own notation:
    the rules say whose each is. `scores` is empty when a forfeit ended the match within it.
    Seats that take no part (a playoff) score 0 and are absent from `order`.
    """

    order: Annotated[tuple[Seat, ...], BySeat]  # seats in the order of play; the last is the dealer
    moves: str
    scores: Annotated[tuple[Score, ...], BySeat] = ()


class SeatUse(Frozen, frozen=True, kw_only=True):
    """Time and decisions of a seat in a match. Not covered by the digest."""

    decisions: Count = 0
    think_ms: Amount = 0.0
    max_ms: Amount = 0.0
    off_turn_ms: Amount = 0.0
    """CPU time that its processes used while the bot itself had no question to answer."""
    waited_ms: Annotated[float, Meta(ge=-0.001, le=1e12)] = 0.0
    """Wall time of its decisions during which the machine was busy with something else, or stood
    still; in none of the times above."""
    stopped: Count | UnsetType = UNSET
    """After so many of its decisions it had computed more off turn than it may; from then on its
    processes were stopped off turn. Absent: that didn't happen."""


class MatchRecord(Frozen, frozen=True, kw_only=True):
    """One finished match: the contract that everything published derives from.

    `digest` covers what the bots and the rules decided; `attempt`, `use` and `ended` are facts of
    the host and stand outside it.
    """

    id: Label
    series: Label
    pairing: Label
    deal: Annotated[int, Meta(ge=0, lt=1_000_000)]
    rotation: Seat
    seats: Annotated[tuple[Label, ...], Meta(min_length=2, max_length=8)]
    deck: Label  # fingerprint of the dealt packs; it can be checked when the secret is known
    holes: Annotated[tuple[HoleRecord, ...], Meta(max_length=18)]
    totals: Annotated[tuple[Score, ...], BySeat]
    """Strokes of the nine holes by seat (of the finished ones, if a forfeit cut it short)."""
    places: Annotated[tuple[Annotated[int, Meta(ge=1, le=8)], ...], BySeat]
    """1 is best; equal numbers share a place; forfeiters come last."""
    faults: Annotated[tuple[Fault, ...], BySeat] = ()
    digest: Label = ""
    attempt: Annotated[int, Meta(ge=0, lt=MOST_ATTEMPTS)] = 0
    """Which attempt at its series: a series that is cut short is played again."""
    use: Annotated[tuple[SeatUse, ...], BySeat] = ()
    luck: Annotated[tuple[Score, ...], BySeat] = ()
    """By seat, thousandths of strokes that chance cost it, as the event's evaluator sees it. It
    follows from the moves and the secret; empty without an evaluator."""
    ended: Amount = 0.0  # seconds since the epoch; for people

    def core(self) -> list[Any]:
        """The fields that the digest covers, in the order that protocol/DEALS.md states."""
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
        return sha256_hex(canonical(self.core()))

    @property
    def forfeits(self) -> tuple[int, ...]:
        """The seats that forfeited, in the order in which they fell."""
        return tuple(f.seat for f in self.faults)

    @property
    def fallen(self) -> frozenset[str]:
        return frozenset(self.seats[seat] for seat in self.forfeits)


def block_id(pairing: str, deal: int) -> str:
    """`deal`: the block's first."""
    return f"{pairing}-{deal:06d}"


def series_id(block: str, rotation: int) -> str:
    return f"{block}-s{rotation}"


def block_of(series: str) -> str:
    """The id of the block that a series is of."""
    return series.rpartition("-")[0]
