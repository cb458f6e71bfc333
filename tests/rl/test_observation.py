"""Views and moves as numbers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from arena.deals import Deals

OBSERVATION = Path(__file__).parents[2] / "arena" / "rl" / "observation.py"


def test_every_legal_move_of_a_game_is_an_action_and_back(rl, game, seeded):
    """Over random holes no move is missing, and every action is met."""
    rng, met = seeded(1), set()
    for deal in range(300):
        deck = Deals(bytes(32)).deck("x", deal, 1, game.pack(2))
        hole = game.start(seats=2, order=(0, 1), deck=deck, turn_cap=game.turn_cap)
        while acting := hole.to_act():
            legal = hole.legal(acting[0])
            actions = [rl.encode(game.name, move) for move in legal]
            assert [rl.decode(game.name, action) for action in actions] == list(legal)
            allowed = rl.mask(game.name, legal)
            assert [at for at, one in enumerate(allowed) if one] == sorted(actions)
            met.update(actions)
            hole.apply(acting[0], rng.choice(legal))
    assert met == set(range(len(rl.MOVES[game.name])))


def test_fields_follow_one_another_and_fill_an_observation(rl, game, sent):
    """No number without a name, for any number of seats."""
    for seats in range(game.min_seats, game.max_seats + 1):
        places = list(rl.fields(game.name, seats).values())
        assert [place.start for place in places] == [0, *(place.stop for place in places[:-1])]
        deck = Deals(bytes(32)).deck("x", 1, 1, game.pack(seats))
        hole = game.start(seats=seats, order=range(seats), deck=deck, turn_cap=game.turn_cap)
        numbers = rl.observe(sent(hole.view(0)))
        assert len(numbers) == rl.size(game.name, seats) == places[-1].stop
        assert all(type(number) is int and number >= 0 for number in numbers)


def test_an_observation_says_what_the_specifications_view_says(rl):
    """Written out once by hand for each game."""
    view = {
        "seat": 1,
        "order": [1, 2, 0],
        "phase": "drawn",
        "grids": [[3, None, None, 0, None, None, None, 12], [-5] + [None] * 7, [None] * 8],
        "discard": 7,
        "pile": [12, 7],
        "stock": 80,
        "recycled": [],
        "drawn": -5,
        "turns": [4, 5, 4],
        "ended_by": 0,
    }
    numbers = rl.observe(view)
    names = rl.fields("play-nine", 3)
    assert {name: numbers[at] for name, at in names.items()} == {
        "phase": [2],
        "discard": [9],
        "drawn": [1],
        "stock": [80],
        "place": [0],
        "ended": [2],
        "turns": [5, 4, 4],
        "grids": [1, *[0] * 7, *[0] * 8, 5, 0, 0, 2, 0, 0, 0, 14],
        "pile": [0, *[0] * 7, 1, *[0] * 4, 1],
        "recycled": [0] * 14,
    }
    view |= {
        "grids": [[1, None, None, None], [None, 13, 2, None], []],
        "known": ["aonn", "nrao", ""],
        "order": [0, 1],
        "recycled": [1, 1, 13],
        "drawn": None,
        "ended_by": None,
        "phase": "turn",
    }
    numbers = rl.observe(view)
    names = rl.fields("four-card-golf", 3)
    assert {name: numbers[at] for name, at in names.items()} == {
        "phase": [1],
        "discard": [7],
        "drawn": [0],
        "stock": [80],
        "place": [1],
        "ended": [0],
        "turns": [5, 4, 4],
        "grids": [0, 13, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        "known": [0, 2, 3, 1, 0, 0, 0, 0, 3, 1, 0, 0],
        "pile": [*[0] * 6, 1, *[0] * 4, 1, 0],
        "recycled": [2, *[0] * 11, 1],
    }


def test_the_file_is_complete_by_itself():
    """It can lie beside a bot: the standard library is all that it imports."""
    tree = ast.parse(OBSERVATION.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        it.name for node in ast.walk(tree) if isinstance(node, ast.Import) for it in node.names
    }
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.mark.process
@pytest.mark.parametrize("missing", ["numpy", "gymnasium", "pettingzoo"])
def test_without_the_extra_the_import_says_what_to_install(missing):
    """One line that can be copied."""
    program = (
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        f"u.find_spec = lambda name, *a: None if name == {missing!r} else find(name, *a)\n"
        "import arena.rl\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("pip install 'nine-arena[rl]'")
