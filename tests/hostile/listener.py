"""A referee that listens to a program that writes without end, and says how much it has grown.

Reads a plan from its standard input. `listener.py table`: with the pipes of the arena itself;
`listener.py naive`: as `subprocess.run(capture_output=True)` would, until it has got enough to make
its point. A moment of the flood is listened to; what grew in this process is printed as JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

import msgspec
import trio

from arena.engine.pipes import open_pipes
from arena.model import Bot, Entrant, Limits
from arena.sandbox import SpawnPlan
from arena.sandbox.client import Spawner
from arena.wire.session import Pending, SessionState

LISTEN_S = 0.3
LINES = 10_000
"""Taken at a time."""

ENOUGH = 64 << 20
LONGEST_S = 30.0
"""The control listens until it has so much, or for so long."""


def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


class Fixed:
    """A backend that has one plan."""

    name = "fixed"

    def __init__(self, plan):
        self._plan = plan

    def plan(self, _):
        return self._plan


async def at_the_table(plan):
    """More patient than any referee: whatever the bot says, it is asked again."""
    bot = Bot(entrant=Entrant(id="x@1", name="x", version="1", hash=""), root="/", run=("x",))
    async with open_pipes() as table:
        contestant = table.start(bot, Fixed(plan), Limits())
        session = contestant.session
        before = most = resident_mb()
        deadline = time.monotonic() + LISTEN_S
        while (left := deadline - time.monotonic()) > 0:
            session.state = SessionState.ASKED
            table.ask(contestant, b"")
            await table.wait(left)
            # A line that is too long is found so again each time: it is not passed over.
            for _ in range(LINES):
                if session.next_event() in {Pending.NEED_DATA, Pending.END}:
                    break
                session.state = SessionState.ASKED
            most = max(most, resident_mb())
        await table.kill([contestant])
    return max(most, resident_mb()) - before


def naive(plan):
    with Spawner() as spawner:
        bot = spawner.spawn(plan)
        before = resident_mb()
        kept = {bot.stdout: bytearray(), bot.stderr: bytearray()}
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline and sum(map(len, kept.values())) < ENOUGH:
            for descriptor, text in kept.items():
                try:
                    text += os.read(descriptor, 65_536)
                except BlockingIOError:
                    continue
        return resident_mb() - before


if __name__ == "__main__":
    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=SpawnPlan)
    grown = naive(wanted) if sys.argv[1] == "naive" else trio.run(at_the_table, wanted)
    sys.stdout.write(json.dumps({"grown_mb": grown}))
