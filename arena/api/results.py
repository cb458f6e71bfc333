"""Read results folders: settings, standings, matches and moves, as records and as rows; rate them.

A row is a flat dict, the same keys in all of a list, so that pandas, polars or DuckDB take a list
of them. Records are the types of `arena.model`. Nothing is cached but the event and its table:
matches are read from the log each time. Loads no trio.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import msgspec

from arena import registry, store
from arena.api.paths import PathName, folder_paths
from arena.deals import Deals, with_beacon
from arena.event.epochs import epochs_of
from arena.event.rerate import EVERYTHING, RateOptions, rate_events
from arena.event.results import Counts, announce_reading, table_of
from arena.event.search import BotMatches, Search, SearchResult, counted_record, search_matches
from arena.machine import Notify, ignore_notes
from arena.model import Entrant, Event, MatchRecord, RateOn, Settings, Standing, Table, UserError
from arena.registry import render
from arena.regret import Decision, decisions, with_regret
from arena.regret.summary import RegretReport, report
from arena.replay.steps import MatchSteps, unfold

Row = dict[str, Any]
NEWEST = 200  # matches whose regret is looked at: ten to twenty seconds
_LONG = 100  # matches: from here on judging takes five seconds and more
_OF_A_MOVE = ("move", "drawn", "discard", "unasked", "ends")


def open_results(folder: PathName, *, notify: Notify = ignore_notes) -> EventResults:
    """The results in a folder. UserError if there are none, or if event.json is damaged."""
    return EventResults(Path(folder), notify)


def rate(
    folders: Sequence[PathName] | PathName,
    options: RateOptions = EVERYTHING,
    *,
    notify: Notify = ignore_notes,
) -> Table:
    """Rate the events in some folders together, with their epochs, from their logs."""
    paths = folder_paths(folders)
    if options.rate_on not in (None, *get_args(RateOn)):
        known = " and ".join(get_args(RateOn))
        raise UserError(f"--rate-on {options.rate_on}: there are {known}")
    announce_reading(notify, *paths)
    return rate_events(paths, options)


def is_results_folder(path: PathName) -> bool:
    """Whether there is an event in a folder."""
    return store.is_results_folder(Path(path))


def replay_match(folder: PathName, match: str, *, attempt: int | None = None) -> MatchSteps:
    """A recorded match move by move, with all cards and the luck of each move."""
    return open_results(folder).steps(match, attempt=attempt)


class EventResults:
    """The results of one event."""

    def __init__(self, folder: Path, notify: Notify) -> None:
        self.folder = folder
        self.event: Event = store.read_event(folder)
        self._notify = notify

    @property
    def settings(self) -> Settings:
        return self.event.settings

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        return self.event.entrants

    @property
    def epochs(self) -> list[EventResults]:
        """Results of the event's epochs; each has matches of its own."""
        return [EventResults(path, self._notify) for path in epochs_of(self.folder)]

    @cached_property
    def table(self) -> Table:
        """The table, derived from the log; with the epochs, if there are any."""
        epochs = epochs_of(self.folder)
        announce_reading(self._notify, self.folder, *epochs)
        if epochs:
            return rate_events([self.folder], events={self.folder: self.event})
        return table_of(self.folder, self.event)

    def report(self, name: str = "text") -> str:
        """The table as a report: text, md, csv, json."""
        return render(self.table, name)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """A record a bot, from the first rank."""
        return self.table.rows

    def standing_rows(self) -> list[Row]:
        return [
            {**msgspec.to_builtins(each), "faults": sum(count for _, count in each.faults)}
            for each in self.standings
        ]

    def matches(self, *, everything: bool = False, sort: bool = False) -> Iterator[MatchRecord]:
        """The matches that count, or `everything`, in the order of the log or by id (`sort`)."""
        announce_reading(self._notify, self.folder)
        counts = _all if everything else Counts(self.folder, event=self.event)
        yield from (store.read_by_id if sort else store.read_some)(self.folder, counts, self.event)

    def lines(self, *, canonical: bool = False, everything: bool = False) -> Iterator[bytes]:
        """The same as JSON lines. `canonical`: by id, without timings and host facts."""
        line = store.canonical_line if canonical else store.record_line
        return map(line, self.matches(everything=everything, sort=canonical))

    def match(self, match: str, *, attempt: int | None = None) -> MatchRecord:
        """A match by its id or a beginning of it: the playing that counts, or an `attempt`."""
        return counted_record(self.folder, match, self._notify, self.event, attempt)

    def search(
        self, search: Search, *, everything: bool = False, limit: int | None = None
    ) -> SearchResult:
        """Matches by bots, faults, totals and margins."""
        return search_matches(
            self.folder, search, self._notify, everything=everything, limit=limit, event=self.event
        )

    def match_rows(self, *, everything: bool = False) -> list[Row]:
        """A row for each seat of each match."""
        return [row for record in self.matches(everything=everything) for row in _seat_rows(record)]

    def steps(self, match: str, *, attempt: int | None = None) -> MatchSteps:
        """A match move by move, with all cards and the luck of each move."""
        return self.unfold(self.match(match, attempt=attempt))

    def unfold(self, record: MatchRecord, *, regret: bool = False) -> MatchSteps:
        """The same of a record, with the regret of each move if that is asked for. UserError while
        the event's secret is not known.
        """
        game, secret = registry.game(self.settings.game), store.secret_of(self.folder, self.event)
        steps = unfold(record, self.event, game=game, secret=secret)
        return with_regret(steps, self.decisions(record)) if regret else steps

    def decisions(self, record: MatchRecord) -> tuple[Decision, ...]:
        """Each decision of a match with what it cost, by the opinion of the game's evaluator."""
        return decisions(record, **self._rules())

    def regret(self, newest: int | None = NEWEST, *, bot: str | None = None) -> RegretReport:
        """Where the bots lost strokes by their own decisions, in the newest matches that count, or
        in all of them (None); only of those that a bot has played, by its id.
        """
        records: deque[MatchRecord] = deque(maxlen=newest)
        of = 0
        rules = self._rules()
        for record in self.matches():
            if bot is None or bot in record.seats:
                of += 1
                records.append(record)
        if len(records) > _LONG:
            self._notify(f"judging {len(records):,} matches: about {len(records) // 20} s")
        return report(records, of, **rules)

    def _rules(self) -> dict[str, Any]:
        secret = store.secret_of(self.folder, self.event)
        deals = Deals(with_beacon(secret, self.event.beacon))
        game = registry.game(self.settings.game)
        return {"game": game, "deals": deals, "settings": self.settings}

    def move_rows(self, match: str | None = None) -> list[Row]:
        """A row for each move of one match, or of all that count."""
        records = self.matches() if match is None else [self.match(match)]
        return [row for record in records for row in _move_rows(self.unfold(record))]

    def transcript(
        self, match: str, bot: str | None = None, *, attempt: int | None = None, lean: bool = False
    ) -> bytes:
        """Every line that a bot read and wrote, from its process's start to the end of a match."""
        found = BotMatches(self.folder, match, bot, attempt, self._notify, event=self.event)
        return found.transcript(lean=lean)


def _all(_: store.Head) -> bool:
    return True


def _seat_rows(record: MatchRecord) -> Iterator[Row]:
    faults = {fault.seat: fault for fault in record.faults}
    names = ("attempt", "series", "pairing", "deal", "rotation")
    same = {"match": record.id} | {name: getattr(record, name) for name in names}
    for seat, bot in enumerate(record.seats):
        fault = faults.get(seat)
        use = record.use[seat] if record.use else None
        yield {
            **same,
            "seat": seat,
            "bot": bot,
            "strokes": record.totals[seat],
            "place": record.places[seat],
            "holes": len(record.holes),
            "fault": str(fault.kind) if fault else None,
            "fault_hole": fault.hole if fault else None,
            "luck": record.luck[seat] / 1000 if record.luck else None,
            **{name: getattr(use, name, None) for name in ("decisions", "think_ms", "max_ms")},
            "ended": record.ended,
        }


def _move_rows(match: MatchSteps) -> Iterator[Row]:
    for hole in match.holes:
        for number, step in enumerate(hole.steps, 1):
            yield {
                "match": match.id,
                "attempt": match.attempt,
                "hole": hole.hole,
                "number": number,
                "turn": step.turn,
                "seat": step.seat,
                "bot": match.seats[step.seat].id,
                **{name: getattr(step, name) for name in _OF_A_MOVE},
                "luck": step.luck[step.seat] / 1000 if step.luck else None,
            }
