"""A log of a million matches: what appending, finding and reading in order cost.

`python bench/log.py [--matches N] [--keep FOLDER]`. Forty real matches over and over under the ids
of an event of ten bots, so that the log has its true size and shape (2.8 KB a match). Needs 3 GB of
disk for a million, and some three minutes. `--keep` leaves the folder there, for other commands to
be tried on.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from measures.conversation import SECRET, Conversation, series_of, settings_of

from arena.deals import commitment
from arena.event.results import first_wave, schedule_of
from arena.model import Entrant, Event
from arena.store import Private, Store, read_lines, records_of_match, records_of_series

BOTS, PAIRINGS, SEATS = 10, 45, 2
REAL = 40
NEAR = 2000
"""Appends at either end of the log of which the median is taken."""


def event_of(matches):
    """An event of about so many matches."""
    settings = settings_of(deals=max(1, matches // (PAIRINGS * SEATS)))
    entrants = tuple(
        Entrant(id=f"bot-{number}@1", name=f"bot-{number}", version="1", hash="")
        for number in range(BOTS)
    )
    sealed = commitment(SECRET, settings, entrants)
    return Event(settings=settings, entrants=entrants, commitment=sealed, sandbox="none")


def records_of(event):
    """Its records, one after another."""
    conversation = Conversation(settings_of())
    played = [conversation.play(spec) for spec in series_of(("a", "b"), REAL).matches]
    number = 0
    for block in first_wave(schedule_of(event, SECRET)).blocks():
        for series in block.series:
            for spec in series.matches:
                fields = {name: getattr(spec, name) for name in spec.__struct_fields__}
                digest = f"{number:064x}"
                yield msgspec.structs.replace(played[number % REAL], **fields, digest=digest)
                number += 1


def fill(folder, event):
    """Write the log; the time of each append."""
    took = []
    private = Private(secret=SECRET.hex(), sources={}, cache="")
    with Store.create(folder, event, private) as store:
        for record in records_of(event):
            begun = time.perf_counter()
            store.append(record)
            took.append(time.perf_counter() - begun)
        store.conclude(msgspec.structs.replace(event, finished=True, secret=SECRET.hex()))
    return took


def timed(work):
    """How long something takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def command(*words):
    """A command's seconds and the most memory that it had, in MB."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *map(str, words)], stdout=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words}: exit {process.returncode}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024


def main():
    """Write, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--matches", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-log-") as scratch:
        folder = options.keep or Path(scratch, "event")
        took = fill(folder, event_of(options.matches))
        size = (folder / "matches.jsonl").stat().st_size
        print(f"{len(took)} matches, {size / 1e6:.0f} MB, index ", end="")
        print(f"{(folder / 'matches.index').stat().st_size / 1e6:.0f} MB")
        for place, some in (("first", took[:NEAR]), ("last", took[-NEAR:])):
            print(f"a record appended, median of the {place} {len(some)}: ", end="")
            print(f"{statistics.median(some) * 1e6:.1f} µs")
        print(f"the slowest of all: {max(took) * 1e3:.1f} ms")
        middle = next(read_lines(folder, _line_near(folder, size // 2)))
        wanted = msgspec.json.decode(middle.body)
        for what, work in (
            ("one match found", lambda: records_of_match(folder, wanted["id"])),
            ("one series found", lambda: records_of_series(folder, wanted["series"])),
            ("the folder opened for writing", lambda: Store.open(folder).close()),
        ):
            print(f"{what}: {timed(work) * 1e3:.0f} ms")
        (folder / "matches.index").unlink()
        print(f"the same without the index: {timed(lambda: Store.open(folder).close()):.1f} s")
        for words in (("log", folder, "--canonical"), ("table", folder)):
            seconds, memory = command(*words)
            print(f"arena {words[0]} {' '.join(words[2:])}: {seconds:.0f} s, {memory:.0f} MB")


def _line_near(folder, at):
    with (folder / "matches.jsonl").open("rb") as log:
        log.seek(at)
        return at + len(log.readline())


if __name__ == "__main__":
    main()
