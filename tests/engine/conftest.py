"""Series played three ways: by a table in this process, by a real worker, by the plain driver."""

import importlib.util
import json
import os
import select
import sys
from pathlib import Path

import msgspec
import pytest
import trio

from arena import registry
from arena.bots import build, load
from arena.deals import Deals, secret_from_seed
from arena.engine.match import FinishedMatch, MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.executors import WorkerConfig
from arena.executors.local import LocalExecutor
from arena.model import Block, Limits, MatchSpec, Series, Settings
from arena.sandbox.client import Spawner
from arena.system import processes, replaced
from tests.messages import READ

# The plain driver lies beside the tests that use it.
sys.path.insert(0, str(Path(__file__).parent))

SECRET = secret_from_seed("match")
MOMENT_S = 0.2

BOT = (
    """
import os, random, sys, time
"""
    + READ
    + """
how, number = sys.argv[1], float(sys.argv[2])
mine = False
asked = 0


def say(text):
    os.write(1, text if isinstance(text, bytes) else text.encode())


def burn(seconds):
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass


def burn_off_turn():
    while True:
        while mine:
            time.sleep(0.001)
        burn(0.001)


if how == "no-start":
    sys.exit(3)
for line in sys.stdin:
    message = read(line)
    kind = message["type"]
    if kind == "hello":
        if how == "cores":
            sys.stderr.write(" ".join(map(str, sorted(os.sched_getaffinity(0)))) + "\\n")
            sys.stderr.flush()
        if how == "off turn":
            import threading
            threading.Thread(target=burn_off_turn, daemon=True).start()
        say("banner\\n" if how == "banner" else '{"type":"ready"}\\n')
    elif kind == "match":
        draw = random.Random(message["seed"])
        asked = 0
    elif kind == "bye":
        break
    elif kind == "act":
        mine = True
        asked += 1
        if how == "logs":
            os.write(2, f"{message['turn']}\\n".encode())
        now = asked == number
        legal = message["legal"]
        move = draw.choice(legal)
        if how in ("knocks", "thinks", "off turn", "cores", "echo", "logs"):
            # Of four-card golf: one decision a hole.
            move = "knock" if "knock" in legal else legal[0]
        if how in ("thinks", "off turn") or (how == "tees" and legal[0].startswith("tee")):
            burn(number)
        if how == "late" and asked % number == 0:
            time.sleep(0.012)
        if how == "illegal" and now:
            move = "fly 3"
        if how == "stale" and now:
            message["turn"] = "0-zzzz"
        text = answer_to(message, move)
        if how == "wordy":
            thought = ", ".join(['"x"'] * 300)
            text = '{"thought": [[%s]], %s, "type": "answer"}' % (thought, text[1:-1])
        mine = False
        if how == "exit" and now:
            sys.exit(0)
        elif how == "status" and now:
            sys.exit(3)
        elif how == "signal" and now:
            os.kill(os.getpid(), 9)
        elif how == "half" and now:
            say(text)
            sys.exit(0)
        elif how == "close" and now:
            os.close(1)
            time.sleep(3600)
        elif how == "hang" and now:
            time.sleep(3600)
        elif how == "junk" and now:
            say("take this!\\n")
        elif how == "binary" and now:
            say(b"\\xff\\xfe\\n")
        elif how == "empty" and now:
            say("\\n" + text + "\\n")
        elif how == "flood" and now:
            say("x" * 70000)
            time.sleep(3600)
        elif how in ("twice", "echo") and now:
            say((text + "\\n") * 2)
        elif how == "pieces":
            say(text[:10])
            time.sleep(0.0005)
            say(text[10:])
            time.sleep(0.0005)
            say("\\n")
        elif how == "crlf":
            say(text + "\\r\\n")
        else:
            say(text + "\\n")
"""
)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Snapshots and builds of these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def built(cache):
    """Bots of folders, ready to run; those whose tools are missing here are left out."""

    def take(*folders):
        roster = load(folders, cache=cache)
        backend = registry.backend("none")
        found = build(roster.candidates, cache=cache, backend=backend, spawners=Spawner)
        assert not roster.problems
        assert not found.problems
        return found.bots

    return take


@pytest.fixture
def bots(built, tmp_path):
    """Bots that answer, or fail, as told: `bots(("late", 5), ("exit", 9))`."""

    def make(*kinds, program=BOT):
        folders = []
        for index, (how, number) in enumerate(kinds):
            folder = tmp_path / f"bot-{index}"
            folder.mkdir()
            (folder / "bot.py").write_text(program)
            run = json.dumps(["python3", "-S", "bot.py", how, str(number)])
            (folder / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
            folders.append(folder)
        return built(*folders)

    return make


def read_patiently(fd, size):
    """As if the bot had run on the caller's core before the caller went on."""
    select.select([fd], [], [], MOMENT_S)
    return os.read(fd, size)


class Ways:
    """One series, to be played in any way."""

    def __init__(self, bots, game, matches, *, freeze=False, sandbox="none", limits=None):
        self.bots, self.sandbox = bots, sandbox
        seats = tuple(bot.entrant.id for bot in bots)
        self.settings = Settings(
            game=game,
            seats=len(seats),
            turn_cap=registry.game(game).turn_cap,
            freeze=freeze,
            limits=limits or Limits(),
        )
        self.series = Series(
            id="s",
            matches=tuple(
                MatchSpec(
                    id=f"m-{deal}",
                    series="s",
                    pairing="p",
                    deal=deal,
                    rotation=deal % len(seats),
                    seats=(*seats[deal % len(seats) :], *seats[: deal % len(seats)]),
                )
                for deal in range(matches)
            ),
        )

    @property
    def context(self):
        """What the drivers share."""
        return MatchContext(
            settings=self.settings,
            game=registry.game(self.settings.game),
            deals=Deals(SECRET),
            bots={bot.entrant.id: bot for bot in self.bots},
            backend=registry.backend(self.sandbox),
        )

    async def by_table(self):
        """The product, in this process."""
        async with open_pipes() as table:
            played = [each async for each in play_series(table, self.context, self.series)]
        return [each.record for each in played]

    async def at_first_look(self):
        """The same, but what a bot says within a moment is there when it is first looked for."""
        with replaced(processes, read=read_patiently):
            return await self.by_table()

    async def by_worker(self, *, pin=True):
        """The product, by a worker process on a core of its own."""
        return [report.record for report in await self.reports(pin=pin)]

    async def reports(self, *, pin=True):
        """What a worker says of each match."""
        config = WorkerConfig(
            settings=self.settings, secret=SECRET.hex(), bots=self.bots, sandbox=self.sandbox
        )
        reports, wanted = [], [0]

        def report(told):
            if isinstance(told, FinishedMatch):
                reports.append(told)
            else:
                assert not told.trouble, told.trouble
                assert not told.bug, told.bug
                wanted.clear()

        await LocalExecutor(config, jobs=1, pin=pin).play(
            iter([Block(id="b", series=(self.series,))]),
            choose=lambda _: wanted[0] if wanted else None,
            report=report,
            stop=trio.Event(),
        )
        return reports

    async def plainly(self):
        """The reference."""
        from plain_driver import plain_series

        return await plain_series(self.context, self.series)


@pytest.fixture(scope="session")
def ways():
    """Make a series that can be played in any way."""
    return Ways


BOTS = Path(__file__).parents[2] / "example_bots"


@pytest.fixture(scope="session")
def policy():
    """The policy of an example bot, which reads what a bot reads: JSON."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"bot_{name}", BOTS / name / "bot.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return lambda view, legal: module.choose(
            msgspec.json.decode(msgspec.json.encode(view)), list(legal)
        )

    return load
