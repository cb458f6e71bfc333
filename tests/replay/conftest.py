"""Events played in this process: by the referee, with bots that fail where a test wants it."""

import random
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from arena import registry
from arena.deals import Deals, commitment, secret_from_seed
from arena.event.results import first_wave, schedule_of
from arena.model import Entrant, Event, FaultHost, FaultKind, Limits, Settings
from arena.referee import Failure, Referee
from arena.store import Private, Store

SECRET = secret_from_seed("replay")
NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay", "guy", "hal")
CRASH = Failure(
    kind=FaultKind.CRASH, message="it died of a signal", line='{"turn":"0', status="signal SIGSEGV"
)
STDERR = "\x1b[2Jlooking for my brain\nTraceback\n  in choose\nKeyError: 'brain'\n"
HOST = FaultHost(memory_mb=12.5, cpu_ms=40.0, wall_ms=310.25, charged_ms=300.5, load=1.75)


def event_of(game="play-nine", *, seats=2, names=None, secret="", **settings):
    """An event between as many bots as there are seats, or those of `names`."""
    rules = registry.game(game)
    chosen = Settings(
        **{"game": game, "seats": seats, "deals": 1, "turn_cap": rules.turn_cap, **settings},
        limits=Limits(move_ms=200),
    )
    entrants = tuple(
        Entrant(id=f"{name}@1", name=name, version="1", author="", hash=name)
        for name in (NAMES[:seats] if names is None else names)
    )
    return Event(
        settings=chosen,
        entrants=entrants,
        commitment=commitment(SECRET, chosen, entrants),
        secret=secret,
    )


def play(event, spec, fails=lambda entrant, question: None, *, broken=(), seed=1):
    """The record of a match between random bots; `fails` gives a Failure or a wrong move."""
    deals, draw = Deals(SECRET), random.Random(f"{spec.id}{seed}")
    referee = Referee(
        spec, game=registry.game(event.settings.game), deals=deals, settings=event.settings
    )
    start = Failure(kind=FaultKind.START, message="left before it was ready", status="exit 3")
    referee.begin([(spec.seats.index(entrant), start) for entrant in broken])
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=0)
            wrong = fails(spec.seats[seat], question)
            if isinstance(wrong, Failure):
                referee.fail(seat, wrong)
            else:
                referee.answer(seat, wrong or draw.choice(question.legal))
    record = referee.record()
    faults = tuple(
        msgspec.structs.replace(fault, stderr=STDERR, host=HOST) for fault in record.faults
    )
    return msgspec.structs.replace(
        record, faults=faults, digest=record.computed_digest(), ended=1.5
    )


def specs(event):
    """Every match of an event, in the order of its schedule."""
    for block in first_wave(schedule_of(event, SECRET)).blocks():
        for series in block.series:
            yield from series.matches


def failing(entrant, number, outcome=CRASH):
    """An entrant that fails at its question `number` of a match, or all at theirs."""
    asked = {}

    def fails(who, question):
        asked[who] = asked.get(who, 0) + 1
        return outcome if entrant in (who, None) and asked[who] == number else None

    return fails


@pytest.fixture
def folder(tmp_path):
    """Make a results folder; `how` gives the keywords of `play` for a spec."""

    def make(event, how=lambda spec: {}, *, name="friday", finished=True) -> Path:
        path = tmp_path / name
        private = Private(secret=SECRET.hex(), sources={}, cache="")
        with Store.create(path, msgspec.structs.replace(event, secret=""), private) as store:
            for spec in specs(event):
                store.append(play(event, spec, **how(spec)))
            if finished:
                store.conclude(msgspec.structs.replace(event, secret=SECRET.hex(), finished=True))
        return path

    return make


@pytest.fixture(scope="session")
def events():
    """What makes events and matches, under one name."""
    return SimpleNamespace(
        event_of=event_of, play=play, specs=specs, failing=failing, crash=CRASH, secret=SECRET
    )
