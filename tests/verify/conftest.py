"""Small events, played in this process by the event's own referee, store and tournament."""

import functools
import random
import shutil

import msgspec
import pytest
import trio

from arena import registry
from arena.deals import Deals, commitment, secret_from_seed, with_beacon
from arena.engine.match import FinishedMatch
from arena.event.tournament import Tournament
from arena.executors import SeriesEnd
from arena.model import DERIVATION, Entrant, Event, FaultKind, SeatUse, Settings, sha256_hex
from arena.referee import Failure, Referee
from arena.registry import table_files
from arena.store import Private, Store, add_checksum, read_event, read_records

SECRET = secret_from_seed("verify")


def field(*names):
    """Entrants of these names, with a content that follows from the name; or as they are."""
    return tuple(
        name
        if isinstance(name, Entrant)
        else Entrant(id=f"{name}@1", name=name, version="1", hash=sha256_hex(name.encode()))
        for name in names
    )


class Playing:
    """An executor without processes: everybody plays legal moves drawn by the match's id."""

    def __init__(self, settings, faults, cut=(), beacon="", last=1, secret=SECRET):
        self.settings, self.faults, self.cut = settings, faults, set(cut)
        self.last = last
        self.game = registry.game(settings.game)
        self.deals = Deals(with_beacon(secret, beacon))

    async def play(self, blocks, *, choose, report, stop):
        for block in blocks:
            for series in block.series:
                while not stop.is_set() and (attempt := choose(series)) is not None:
                    await trio.lowlevel.checkpoint()
                    trouble = "lightning" if series.id[-3:] in self.cut and not attempt else ""
                    for spec in series.matches[: 1 if trouble else None]:
                        report(FinishedMatch(record=self.record(spec, attempt)))
                    report(SeriesEnd(series=series.id, attempt=attempt, trouble=trouble))

    def record(self, spec, attempt):
        """What becomes of a match; `faults` has by entrant the question and the kind."""
        referee = Referee(spec, game=self.game, deals=self.deals, settings=self.settings)
        draw = random.Random(spec.id)
        referee.begin()
        turn, asked = 0, [0] * len(spec.seats)
        while referee.asked:
            turn += 1
            for seat in referee.asked:
                asked[seat] += 1
                at, kind = self.faults.get(spec.seats[seat], (0, ""))
                if turn == at and spec.deal < self.last:
                    line = "fly 3" if kind == "illegal" else ""
                    referee.fail(seat, Failure(kind=FaultKind(kind), message=kind, line=line))
                else:
                    referee.answer(seat, draw.choice(referee.legal(seat)))
        record = referee.record()
        use = tuple(
            SeatUse(decisions=n, think_ms=float(n), max_ms=1.0 if n else 0.0) for n in asked
        )
        return msgspec.structs.replace(
            record, attempt=attempt, use=use, digest=record.computed_digest()
        )


class Deaf:
    """A watcher that doesn't."""

    def match(self, record): ...

    def rated(self, rated): ...

    def wave(self, wave): ...

    def trouble(self, series, message): ...


def make(
    folder,
    settings,
    names,
    *,
    faults=None,
    cut=(),
    stop_after=None,
    beacon="",
    last=1,
    shard="",
    secret=SECRET,
    rule=DERIVATION,
):
    """Play an event into a folder, as a whole or until so many matches are played.

    Faults are those of the first `last` deals.
    """
    entrants = field(*names)
    if rule > 1:
        settings = msgspec.structs.replace(settings, derivation=rule, predictable=False)
    event = Event(
        settings=settings,
        entrants=entrants,
        commitment=commitment(secret, settings, entrants),
        beacon=beacon,
        shard=shard,
    )
    private = Private(secret=secret.hex(), sources={}, cache="")
    with Store.create(folder, event, private) as store:
        stop = trio.Event()
        tournament = Tournament(store, secret, Deaf())
        executor = Playing(settings, faults or {}, cut, beacon, last, secret)
        if stop_after is not None:
            inner = executor.record

            def record(spec, attempt):
                nonlocal stop_after
                stop_after -= 1
                if stop_after <= 0:
                    stop.set()
                return inner(spec, attempt)

            executor.record = record
        trio.run(functools.partial(tournament.play, executor, stop))
        if not tournament.left and not shard:
            tournament.conclude()
        for name, report in table_files().items():
            store.write(name, report.file_text(tournament.result(rule)))
    return folder


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """A finished event of three bots: one of them crashes, and a series was cut short."""
    settings = Settings(game="play-nine", deals=2, series=2, turn_cap=6)
    return make(
        tmp_path_factory.mktemp("verify") / "played",
        settings,
        ("ann", "bob", "cyd"),
        faults={"cyd@1": (7, "crash"), "bob@1": (30, "illegal")},
        cut=["-s1"],
    )


@pytest.fixture
def folder(played, tmp_path):
    """A copy of it, to be tampered with."""
    return shutil.copytree(played, tmp_path / "event")


def lines(folder):
    """The lines of its log."""
    return (folder / "matches.jsonl").read_bytes().splitlines(keepends=True)


def rewrite(folder, new):
    """Another log."""
    (folder / "matches.jsonl").write_bytes(b"".join(new))


def line_of(record, *, digest=True):
    """A record as a forger writes it, with a checksum and a digest that fit."""
    if digest:
        record = msgspec.structs.replace(record, digest=record.computed_digest())
    return add_checksum(msgspec.json.encode(record)) + b"\n"


def forge(folder, number, change, *, digest=True):
    """Change a record of the log, from 1, and seal it again; the record as it was."""
    before = list(read_records(folder))[number - 1]
    new = lines(folder)
    new[number - 1] = line_of(change(before), digest=digest)
    rewrite(folder, new)
    return before


def restate(folder, **fields):
    """Change event.json and seal it again."""
    event = msgspec.structs.replace(read_event(folder), **fields)
    from arena.model import canonical

    (folder / "event.json").write_bytes(add_checksum(canonical(event)) + b"\n")
