"""New bots as `arena new` writes them, built by the roster in a sandbox; what is said to them."""

import importlib.util
import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena import registry, scaffolds
from arena.bots import build, load
from arena.cli import commands
from arena.sandbox.client import Spawner

ROOT = Path(__file__).parents[2]
TRANSCRIPTS = ROOT / "protocol" / "transcripts"
GOOD = sorted(TRANSCRIPTS.glob("*.good.txt"))


class Everything:
    """Random numbers that choose all that is offered."""

    @staticmethod
    def choice(moves):
        """Each of them may come."""
        return frozenset(moves)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Snapshots and builds of these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def backend():
    """`backend(name)`: that sandbox; the test is skipped where it doesn't work."""

    def by_name(name):
        found = registry.backend(name)
        probe = found.probe()
        if not probe.works:
            pytest.skip(f"{name}: {probe.detail}")
        return found

    return by_name


@pytest.fixture(scope="session")
def sandbox():
    """The sandbox of this machine; without one the bots still have to be right."""
    return "bwrap" if registry.backend("bwrap").probe().works else "none"


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """`written(language)`: the folder that `arena new` has made for it."""
    folders = {}

    def new(language):
        if language not in folders:
            folder = tmp_path_factory.mktemp(language) / f"new-{language}"
            done = CliRunner().invoke(commands, ["new", language, str(folder)])
            assert 0 == done.exit_code, done.output
            folders[language] = folder
        return folders[language]

    return new


@pytest.fixture(scope="session")
def built(cache, backend, written):
    """`built(language, sandbox)`: the bot, built; skipped where its language isn't installed."""
    bots = {}

    def make(language, sandbox):
        for tool in scaffolds.SCAFFOLDS[language].tools:
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        if (language, sandbox) not in bots:
            roster = load([written(language)], cache=cache)
            assert () == roster.problems
            made = build(roster.candidates, cache=cache, backend=backend(sandbox), spawners=Spawner)
            assert () == made.problems
            (bots[language, sandbox],) = made.bots
        return bots[language, sandbox]

    return make


@pytest.fixture
def command(built, sandbox):
    """`command(language)`: how a built bot is started outside, and in which folder."""

    def words(language):
        bot = built(language, sandbox)
        run = [bot.root + word[4:] if word.startswith("/bot/") else word for word in bot.run]
        # The tester's own settings (PYTHONUNBUFFERED) must not help it.
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        return {"args": run, "cwd": bot.root, "env": environment}

    return words


def messages(path):
    """The messages of a whole match, as a bot hears them, and `bye`."""
    lines = path.read_text().splitlines()
    found = [json.loads(line[2:]) for line in lines if line.startswith("> ")]
    return found if found[-1]["type"] == "bye" else [*found, {"type": "bye"}]


@pytest.fixture(params=[path.name for path in GOOD])
def heard(request):
    """Every good transcript."""
    return messages(TRANSCRIPTS / request.param)


@pytest.fixture(params=[path.name for path in GOOD if ".2." in path.name])
def short(request):
    """One transcript of each game."""
    return messages(TRANSCRIPTS / request.param)


@pytest.fixture(scope="session")
def policy():
    """`policy(game, question)`: the moves that every new bot may choose from."""
    path = Path(scaffolds.__file__).parent / "python" / "bot.py"
    spec = importlib.util.spec_from_file_location("new_python_bot", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def moves(game, question):
        found = module.choose(game, question["view"], question["legal"], Everything)
        return {found} if isinstance(found, str) else found

    return moves


@pytest.fixture
def seated(built):
    """`seated(language, sandbox, seats)`: the same bot as so many entrants, by id."""

    def take(language, sandbox, seats):
        bot = built(language, sandbox)
        entrants = [
            msgspec.structs.replace(bot.entrant, id=f"{bot.entrant.name}-{seat}@1")
            for seat in range(seats)
        ]
        return {each.id: msgspec.structs.replace(bot, entrant=each) for each in entrants}

    return take
