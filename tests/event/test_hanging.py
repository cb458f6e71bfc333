"""`arena audit` of bots that really play: one that is another bot in every second process."""

import json
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

GREEDY = Path(__file__).parents[2] / "example_bots" / "greedy"


@pytest.fixture(scope="session")
def sandbox():
    """What is shown here doesn't depend on it."""
    return "none"


MOODY = """
import json
import random
import sys

from greedy import choose

draw = random.Random()
mood = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "match":
        draw.seed(message["seed"])
        if mood is None:  # the first match of this process
            mood = draw.random() < 0.5
    elif message["type"] == "act":
        legal = message["legal"]
        move = draw.choice(legal) if mood else choose(message["view"], legal)
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
"""


@pytest.fixture
def moody(tmp_path):
    """Plays at random in every second process, as its first match's seed has it, else greedily."""
    folder = tmp_path / "bots" / "moody"
    folder.mkdir(parents=True)
    shutil.copy(GREEDY / "bot.py", folder / "greedy.py")
    (folder / "bot.py").write_text(MOODY)
    (folder / "bot.toml").write_text(
        'name = "moody"\nversion = "1"\nauthor = "tests"\nrun = ["python3", "-S", "bot.py"]\n'
    )
    return folder


@pytest.mark.long("results that hang together")
def test_a_bot_that_is_another_in_every_second_process_is_found(arena, moody, tmp_path):
    """Its rated deals hang together, so its interval would be wider, and greedy's is like it."""
    arena("run", moody, GREEDY, "--deals", "30", "--series", "5", "--seed", "a", "--out", "out")
    report = json.loads(arena("audit", tmp_path / "out", "--json").stdout)
    assert 0 == len(report["faults"])
    assert 6 == report["blocks"]
    found = {row["bot"]: row for row in report["together"]}
    assert found["moody@1"]["p"] <= 0.01
    assert found["moody@1"]["correlation"] > 0.7
    assert 1.8 < found["moody@1"]["wider"] < 5**0.5 + 0.01
    text = arena("audit", tmp_path / "out").stdout
    assert "The table's intervals of moody@1 would be" in text
