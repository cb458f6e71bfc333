"""The pure rings: the games as a library, instructions by callgrind."""

from __future__ import annotations

import functools
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from arena import registry
from arena.deals import Deals
from arena.games import Game
from arena.registry import GAMES
from measures import RATE, Measure, Row, SkippedError
from measures.conversation import SECRET, Conversation, series_of, settings_of
from measures.stage import Stage, staying_on

HOLES = 9
SEATS = 2

# ------------------------------------------------------------------------------- the library


def random_match(game: Game, deals: Deals, number: int, *, views: bool) -> int:
    """Nine holes by random legal moves, through the games' public interface; the moves made."""
    rng = random.Random(number)
    pack = game.pack(SEATS)
    moves = 0
    for hole_number in range(1, HOLES + 1):
        dealer = (hole_number - 2) % SEATS
        order = [(dealer + 1 + seat) % SEATS for seat in range(SEATS)]
        deck = deals.deck("library", number, hole_number, pack)
        hole = game.start(seats=SEATS, order=order, deck=deck, turn_cap=game.turn_cap)
        while acting := hole.to_act():
            for seat in acting:
                if views:
                    hole.view(seat)
                hole.apply(seat, rng.choice(hole.legal(seat)))
                moves += 1
        hole.scores()
    return moves


def library(stage: Stage, *, game: str, matches: int) -> Mapping[str, float]:
    """Random matches a second on one core."""
    rules, deals = registry.game(game), Deals(SECRET)
    found = {}
    with staying_on({stage.core}):
        for part, views in (("plain", False), ("views", True)):
            begun = time.process_time()
            for number in range(matches):
                random_match(rules, deals, number, views=views)
            found[f"library.{game}.{part}"] = matches / (time.process_time() - begun)
    return found


# ------------------------------------------------------------------------------ instructions

FEW, MANY = 8, 24
"""Matches of the two runs whose difference is counted: start and imports are in both."""


def instructions(stage: Stage) -> Mapping[str, float]:
    """Instructions a decision of referee, game and wire, by callgrind."""
    if shutil.which("valgrind") is None:
        raise SkippedError("valgrind is not installed")
    found = {}
    for game in GAMES:
        few, many = (_counted(stage, game, matches) for matches in (FEW, MANY))
        found[f"instructions.{game}"] = (many[0] - few[0]) / (many[1] - few[1])
    return found


def _counted(stage: Stage, game: str, matches: int) -> tuple[int, int]:
    """(instructions, decisions) of a run."""
    out = stage.folder / "callgrind.out"
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={out}",
            *(sys.executable, "-P", "-B", __file__, game, str(matches)),
        ],
        # Fixed to the last byte: the layout of memory, and so dictionaries of objects, follow.
        env={"PYTHONHASHSEED": "0", "PYTHONPATH": str(Path(__file__).parents[1]), "LANG": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    assert collected is not None, done.stderr
    return int(collected[1]), int(done.stdout)


def play_counted(game: str, matches: int) -> int:
    """What runs below callgrind; the decisions that were made."""
    questions = 0

    def said(_seat: int, line: bytes) -> None:
        nonlocal questions
        questions += line.startswith(b'{"type":"act"')

    conversation = Conversation(settings_of(game), said)
    for spec in series_of(("a", "b"), matches).matches:
        conversation.play(spec)
    return questions


# ------------------------------------------------------------------------------- measures


def _library(game: str, matches: int) -> Measure:
    key = f"library.{game}"
    return Measure(
        name=key,
        about=f"the games as a library: random {game} on one core",
        run=functools.partial(library, game=game, matches=matches),
        rows=(
            Row(key=f"{key}.plain", text="matches", unit=RATE, goal=300),
            Row(key=f"{key}.views", text="matches, a view for each decision", unit=RATE),
        ),
    )


MATCHES = {"play-nine": 40, "four-card-golf": 150}
"""For about the same time each."""

MEASURES = (
    *(_library(game, MATCHES.get(game, 100)) for game in GAMES),
    Measure(
        name="instructions",
        about="the pure rings by callgrind, a decision",
        run=instructions,
        rows=tuple(
            Row(key=f"instructions.{game}", text=game, unit="instructions") for game in GAMES
        ),
        most=1,
        warm=False,
    ),
)

if __name__ == "__main__":
    os.write(1, b"%d\n" % play_counted(sys.argv[1], int(sys.argv[2])))
