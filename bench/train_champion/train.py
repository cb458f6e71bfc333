"""Makes the networks of the example bot champion again: compiles the trainers, runs them.

    python bench/train_champion/train.py             # nine_weights.h and four_weights.h
    python bench/train_champion/train.py --check     # compares instead of writing
    python bench/train_champion/train.py --rules 500 # plays the trainers' holes in arena.games

The same bytes every time and on every machine: see the README beside this file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.registry import game

HERE = Path(__file__).parent
BOTS = HERE.parents[1] / "example_bots"
CHAMPION = BOTS / "champion"
FLAGS = ["-std=c++17", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", f"-I{CHAMPION}"]
AMOUNTS = {"nine": 200_000, "four": 25_000}
"""Holes of play-nine, matches of four-card-golf: what is in the repository was made with them."""
TABLES = {"nine": [str(BOTS / "strong" / "tables.json")], "four": []}
GAMES = {"nine": ("play-nine", 40), "four": ("four-card-golf", 20)}
"""With the turn cap of the trainers."""


@dataclass
class Dealt:
    """The cards of a hole; the trainers never come to a reshuffle."""

    cards: Sequence[int]

    def reshuffle(self, number: int, cards: Sequence[int]) -> Sequence[int]:
        """It would be an error of the trainer."""
        raise AssertionError(f"reshuffle {number} of {len(cards)} cards")


def run(name: str, way: str, amount: int) -> str:
    """What a trainer prints."""
    compiler = os.environ.get("CXX", "c++").split()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/{name}"
        subprocess.run([*compiler, *FLAGS, "-o", program, HERE / f"{name}.cpp"], check=True)
        return subprocess.run(
            [program, way, str(amount), *TABLES[name]], check=True, capture_output=True, text=True
        ).stdout


def replay(name: str, line: str) -> None:
    """Play a trainer's hole in arena.games; AssertionError where the rules differ."""
    cards, moves, scores = line.split("|")
    rules, turn_cap = GAMES[name]
    deck = Dealt(tuple(map(int, cards.split())))
    hole = game(rules).start(seats=2, order=(0, 1), deck=deck, turn_cap=turn_cap)
    for move in moves.strip(";").split(";"):
        seat = hole.to_act()[0]
        assert move in hole.legal(seat), f"{move} is not legal: {line}"
        hole.apply(seat, move)
    assert hole.to_act() == (), f"the hole is not over: {line}"
    assert hole.scores() == tuple(map(int, scores.split())), f"{hole.scores()}: {line}"


def main() -> int:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--only", choices=["nine", "four"], help="one of the two networks")
    parser.add_argument("--amount", type=int, help="holes of nine, matches of four")
    parser.add_argument("--output", type=Path, default=CHAMPION, help="folder")
    parser.add_argument("--check", action="store_true", help="compare: 1 if it differs")
    parser.add_argument("--rules", type=int, metavar="N", help="check N holes or matches, no more")
    asked = parser.parse_args()
    differs = False
    for name in [asked.only] if asked.only else ["nine", "four"]:
        if asked.rules:
            lines = run(name, "play", asked.rules).splitlines()
            for line in lines:
                replay(name, line)
            sys.stdout.write(f"{name}: {len(lines)} holes as in arena.games\n")
            continue
        text = run(name, "learn", asked.amount or AMOUNTS[name])
        file = asked.output / f"{name}_weights.h"
        if asked.check:
            same = file.read_text(encoding="ascii") == text
            sys.stdout.write(f"{file}: {'the same' if same else 'differs'}\n")
            differs |= not same
        else:
            file.write_text(text, encoding="ascii")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
