"""Take submissions in: from the inbox to the chain, each exactly once.

Theory of operation. What lies in the inbox stays there. An entry is unpacked beside it, loaded as a
bot, checked in the sandbox, and kept in versions/ by its content; the chain's line is written last.
An entry whose digest is the one that its author's last line has was handled already, unless that
line refused it and it was handed in again. So a process that was killed anywhere does the same
again, and nothing twice.

An author is who the entry lay under, never who its manifest says.

Invariant: a refused submission changes nothing but its author's report.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.api.check import CheckOptions, check_bots
from arena.bots import Problem, default_cache, in_use, load
from arena.bots.trees import copy_into, remove
from arena.check.report import CheckReports, Finding, Status
from arena.intake import (
    Author,
    InboxEntry,
    SubmissionError,
    UnfinishedError,
    Unpacked,
    UploadCaps,
    author_of,
    handle_of,
    inbox_entries,
    look,
    split,
    unpack,
)
from arena.intake.inbox import SETTLE
from arena.intake.upload import open_upload
from arena.ladder.authors import listed_authors, pseudonym
from arena.ladder.chain import Accepted, AnyLine, Closed, Rejected
from arena.ladder.folder import Ladder, held_ladder
from arena.ladder.rules import DAY
from arena.machine import Notify
from arena.model import Entrant, Frozen, canonical, sha256_hex
from arena.store.folder import write_atomically
from arena.system import clock, files

_SOURCE = "source"  # of an unpacked submission
_MOST_TIMES = 20_000  # files of a folder whose times are looked at: more are refused anyway
_OLD_S = 60.0
"""What has not changed for so long is looked at once."""
FROZEN, UNKNOWN, NO_BOT, UNFIT, UNSAFE = "too-late", "unknown-author", "no-bot", "check", "unpack"


class Handled(Frozen, frozen=True, kw_only=True):
    """What became of one submission."""

    author: str
    """The handle."""
    name: str
    """As it lay in the inbox."""
    entrant: Entrant | None = None
    """None: it was refused, or waits."""
    why: str = ""
    """In one line, why it was refused, or why it waits."""
    waits: bool = False
    same_as: tuple[str, ...] = ()
    """Other authors' entrants with the same content."""


class SubmissionReport(Frozen, frozen=True, kw_only=True):
    """feedback/HANDLE/submission.json: the newest submission, for its author."""

    received: str
    accepted: str = ""
    """The entrant; empty: refused."""
    why: str = ""
    findings: tuple[Finding, ...] = ()


def take_in(
    folder: Path, notify: Notify, *, sandbox: str = "auto", export: Path | None = None
) -> list[Handled]:
    """Handle all that is new in the inbox; first what an `export` of a course system holds."""
    Ladder(folder)  # what is wrong with it is said first
    if export is not None:
        with held_ladder(folder) as ladder:
            _add_export(ladder, export, notify)
    handled: list[Handled] = []
    for entry in _complete(folder / "inbox", handled.append):
        with held_ladder(folder) as ladder:
            if found := _Submission(ladder, entry, notify, sandbox).handle():
                handled.append(found)
    return handled


def _complete(inbox: Path, report: Callable[[Handled], None]) -> list[InboxEntry]:
    """The newest entry of each author, if it is complete; the others are reported."""
    newest: dict[str, InboxEntry] = {}
    for entry in sorted(inbox_entries(inbox), key=_changed):
        if entry.author is None:
            report(Handled(author="", name=entry.path.name, why=entry.problem, waits=True))
            continue
        if older := newest.get(entry.author.key):
            why = f"{entry.path.name} is newer"
            report(Handled(author="", name=older.path.name, why=why, waits=True))
        newest[entry.author.key] = entry
    fresh = [e for e in newest.values() if clock.unix() - _changed(e) < _OLD_S]
    looks = {entry.path: look(entry.path, None, clock.monotonic()) for entry in fresh}
    if fresh:
        clock.sleep(SETTLE)
    whole = []
    for entry in sorted(newest.values(), key=lambda entry: entry.path.name):
        seen = looks.get(entry.path)
        found = look(entry.path, seen, clock.monotonic(), SETTLE if seen else 0.0)
        if found.missing:
            report(Handled(author="", name=entry.path.name, why=found.missing, waits=True))
        else:
            whole.append(entry)
    return whole


def _changed(entry: InboxEntry) -> float:
    return _newest(entry.path, "st_mtime")


def _newest(path: Path, time: str) -> float:
    """The newest such time of a file, or of a folder and what is in it."""
    found = 0.0
    with suppress(OSError):
        found = getattr(path.lstat(), time)
        within = (Path(top, name) for top, *names in os.walk(path) for name in chain(*names))
        for each in islice(within, _MOST_TIMES):
            found = max(found, getattr(each.lstat(), time))
    return found


def _add_export(ladder: Ladder, export: Path, notify: Notify) -> None:
    """Put what a course system exported into the inbox, in the place of what was there."""
    staging = ladder.folder / "export"
    remove(staging)
    try:
        found = split(export, staging)
        if found.others:
            notify(f"note: of no author: {', '.join(found.others)}")
        for entry in found.problems:
            notify(f"note: not taken: {entry.problem}")
        for entry in found.entries:
            assert entry.author
            known_handle(ladder, entry.author)  # while its name is known without its number
            _replace(entry.path, ladder.folder / "inbox" / entry.author.key)
    finally:
        remove(staging)


def leave(ladder: Ladder, author: str, bot: Path) -> Path:
    """Put a bot into the inbox, plain and whole; SubmissionError if it can't be taken."""
    name = author_of(author, is_file=False).key
    fresh, place = ladder.folder / "inbox" / f".{name}", ladder.folder / "inbox" / name
    remove(fresh)
    unpack(bot, fresh, _caps(ladder))
    _replace(fresh, place)
    return place


def _replace(fresh: Path, place: Path) -> None:
    """Put what is complete into the inbox; nobody has to wait and see whether it changes."""
    past = clock.unix() - _OLD_S
    for path in (fresh, *fresh.rglob("*")):
        os.utime(path, (past, past), follow_symlinks=False)
    remove(place)
    files.rename(fresh, place)


def _caps(ladder: Ladder) -> UploadCaps:
    intake = ladder.file.intake
    return UploadCaps(total_mb=intake.unpacked_mb, files=intake.files)


def known_handle(ladder: Ladder, author: Author) -> str:
    """The handle of an author; a new one is written down first."""
    private = ladder.private
    taken = {handle: known.key for handle, known in private.authors.items()}
    if ladder.state.rules.anonymous:
        handle = pseudonym(private.key, author.key, taken)
    else:
        handle = handle_of(author, taken)
    if handle not in taken:
        ladder.write_private(replace(private, authors={**private.authors, handle: author}))
    return handle


class _Submission:
    def __init__(self, ladder: Ladder, entry: InboxEntry, notify: Notify, sandbox: str) -> None:
        assert entry.author
        self._ladder, self._path, self._of = ladder, entry.path, entry.author
        self._notify, self._sandbox = notify, sandbox
        self._handle = known_handle(ladder, entry.author)
        self._author = ladder.state.author(self._handle)
        # Of the machine: an author may set the time at which a file was modified.
        self._arrived = _newest(entry.path, "st_ctime")
        self._digest = ""

    def handle(self) -> Handled | None:
        """None: there is nothing new."""
        staging = self._ladder.folder / "staging"
        remove(staging)
        staging.mkdir(mode=0o700)
        try:
            with open_upload(self._path) as upload:
                self._digest = sha256_hex(upload.state().encode())  # of what can't be unpacked
            unpacked = unpack(self._path, staging / _SOURCE, _caps(self._ladder))
            self._digest = unpacked.digest
            return self._decide(staging / _SOURCE, unpacked) if self._is_new() else None
        except UnfinishedError as error:
            return self._waits(str(error))
        except SubmissionError as error:
            return self._reject(UNSAFE, str(error)) if self._is_new() else None
        finally:
            remove(staging)

    def _is_new(self) -> bool:
        return self._author.is_new(self._digest, self._received)

    @property
    def _received(self) -> str:
        return _moment(self._arrived)

    def _decide(self, source: Path, unpacked: Unpacked) -> Handled:
        ladder = self._ladder
        freeze = ladder.state.rules.freeze
        late = freeze is not None and self._arrived >= freeze.timestamp()
        if ladder.state.closed or late:
            return self._reject(FROZEN, "the ladder is frozen: nothing is accepted any more")
        if ladder.file.intake.listed and not self._is_listed():
            return self._reject(UNKNOWN, f"{self._of.name} is not in authors.csv")
        if self._too_many():
            most = ladder.file.intake.per_day
            return self._waits(f"{most} submissions in 24 hours are the most")
        if unpacked.dropped:
            self._notify(f"note: {self._handle}: left out: {', '.join(unpacked.dropped)}")
        with in_use(default_cache()) as cache:
            roster = load([source], cache=cache)
        if roster.problems or len(roster.candidates) != 1:
            lines = [_told(problem, source) for problem in roster.problems]
            return self._reject(NO_BOT, "; ".join(lines) or "it holds no bot, or several")
        content = roster.candidates[0].entrant.snapshot
        games = tuple(ladder.state.rules.games)
        limits = ladder.state.rules.games[games[0]].limits
        options = CheckOptions(
            games=games, quick=True, limits=limits, sandbox=self._sandbox, jobs=1
        )
        found = check_bots([source], options)
        if not found.passed:
            return self._reject(UNFIT, _first(found), _findings(found))
        return self._accept(Path(roster.candidates[0].snapshot), content, found)

    def _accept(self, snapshot: Path, content: str, found: CheckReports) -> Handled:
        ladder, version = self._ladder, str(len(self._author.accepted) + 1)
        entrant = Entrant(
            id=f"{self._handle}@{version}", name=self._handle, version=version, hash=content
        )
        same = tuple(
            other.id
            for other in ladder.state.active
            if other.snapshot == content and other.name != self._handle
        )
        _keep(snapshot, ladder.version(entrant))
        self._report(accepted=entrant.id, findings=_findings(found))
        self._append(
            Accepted(
                author=self._handle,
                entrant=entrant,
                submission=self._digest,
                received=self._received,
            )
        )
        return Handled(author=self._handle, name=self._path.name, entrant=entrant, same_as=same)

    def _reject(self, why: str, words: str, findings: Sequence[Finding] = ()) -> Handled:
        self._report(why=words, findings=findings)
        self._append(
            Rejected(author=self._handle, submission=self._digest, received=self._received, why=why)
        )
        return Handled(author=self._handle, name=self._path.name, why=words)

    def _waits(self, why: str) -> Handled:
        return Handled(author=self._handle, name=self._path.name, why=why, waits=True)

    def _append(self, line: AnyLine) -> None:
        self._ladder.append(line)

    def _report(
        self, *, accepted: str = "", why: str = "", findings: Sequence[Finding] = ()
    ) -> None:
        folder = self._ladder.folder / "feedback" / self._handle
        folder.mkdir(parents=True, exist_ok=True)
        report = SubmissionReport(
            received=self._received, accepted=accepted, why=why, findings=tuple(findings)
        )
        write_atomically(folder / "submission.json", msgspec.json.format(canonical(report)) + b"\n")

    def _is_listed(self) -> bool:
        listed = listed_authors(self._ladder.folder)
        return not listed.keys().isdisjoint({self._of.key, self._of.name, self._handle})

    def _too_many(self) -> bool:
        since = _moment(clock.unix() - DAY)
        received = [line.received for line in self._author.accepted]
        received += [line.received for line in self._author.rejected]
        return sum(moment > since for moment in received) >= self._ladder.file.intake.per_day


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def _told(problem: Problem, source: Path) -> str:
    """A problem without the path of the copy that it was found in."""
    return str(problem).replace(f"{source}/", "").replace(str(source), "it").replace("\n", " ")


def _first(found: CheckReports) -> str:
    return next(_findings_iter(found)).title if not found.passed else ""


def _findings(found: CheckReports) -> tuple[Finding, ...]:
    return tuple(_findings_iter(found))


def _findings_iter(found: CheckReports) -> Iterator[Finding]:
    checks = [check for report in found.bots for check in report.checks if check.finding]
    for check in sorted(checks, key=lambda check: check.status is not Status.FAILED):
        assert check.finding
        yield check.finding


def _keep(snapshot: Path, place: Path) -> None:
    """Copy a bot's content to where the ladder owns it, durably; whole or not at all."""
    if place.exists():
        return
    fresh = place.with_name(f".{place.name}.new")
    remove(fresh)
    fresh.mkdir()
    copy_into(snapshot, fresh)
    for path in fresh.rglob("*"):
        if path.is_file():
            with files.open_file(path, "rb+") as file:
                files.sync(file)
        else:
            files.sync_folder(path)
    files.sync_folder(fresh)
    files.rename(fresh, place)
    files.sync_folder(place.parent)


def close_ladder(ladder: Ladder) -> None:
    """Accept nothing from now on."""
    if not ladder.state.closed:
        ladder.append(Closed(received=_moment(clock.unix())))
