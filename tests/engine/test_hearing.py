"""Waiting for a bot, with a table that is made up: what is asked of the core, and when."""

import pytest

from arena.engine import listener
from arena.engine.stopwatch import Stopwatch
from arena.model import HostError
from arena.sandbox.delays import Reading, Task
from arena.wire.messages import Answer
from arena.wire.session import Pending

LIMIT = 0.1
ANSWER = Answer("1-abcd", "draw")


class World:
    """A table, its core, a bot, its session, and the time; the bot has a share of the core."""

    def __init__(self, share=1.0, *, speaks=float("inf"), overloaded=(), cheats=False, others=0.0):
        self.now = self.heard = 100.0
        self.ran = self.waited = 0.0
        self.share, self.speaks, self.cheats = share, speaks, cheats
        self.trials, self.found = 0, list(overloaded)
        self.recent = None
        self.others = others  # the share of what the bot doesn't get that its opponents have
        self.stopped = False
        self.aside = 0.0
        self.works_at = float("inf")
        self.core = self.session = self

    # ---- the time, and trio's

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds

    # ---- the table

    async def wait(self, seconds):
        if self.now >= self.works_at:  # the table's own work, which takes a while
            self.works_at = float("inf")
            self.aside += 0.08
            self.now += 0.08
        if self.now < self.speaks <= self.now + seconds:
            seconds = self.speaks - self.now
        self.now += seconds
        self.ran += seconds * self.share
        self.waited += seconds * (1 - self.share)
        if self.now >= self.speaks:
            self.heard = self.speaks

    def look(self, _):
        assert self.stopped

    def reading(self, _, at=None):
        task = Task(self.ran, self.waited, int(self.now * 1000), waiting=True)
        return Reading(self.now if at is None else at, self.ran, 0.0, {1: task})

    def taken(self, _):
        return self.others * self.waited

    # ---- its core

    def overloaded(self):
        assert self.stopped
        self.now += 0.01
        if self.cheats:
            self.ran += 0.005
        self.trials += 1
        return self.found.pop(0) if self.found else self.share < 1

    # ---- the bot, and its session

    rests = False

    @property
    def frozen(self):
        return self.stopped

    def freeze(self):
        self.stopped = True

    def thaw(self):
        self.stopped = False

    def cpu(self):
        return self.ran

    def next_event(self):
        return ANSWER if self.now >= self.speaks else Pending.NEED_DATA

    async def hear(self, monkeypatch):
        """What comes of a decision."""
        monkeypatch.setattr(listener, "clock", self)
        monkeypatch.setattr(listener, "trio", self)
        self.watch = Stopwatch(LIMIT, self.now, self.reading(self), taken=0.0)
        return await listener.hear(self, self, self.watch, Pending.NEED_DATA)


async def test_an_answer_in_time_needs_no_trial(monkeypatch):
    """The bot has the core."""
    world = World(speaks=100.05)
    assert await world.hear(monkeypatch) is ANSWER
    assert 0 == world.trials
    assert 0.05 == pytest.approx(world.watch.charged)


async def test_what_the_table_does_meanwhile_is_nobodys_time(monkeypatch):
    """It stops the processes of somebody else, which may take a while."""
    world = World(speaks=100.12)
    world.works_at = 100.01
    assert await world.hear(monkeypatch) is ANSWER
    assert 0.04 == pytest.approx(world.watch.charged)


async def test_silence_ends_at_the_limit(monkeypatch):
    """With no trial, if the bot had the core all the time."""
    world = World()
    assert await world.hear(monkeypatch) is None
    assert 0 == world.trials
    assert LIMIT < world.watch.charged < LIMIT + 0.002


async def test_who_is_starved_by_others_has_its_time(monkeypatch):
    """It answers after 250 ms, of which a fifth was its own; then silence ends too."""
    world = World(0.2, speaks=100.25)
    assert await world.hear(monkeypatch) is ANSWER
    assert 0 < world.trials <= 4
    assert 0.05 == pytest.approx(world.watch.charged, abs=0.006)
    world = World(0.2)
    assert await world.hear(monkeypatch) is None
    assert LIMIT < world.watch.charged < LIMIT + 0.03


async def test_who_is_starved_by_its_opponents_needs_no_trial(monkeypatch):
    """Which would find the core free: they burn it only while the bot is waited for."""
    world = World(0.2, speaks=100.25, overloaded=[False] * 9, others=1.0)
    assert await world.hear(monkeypatch) is ANSWER
    assert 0 == world.trials
    assert 0.05 == pytest.approx(world.watch.charged, abs=0.006)
    world = World(0.2, overloaded=[False] * 9, others=1.0)
    assert await world.hear(monkeypatch) is None
    assert LIMIT < world.watch.charged < LIMIT + 0.03


async def test_for_the_bank_what_opponents_used_counts_too(monkeypatch):
    """In time by the clock; the trial before had found the core free."""
    world = World(0.2, speaks=100.08, others=1.0)
    world.recent = False
    assert await world.hear(monkeypatch) is ANSWER
    assert 0.016 == pytest.approx(world.watch.charged, abs=0.004)


async def test_who_only_looks_starved_is_late(monkeypatch):
    """The core is found free, twice."""
    world = World(0.2, overloaded=[False] * 9)
    assert await world.hear(monkeypatch) is None
    assert 2 == world.trials
    assert LIMIT < world.watch.charged < LIMIT + 0.025


async def test_one_trial_in_a_quiet_moment_decides_nothing(monkeypatch):
    """Others' work comes in bursts; the answer comes meanwhile, or is there already."""
    for speaks in (100.13, 100.1108):
        world = World(0.2, speaks=speaks, overloaded=[False, True])
        assert await world.hear(monkeypatch) is ANSWER
        assert 2 == world.trials


async def test_a_bot_that_computes_while_it_is_stopped_proves_nothing(monkeypatch):
    """Something lets it go on."""
    world = World(0.2, cheats=True)
    assert await world.hear(monkeypatch) is None
    assert 2 == world.trials


@pytest.mark.parametrize(("known", "trials"), [(None, 1), (True, 0), (False, 0)])
async def test_for_the_bank_what_was_found_lately_will_do(monkeypatch, known, trials):
    """In time by the clock, and still charged for its own time alone, if that is proven."""
    world = World(0.2, speaks=100.08)
    world.recent = known
    assert await world.hear(monkeypatch) is ANSWER
    assert trials == world.trials
    expected = 0.07 if known is False else 0.016
    assert expected == pytest.approx(world.watch.charged, abs=0.004)


async def test_a_machine_that_never_gives_a_bot_its_time_is_in_trouble(monkeypatch):
    """After half a minute it isn't the bot's fault."""
    world = World(0.001)
    with pytest.raises(HostError, match="too loaded"):
        await world.hear(monkeypatch)
    assert 130 < world.now < 140


@pytest.mark.parametrize("rests", [False, True])
async def test_who_rests_off_turn_is_stopped_before_its_time_is_read(monkeypatch, rests):
    """What it does between its answer and the stop is no time off turn; others aren't touched."""
    stood = []

    def reading(table, at=None):
        stood.append(world.stopped)
        return World.reading(world, table, at)

    world = World(speaks=100.05)
    world.rests, world.reading = rests, reading
    assert await world.hear(monkeypatch) is ANSWER
    assert [rests] == stood[-1:] == [world.stopped]
    assert not any(stood[:-1])
