"""Bots that compute while it isn't their turn, and what becomes of them; nobody waits for them."""

import time

import pytest
from msgspec import UNSET

from arena import registry
from arena.engine import contestant, time_account
from arena.engine.match import Match, start_bots
from arena.engine.pipes import open_pipes
from arena.model import FaultKind, Limits
from arena.store import canonical_line, record_line

pytestmark = pytest.mark.process

PROGRAM = """
import ctypes, json, mmap, os, struct, sys, threading, time

how, seconds = sys.argv[1], float(sys.argv[2])


def spin():
    while True:
        pass


def swarm():
    # In sessions of their own each may get as much of a core as a whole bot.
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            spin()


window = mmap.mmap(-1, 16) if how == "bursts" else None


def burst():
    # They burn after the bot's answer, for as long as its opponent can wait.
    for _ in range(50):
        if os.fork() == 0:
            os.setsid()
            while True:
                begin, end = struct.unpack("dd", window)
                if not begin < time.monotonic() < end:
                    time.sleep(0.003)


def burn_for(seconds):
    now = time.monotonic()
    window[:] = struct.pack("dd", now + 0.002, now + seconds)


libc = ctypes.CDLL(None)
timers = []


def make_timers():
    told = (ctypes.c_int * 16)(0, 0, 18, 0)
    for _ in range(60):
        timers.append(ctypes.c_void_p())
        libc.timer_create(1, told, ctypes.byref(timers[-1]))
    threading.Thread(target=spin, daemon=True).start()


def have_myself_continued():
    # Timers of the kernel's that send SIGCONT, one after another.
    for number, timer in enumerate(timers, 1):
        at = (ctypes.c_long * 4)(0, 0, *divmod(25_000_000 * number, 1_000_000_000))
        libc.timer_settime(timer, 0, at, None)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if how == "swarm":
            swarm()
        elif how == "bursts":
            burst()
        elif how == "timer":
            make_timers()
        os.write(1, b'{"type":"ready"}\\n')
    elif message["type"] == "act":
        begun = time.thread_time()
        have_myself_continued()
        if how == "bursts":
            burn_for(0)
        while how == "thinks" and time.thread_time() - begun < seconds:
            pass
        if how == "sleeps":
            time.sleep(seconds)
        if how == "bursts":
            burn_for(seconds)
        move = "knock" if "knock" in message["legal"] else message["legal"][0]
        os.write(1, json.dumps({"turn": message["turn"], "move": move}).encode() + b"\\n")
"""

BURST_S = THINK_S = 0.1
GAME = "four-card-golf"
DECISIONS = 9


@pytest.fixture
def played(ways, bots, monkeypatch):
    """The records of some matches, with an allowance that is soon used up."""
    monkeypatch.setattr(time_account, "BURST_S", BURST_S)
    monkeypatch.setattr(time_account, "SHARE", 0.0)

    async def play(*kinds, matches=1, **how):
        return await ways(bots(*kinds, program=PROGRAM), GAME, matches, **how).by_table()

    return play


@pytest.fixture
def confined():
    """The first sandbox that works here."""
    return next(name for name in registry.SANDBOXES if registry.backend(name).probe().works)


@pytest.mark.long("computing off turn")
async def test_who_has_used_up_its_allowance_is_stopped_while_others_are_asked(played, confined):
    """The record says from which decision on; the opponent has its time, and nothing that is
    canonical differs.
    """
    records = await played(("swarm", 0), ("thinks", THINK_S), matches=2, sandbox=confined)
    assert not any(record.faults for record in records)
    (used, other), (other_later, later) = (record.use for record in records)
    assert 0 <= used.stopped < DECISIONS
    assert 0 == later.stopped, "the same processes, in the next match"
    opponents = 1000 * DECISIONS * THINK_S
    assert used.off_turn_ms + later.off_turn_ms < opponents / 2
    for use in (other, other_later):
        assert UNSET is use.stopped
    for record in records:
        assert b'"stopped":' not in canonical_line(record)
        assert record.digest == record.computed_digest()


async def test_an_honest_field_is_never_stopped(ways, bots):
    """The record has no word of it."""
    records = await ways(bots(("fine", 0), ("late", 40)), GAME, 2).by_table()
    assert not any(b'"stopped":' in record_line(record) for record in records)


async def test_who_has_itself_continued_is_killed(played, monkeypatch):
    """It is its own fault, in words that say so."""
    monkeypatch.setattr(contestant, "STIRRED_S", 0.002)  # others may want the core, too
    (record,) = await played(("timer", 0), ("sleeps", 0.8))
    (fault,) = record.faults
    assert (0, FaultKind.LIMIT) == (fault.seat, fault.kind)
    assert "although it was stopped while it wasn't asked" in fault.message


@pytest.mark.long("computing off turn")
async def test_who_burns_in_bursts_does_not_make_its_opponent_forfeit(ways, bots):
    """The core is free whenever that is tried; within its allowance a bot would make its opponent,
    which needs no time, forfeit by the clock and by the bank.
    """
    limits = Limits(move_ms=200, match_ms=800)
    field = bots(("bursts", 0.19), ("thinks", 0.005), program=PROGRAM)
    (record,) = await ways(field, GAME, 1, limits=limits).by_worker()
    assert not [fault for fault in record.faults if fault.seat == 1]
    used = record.use[1]
    assert used.waited_ms > 100, "it was kept waiting"
    assert used.think_ms < 400, "and isn't charged for that"


async def test_what_others_have_used_is_bounded_by_what_was_last_read(ways, bots):
    """As much as a core gives since then, whatever they did."""
    way = ways(bots(("thinks", 0), ("thinks", 0), ("thinks", 0), program=PROGRAM), GAME, 1)
    async with open_pipes() as table:
        at_table, _ = await start_bots(table, way.context, way.series.matches[0].seats)
        one, *others = at_table.values()
        taken = table.taken(one)
        assert 0 < taken == sum(other.known_cpu for other in others) / table.core.cores
        at = min(other.known_at for other in others)
        assert taken == table.most_taken(one, at)
        assert taken + 0.5 == pytest.approx(table.most_taken(one, at + 0.5))
        await table.kill(others)
        assert 0 == table.taken(one) == table.most_taken(one, at)


@pytest.mark.long("computing off turn")
async def test_a_swarm_can_not_delay_another_s_start(played):
    """A bot that is ready computes while others are started: that is off turn, too."""
    (record,) = await played(("swarm", 0), ("thinks", 0.05))
    assert record.use[0].stopped <= 1


async def test_nobody_waits_for_the_pipe_of_a_stopped_bot(ways, bots):
    """More than it takes is written, at once for the writer; the others play on, and when the bot
    goes on it gets everything.
    """
    way = ways(bots(("thinks", 0), ("thinks", 0), program=PROGRAM), GAME, 1)
    seats = way.series.matches[0].seats
    async with open_pipes() as table:
        at_table, unready = await start_bots(table, way.context, seats)
        assert not unready
        stopped, other = (at_table[entrant] for entrant in seats)
        stopped.freeze()
        line = b'{"type":"unheard of","x":"' + b"x" * 1000 + b'"}\n'
        begun = time.monotonic()
        for _ in range(1000):
            table.send(stopped, line)
        table.send(other, line)
        table.look(0)
        assert time.monotonic() - begun < 1
        assert stopped.out
        assert not other.out
        stopped.thaw()
        while stopped.out:
            await table.wait(1)
        record = await Match(
            table, way.context, way.series.matches[0], dict(enumerate((stopped, other)))
        ).play([])
        assert not record.faults
        await table.dismiss([stopped, other])
