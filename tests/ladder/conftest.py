"""Ladders whose bots were accepted without the check at the door, which takes seconds."""

from pathlib import Path

import pytest

import arena as library
from arena.bots import default_cache, in_use, load
from arena.ladder import submissions
from arena.ladder.chain import Accepted
from arena.ladder.folder import held_ladder
from arena.model import Entrant
from tests.messages import READ

BOT = (
    "import os, random, sys\n"
    + READ
    + """
skill, broken = SKILL, BROKEN
for line in sys.stdin:
    message = read(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "match":
        draw = random.Random(message["seed"])
    elif message["type"] == "act":
        if broken:
            sys.exit(3)
        legal = message["legal"]
        move = legal[0] if draw.random() < skill else draw.choice(legal)
        print(answer_to(message, move), flush=True)
    elif message["type"] == "bye":
        break
"""
)
GAME = "four-card-golf"
TOML = f"""name = "test"
seed = "tests"
matches = 40
[games.{GAME}]
"""


def begin(folder: Path):
    """A ladder of one game, with secrets that are known."""
    folder.mkdir()
    (folder / "ladder.toml").write_text(TOML)
    library.ladder_init(folder)
    return folder


@pytest.fixture
def ladder(tmp_path):
    return begin(tmp_path / "ladder")


@pytest.fixture(scope="session")
def bot():
    """Writes a bot that takes the first legal move with some probability."""

    def write(folder: Path, skill=1.0, *, broken=False):
        folder.mkdir(parents=True, exist_ok=True)
        text = BOT.replace("SKILL", str(skill)).replace("BROKEN", str(broken))
        (folder / "bot.py").write_text(text)
        return folder

    return write


@pytest.fixture(scope="session")
def accept(bot):
    """Has a bot accepted for an author."""

    def enter(ladder: Path, author: str, **how):
        source = bot(ladder.parent / "sources" / author, **how)
        with held_ladder(ladder) as opened, in_use(default_cache()) as cache:
            found = load([source], cache=cache).candidates[0]
            version = str(len(opened.state.author(author).accepted) + 1)
            content = found.entrant.snapshot
            entrant = Entrant(id=f"{author}@{version}", name=author, version=version, hash=content)
            submissions._keep(Path(found.snapshot), opened.version(entrant))
            received = "2026-01-01T00:00:00Z"
            opened.append(
                Accepted(author=author, entrant=entrant, submission=content, received=received)
            )
        return entrant

    return enter


@pytest.fixture(scope="session")
def play():
    """Plays a round."""

    def run(ladder: Path, **how):
        options = library.RunOptions(sandbox="none", jobs=2)
        return library.ladder_round(ladder, options=options, **how)

    return run
