"""Verify a folder as a whole: event.json, all lines of the log, missing matches, tables.

An event names, under its commitment, the rule by which its tables are derived; tables of an older
rule are derived by that rule again, so nothing in them is taken on trust. What such a rule got
wrong is printed (`OLDER`), and is no difference.

Invariant: of several differences the first is reported: of event.json, else of the first line of
the log, else the first missing match of the schedule, else of the first table.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from arena import __version__
from arena.event.epochs import epoch_fault
from arena.event.results import counting_of, first_wave, shard_of
from arena.model import Event, Frozen
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.registry import table_files
from arena.store import Announced, read_records
from arena.store.files import open_regular
from arena.verify.event import VerifiedEvent, verified_event
from arena.verify.findings import EVENT, Difference, DiffersError, clipped, differs, first_unlike
from arena.verify.log import LogPart, VerifiedRecord, processes, read_log

Progress = Callable[[int], None]  # called with the number of bytes of the log that have been read

OLDER: Mapping[int, str] = {
    1: "the W-T-L, duels and matrix of tables of three and more break ties by places, and bots "
    "that were not rated have numbers"
}
"""By rule: what its tables tell otherwise than today's. A mended derivation gets a line here
and one in the table of rules in protocol/DEALS.md."""

_PAGE = 4096  # bits of a page: a log with few matches of a long schedule needs few pages


class FolderVerdict(Frozen, frozen=True, kw_only=True):
    event: Event | None = None  # None: event.json can't be believed
    difference: Difference | None = None  # the first
    differing: int = 0  # lines of the log that differ
    proven: bool = False  # the secret is known, so everything was derived
    records: int = 0
    moves: int = 0
    matches: int = 0  # that count
    planned: int = 0
    torn: bool = False
    processes: int = 1
    published: bool = False  # the commitment is the one that was known beforehand
    tables: tuple[str, ...] = ()  # files of the table that are right
    absent: tuple[str, ...] = ()
    not_reproducible: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


class Places:
    """Places of the schedule that have a record, by attempt: a bit for each."""

    def __init__(self) -> None:
        self._attempts: dict[int, dict[int, int]] = {}

    def add(self, place: int, attempt: int) -> bool:
        page, at = divmod(place, _PAGE)
        pages = self._attempts.setdefault(attempt, {})
        before = pages.get(page, 0)
        pages[page] = before | 1 << at
        return before != pages[page]

    def __contains__(self, place: int) -> bool:
        page, at = divmod(place, _PAGE)
        return any(pages.get(page, 0) >> at & 1 for pages in self._attempts.values())


def verify(
    folder: Path, *, jobs: int, commitment: str | None = None, progress: Progress | None = None
) -> FolderVerdict:
    """Derive everything in a folder again; `commitment`: as published before the event, if known.
    UserError if that is impossible here.
    """
    try:
        case = verified_event(folder, published=commitment)
    except DiffersError as error:
        return FolderVerdict(difference=error.difference)
    log = _Log(case)
    jobs = processes(case, jobs)
    for stop, part in read_log(case, jobs):
        log.take(part)
        if progress is not None:
            progress(stop)
    verdict = FolderVerdict(
        event=case.event,
        difference=log.first,
        differing=log.differing,
        proven=case.secret is not None,
        records=log.lines,
        moves=log.moves,
        torn=log.torn,
        processes=jobs,
        published=commitment is not None,
    )
    if log.counting is None or log.first is not None:
        return verdict
    return _as_a_whole(case, log.counting, log.places, verdict)


def verify_epoch(
    folder: Path,
    before: Sequence[Event],
    withdrawn: Collection[str] | None,
    *,
    jobs: int,
    progress: Progress | None = None,
) -> FolderVerdict:
    """`before`: the event and its epochs so far; `withdrawn` in these; None: their logs differ."""
    verdict = verify(folder, jobs=jobs, progress=progress)
    if verdict.event is None or not (fault := epoch_fault(before, verdict.event, withdrawn)):
        return verdict
    due = "an epoch of the event that it lies in"
    strange = Difference(file=EVENT, what="epoch", expected=due, found=fault)
    return replace(verdict, difference=strange)


class _Log:
    def __init__(self, case: VerifiedEvent) -> None:
        self.first: Difference | None = None
        self.differing = 0
        self.lines = 0
        self.moves = 0
        self.torn = False
        self.places = Places()
        self.counting: Counting | None = None
        self._over = case.event.finished
        self._shard = shard_of(case.event)
        self._in_shard: frozenset[str] = frozenset()
        if case.secret is not None:
            self.counting = counting_of(
                case.event, case.secret, shard=self._shard, schedule=case.schedule
            )
            if self._shard:
                blocks = self._shard.blocks(first_wave(case.schedule).blocks)
                self._in_shard = frozenset(series.id for block in blocks for series in block.series)

    def take(self, part: LogPart) -> None:
        found = []
        for kept in part.kept:
            if not self.places.add(kept.place, kept.attempt):
                due = "each match once an attempt"
                found.append(_misplaced(kept, due, f"attempt {kept.attempt} of it a second time"))
            elif self._shard and kept.series not in self._in_shard:
                found.append(_misplaced(kept, f"a match of shard {self._shard}", "another's"))
            elif self.counting is not None and self.first is None:
                self.counting.take_in(kept.series, kept.id, kept.played, faulted=kept.faulted)
        self.torn |= part.torn is not None
        if part.torn is not None and self._over:
            due = "a newline at its end, as the event is over"
            found.append(differs("line", due, "none", line=part.lines + 1, byte=part.torn))
        self.differing += part.differing + len(found)
        found += [] if part.first is None else [part.first]
        if found and self.first is None:
            first = min(found, key=lambda difference: difference.line)
            self.first = replace(first, line=self.lines + first.line)
        self.lines += part.lines
        self.moves += part.moves


def _misplaced(kept: VerifiedRecord, expected: str, found: str) -> Difference:
    return differs("schedule", expected, found, line=kept.line, byte=kept.byte, match=kept.id)


def _as_a_whole(
    case: VerifiedEvent, counting: Counting, places: Places, verdict: FolderVerdict
) -> FolderVerdict:
    """Checks that need the whole log, all lines of which are true."""
    counted = counting.counted()
    if strange := counting.strange:
        return replace(verdict, difference=_undecided(case, strange))
    verdict = replace(
        verdict,
        matches=counted.tally.matches,
        planned=counted.planned,
        not_reproducible=tuple(sorted(counted.not_reproducible)),
        withdrawn=tuple(out.entrant for out in counted.withdrawn),
    )
    if not case.event.finished:
        return verdict
    if counted.missing:
        missing = _missing(case, counting, places, counted.missing)
        return replace(verdict, difference=missing)
    tables, absent = [], []
    right = table(case.event, counted, rule=case.event.settings.rule)
    for name, report in table_files().items():
        path = case.folder / name
        if not path.is_file():
            absent.append(name)
        elif difference := _unlike_table(path, report.file_text(right), case.event, case.announced):
            return replace(verdict, difference=difference)
        else:
            tables.append(name)
    return replace(verdict, tables=tuple(tables), absent=tuple(absent))


def _undecided(case: VerifiedEvent, strange: set[str]) -> Difference:
    """The first line with a match that would follow from other results."""
    records = enumerate(read_records(case.folder, case.event), 1)
    line, record = next((n, record) for n, record in records if record.series in strange)
    return differs(
        "schedule",
        "matches that follow from the results before them",
        f"one of series {record.series}, which no format has scheduled",
        line=line,
        match=record.id,
    )


def _missing(case: VerifiedEvent, counting: Counting, places: Places, missing: int) -> Difference:
    """The first match of the schedule that should be there."""
    wanted = (each for block in counting.ahead() for each in block.series)
    series = next(each for each in wanted if counting.wanted(each) is not None)
    for spec in series.matches:
        found = case.schedule.find(spec.pairing, spec.deal, spec.rotation)
        assert found is not None
        if found[0] not in places:
            return differs(
                "schedule",
                "this match, as the event is over",
                "no record of it; a series counts whole, so "
                f"{missing} of the event's matches don't count",
                match=spec.id,
            )
    return differs(
        f"series {series.id}",
        "an attempt with all of its matches, as the event is over",
        f"none, so {missing} of the event's matches don't count",
    )


def _unlike_table(path: Path, text: str, event: Event, announced: Announced) -> Difference | None:
    right = text.encode()
    with open_regular(path) as file:
        found = file.read(len(right) + 1)  # one more is too many already
    if found == right:
        return None
    if path.suffix == ".json" and found == _as_announced(text, announced).encode():
        return None
    mine, theirs = found.splitlines(keepends=True), right.splitlines(keepends=True)
    at = first_unlike(mine, theirs)
    by = event.machine.arena
    played = f" (by arena {by}; this is {__version__})" if by and by != __version__ else ""
    return Difference(
        file=path.name,
        line=at + 1,
        byte=sum(map(len, mine[:at])),
        what=f"table{played}",
        expected=_line(theirs, at),
        found=_line(mine, at),
    )


def _as_announced(text: str, announced: Announced) -> str:
    """A table in JSON with the settings of event.json: a later arena knows more of them."""
    content = json.loads(text)
    content["event"]["settings"] = json.loads(bytes(announced.settings))
    return json.dumps(content, indent=2, sort_keys=True).replace("\x7f", "\\u007f") + "\n"


def _line(lines: Sequence[bytes], at: int) -> str:
    if at >= len(lines):
        return "the end of the file"
    return clipped(lines[at].decode("utf-8", "backslashreplace").rstrip("\n"))
