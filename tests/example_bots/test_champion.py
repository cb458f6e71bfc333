"""champion: legal wherever it is asked, a function of its lines, and made by its trainers."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots.manifest import of_folder
from arena.deals import Deals, secret_from_seed
from arena.model import MatchSpec, Settings
from arena.referee import Referee
from arena.registry import game

ROOT = Path(__file__).parents[2]
CHAMPION = ROOT / "example_bots" / "champion"
TRAINERS = ROOT / "bench" / "train_champion"
COMPILER = os.environ.get("CXX", "c++").split()
TABLES = ROOT / "example_bots" / "strong" / "tables.json"

# Of what a short training writes. When a trainer computes something else on purpose, the weights
# in the repository are made again, and then these are renewed.
DIGESTS = {
    "nine": "a3a684b29504def9b2c041a3fe62c9e510306bc45940a44d2e2b5a0d760320d4",
    "four": "22fb3e084faa571f8bd06819f8434ebc247c2a5f51e8801b740e17149d20a0a1",
}
SHORT = {"nine": 200, "four": 40}

pytestmark = [
    pytest.mark.long("the champion and its training"),
    pytest.mark.process,
    pytest.mark.skipif(
        shutil.which("c++") is None or shutil.which(COMPILER[0]) is None,
        reason="no C++ compiler",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the bot, built; its manifest asks for no second build."""
    copy = tmp_path_factory.mktemp("bots") / "champion"
    shutil.copytree(CHAMPION, copy)
    manifest = copy / "bot.toml"
    for command in of_folder(manifest.parent).build:
        subprocess.run(command, cwd=copy, check=True)
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(line for line in lines if not line.startswith("build")))
    return copy


@pytest.fixture
def champion(self_play, folder):
    """`champion(settings)`: the bot as a program."""
    started = []

    def start(settings: Settings):
        started.append(self_play.Program(folder, settings))
        return started[-1]

    yield start
    for program in started:
        program.close()


def calm(view, legal: list[str]) -> list[str]:
    """Moves that don't bring a hole to its end; draws that are thrown away before others."""
    mine = view.grids[view.seat]
    if len(mine) == 8 and mine.count(None) == 1:
        legal = [
            move for move in legal if not move[-1].isdigit() or mine[int(move[-1])] is not None
        ]
    kept = [move for move in legal if move in {"draw", "skip", "discard"}]
    return kept or [move for move in legal if move != "knock"]


def ask_everywhere(bot, settings: Settings, deal: int) -> tuple[list[str], bool]:
    """The bot's answers in all seats of a match played by lot; whether a pile was reshuffled.

    Nobody knocks or turns up a last card, and most draws are thrown away: the stock runs out.
    """
    seats = settings.seats
    spec = MatchSpec(
        id=f"everywhere-{deal}",
        series="everywhere",
        pairing="everywhere",
        deal=deal,
        rotation=0,
        seats=tuple(f"bot-{seat}" for seat in range(seats)),
    )
    deals = Deals(secret_from_seed("everywhere"))
    referee = Referee(spec, game=game(settings.game), deals=deals, settings=settings)
    referee.begin()
    lot = random.Random(deal)
    answers = []
    recycled = False
    while referee.asked:
        for seat, notice in referee.take_notices():
            if not seat:
                bot.tell(notice)
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=settings.limits.match_ms)
            legal = list(question.legal)
            recycled = recycled or bool(question.view.recycled)
            if not seat:
                answers.append(bot.ask(question))
                assert answers[-1] in legal
            referee.answer(seat, lot.choice(calm(question.view, legal)))
    for seat, notice in referee.take_notices():
        if not seat:
            bot.tell(notice)
    return answers, recycled


@pytest.mark.parametrize(
    ("name", "seats"),
    [("play-nine", seats) for seats in range(2, 7)]
    + [("four-card-golf", seats) for seats in range(2, 9)],
)
def test_plays_with_any_number_of_seats(champion, self_play, bots, name, seats):
    """A match of each game ends without a fault at every number of seats."""
    settings = Settings(game=name, seats=seats, turn_cap=game(name).turn_cap)
    others = [self_play.Imported(bots / "greedy") for _ in range(seats - 1)]
    assert 1 == self_play.mirror(settings, [champion(settings), *others], 1, "seats").matches


@pytest.mark.parametrize(
    ("name", "seats"),
    [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 2), ("four-card-golf", 8)],
)
def test_answers_legally_where_it_would_never_come_to(champion, name, seats):
    """In a match by lot, through reshuffles, each of its answers is legal."""
    settings = Settings(game=name, seats=seats, turn_cap=game(name).turn_cap)
    _, recycled = ask_everywhere(champion(settings), settings, 1)
    assert recycled


@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_a_match_is_a_function_of_its_lines(champion, name):
    """Two processes give the same answers, and what was played before changes nothing."""
    settings = Settings(game=name, seats=3, turn_cap=20)
    bot = champion(settings)
    first, _ = ask_everywhere(bot, settings, 1)
    ask_everywhere(bot, settings, 2)
    again, _ = ask_everywhere(bot, settings, 1)
    assert first == again
    assert first == ask_everywhere(champion(settings), settings, 1)[0]


@pytest.mark.parametrize(("name", "share"), [("play-nine", 0.75), ("four-card-golf", 0.5)])
def test_beats_matcher(champion, self_play, bots, name, share):
    """It wins more than that share of forty matches that it has not seen."""
    settings = Settings(game=name, turn_cap=game(name).turn_cap)
    players = [champion(settings), self_play.Imported(bots / "matcher")]
    tally = self_play.play(settings, players, 20, "test of champion")
    assert tally.beaten[0] / tally.matches > share


@pytest.fixture(scope="module")
def train():
    """bench/train_champion/train.py as a module."""
    spec = importlib.util.spec_from_file_location("train_champion", TRAINERS / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["nine", "four"])
def test_the_trainers_play_by_the_rules(train, name):
    """Every hole that a trainer plays has the same legal moves and scores in arena.games."""
    lines = train.run(name, "play", 20).splitlines()
    assert len(lines) >= 20
    for line in lines:
        train.replay(name, line)
    with pytest.raises(AssertionError):
        train.replay(name, lines[0] + "0")


@pytest.mark.parametrize("name", ["nine", "four"])
def test_the_same_weights_on_every_machine(train, name):
    """A short training gives the weights that it gave when the long one was made."""
    text = train.run(name, "learn", SHORT[name])
    assert DIGESTS[name] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", ["nine", "four"])
def test_check_tells_whether_a_file_would_be_written_again(tmp_path, name):
    """--check says 1 for other weights, and writes nothing."""
    command = [sys.executable, TRAINERS / "train.py", "--only", name, "--amount", "1"]
    command += ["--output", tmp_path]

    def run(*more: str) -> int:
        return subprocess.run([*command, *more], check=False, capture_output=True).returncode

    assert (0, 0) == (run(), run("--check"))
    file = tmp_path / f"{name}_weights.h"
    file.write_text("other\n")
    assert 1 == run("--check")
    assert "other\n" == file.read_text()


@pytest.mark.parametrize("name", ["nine", "four"])
def test_the_optimiser_changes_nothing(tmp_path, train, name):
    """Compiled at -O1 and at -O3, a trainer prints the same."""
    printed = set()
    assert "-O3" in train.FLAGS
    for level in (["-O1"], []):
        program = tmp_path / "-".join([name, *level])
        source = TRAINERS / f"{name}.cpp"
        subprocess.run([*COMPILER, *train.FLAGS, *level, "-o", program, source], check=True)
        done = subprocess.run(
            [program, "learn", "10", TABLES][: 4 if name == "nine" else 3],
            check=True,
            capture_output=True,
        )
        printed.add(done.stdout)
    assert 1 == len(printed)


@pytest.mark.parametrize("arguments", [[], ["learn"], ["learn", "0", "x"], ["doze", "5", "x"]])
@pytest.mark.parametrize("name", ["nine", "four"])
def test_what_a_trainer_needs(tmp_path, train, name, arguments):
    """Without a way and a positive number, a trainer says how it is called."""
    program = tmp_path / name
    source = TRAINERS / f"{name}.cpp"
    subprocess.run([*COMPILER, *train.FLAGS, "-o", program, source], check=True)
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert 2 == done.returncode
    assert done.stderr.startswith(f"usage: {name} learn|play ")
    assert "" == done.stdout
