"""Spare uids: no two spawners have one in common, whatever their process numbers are."""

import os
import select
from pathlib import Path

import pytest

from arena.sandbox import Launch, Started, uids
from arena.sandbox.client import Spawner
from arena.sandbox.environment import has_spare_uids
from arena.sandbox.landlock import Landlock
from arena.sandbox.uids import RANGE, SpareUids

# Of nobody's, of no event's that is played meanwhile, and of no other worker's.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
FIRST = 3_000_000_000 + 4 * RANGE * WORKER
SOME = range(FIRST, FIRST + 4 * RANGE)


@pytest.fixture
def spawner():
    """Make what a spawner has of them."""
    made = []

    def make():
        made.append(SpareUids(SOME))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("number", [7, 7 + 4, 7 + 64])
def test_spawners_whose_numbers_would_give_the_same_have_others(monkeypatch, spawner, number):
    """By whichever number the process number is reduced."""
    monkeypatch.setattr(uids.os, "getpid", lambda: 7)
    one = spawner()
    first = {one.of(slot) for slot in range(RANGE)}
    monkeypatch.setattr(uids.os, "getpid", lambda: number)
    other = spawner()
    second = {other.of(slot) for slot in range(RANGE)}
    assert RANGE == len(first) == len(second)
    assert not first & second
    assert first | second <= set(SOME)


def test_more_programs_than_a_range_has_get_another(spawner):
    """No two slots of a spawner have one in common either."""
    one = spawner()
    assert 3 * RANGE == len({one.of(slot) for slot in range(3 * RANGE)})
    assert one.of(5) == one.of(5)
    other = spawner()
    other.of(0)
    with pytest.raises(BlockingIOError, match="all spare uids are in use"):
        other.of(RANGE)


def test_who_has_ended_leaves_its_range(spawner):
    """By the kernel: also when it was killed."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        held = [spawner() for _ in range(4)]
        for each in held:
            each.of(0)
        os.write(write, b"x")
        select.select([], [], [])
    os.read(read, 1)
    with pytest.raises(BlockingIOError):
        spawner().of(0)
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert spawner().of(0) in SOME
    os.close(read)
    os.close(write)


@pytest.mark.process
@pytest.mark.skipif(not has_spare_uids(), reason="only root has spare uids")
def test_programs_of_many_spawners_run_as_different_users(tmp_path):
    """Real ones, all alive at the same time."""
    tmp_path.chmod(0o711)
    plan = Landlock()._plan(Launch(run=("/bin/sleep", "60"), root=str(tmp_path)))
    spawners = [Spawner() for _ in range(8)]
    users = []
    try:
        for spawner in spawners:
            for _ in range(2):
                spawner.spawn(plan)
        for spawner in spawners:
            users += [user_of(pid) for pid in started(spawner, 2)]
    finally:
        for spawner in spawners:
            spawner.close()
    assert 16 == len(set(users))


def started(spawner, count):
    """The processes of so many programs."""
    found = []
    while len(found) < count:
        assert select.select([spawner.fileno()], [], [], 30)[0]
        for news in spawner.receive():
            assert isinstance(news, Started), news
            found.append(news.pid)
    return found


def user_of(pid):
    """The user it runs as, once it is confined."""
    return Path(f"/proc/{pid}").stat().st_uid
