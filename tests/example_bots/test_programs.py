"""Every bot as a program: what the protocol asks of it, and of its folder."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.bots.manifest import of_folder
from arena.model import Settings
from arena.referee import hello
from arena.wire.session import encode

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "example_bots").glob("*/bot.toml"))
NAMES = [folder.name for folder in FOLDERS]
TRANSCRIPTS = sorted((ROOT / "protocol" / "transcripts").glob("*.good.txt"))
# Fields and shapes that a later version may add, placed where a careless scanner trips.
NEWS = {"news": {"type": "bye", "legal": ["no"], "turn": 'a "quote" ] }', "grids": [[7]]}}

pytestmark = pytest.mark.process


def start(folder: Path) -> list[str]:
    """The bot's command, its tools checked."""
    run = list(of_folder(folder).run or ())
    if "/" not in run[0] and shutil.which(run[0]) is None:
        pytest.skip(f"{run[0]} is not installed")
    return run


@pytest.fixture(scope="module")
def built(self_play):
    """`built(name)`: a folder of a bot in which its build has run, once."""

    def build(name: str) -> Path:
        folder = ROOT / "example_bots" / name
        for command in of_folder(folder).build:
            if shutil.which(command[0]) is None:
                pytest.skip(f"{command[0]} is not installed")
        return self_play.built(folder)

    return build


def talk(folder: Path, lines: list[bytes]) -> list[dict[str, str]]:
    """All answers to these lines, which end the input; the bot must leave with status 0."""
    done = subprocess.run(
        start(folder),
        check=False,
        cwd=folder,
        input=b"".join(lines),
        capture_output=True,
        timeout=60,
    )
    assert b"" == done.stderr
    assert 0 == done.returncode
    return [json.loads(line) for line in done.stdout.splitlines()]


def line(message: dict[str, object]) -> bytes:
    """A message as the referee writes it."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


MATCH = {"type": "match", "match": "6f1c", "seat": 0, "seats": 2, "seed": 1804289383}
ENDS = [
    line({"type": "hole_end", "hole": 1, "scores": [7, 31], "totals": [7, 31], "grids": [[], []]}),
    line({"type": "surprise", "act": ["act"]}),
    line({"type": "match_end", "totals": [88, 140], "places": [1, 2]}),
]
BYE = line({"type": "bye"})


def act(turn: str, view: dict[str, object], legal: list[str], **more: object) -> bytes:
    """A question."""
    return line(
        {"type": "act", "turn": turn, "hole": 1, "move_ms": 1000, "bank_ms": 60000}
        | {"totals": [0, 0], "view": view, "events": [], "legal": legal}
        | more
    )


def nine_questions(make, **more: object) -> list[tuple[bytes, str, list[str]]]:
    """(line, turn, legal) of each phase of play-nine."""
    down = [None] * 8
    tees = [f"tee {a} {b}" for a in range(8) for b in range(a + 1, 8)]
    takes = [f"take {at}" for at in range(8)]
    swaps = [f"swap {at}" for at in range(8)]
    flips = [f"flip {at}" for at in range(2, 8)]
    up = (8, -5, None, None, None, None, None, None)
    last = (8, -5, 3, 4, 8, 5, 6, None)
    asked = [
        ("1-k3x9", make(down) | {"phase": "tee"}, tees),
        ("2-p07d", make(up, discard=2), [*takes, "draw"]),
        ("3-a9wq", make(up, drawn=11), [*swaps, *flips]),
        ("4-b2b2", make(last, drawn=11), [*swaps, "flip 7", "skip"]),
        ("5-c0c0", make(last, drawn=11, ended_by=1), [*swaps, "flip 7", "skip"]),
        ("6-zzzz", make(up) | {"recycled": [1, 2, 3], "stock": 3}, [*takes, "draw"]),
    ]
    return [(act(turn, view | more, legal, **more), turn, legal) for turn, view, legal in asked]


def four_questions(make, **more: object) -> list[tuple[bytes, str, list[str]]]:
    """(line, turn, legal) of each phase of four-card-golf."""
    takes = [f"take {at}" for at in range(4)]
    swaps = [f"swap {at}" for at in range(4)]
    asked = [
        ("1-k3x9", make((None, None, 1, 13)), [*takes, "draw", "knock"]),
        ("2-p07d", make((None, None, 1, 13), drawn=5), [*swaps, "discard"]),
        ("3-a9wq", make((1, 1, 1, 13), discard=13), [*takes, "draw", "knock"]),
        ("4-b2b2", make((1, 1, 1, 13), ended_by=1), [*takes, "draw"]),
    ]
    return [(act(turn, view | more, legal, **more), turn, legal) for turn, view, legal in asked]


def exchanges():
    """Each bot in one game as today, in the other with what a later version may add."""
    for name in NAMES:
        plain, other = ("play-nine", "four-card-golf")[:: -1 if name == "champion" else 1]
        yield pytest.param(name, plain, {}, id=f"{name}-{plain}-plain")
        yield pytest.param(name, other, NEWS, id=f"{name}-{other}-with unknown fields")


@pytest.mark.parametrize(("name", "game", "more"), list(exchanges()))
@pytest.mark.long(
    "every example bot",
    quick=[f"{name}-play-nine-plain" for name in NAMES if name != "champion"],
)
def test_answers_a_short_exchange(built, nine_view, four_view, *, name, game, more):
    """A bot answers hello and each question of both games legally, and leaves on bye."""
    questions = (
        nine_questions(nine_view, **more)
        if game == "play-nine"
        else four_questions(four_view, **more)
    )
    greeting = encode(hello(Settings(game=game)))
    conversation = [greeting, line(MATCH), *(asked for asked, _, _ in questions), *ENDS, BYE]
    ready, *answers = talk(built(name), conversation)
    assert {"type": "ready"} == ready
    assert [turn for _, turn, _ in questions] == [answer["turn"] for answer in answers]
    for (_, _, legal), answer in zip(questions, answers, strict=True):
        assert answer["move"] in legal


@pytest.mark.parametrize("game", ["play-nine", "four-card-golf"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.long(
    "every example bot",
    quick=(
        "greedy-four-card-golf",
        "column-js-play-nine",
    ),
)
def test_plays_on_where_a_seat_takes_no_part(built, nine_view, four_view, name, game):
    """On a playoff hole a bot passes over the empty grid of a seat that is out of it."""
    lines, legal = [], []
    if game == "play-nine":
        questions = nine_questions(nine_view)
        nobody = {"order": [2, 0], "turns": [1, 0, 1]}
    else:
        questions = four_questions(four_view)
        nobody = {"order": [2, 0], "turns": [1, 0, 1], "known": ["nnoo", "", "nnoo"]}
    for asked, _, moves in questions:
        message = json.loads(asked)
        view = message["view"] | nobody
        mine, other = view["grids"]
        if view["ended_by"] is not None:
            view["ended_by"] = 2
        lines.append(line(message | {"view": view | {"grids": [mine, [], other]}}))
        legal.append(moves)
    greeting = encode(hello(Settings(game=game, seats=3)))
    _, *answers = talk(built(name), [greeting, line(MATCH | {"seats": 3}), *lines, BYE])
    assert len(legal) == len(answers)
    for moves, answer in zip(legal, answers, strict=True):
        assert answer["move"] in moves


@pytest.mark.parametrize("name", NAMES)
def test_leaves_at_the_end_of_input(built, name):
    """Without bye, a bot leaves with status 0 when its input ends."""
    assert [{"type": "ready"}] == talk(built(name), [encode(hello(Settings(game="play-nine")))])


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_repeatable(built, nine_view, name):
    """The same lines get the same answers, and a bot that draws lots draws by the seed."""
    lines = [line(MATCH), *(asked for asked, _, _ in nine_questions(nine_view)), BYE]
    lines.insert(0, encode(hello(Settings(game="play-nine"))))
    assert talk(built(name), lines) == talk(built(name), lines)


def test_random_depends_on_the_seed(built, nine_view):
    """Two seeds give two games."""
    asked = [asked for asked, _, _ in nine_questions(nine_view)] * 5

    def moves(seed: int) -> list[str]:
        answers = talk(built("random"), [line(MATCH | {"seed": seed}), *asked, BYE])
        return [answer["move"] for answer in answers]

    assert moves(1) != moves(2)


def transcript(path: Path) -> list[dict[str, Any]]:
    """What the referee says in a golden transcript."""
    said = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(it[2:]) for it in said if it.startswith("> ")]


def whole_matches():
    """Each bot hears a transcript of each game, one with either end of lines."""
    for number, name in enumerate(NAMES):
        for path in TRANSCRIPTS[number % 2 :: 2]:
            windows = (number // 2 + path.name.startswith("four")) % 2
            kind = f"{name}-{path.stem}-{'CRLF' if windows else 'LF'}"
            yield pytest.param(name, path, b"\r\n" if windows else b"\n", id=kind)


@pytest.mark.parametrize(("name", "path", "end"), list(whole_matches()))
@pytest.mark.long(
    "every example bot",
    quick=("strong-play-nine.2.good-CRLF", "matcher-four-card-golf.2.good-LF"),
)
def test_answers_a_whole_match_legally_and_twice_the_same(built, name, path, end):
    """Each question of a golden transcript gets a legal answer, the same in a second run."""
    messages = transcript(path)
    lines = [line(message).rstrip() + end for message in messages]
    ready, *answers = talk(built(name), lines)
    assert {"type": "ready"} == ready
    asked = [message for message in messages if message["type"] == "act"]
    assert [message["turn"] for message in asked] == [answer["turn"] for answer in answers]
    for message, answer in zip(asked, answers, strict=True):
        assert answer["move"] in message["legal"]
    assert [ready, *answers] == talk(built(name), lines)


def tables():
    """Each bot at one table of each game; each table has several bots."""
    for number, name in enumerate(NAMES):
        for game, most in (("play-nine", 6), ("four-card-golf", 8)):
            yield name, game, (2, 3, most)[(number + (game == "play-nine")) % 3]


@pytest.mark.parametrize(("name", "game", "seats"), list(tables()))
@pytest.mark.long("every example bot", quick=("greedy-play-nine-2",))
def test_plays_a_whole_match(built, self_play, name, game, seats):
    """A bot plays a match of each game to its end without a fault."""
    start(built(name))
    settings = Settings(game=game, seats=seats, turn_cap=30)
    partners = [self_play.Imported(ROOT / "example_bots" / "greedy") for _ in range(seats - 1)]
    bot = self_play.Program(ROOT / "example_bots" / name, settings)
    try:
        tally = self_play.mirror(settings, [bot, *partners], 1, "whole")
    finally:
        bot.close()
    assert 1 == tally.matches


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_manifest(folder):
    """A manifest is valid, names its folder, and what needs a toolchain is optional."""
    manifest = of_folder(folder)
    assert folder.name == manifest.name
    assert manifest.run is not None
    tools = {manifest.run[0], *(command[0] for command in manifest.build)}
    assert manifest.optional == (not tools <= {"python3", "bash"})


@pytest.mark.parametrize(
    "source", sorted(ROOT.glob("example_bots/*/*.py")), ids=lambda path: path.parent.name
)
def test_imports_little(source):
    """A Python bot needs nothing but json and sys: not the arena, and a short start."""
    imported = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert {"json", "sys"} == imported


def test_the_readme_lists_every_bot(bots):
    """The folder's README has a row for each bot."""
    readme = (bots / "README.md").read_text()
    assert [] == [name for name in NAMES if f"[`{name}`]({name}/)" not in readme]
