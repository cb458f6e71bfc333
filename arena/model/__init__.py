"""Data types that every other module uses: settings, entrants, specs, records, events, tables.

Pure data, no behaviour beyond ids and sums. Two of these are durable contracts: `MatchSpec`
goes in (what is to be played), `MatchRecord` comes out (what was played). Resume, sharding,
clusters and re-rating follow from those two, so a field here is changed only by adding one. In
what is written to a results folder a new field is `X | UnsetType = UNSET`: absent from what was
written before it, so that reading and writing an old file gives the same bytes.

Invariant: everything here is frozen and encodes to the same bytes on every machine. What is
decoded keeps to the ranges in `fields`.
"""

from arena.model.called import bots_called, calls_of, is_called
from arena.model.errors import HostError, StartError, UntrueError, UserError
from arena.model.event import (
    FORMAT,
    LONGEST_LABEL,
    VERSION_DIGITS,
    Bot,
    Confinement,
    Entrant,
    Event,
    Machine,
    NotRun,
    label_fault,
)
from arena.model.fields import Frozen, canonical, sha256_hex
from arena.model.parameters import Parameter
from arena.model.records import (
    MOST_ATTEMPTS,
    Block,
    Fault,
    FaultHost,
    FaultKind,
    HoleRecord,
    MatchRecord,
    MatchSpec,
    Play,
    SeatUse,
    Series,
    block_id,
    block_of,
    match_id,
    pairing_id,
    series_id,
)
from arena.model.settings import (
    ADJUSTED,
    BLOCKS,
    DERIVATION,
    FAULTS_IN_A_ROW,
    HALF,
    RESULTS,
    SHUFFLED,
    STATED,
    LadderSettings,
    Limits,
    RaceSettings,
    RateOn,
    RatingSettings,
    Settings,
    TrialSettings,
)
from arena.model.standings import (
    Duel,
    OpenPair,
    SourceEvent,
    Standing,
    Table,
    TrialVerdict,
    Withdrawal,
)
