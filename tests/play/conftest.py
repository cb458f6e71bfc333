"""People who play by themselves, against real bots in the sandbox."""

import json
import random
from contextlib import nullcontext

import msgspec
import pytest

from arena import registry
from arena.bots import build
from arena.event.options import MatchOptions
from arena.event.workshop import find_sandbox, seat_bots
from arena.model import Limits
from arena.play.session import PlaySession, _renamed, person_named
from arena.sandbox.client import Spawner

BOT = """
import json, sys, time

how, number = sys.argv[1], int(sys.argv[2])
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "bye":
        break
    elif message["type"] == "act":
        asked += 1
        if asked == number:
            if how == "crash":
                sys.exit(3)
            if how == "hang":
                time.sleep(3600)
        legal = message["legal"]
        move = "fly 3" if how == "illegal" and asked == number else legal[asked % len(legal)]
        if how == "same":
            move = legal[-1] if message["view"]["phase"] == "drawn" else legal[0]
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
"""


@pytest.fixture(scope="session")
def bot_folder(tmp_path_factory):
    """A bot that answers any legal move, until it fails as told."""

    def make(how="well", number=0):
        folder = tmp_path_factory.mktemp("bots") / f"{how}-{number}"
        folder.mkdir()
        (folder / "bot.py").write_text(BOT)
        run = json.dumps(["python3", "-S", "bot.py", how, str(number)])
        (folder / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
        return folder

    return make


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Snapshots and builds of these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def backend():
    """The first sandbox that works here."""
    return find_sandbox("auto", print)


@pytest.fixture(scope="session")
def session(bot_folder, cache, backend):
    """An session with bots: `session(game, ("well", 0), ("crash", 9), seat=1)`."""

    def make(game, *kinds, seat=0, seed="play", turn_cap=None, **limits):
        options = MatchOptions(game=game, freeze=True, turn_cap=turn_cap, limits=_limits(**limits))
        settings = msgspec.structs.replace(options.settings(len(kinds) + 1), format="single")
        person = person_named("ann")
        roster = seat_bots([bot_folder(*kind) for kind in kinds], cache, _renamed, [person])
        built = build(roster.candidates, cache=cache, backend=backend, spawners=Spawner)
        assert not built.problems
        return PlaySession(settings, built.bots, backend, person, seat=seat, seed=seed)

    return make


def _limits(move_time=1_000, match_time=60_000, start_time=10_000):
    return Limits(move_ms=move_time, match_ms=match_time, start_ms=start_time, scratch_mb=0)


class Anybody:
    """Somebody who plays whatever is legal, and remembers what there was to see."""

    def __init__(self, seed=1, choose=None):
        self.draw = random.Random(seed)
        self.choose = choose or (lambda desk: self.draw.choice(desk.legal))
        self.decided, self.followed, self.holes, self.ended = [], 0, [], []

    async def begin(self, desk, commitment):
        self.desk, self.commitment = desk, commitment

    async def decide(self, desk):
        move = self.choose(desk)
        self.decided.append((desk.hole, desk.phase, move))
        return move

    async def follow(self, desk):
        self.followed += 1

    async def hole_over(self, desk):
        assert desk.grids
        self.holes.append((desk.hole, desk.scores[-1]))

    async def over(self, desk, record, kept):
        self.ended.append((record, kept))
        return False


@pytest.fixture(scope="session")
def anybody():
    """Somebody."""
    return Anybody


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """Play the first match of an session and keep it: (record, desk, folder)."""

    async def play(session, person):
        folder = tmp_path_factory.mktemp("kept") / "match"
        await session.play(1, person, lambda _: nullcontext(folder))
        [(record, kept)] = person.ended
        assert kept == folder
        return record, person.desk, folder

    return play


GAMES = sorted(registry.GAMES)


@pytest.fixture(params=GAMES)
def game(request):
    """Both games."""
    return request.param
