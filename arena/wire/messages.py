"""Every message of the protocol, version 1, as msgspec Structs; SPEC.md explains them.

The JSON Schemas in protocol/schema are generated from these types. Unknown fields are ignored
in both directions, so that version 1 can grow; a field is never removed or given another
meaning.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.model import Play

PROTOCOL = 1


class Rules(msgspec.Struct, frozen=True):
    """What the rules leave open to an event."""

    seats: int
    holes: int
    turn_cap: int
    playoff: bool


class BotLimits(msgspec.Struct, frozen=True):
    """The limits in force, as in the specification's table."""

    move_ms: int
    match_ms: int
    start_ms: int
    memory_mb: int
    tasks: int
    scratch_mb: int
    line_bytes: int
    stderr_bytes: int
    series: int


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello"):
    """The first line; to be answered with `Ready`."""

    protocol: int
    game: str
    rules: Rules
    limits: BotLimits


class MatchStart(msgspec.Struct, frozen=True, tag_field="type", tag="match"):
    """A match begins. `match` is opaque: it tells neither opponents nor deal."""

    match: str
    seat: int
    seats: int
    seed: int


class Act(msgspec.Struct, frozen=True, tag_field="type", tag="act"):
    """A decision is wanted; to be answered with `Answer`."""

    turn: str
    hole: int
    move_ms: int
    bank_ms: int
    totals: tuple[int, ...]
    view: Any
    events: Sequence[Play]
    legal: Sequence[str]


class Next(msgspec.Struct, frozen=True, tag_field="type", tag="next", omit_defaults=True):
    """A decision is wanted of a lean bot, not the first of this hole; to be answered like `Act`."""

    turn: str
    bank_ms: int
    events: Sequence[Play]
    drawn: int | None = None


class HoleEnd(msgspec.Struct, frozen=True, tag_field="type", tag="hole_end"):
    """A hole is over: all cards are turned."""

    hole: int
    scores: tuple[int, ...]
    totals: tuple[int, ...]
    grids: tuple[tuple[int, ...], ...]
    events: tuple[Play, ...]


class MatchEnd(msgspec.Struct, frozen=True, tag_field="type", tag="match_end"):
    """The match is over."""

    totals: tuple[int, ...]
    places: tuple[int, ...]


class Bye(msgspec.Struct, frozen=True, tag_field="type", tag="bye"):
    """The last line; leave now."""


class Typed(msgspec.Struct, frozen=True):
    """Any line that says what it is."""

    type: str


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready"):
    """The bot's answer to `Hello`.

    `lean`: it follows the events, so after a hole's first question it wants no more than those.
    """

    lean: bool = False


class Answer(msgspec.Struct, frozen=True):
    """The bot's answer to `Act` and `Next`. A `type` field may be there and is ignored."""

    turn: str
    move: str


Question = Act | Next
ToBot = Hello | MatchStart | Question | HoleEnd | MatchEnd | Bye
