"""An arena with a third game: a copy of the package, extended by the recipe in CONTRIBUTING.md.

One file of rules, one line in the registry, one sheet of rules; nothing else is changed. Commands
run it as real processes, whose workers run it too.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

import arena

HERE = Path(__file__).parent
LINE = '    "four-card-golf": "arena.games.four_card_golf:GAME",\n'

BOT = """\
import json, random, sys

for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "match":
        rng = random.Random(message["seed"])
    elif message["type"] == "act":
        view, legal = message["view"], message["legal"]
        mine = view["grids"][view["seat"]]
        card = view["discard"] if view["drawn"] is None else view["drawn"]
        worst = max(range(len(mine)), key=lambda at: mine[at])
        move = rng.choice(legal)
        if KEEN and card < mine[worst]:
            move = f"{'take' if view['drawn'] is None else 'swap'} {worst}"
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
"""


def extend(package):
    """The recipe: the game's file, its line in the registry, its sheet."""
    shutil.copy(HERE / "open_six.py", package / "games")
    shutil.copy(HERE / "open-six.en.html", package / "games" / "sheets")
    registry = package / "registry.py"
    text = registry.read_text("utf-8")
    assert text.count(LINE) == 1
    line = '    "open-six": "arena.games.open_six:GAME",\n'
    registry.write_text(text.replace(LINE, LINE + line), "utf-8")


class ThirdArena:
    """Runs commands of the extended arena."""

    def __init__(self, folder, warm_copy):
        self.folder = folder
        shutil.copytree(Path(arena.__file__).parent, folder / "arena")
        extend(folder / "arena")
        (folder / "protocol").symlink_to(HERE.parents[1] / "protocol")
        self.bots = folder / "bots"
        for name in ("keen", "careless"):
            bot = self.bots / name
            bot.mkdir(parents=True)
            run = json.dumps(["python3", "-S", "bot.py"])
            (bot / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
            (bot / "bot.py").write_text(BOT.replace("KEEN", str(name == "keen")))
        self._warm = warm_copy(folder)

    def __call__(self, *words, code=0, stdin=""):
        """What the command says; its exit code is `code`."""
        done = self._warm(*words, cwd=self.folder, env=self.environment(), stdin=stdin)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def environment(self):
        """What makes a process, and all that it starts, import the copy."""
        return {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "100"}

    def run(self, name, *words, **how):
        """An event of the third game between the two bots, without a sandbox."""
        out = self.folder / name
        return out, self(
            *("run", *sorted(self.bots.iterdir()), "--game", "open-six", "--out", out),
            *("--sandbox", "none", "--seed", "1", "--turn-cap", "8", *words),
            **how,
        )


@pytest.fixture(scope="session")
def third(tmp_path_factory, warm_copy):
    """The extended arena."""
    return ThirdArena(tmp_path_factory.mktemp("third"), warm_copy)


@pytest.fixture(scope="session")
def event(third):
    """A finished event: three deals in both seatings."""
    folder, done = third.run("event", "--deals", "3")
    return folder, done
