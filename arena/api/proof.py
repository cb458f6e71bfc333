"""Verify, audit and publish results folders."""

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from arena import registry
from arena.api.paths import PathName, folder_paths
from arena.api.threads import call
from arena.audit.auditor import audit_records
from arena.audit.report import Audit
from arena.deals import Deals, with_beacon
from arena.event.commands import command_line
from arena.event.epochs import epochs_of
from arena.event.results import Counts, announce_reading, counting_of, incomplete
from arena.executors.cores import fair_jobs
from arena.machine import Notify, ignore_notes
from arena.model import SHUFFLED, Frozen, MatchRecord
from arena.site.publish import PublishedSummary, PublishOptions, update_site
from arena.store import read_counted, read_event, secret_of
from arena.system import clock
from arena.verify.rerun import Rerun, RerunOptions, play_again
from arena.verify.whole import FolderVerdict, verify, verify_epoch

FolderProgress = Callable[[Path, int], None]
"""Called with a folder, and how many bytes of its log are verified."""
_ANY_SITE = PublishOptions()


class Verification(Frozen, frozen=True, kw_only=True):
    """The result of verifying one folder."""

    folder: Path
    verdict: FolderVerdict
    seconds: float
    rerun: Rerun | None = None

    @property
    def verified(self) -> bool:
        """Whether everything follows from the folder alone, and nothing differs."""
        return self.verdict.proven and self.verdict.difference is None


def verify_results(
    folder: PathName,
    *,
    commitment: str | None = None,
    jobs: int | None = None,
    rerun: RerunOptions | None = None,
    notify: Notify = ignore_notes,
    progress: FolderProgress = lambda _folder, _bytes: None,
) -> list[Verification]:
    """Derive everything in a results folder again: the event's verification, then its epochs'.
    `commitment`: as it was published before the event; `rerun`: also have the bots play again.
    """
    path, processes, began = Path(folder), jobs or fair_jobs(), clock.monotonic()
    at = functools.partial(progress, path)
    verdict = verify(path, jobs=processes, commitment=commitment, progress=at)
    seconds = clock.monotonic() - began
    played: Rerun | None = None
    if rerun is not None and verdict.proven and verdict.difference is None:
        played = call(functools.partial(play_again, path, rerun, processes, notify))
        verdict = replace(verdict, difference=next(iter(played.differences), None))
    whole = Verification(folder=path, verdict=verdict, seconds=seconds, rerun=played)
    return [whole, *_epochs(whole, processes, progress)]


def _epochs(whole: Verification, jobs: int, progress: FolderProgress) -> Iterator[Verification]:
    """The epochs of an event that can be believed."""
    verdict = whole.verdict
    before = [verdict.event] if verdict.event is not None else []
    # Only a true log tells which bots were withdrawn.
    withdrawn = None if verdict.difference else set(verdict.withdrawn)
    for path in epochs_of(whole.folder) if before else ():
        began, at = clock.monotonic(), functools.partial(progress, path)
        verdict = verify_epoch(path, before, withdrawn, jobs=jobs, progress=at)
        yield Verification(folder=path, verdict=verdict, seconds=clock.monotonic() - began)
        if verdict.event is None:
            return
        before.append(verdict.event)
        withdrawn = None if withdrawn is None or verdict.difference else withdrawn
        if withdrawn is not None:
            withdrawn.update(verdict.withdrawn)


def audit_results(folder: PathName, *, notify: Notify = ignore_notes) -> Audit:
    """Report what in an event is unusual, and how often chance alone shows as much."""
    path = Path(folder)
    announce_reading(notify, path)
    event = read_event(path)
    if epochs := epochs_of(path):
        later = command_line("audit", epochs[-1])
        notify(f"note: this is about the event alone; of those who came later: {later}")
    secret = secret_of(path, event)
    deals = Deals(with_beacon(secret, event.beacon))

    def order(pairing: str, deal: int) -> Sequence[int]:
        return deals.rotations(pairing, deal, event.settings.seats)

    def place(record: MatchRecord) -> object:
        return deals.place(record.id) if event.settings.deal_order == SHUFFLED else record.deal

    def count(records: Iterator[MatchRecord]) -> Counts:
        counting = counting_of(event, secret)
        for record in records:
            counting.add(record)
        counts = Counts(path, counting)
        if event.finished and counts.missing:
            raise incomplete(path, counts.missing, counts.planned)
        return counts

    about = registry.game(event.settings.game).about
    return audit_records(event, about, order, place, read_counted(path, count, event))


def publish(
    folders: Sequence[PathName] | PathName,
    site: PathName,
    options: PublishOptions = _ANY_SITE,
    *,
    notify: Notify = ignore_notes,
    progress: Callable[[Path, int, int], None] = lambda _folder, _done, _of: None,
) -> list[PublishedSummary]:
    """Write events as a site, or add them to one. `progress`: folder, matches done, all of them."""
    paths = folder_paths(folders)
    return update_site(paths, Path(site), options, notify, progress)
