"""Bots that ask for lean questions, in whole events."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

FOLLOWER = Path(__file__).parents[2] / "bench" / "bots" / "follower"


@pytest.fixture(scope="session")
def sandbox():
    """What is shown here doesn't depend on it."""
    return "none"


@pytest.mark.parametrize("game", ["play-nine", "four-card-golf"])
@pytest.mark.long("lean questions")
def test_no_result_depends_on_how_much_a_bot_is_told(arena, tmp_path, game):
    """The same bots, one of them lean, play the same matches to the byte."""
    logs = []
    for words in ("", ', "lean"'):
        bots = []
        for name, asked in (("ann", words), ("bob", "")):
            folder = tmp_path / ("lean" if words else "full") / name
            shutil.copytree(FOLLOWER, folder)
            run = f'["python3", "-S", "-E", "bot.py", "{game}"{asked}]'
            (folder / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
            bots.append(folder)
        out = tmp_path / f"out-{len(logs)}"
        arena("run", *bots, "--game", game, "--deals", "2", "--seed", "1", "--out", out)
        logs.append(arena("log", out, "--canonical").stdout)
    assert '"faults":[{' not in logs[0]
    assert 4 == len(logs[0].splitlines())
    assert logs[0] == logs[1]
