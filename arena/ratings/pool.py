"""Rate several events together: check that they fit, match their bots, and add up their counts.

Events of one game, number of seats and constants of rating go together. A bot is its content: the
same id with another content is another bot, and refused; the same content under two ids is one bot,
with the smaller id. Only if an event has both ids side by side do they stay two bots, everywhere.

Each event is counted by itself, with its own withdrawals: a bot that is annulled in one keeps its
results in the others. Then its series go into one tally, which keeps no rated deal open between
two events. Pairings of the same bots are one stratum of the intervals, whichever event they met in.

Invariant: events are taken in the order of their commitments, whatever the order they are given in.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, replace

from arena.model import (
    ADJUSTED,
    BLOCKS,
    Entrant,
    Event,
    MatchSpec,
    RaceSettings,
    RateOn,
    Settings,
    SourceEvent,
    UserError,
    bots_called,
    calls_of,
    canonical,
    is_called,
    pairing_id,
)
from arena.ratings.counts import CountedSeries, EventCount, count_in
from arena.ratings.outcomes import Tally
from arena.schedule import ScheduleEnd

_HASH_SHOWN = 12
MOST_BOTS = 500  # as in an event: the fit's time grows with the cube of their number

Aliases = Mapping[str, str]  # ids of an event -> the ids in the table, where they differ


class NamedEvent(NamedTuple):
    name: str
    event: Event


def refuse_unlike(events: Sequence[NamedEvent], rate_on: RateOn | None) -> None:
    """UserError if events can't be rated together; `rate_on` overrides what they rate on."""
    for name, event in events if rate_on == ADJUSTED else ():
        if not event.settings.evaluator:
            raise UserError(f"{name}: luck was not measured, so it can't be taken off")
    for (one, first), (other, second) in itertools.pairwise(events):
        mine, theirs = first.settings, second.settings
        if first.commitment == second.commitment:
            raise UserError(f"{one} and {other} are the same event, by its commitment; name one")
        if reason := _unlike(mine, theirs, rate_on):
            raise UserError(f"{one} and {other} can't be rated together: {reason}")
        if rate_on is None and mine.rate_on != theirs.rate_on:
            raise UserError(
                f"{one} rates on {mine.rate_on}, {other} on {theirs.rate_on}; say what counts "
                "here: --rate-on"
            )
    # Luck by two evaluators can't be added. A caller that says --rate-on results needs none.
    known: dict[str, str] = {}
    for each in events:
        known.setdefault(each.event.settings.evaluator, each.name)
    known.pop("", None)
    if rate_on is None and len(known) > 1:
        (by, one), (by_another, other), *_ = known.items()
        raise UserError(
            f"{one} and {other} can't be rated together: luck was measured by {by} and "
            f"{by_another}; to leave it out: --rate-on results"
        )


def _unlike(one: Settings, other: Settings, rate_on: RateOn | None) -> str:
    """Why events with these settings can't be rated together; empty: they can."""
    names = ["game", "game_version", "seats", "rating"]
    if (rate_on or one.rate_on) == ADJUSTED:
        names.append("evaluator")
    for name in names:
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            what = {"game_version": "rules", "rating": "constants of rating"}.get(name, name)
            verb = "differ" if what.endswith("s") else "differs"
            return f"their {what} {verb}, {_stated(mine, theirs)} and {_stated(theirs, mine)}"
    return ""


def _stated(value: Any, other: Any) -> str:  # noqa: ANN401 - any setting
    """A value; of constants those that differ from the other's."""
    if isinstance(value, msgspec.Struct):
        return ", ".join(
            f"{name} {getattr(value, name):.6g}"
            for name in value.__struct_fields__
            if getattr(value, name) != getattr(other, name)
        )
    return str(value) or "none"


def aliases_of(events: Sequence[NamedEvent], without: Collection[str] = ()) -> list[Aliases]:
    """By event, the bots with another id in the table. UserError if two that stay share an id."""
    known: dict[str, tuple[Entrant, str]] = {}
    ids: dict[str, set[str]] = defaultdict(set)
    crowded: set[str] = set()
    for name, event in events:
        hashes = Counter(entrant.hash for entrant in event.entrants)
        crowded.update(hash_ for hash_, many in hashes.items() if many > 1)
        for entrant in event.entrants:
            other, where = known.setdefault(entrant.id, (entrant, name))
            left_out = is_called((entrant.id, entrant.name), without)
            if other.hash != entrant.hash and not left_out:
                raise UserError(
                    f"{entrant.id} is one bot in {where} (content {other.hash[:_HASH_SHOWN]}…) and "
                    f"another in {name} ({entrant.hash[:_HASH_SHOWN]}…); rate them apart, or "
                    f"--without {entrant.id}"
                )
            ids[entrant.hash].add(entrant.id)
    return [
        {
            entrant.id: min(ids[entrant.hash])
            for entrant in event.entrants
            if entrant.hash not in crowded and min(ids[entrant.hash]) != entrant.id
        }
        for _, event in events
    ]


def pooled_field(events: Sequence[NamedEvent], aliases: Sequence[Aliases]) -> tuple[Entrant, ...]:
    """The bots of all events, each once, by their ids in the table."""
    found: dict[str, Entrant] = {}
    for (_, event), other in zip(events, aliases, strict=True):
        for entrant in event.entrants:
            if entrant.id not in other:
                # They differ in the author at most.
                found[entrant.id] = min(entrant, found.get(entrant.id, entrant), key=canonical)
    if len(found) > MOST_BOTS:
        raise UserError(f"{len(found)} bots are more than {MOST_BOTS}, which can be rated")
    return tuple(entrant for _, entrant in sorted(found.items()))


def excluded_entrants(
    field: Sequence[Entrant],
    aliases: Sequence[Aliases],
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
) -> frozenset[str]:
    """The ids of bots that are not rated, from names, ids and patterns of those of any event."""
    calls = calls_of((each.id, each.name) for each in field)
    for name, entrant in itertools.chain(*(other.items() for other in aliases)):
        calls.setdefault(name, set()).add(entrant)
    every = {entrant.id for entrant in field}
    kept = (bots_called(calls, only, "--only") or every) - bots_called(calls, without, "--without")
    if len(kept) < 2:
        raise UserError(f"{len(kept) or 'no'} bot is left; a rating needs two that have met")
    return frozenset(every - kept)


def common_event(
    events: Sequence[Event], field: Sequence[Entrant], rate_on: RateOn | None = None
) -> Event:
    """The event that a table of several is about: what all have in common."""
    settings = _common_settings([event.settings for event in events])
    settings = replace(settings, rate_on=rate_on or settings.rate_on)
    if len(events) == 1:
        return replace(events[0], settings=settings, entrants=tuple(field))
    return Event(
        settings=settings,
        entrants=tuple(field),
        commitment="",
        predictable=any(event.predictable for event in events),
        not_run=tuple(sorted({o for event in events for o in event.not_run}, key=canonical)),
        finished=all(event.finished for event in events),
    )


def _common_settings(all_of_them: Sequence[Settings]) -> Settings:
    first, *others = all_of_them
    shared = {
        name: value
        for name, value in asdict(first).items()
        if all(getattr(other, name) == value for other in others)
    }
    shared.setdefault("format", "+".join(sorted({settings.format for settings in all_of_them})))
    if any(settings.racing for settings in all_of_them):
        # Its ranks stay as cautious as repeated looks demand.
        mixtures = (settings.mixture for settings in all_of_them if settings.racing)
        mixture = max((each for each in mixtures if each), default=UNSET)
        shared.setdefault("racing", RaceSettings(mixture=mixture))
    if any(settings.units for settings in all_of_them):
        shared.setdefault("units", BLOCKS)
    return Settings(**shared)


class Pool:
    """The counts of several events in one; results of bots in `gone` are left out."""

    def __init__(self, *, margin: float, gone: frozenset[str] = frozenset()) -> None:
        self.sources: list[SourceEvent] = []
        self._tally = Tally(margin=margin)
        self.gone = gone
        self._missing = 0
        self._not_reproducible: set[str] = set()
        self._end = ScheduleEnd()

    def take(
        self,
        event: Event,
        counted: EventCount,
        series: Iterable[CountedSeries],
        *,
        aliases: Aliases,
        unwanted: Callable[[MatchSpec], bool] | None = None,
        damaged: int = 0,
        before: Iterable[str] = (),
    ) -> None:
        """Add an event: its count, its complete series. `unwanted` sees the event's own ids.
        `before`: bots withdrawn before this epoch, whose results in it vanish.
        """
        matches = self._tally.matches
        earlier = frozenset(before)
        withdrawn = tuple(
            replace(out, entrant=aliases.get(out.entrant, out.entrant))
            for out in counted.withdrawn
            if out.entrant not in earlier
        )
        annulled = (out.entrant for out in withdrawn if out.annulled)
        gone = self.gone.union(annulled, _in_table(earlier, aliases))
        for chosen in series:
            count_in(self._tally, _as_wanted(chosen, aliases, unwanted), gone)
        self._tally.close()
        self._missing += counted.missing
        # Several events have no end in common.
        self._end = ScheduleEnd() if self.sources else counted.end
        self._not_reproducible |= _in_table(counted.not_reproducible, aliases)
        self.sources.append(
            SourceEvent(
                event=event,
                matches=self._tally.matches - matches,
                planned=counted.planned,
                withdrawn=withdrawn,
                ended=counted.end.note,
                aliases=tuple(sorted(aliases.items())),
                damaged=damaged,
                gone=tuple(sorted(each.id for each in event.entrants if each.id in earlier)),
            )
        )

    def counted(self) -> EventCount:
        """The sum of all. A bot is annulled if it has no result left in any event."""
        every = [out for source in self.sources for out in source.withdrawn]
        first = {out.entrant: out for out in reversed(every) if out.entrant not in self.gone}
        rated = {entrant for entrant, account in self._tally.accounts.items() if account.deals}
        return EventCount(
            planned=sum(source.planned for source in self.sources),
            tally=self._tally,
            missing=self._missing,
            withdrawn=tuple(
                replace(out, annulled=out.annulled and entrant not in rated)
                for entrant, out in sorted(first.items())
            ),
            not_reproducible=frozenset(self._not_reproducible),
            end=self._end,
        )


def _as_wanted(
    chosen: CountedSeries, aliases: Aliases, unwanted: Callable[[MatchSpec], bool] | None
) -> CountedSeries:
    """A series with the ids of the table, less unwanted matches."""

    def as_wanted(matches: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(
            (_renamed(spec, aliases), *played, _in_table(out, aliases))
            for spec, *played, out in matches
            if unwanted is None or not unwanted(spec)
        )

    return replace(chosen, matches=as_wanted(chosen.matches), void=as_wanted(chosen.void))


def _in_table(entrants: Iterable[str], aliases: Aliases) -> frozenset[str]:
    """Ids of an event as they are in the table."""
    return frozenset(aliases.get(entrant, entrant) for entrant in entrants)


def _renamed(spec: MatchSpec, aliases: Aliases) -> MatchSpec:
    if aliases.keys().isdisjoint(spec.seats):
        return spec
    seats = tuple(aliases.get(entrant, entrant) for entrant in spec.seats)
    return replace(spec, seats=seats, pairing=pairing_id(seats))
