"""Small events for tests of whatever reads a results folder: real records, no processes."""

import hashlib
import os
import random
import shutil
import signal
import zipfile

import msgspec
import pytest

from arena import registry
from arena.deals import Deals, commitment, secret_from_seed, with_beacon
from arena.model import Entrant, Event, Fault, FaultKind, SeatUse, Settings
from arena.referee import Failure, Referee
from arena.store import Private, Store
from arena.tournament import first_wave, schedule_of

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM = (
    os.environ.get("ARENA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
CHROMIUM_FLAGS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    # As root it can't confine itself.
    *(("--no-sandbox",) if os.geteuid() == 0 else ()),
)


@pytest.fixture(scope="session")
def chromium():
    """The one browser of all tests: Playwright can't be started twice in a process."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


def _entrant(name):
    """An entrant by its id, name@version, or as it is."""
    if isinstance(name, Entrant):
        return name
    return Entrant(id=name, name=name.partition("@")[0], version="1", author="x", hash="0" * 64)


def _record(spec, setting, deals, draw, fault):
    """A match of random legal moves; with a fault, seat 0 fails at its third question."""
    game = registry.game(setting.game)
    referee = Referee(spec, game=game, deals=deals, settings=setting)
    referee.begin()
    asked = [0] * len(spec.seats)
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=60_000)
            asked[seat] += 1
            if fault is not None and seat == 0 and asked[0] == 3:
                referee.fail(0, Failure(kind=fault.kind, message=fault.message))
                break
            referee.answer(seat, draw.choice(question.legal))
    record = referee.record()
    if fault is not None:
        told = [
            msgspec.structs.replace(
                fault, seat=own.seat, hole=own.hole, turn=own.turn, message=own.message
            )
            for own in record.faults
        ]
        record = msgspec.structs.replace(record, faults=tuple(told))
    use = tuple(SeatUse(decisions=decisions) for decisions in asked)
    return msgspec.structs.replace(record, use=use, digest=record.computed_digest(), ended=1.0)


@pytest.fixture(scope="session")
def play_event():
    """Play an event between `names` into `folder` without bots: random legal moves.

    `faults`: by the number of the match, a `Fault` whose seat and place are found out.
    """

    def play(folder, names=("ann@1", "bob@1"), *, beacon="", faults=None, **settings):
        settings = {"game": "play-nine", "deals": 1, **settings}
        setting = Settings(rating=registry.rating(settings["game"]), **settings)
        secret = secret_from_seed("tests")
        entrants = tuple(_entrant(name) for name in names)
        event = Event(
            settings=setting,
            entrants=entrants,
            commitment=commitment(secret, setting, entrants),
            predictable=True,
            beacon=beacon,
        )
        deals = Deals(with_beacon(secret, beacon))
        draw = random.Random(1)
        with Store.create(folder, event, Private(secret=secret.hex(), sources={}, cache="")) as to:
            number = 0
            for block in first_wave(schedule_of(event, secret)).blocks():
                for series in block.series:
                    for spec in series.matches:
                        fault = (faults or {}).get(number)
                        to.append(_record(spec, setting, deals, draw, fault))
                        number += 1
            to.conclude(msgspec.structs.replace(event, finished=True, secret=secret.hex()))
        return folder

    return play


@pytest.fixture(scope="session")
def write_wheel():
    """Write a wheel of one module into a folder; return its pip hash."""

    def write(wheels, name, source, requires=()):
        info = f"{name}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        files = {
            f"{name}.py": source,
            f"{info}/METADATA": metadata + "".join(f"Requires-Dist: {r}\n" for r in requires),
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        path = wheels / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    return write


@pytest.fixture
def a_fault():
    """A fault with every text in it that a bot has a say in."""
    return Fault(
        kind=FaultKind.ILLEGAL,
        seat=0,
        hole=1,
        turn=1,
        message="its words",
        line="swap 99",
        stderr="Traceback\nValueError",
        status="exit 1",
    )
