"""How big logs are: what the arena derives from logs of any number of matches.

    python bench/scale.py make FOLDER 100000    # a log whose matches are what their moves make
    python bench/scale.py make FOLDER 1000000 --copied
    python bench/scale.py table FOLDER          # seconds, peak memory; also rate and audit
    python bench/scale.py verify FOLDER         # matches a second, peak memory of all processes

Everybody plays legal moves at random, and every match has its luck in it, unless made with
--no-luck. With --copied moves and luck of a thousand matches are those of all: enough for what
plays nothing again, and made in a sixth of the time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena import luck, registry
from arena.deals import Deals, commitment, secret_from_seed
from arena.event.results import first_wave
from arena.model import Entrant, Event, MatchRecord, MatchSpec, SeatUse, Settings, canonical
from arena.referee import Referee
from arena.store import add_checksum

SECRET = secret_from_seed("scale")
BOTS = 20
USE = SeatUse(think_ms=12.345, max_ms=0.456, off_turn_ms=0.789)
COPIED = 1000
# A chunk for a process: some seconds' work.
CHUNK = 2000


def field() -> tuple[Entrant, ...]:
    """Bots of different strength, if the moves are copied."""
    names = [f"bot-{number:02d}" for number in range(BOTS)]
    return tuple(Entrant(id=f"{n}@1", name=n, version="1", hash="0" * 64) for n in names)


def event_of(matches: int, *, with_luck: bool) -> Event:
    """One of so many matches, or a few more: all pairs meet equally often."""
    rounds = BOTS * (BOTS - 1)
    settings = Settings(
        game="play-nine",
        deals=-(-matches // rounds),
        rating=registry.game("play-nine").about.rating,
        evaluator=luck.evaluator_name(registry.game("play-nine")) if with_luck else "",
    )
    entrants = field()
    return Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(SECRET, settings, entrants),
        predictable=True,
        secret=SECRET.hex(),
        sandbox="none",
        finished=True,
    )


def specs(event: Event) -> Iterator[MatchSpec]:
    """What is played, in the order of the schedule."""
    schedule = registry.schedule(event.settings, event.entrants, Deals(SECRET))
    for block in first_wave(schedule).blocks():
        for series in block.series:
            yield from series.matches


def played(spec: MatchSpec, event: Event, deals: Deals) -> MatchRecord:
    """A match of legal moves at random."""
    referee = Referee(spec, game=registry.game("play-nine"), deals=deals, settings=event.settings)
    draw = random.Random(spec.id).random
    referee.begin()
    asked = [0] * len(spec.seats)
    while referee.asked:
        for seat in referee.asked:
            asked[seat] += 1
            legal = referee.legal(seat)
            referee.answer(seat, legal[int(draw() * len(legal))])
        referee.take_notices()
    use = tuple(msgspec.structs.replace(USE, decisions=decisions) for decisions in asked)
    record = msgspec.structs.replace(referee.record(), use=use)
    if event.settings.evaluator:
        game, settings = registry.game("play-nine"), event.settings
        cost = luck.sums(record, game=game, deals=deals, settings=settings)
        record = msgspec.structs.replace(record, luck=cost)
    return finished(record)


def finished(record: MatchRecord) -> MatchRecord:
    """With what a worker adds."""
    return msgspec.structs.replace(record, digest=record.computed_digest(), ended=1767225600.0)


def line_of(record: MatchRecord) -> bytes:
    """As in the log."""
    return add_checksum(msgspec.json.encode(record)) + b"\n"


def play_chunk(chunk: tuple[Event, list[MatchSpec]]) -> bytes:
    """In a process: the lines of some matches."""
    event, some = chunk
    deals = Deals(SECRET)
    return b"".join(line_of(played(spec, event, deals)) for spec in some)


def copied_lines(event: Event) -> Iterator[bytes]:
    """The moves and scores of a few matches for all."""
    models: list[MatchRecord] = []
    deals = Deals(SECRET)
    for number, spec in enumerate(specs(event)):
        if number < COPIED:
            models.append(played(spec, event, deals))
        model = models[number % len(models)]
        strength = [int(seat[4:6]) for seat in spec.seats]
        totals = tuple(total + mine for total, mine in zip(model.totals, strength, strict=True))
        record = msgspec.structs.replace(
            model,
            **msgspec.structs.asdict(spec),
            totals=totals,
            places=tuple(1 + sum(other < mine for other in totals) for mine in totals),
        )
        yield line_of(finished(record))


def chunks(event: Event) -> Iterator[tuple[Event, list[MatchSpec]]]:
    """The matches, some at a time."""
    some: list[MatchSpec] = []
    for spec in specs(event):
        some.append(spec)
        if len(some) == CHUNK:
            yield event, some
            some = []
    yield event, some


def make(folder: Path, matches: int, *, copied: bool, with_luck: bool) -> None:
    """Write a log and its event.json."""
    event = event_of(matches, with_luck=with_luck)
    folder.mkdir(parents=True)
    (folder / "event.json").write_bytes(add_checksum(canonical(event)) + b"\n")
    with (folder / "matches.jsonl").open("wb") as log:
        if copied:
            log.writelines(copied_lines(event))
        else:
            with multiprocessing.Pool() as pool:
                log.writelines(pool.imap(play_chunk, chunks(event)))


class Measured(NamedTuple):
    """What a command took, and what it printed."""

    seconds: float
    cpu: float
    """Seconds of all of its processes."""
    megabytes: float
    """The most that any of its processes held."""
    printed: str


def measured(*words: str) -> Measured:
    """Run a command of the arena; nothing else may have been run before."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
    )
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # theirs too
    return Measured(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout)


def main() -> None:
    """Make a log, or measure what is done with one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    maker = what.add_parser("make")
    maker.add_argument("folder", type=Path)
    maker.add_argument("matches", type=int)
    maker.add_argument("--copied", action="store_true")
    maker.add_argument("--no-luck", action="store_true")
    for name in ("table", "rate", "audit", "verify"):
        what.add_parser(name).add_argument("folder", type=Path)
    asked = parser.parse_args()
    if asked.what == "make":
        began = time.monotonic()
        make(asked.folder, asked.matches, copied=asked.copied, with_luck=not asked.no_luck)
        size = (asked.folder / "matches.jsonl").stat().st_size
        print(f"{size / 1e6:,.0f} MB in {time.monotonic() - began:.1f} s")
        return
    words = [asked.what, str(asked.folder)]
    took = measured(*words, *(["--json"] if asked.what == "verify" else []))
    if asked.what == "verify":
        told = msgspec.json.decode(took.printed)
        assert told["verified"], told
        matches = told["records"]
        print(f"{matches:,} matches, {told['processes']} processes: ", end="")
        print(f"{matches / told['seconds']:,.0f} a second, ", end="")
        print(f"{took.cpu / matches * 1e6:.0f} µs of CPU a match; ", end="")
    print(f"{took.seconds:.2f} s, {took.cpu:.2f} s of CPU, {took.megabytes:.0f} MB")


if __name__ == "__main__":
    main()
