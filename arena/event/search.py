"""Find matches in a results folder: one by its id or a prefix of it, all that fit a search, or
those that one process of a bot has played, with the transcript that it saw.

`records_of` and the functions after it find one match; `search_matches` filters and sorts many. A
search streams the log and keeps no more records than it shows.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from arena import registry, store
from arena.deals import Deals, with_beacon
from arena.event.results import Counts, announce_reading, record_key
from arena.machine import Notify
from arena.model import Entrant, Event, Fault, Frozen, MatchRecord, UserError
from arena.replay.rebuild import rebuild_lines
from arena.reports.escape import plain

NEAR = 3
ANY = "any"

_COMPARES: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


def records_of(
    folder: Path, match: str, notify: Notify, event: Event | None = None
) -> list[MatchRecord]:
    """All records of a match, by its id or a unique prefix; the UserError suggests others."""
    if not store.is_indexed(folder):
        announce_reading(notify, folder)
    if found := store.records_of_match(folder, match, event):
        return found
    ids = _ids(folder, event)
    if not ids:
        raise no_matches(folder)
    meant = sorted(known for known in ids if match and known.startswith(match))
    if len(meant) == 1:
        return store.records_of_match(folder, meant[0], event)
    if meant:
        more = f" and {len(meant) - NEAR:,} more" if len(meant) > NEAR else ""
        raise UserError(
            f"{folder}: {plain(match)} may be any of these: {_some(meant[:NEAR])}{more}"
        )
    close = get_close_matches(match, ids, n=NEAR, cutoff=0.5) or ids[:NEAR]
    raise UserError(f"{folder}: there is no match {plain(match)!r}; near it: {_some(close)}")


def no_matches(folder: Path) -> UserError:
    return UserError(f"{folder}: no match has been played there yet")


def _ids(folder: Path, event: Event | None) -> list[str]:
    ids: dict[str, None] = {}
    list(store.read_some(folder, lambda head: bool(ids.setdefault(head.id)), event))  # wants none
    return list(ids)


def record_of_attempt(
    folder: Path, match: str, attempt: int | None, notify: Notify, event: Event | None = None
) -> MatchRecord:
    """One record of a match: of its first attempt, unless `attempt` is given."""
    found = records_of(folder, match, notify, event)
    if wanted := [record for record in found if attempt in (None, record.attempt)]:
        return min(wanted, key=lambda record: record.attempt)
    there = ", ".join(str(record.attempt) for record in found)
    raise UserError(f"{folder}: {plain(found[0].id)} has no attempt {attempt}; there are: {there}")


def counted_record(
    folder: Path, match: str, notify: Notify, event: Event | None = None, attempt: int | None = None
) -> MatchRecord:
    """The record of a match that counts, or the last if none does; or that of an `attempt`."""
    if attempt is not None:
        return record_of_attempt(folder, match, attempt, notify, event)
    found = records_of(folder, match, notify, event)
    if len(found) == 1:
        return found[0]
    counts = Counts(folder, event=event)
    return next((record for record in found if counts.takes(record_key(record))), found[-1])


def seat_of(event: Event, who: str) -> str:
    """The id of the entrant with this name or id; the UserError suggests similar names."""
    known = [entrant.id for entrant in event.entrants]
    if who in known:
        return who
    meant = [entrant.id for entrant in event.entrants if entrant.name == who]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UserError(f"{plain(who)} may be any of these: {_some(meant)}")
    names = {each.name: each.id for each in event.entrants} | {name: name for name in known}
    close = dict.fromkeys(names[name] for name in get_close_matches(who, names, n=NEAR))
    some = _some(close or known[:NEAR])
    raise UserError(f"no bot {plain(who)!r} takes part; {'near it' if close else 'some'}: {some}")


def _some(names: Iterable[str]) -> str:
    return ", ".join(map(plain, names))


class Bound(Frozen, frozen=True):
    """A comparison with a number: <60, >=-3, 7."""

    compare: str
    number: int

    @classmethod
    def read(cls, text: str) -> Bound | None:
        found = re.fullmatch(r"\s*(<=|>=|<|>|=|)\s*([+-]?\d{1,9})\s*", text)
        return cls(found[1] or "=", int(found[2])) if found else None

    def holds(self, value: int) -> bool:
        return _COMPARES[self.compare](value, self.number)


class Search(Frozen, frozen=True, kw_only=True):
    """Which matches are wanted, and in which order."""

    bots: tuple[str, ...] = ()
    """Ids of entrants: all are at the table; strokes and margins are the first one's."""
    fault: str = ""
    """A kind, or ANY; a fault of the first bot if one is named."""
    totals: tuple[Bound, ...] = ()
    margins: tuple[Bound, ...] = ()
    sort: str = ""
    """A key of SORTS; else as they lie in the log."""

    def wants(self, record: MatchRecord) -> bool:
        if not set(self.bots) <= set(record.seats):
            return False
        if self.fault and not any(self._asks_for(record, fault) for fault in record.faults):
            return False
        if not (self.totals or self.margins):
            return True
        mine, others = self._compared(record)
        if mine is None or others is None:
            return False  # a forfeit is not so many strokes
        margin = mine - others if self.bots else others - mine
        fits = all(bound.holds(mine) for bound in self.totals)
        return fits and all(bound.holds(margin) for bound in self.margins)

    def _asks_for(self, record: MatchRecord, fault: Fault) -> bool:
        """Whether a fault is of the kind that is asked for, and the first bot's if one is named."""
        own = not self.bots or record.seats[fault.seat] == self.bots[0]
        return own and self.fault in (ANY, fault.kind)

    def place(self, record: MatchRecord) -> tuple[int, int]:
        """The key of a match by `sort`; one that a forfeit has cut short comes last."""
        order = SORTS[self.sort]
        mine, others = self._compared(record)
        if mine is not None and others is not None:
            return 0, order(mine, others)
        return 1 + _MOST_HOLES - len(record.holes), order(*self._so_far(record))

    def _compared(self, record: MatchRecord) -> tuple[int | None, int | None]:
        """The strokes of the first bot or the winner, and the best other's; None: it forfeited."""
        by_bot = zip(record.totals, record.seats, strict=True)
        totals = [(total, bot) for total, bot in by_bot if bot not in record.fallen]
        if len(record.holes) < 9 or len(totals) < 2:
            return None, None
        if not self.bots:
            best, second, *_ = sorted(total for total, _ in totals)
            return best, second
        mine = next((total for total, bot in totals if bot == self.bots[0]), None)
        return mine, min(total for total, bot in totals if bot != self.bots[0])

    def _so_far(self, record: MatchRecord) -> tuple[int, int]:
        """The same of a match that a forfeit has cut short."""
        totals = list(record.totals)
        seats = [record.seats.index(bot) for bot in self.bots[:1]] or range(len(totals))
        mine = min(seats, key=lambda seat: (record.places[seat], totals[seat]))
        return totals.pop(mine), min(totals)


_MOST_HOLES = 18

SORTS: Mapping[str, Callable[[int, int], int]] = {
    "best": lambda mine, _: mine,
    "worst": lambda mine, _: -mine,
    "closest": lambda mine, other: abs(mine - other),
    "widest": lambda mine, other: -abs(mine - other),
}
"""By the strokes of the first bot, or of the winner, and those of the best other."""


class SearchResult(Frozen, frozen=True, kw_only=True):
    records: tuple[tuple[MatchRecord, bool], ...]  # those to be shown, with whether they count
    matches: int


def search_matches(
    folder: Path,
    search: Search,
    notify: Notify,
    *,
    everything: bool = False,
    limit: int | None = None,
    event: Event | None = None,
) -> SearchResult:
    """Look through a log: through the records that count, or through all (`everything`)."""
    announce_reading(notify, folder)
    event = event or store.read_event(folder)
    counts = Counts(folder, event=event)
    counted_ones = store.read_some(folder, counts, event)
    if search == Search() and limit is not None and not everything:
        # Nothing is to be found out of the records: the first ones will do.
        first = itertools.islice(counted_ones, limit)
        return SearchResult(records=tuple((record, True) for record in first), matches=len(counts))
    number = 0

    def wanted() -> Iterator[tuple[MatchRecord, bool]]:
        nonlocal number
        for record in store.read_records(folder, event) if everything else counted_ones:
            counted = counts.takes(record_key(record)) if everything else True
            if search.wants(record):
                number += 1
                yield record, counted

    def key(found: tuple[MatchRecord, bool]) -> tuple[tuple[int, int], str, int]:
        return search.place(found[0]), found[0].id, found[0].attempt

    shown: Sequence[tuple[MatchRecord, bool]]
    if not search.sort:
        shown = [found for found in wanted() if limit is None or number <= limit]
    elif limit is None:
        shown = sorted(wanted(), key=key)
    else:
        shown = heapq.nsmallest(limit, wanted(), key=key)
    return SearchResult(records=tuple(shown), matches=number)


class BotMatches:
    """The matches that one process of a bot has played; `content`: its hash, if `bot` is no id."""

    def __init__(
        self,
        folder: Path,
        match: str,
        bot: str | None,
        attempt: int | None,
        notify: Notify,
        *,
        content: str = "",
        event: Event | None = None,
    ) -> None:
        self._event = event or store.read_event(folder)
        self._secret = store.secret_of(folder, self._event)
        record = record_of_attempt(folder, match, attempt, notify, self._event)
        by_id = {entrant.id: entrant for entrant in self._event.entrants}
        self.entrant = _at_table([by_id[seat] for seat in record.seats], record, bot, content)
        self.records = _of_process(folder, self._event, record)

    def transcript(self, *, lean: bool) -> bytes:
        """Every line that the process read and wrote; `lean`: of a bot that asks for `next`."""
        settings, deals = self._event.settings, Deals(with_beacon(self._secret, self._event.beacon))
        game, entrant = registry.game(settings.game), self.entrant.id
        lines = rebuild_lines(
            self.records, entrant, settings=settings, game=game, deals=deals, lean=lean
        )
        return "".join(f"{line}\n" for line in lines).encode()


def _at_table(seated: list[Entrant], record: MatchRecord, bot: str | None, content: str) -> Entrant:
    ids = ", ".join(entrant.id for entrant in seated)
    if bot is None:
        raise UserError(f"whose transcript? --bot with one of: {ids}")
    for name, value in (("id", bot), ("hash", content), ("name", bot.partition("@")[0])):
        meant = [entrant for entrant in seated if getattr(entrant, name) == value]
        if len(meant) == 1:
            return meant[0]
        if meant:
            some = ", ".join(entrant.id for entrant in meant)
            raise UserError(f"{plain(bot)} may be any of these; say which with --bot: {some}")
    raise UserError(f"{plain(bot)} was not in match {record.id}; at the table were: {ids}")


def _of_process(folder: Path, event: Event, last: MatchRecord) -> tuple[MatchRecord, ...]:
    """Matches of the processes that played the last one: a fault brings fresh processes."""
    records: list[MatchRecord] = []
    for record in store.records_of_series(folder, last.series, event):
        if record.attempt == last.attempt:
            if records and records[-1].faults:
                records.clear()
            records.append(record)
            if record.id == last.id:
                break
    return tuple(records)
