"""Merge shards of an event into one folder, as if one machine had played it (`arena merge`).

Theory of operation. First every shard is checked, and nothing is written: that all are shards of
one event, and that each has all of its matches and no others. Then their logs are interleaved,
a record of each in turn, into a new folder, so that counting follows the schedule as it does when
an event is played, and needs as little memory. Which records count, and which bots are withdrawn,
is decided only then, from the schedule and the set of records.

Invariant: the order in which the shards are named changes nothing.
"""

import itertools
import os
import resource
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from arena import store
from arena.bots import hand_over
from arena.event.drift import differences, refuse_drift
from arena.event.progress import Outcome, Progress
from arena.event.results import counting_of, left_of
from arena.event.tournament import Tournament
from arena.formats.shards import Shard
from arena.machine.facts import machines_of, with_host
from arena.model import Event, HostError, UserError
from arena.reports.escape import shell
from arena.store.stderr import FAULTS, LOG, OLDER, STDERR_KEPT, Stderr
from arena.system import files

T = TypeVar("T")

# Descriptors besides the shards' logs: the new folder's files, the terminal, what Python has open.
_FILES = 64
_CHUNK = 1 << 16
_NAMED = 6  # so many missing shards a message lists by number


class ShardFolder(NamedTuple):
    folder: Path
    event: Event
    announced: store.Announced
    private: store.Private
    secret: bytes
    shard: Shard


def merge_shards(folders: Sequence[Path], out: Path) -> Outcome:
    for folder in folders:
        if folder.resolve() in out.resolve().parents:
            raise UserError(f"{out} lies in {folder}, which is only read; choose another --out")
    with store.claim_folder(out):
        parts = read_shards(folders)
        first = parts[0]
        event = replace(first.event, shard="")
        for other in (part.event for part in parts[1:]):
            event = with_host(event, other.sandbox, other.confinement, machines_of(other))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if len(parts) + _FILES > soft:
            with suppress(ValueError, OSError):  # then opening one says so
                resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with (
            store.staged_folder(out) as fresh,
            store.Store.create(fresh, event, first.private, first.announced) as whole,
        ):
            tournament = Tournament(whole, first.secret, Progress())
            for record in interleave(store.read_records(part.folder, part.event) for part in parts):
                tournament.take_in(record)
            assert tournament.left == 0, "each shard is whole, but not all of them together"
            join_stderr(parts, fresh)
            for part in parts:
                hand_over(event.entrants, part.folder, fresh)
            table = tournament.conclude()
    return Outcome(folder=out, event=whole.event, complete=True, table=table)


def read_shards(folders: Sequence[Path]) -> list[ShardFolder]:
    """All shards of one event, in their order; UserError says why they can't be merged."""
    parts = sorted(map(_part, folders), key=lambda part: (part.shard, str(part.folder)))
    first = parts[0]
    for part in parts[1:]:
        _same_event(first, part)
    for other, part in itertools.pairwise(parts):
        if other.folder.resolve() == part.folder.resolve():
            raise UserError(f"{part.folder} is named twice")
        if other.shard == part.shard:
            both = f"{other.folder} and {part.folder} are both shard {part.shard}"
            raise UserError(f"{both}; leave one out")
    if missing := sorted({*range(1, first.shard.of + 1)} - {part.shard.number for part in parts}):
        named = ", ".join(str(Shard(n, first.shard.of)) for n in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise UserError(f"missing: shard {named}{more}; name all {first.shard.of} folders")
    refuse_drift(first.folder, first.event, first.announced, first.secret, first.private.entered)
    counting_of(first.event, first.secret, shard=first.shard)  # whether it may be cut at all
    if lacking := [lack for part in parts if (lack := _lacks(part))]:
        raise UserError("\n".join(lacking))
    return parts


def _part(folder: Path) -> ShardFolder:
    file = store.read_event_file(folder)
    event = file.event
    if not event.shard:
        prepared = f"a prepared event; play its shard: arena run {folder} --shard I/N"
        what = "a whole event, not a shard of one" if event.sandbox else prepared
        raise UserError(f"{folder}: holds {what}")
    if store.writer(folder):
        raise UserError(f"{folder}: is being played right now")
    private = store.read_private(folder)
    if private is None:
        raise UserError(f"{folder}: private.json is missing; a shard can't be merged without it")
    secret, shard = store.secret_of(folder, event), Shard.parse(event.shard)
    return ShardFolder(folder, event, file.announced, private, secret, shard)


def _same_event(one: ShardFolder, other: ShardFolder) -> None:
    lines = list(differences(one.event, other.event))
    if one.secret != other.secret:
        lines.append("  the secrets differ")
    if one.shard.of != other.shard.of:
        lines.append(f"  shard: {one.shard} and {other.shard}")
    if lines:
        heading = f"{one.folder} and {other.folder} are not of one event, cut in one way:"
        raise UserError("\n".join([heading, *lines]))


def _lacks(part: ShardFolder) -> str:
    """Why a shard is not complete, or has other matches; empty: it is complete."""
    try:
        left = left_of(part.folder, part.event, part.secret)
    except UserError as error:
        return f"shard {part.shard}, {part.folder}: {error}"
    if not left:
        return ""
    matches = "1 match is" if left == 1 else f"{left} matches are"
    return (
        f"{part.folder}: shard {part.shard} is not finished, {matches} left; "
        f"go on with it: {shell(['arena', 'resume', str(part.folder)])}"
    )


def interleave(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """One item of each source, round after round, until all have ended."""
    for row in itertools.zip_longest(*(zip(source) for source in sources), fillvalue=()):
        yield from itertools.chain.from_iterable(row)


def join_stderr(parts: Sequence[ShardFolder], folder: Path) -> None:
    """Join what each bot wrote to stderr, up to the size that is kept of an event."""
    entrants = parts[0].event.entrants
    kept = Stderr(folder / "stderr", bots=len(entrants))
    for entrant, part, kind in itertools.product(entrants, parts, (OLDER, LOG, FAULTS)):
        path = part.folder / "stderr" / f"{entrant.id}{kind}"
        try:
            file = files.open_at_once(path, follow_links=False)
        except OSError:  # it has written nothing there
            continue
        with file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                continue
            file.seek(max(0, found.st_size - STDERR_KEPT))
            try:
                while chunk := file.read(_CHUNK):
                    kept.append(entrant.id, FAULTS if kind == FAULTS else LOG, chunk)
            except OSError as error:
                raise HostError(f"{folder}: can't write: {error.strerror}") from error
