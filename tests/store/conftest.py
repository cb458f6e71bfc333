"""A small log to be mistreated."""

import pytest

from arena.model import Entrant, Event, HoleRecord, Settings
from arena.store import Private, Store
from tests.records import match_record

EVENT = Event(
    settings=Settings(game="play-nine"),
    entrants=tuple(
        Entrant(id=f"{name}@1", name=name, version="1", hash="00") for name in ("a", "b")
    ),
    commitment="c",
)
PRIVATE = Private(secret="ab" * 32, sources={"a@1": "/somewhere"}, cache="/cache")


def record(number, attempt=0):
    """A small record; three make a series."""
    return match_record(
        series=f"s-{number // 3}",
        attempt=attempt,
        deal=number,
        holes=(HoleRecord(order=(0, 1), moves="draw", scores=(1, 2)),),
        totals=(1, 2),
        ended=12.5,
    )


@pytest.fixture(name="record")
def _record():
    return record


@pytest.fixture
def filled(tmp_path):
    """Make a results folder with so many matches, closed."""

    def fill(count):
        with Store.create(tmp_path / "event", EVENT, PRIVATE) as store:
            for number in range(count):
                store.append(record(number))
        return tmp_path / "event"

    return fill


@pytest.fixture
def no_disk(monkeypatch):
    """Spare the disk: for tests that open a folder a thousand times."""
    monkeypatch.setattr("os.fsync", lambda fd: None)
