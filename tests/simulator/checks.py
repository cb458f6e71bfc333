"""What has to hold after a run: nothing is lost or counts twice, and all follows from the log."""

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from arena.event.results import Counts, count_folder
from arena.ratings.standings import table as table_by
from arena.registry import table_files
from arena.store import (
    canonical_line,
    read_by_id,
    read_records,
    records_of_match,
    records_of_series,
)

_AROUND = 60
_SPEED = re.compile(r'(speed"?:? )\d+')


def counted(folder: Path):
    """The count of an event's log, made once: (event, counting)."""
    event, counting = count_folder(folder)
    found = counting.counted()
    counting.counted = lambda: found  # nothing is added to it
    return event, counting


def canonical(folder: Path, counting) -> bytes:
    """The counted records of an event without the facts of the host, sorted."""
    counts = Counts(folder, counting)
    lines = [canonical_line(record) for record in read_by_id(folder, counts)]
    if len(lines) != len(counts) or counts.missing:
        raise AssertionError(f"{len(lines)} of {len(counts)} records, {counts.missing} missing")
    return b"".join(lines)


def files_of(folder: Path, event, counting) -> dict:
    """What an event comes to: the same however it was played."""
    found = {
        "log": canonical(folder, counting),
        "event": (event.settings, event.entrants, event.commitment, event.secret, event.finished),
    }
    for name in table_files():
        # Facts of the host: a command may choose a sandbox, and allow slow cores.
        text = (folder / name).read_text().replace("landlock", "bwrap")
        found[name] = _SPEED.sub(r"\1", text)
    return found


class Expected(NamedTuple):
    """What an undisturbed scenario comes to."""

    names: list[str]
    """Of the folders of its events."""
    files: list[dict]
    answer: tuple | None
    """Of a tuning."""


def faults_of(world, played, expected, *, most_stderr: int) -> list[str]:
    """The promises that a finished scenario breaks."""
    wrong = []
    if (names := [folder.name for folder in played.folders]) != expected.names:
        return [f"other events: {names}, not {expected.names}"]
    if played.answer != expected.answer:
        wrong.append(f"another answer: {_difference(expected.answer, played.answer)}")
    for folder, wanted in zip(played.folders, expected.files, strict=True):
        try:
            event, counting = counted(folder)
            found = files_of(folder, event, counting)
        except Exception as error:  # noqa: BLE001 - any error is one
            wrong.append(f"{folder.name}: {type(error).__name__}: {error}")
            continue
        wrong += [
            f"{folder.name}: another {what}: {_difference(wanted[what], found[what])}"
            for what in wanted
            if found[what] != wanted[what]
        ]
        table = table_by(event, counting.counted(), rule=event.settings.rule)
        wrong += [
            f"{folder.name}: {name} doesn't follow from the log"
            for name, report in table_files().items()
            if report.file_text(table) != (folder / name).read_text()
        ]
        wrong += _log_faults(folder, world.random)
        kept = sum(path.stat().st_size for path in folder.glob("stderr/*"))
        if kept > most_stderr:
            wrong.append(f"{folder.name}: {kept} bytes of stderr are kept")
    for path in sorted(world.disk.root.glob("**/matches.jsonl")):
        if lost := world.lost(path):
            wrong.append(f"{path.parent.name}: {lost} finished matches are lost")
    return wrong


def _log_faults(folder: Path, draw) -> list[str]:
    """What is wrong with a log, and with its index."""
    records = list(read_records(folder))
    attempts = Counter((record.id, record.attempt) for record in records)
    wrong = [f"{folder.name}: {key} is there twice" for key, n in attempts.items() if n > 1]
    record = draw.choice(records)
    for find, key in ((records_of_match, "id"), (records_of_series, "series")):
        wanted = getattr(record, key)
        if find(folder, wanted) != [each for each in records if getattr(each, key) == wanted]:
            wrong.append(f"{folder.name}: the index doesn't lead to {wanted}")
    return wrong


def _difference(wanted, found) -> str:
    """The first two lines that differ, from a little before their difference."""
    texts = (each.decode() if isinstance(each, bytes) else str(each) for each in (wanted, found))
    one, other = (text.splitlines() for text in texts)
    for before, after in zip(one, other, strict=False):
        if before != after:
            each = enumerate(itertools.zip_longest(before, after))
            at = max(0, next(at for at, (a, b) in each if a != b) - _AROUND)
            there = slice(at, at + 3 * _AROUND)
            return f"{before[there]!r} has become {after[there]!r}"
    return f"{len(one)} lines have become {len(other)}"
