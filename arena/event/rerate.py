"""Rate events again from their logs, alone or together, whole or in part; nothing is played.

Theory of operation. Every event.json is checked before any log is read. Then the events are counted
in the order of their commitments, each followed by its epochs, as `arena table` counts them, and
their complete rated deals go into one pool (`arena.ratings.pool`). Memory holds one event's count
at a time, and of each match that ended outside a range of time eight bytes, twice. A rated deal
with a match outside the range, or a void one, which has no end, is left out.

Invariant: the order in which the folders are named changes nothing; an event alone, all of it, has
the table that `arena table` gives.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from msgspec import UNSET
from msgspec.structs import replace

from arena.event.epochs import epoch_fault, epochs_of
from arena.event.results import Keys, counting_of, incomplete, key_of, record_key, schedule_of
from arena.model import Entrant, Event, Frozen, MatchRecord, MatchSpec, RateOn, Table, UserError
from arena.ratings import pool
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.ratings.versions import FieldOfEvent, former_versions
from arena.store import DamagedError, read_event, read_placed, secret_of


class RateOptions(Frozen, frozen=True, kw_only=True):
    """Which bots and matches of the events are rated, and on what."""

    rate_on: RateOn | None = None
    """None: on what the events say."""
    only: tuple[str, ...] = ()
    """Bots, by name, id or a shell pattern of these; none: all."""
    without: tuple[str, ...] = ()
    latest: bool = False
    """Whether former versions of a bot count without a row; see `arena.ratings.versions`."""
    since: float | None = None
    """Seconds since the epoch."""
    until: float | None = None
    """The first moment that is too late."""
    skip_damaged: bool = False
    """Whether to go by what is whole in a damaged log."""

    @property
    def selects(self) -> bool:
        """Whether it is about some of the bots."""
        return bool(self.only or self.without or self.latest)

    @property
    def dated(self) -> bool:
        return self.since is not None or self.until is not None

    def when(self, ended: float) -> bool:
        late = self.until is not None and ended >= self.until
        return not late and (self.since is None or self.since <= ended)


EVERYTHING = RateOptions()


class _RatedEvent(NamedTuple):
    folder: Path
    event: Event
    root: str  # the commitment of the event of which this is an epoch, or its own
    epoch: int  # 0: the event itself


class Reader(Protocol):
    """Receives the records that a rating reads, so that the logs are read only once."""

    def record(self, counting: Counting, start: int, record: MatchRecord) -> None:
        """A record, whose line begins at that byte, is about to be counted; all of its bots may
        have a row.
        """

    def event(self, folder: Path, event: Event, counting: Counting, damaged: Sequence[int]) -> None:
        """A log has been read, an event's before its epochs'; damaged lines begin at `damaged`."""


def rate_events(
    folders: Sequence[Path],
    wanted: RateOptions = EVERYTHING,
    *,
    reader: Reader | None = None,
    events: Mapping[Path, Event] = MappingProxyType({}),
) -> Table:
    """The table of events and their epochs. `events`: those of the folders that have been read."""
    for moment in (wanted.since, wanted.until):
        if moment is not None:
            _moment(moment)  # before all is counted
    every = _every(folders, events)
    chosen, called, field, gone = _field(every, wanted)
    rest = [entrant for entrant in field if entrant.id not in gone]
    event = pool.common_event([each.event for each in chosen], rest, wanted.rate_on)
    if len(chosen) > 1:
        from arena.machine.facts import machines_of, with_host  # loads trio

        for played in (each.event for each in chosen):
            if played.sandbox:  # all sandboxes and machines that they were played in and on
                event = with_host(event, played.sandbox, played.confinement, machines_of(played))
    joint = pool.Pool(margin=event.settings.rating.forfeit_margin, gone=gone)
    parted = 0
    withdrawn: dict[str, set[str]] = {}
    fields: list[FieldOfEvent] = []
    # An event before its epochs: who was withdrawn counts in none of them.
    for each in every:
        known = withdrawn.setdefault(each.root, set())
        other = called[each.folder]
        late, began = _take(joint, each, other, wanted, withdrawn=known, reader=reader)
        parted += late
        ids = frozenset(other.get(entrant.id, entrant.id) for entrant in each.event.entrants)
        fields.append(FieldOfEvent(each.root, began, ids))
    former = former_versions(fields, rest) if wanted.latest else frozenset[str]()
    found = table(event, joint.counted(), ahead=True, hidden=former)
    joint.sources.sort(key=lambda source: source.event.commitment)
    selected = (*_selected(event, chosen, sorted(gone), wanted, parted), *_of_versions(former))
    if len(chosen) == 1 and not selected and not joint.sources[0].damaged:
        return found
    # Why an event ended, what a trial has shown, and how it would go on, is its own.
    return replace(
        found,
        sources=tuple(joint.sources),
        selected=selected,
        ended="",
        verdict=None,
        open_pairs=UNSET,
    )


def refuse_unknown_bots(folder: Path, wanted: RateOptions) -> None:
    """UserError if bots are wanted that an event and its epochs don't have."""
    _field(_every([folder], {}), wanted)


class _Field(NamedTuple):
    chosen: list[_RatedEvent]  # in the order of their commitments
    called: dict[Path, pool.Aliases]
    field: tuple[Entrant, ...]
    gone: frozenset[str]  # bots that are left out, by their ids in the table


def _field(every: Sequence[_RatedEvent], wanted: RateOptions) -> _Field:
    chosen = sorted(every, key=lambda each: (each.event.commitment, str(each.folder)))
    named = [pool.NamedEvent(str(each.folder), each.event) for each in chosen]
    pool.refuse_unlike(named, wanted.rate_on)
    aliases = pool.aliases_of(named, wanted.without)
    field = pool.pooled_field(named, aliases)
    gone = pool.excluded_entrants(field, aliases, only=wanted.only, without=wanted.without)
    called = {each.folder: other for each, other in zip(chosen, aliases, strict=True)}
    return _Field(chosen, called, field, gone)


def _every(folders: Sequence[Path], events: Mapping[Path, Event]) -> list[_RatedEvent]:
    """The events of some folders, each once, and their epochs behind them."""
    found: dict[Path, _RatedEvent] = {}
    for folder in folders:
        before: list[Event] = []
        for path in (folder, *epochs_of(folder)):
            event = events.get(path) or read_event(path)
            if event.shard:
                raise UserError(
                    f"{path}: shard {event.shard} of an event, and what counts is decided when "
                    "all are put together: arena merge SHARD... --out FOLDER"
                )
            if before and (fault := epoch_fault(before, event)):
                raise UserError(f"{path}: no epoch of the event in {folder}: {fault}")
            before.append(event)
            # An epoch that was named by itself comes behind its event if that is named too.
            place = path.resolve()
            if place not in found or path != folder:
                found[place] = _RatedEvent(path, event, before[0].commitment, len(before) - 1)
    return sorted(found.values(), key=lambda each: (each.root, each.epoch, str(each.folder)))


def _take(
    joint: pool.Pool,
    rated: _RatedEvent,
    aliases: pool.Aliases,
    wanted: RateOptions,
    *,
    withdrawn: set[str],
    reader: Reader | None,
) -> tuple[int, float]:
    """Count an event into the pool; how many of its rated deals the range leaves out, and when its
    first match ended.
    """
    folder, event = rated.folder, rated.event
    secret = secret_of(folder, event)
    counting = counting_of(event, secret)
    damaged: list[int] = []
    outside = array("Q")
    began = math.inf
    skip = damaged.append if wanted.skip_damaged else None
    try:
        for start, record in read_placed(folder, event, damaged=skip):
            if reader and joint.gone.isdisjoint(aliases.get(seat, seat) for seat in record.seats):
                reader.record(counting, start, record)
            counting.add(record)
            began = min(began, record.ended)
            if not wanted.when(record.ended):
                outside.append(record_key(record))
    except DamagedError as error:
        raise UserError(f"{error}; to rate what is whole: --skip-damaged") from None
    if damaged and schedule_of(event, secret).adaptive:
        raise UserError(
            f"{folder}: {event.settings.format} decides by results what is played next, so what "
            "follows a damaged line can't be placed; to play its match again: "
            f"arena resume --repair {folder}"
        )
    counted = counting.counted()
    if event.finished and counted.missing and not wanted.skip_damaged:
        found = incomplete(folder, counted.missing, counted.planned)
        raise UserError(f"{found}; to rate what is there: --skip-damaged")
    late = _late(counting, outside) if wanted.dated else Keys(())
    joint.take(
        event,
        counted,
        counting.complete(),
        aliases=aliases,
        unwanted=(lambda spec: _event_key(spec) in late) if wanted.dated else None,
        damaged=len(damaged),
        before=tuple(withdrawn),
    )
    withdrawn.update(out.entrant for out in counted.withdrawn)
    if reader is not None:
        reader.event(folder, event, counting, damaged)
    return len(late), began


def _late(counting: Counting, outside: array[int]) -> Keys:
    """The rated deals with a match outside the range, or a void one."""
    keys, found = Keys(outside), array("Q")
    for chosen in counting.complete():
        late = (spec for spec, played, _ in chosen.matches if record_key(played) in keys)
        found.extend(map(_event_key, late))
        found.extend(_event_key(spec) for spec, _ in chosen.void)
    return Keys(key for key, _ in itertools.groupby(sorted(found)))


def _event_key(spec: MatchSpec) -> int:
    """64 bits that tell a rated deal from others."""
    return key_of(f"{spec.pairing} {spec.deal}")


def _selected(
    event: Event, chosen: Sequence[_RatedEvent], gone: list[str], wanted: RateOptions, parted: int
) -> Iterator[str]:
    rate_on = event.settings.rate_on
    if any(each.event.settings.rate_on != rate_on for each in chosen):
        yield f"rated on {rate_on}, which was not the event's own choice"
    if gone:
        yield f"without {', '.join(gone)}"
    if wanted.dated:
        since = "the beginning" if wanted.since is None else _moment(wanted.since)
        until = "the end" if wanted.until is None else _moment(wanted.until)
        yield (
            f"matches that ended from {since} to before {until}; {parted} rated events "
            "with a match that did not are left out whole"
        )


def _of_versions(former: Collection[str]) -> Iterator[str]:
    if former:
        many = (
            "1 former version counts"
            if len(former) == 1
            else f"{len(former)} former versions count"
        )
        yield f"the latest version of each bot; {many}, without a row"


def _moment(seconds: float) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError):
        raise UserError(
            f"{seconds:g} seconds since 1970 is no time before the year 10000"
        ) from None
    return moment.isoformat(sep=" ").replace("+00:00", " UTC")
