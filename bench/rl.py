"""How fast is training in this process? `arena.games`, the AEC environment, and batches of holes.

    python bench/rl.py                 the table
    python bench/rl.py --publish       and into docs/training.md

Everybody plays uniformly random legal moves on one core, choosing them included. What is compared
was measured in the same round, one after another, and the ratios are medians over the rounds. CPU
time is counted, so that others on the machine do little harm. A decision "seen" is one for which
the observation and the mask of legal actions were made as numpy arrays.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from arena import registry
from arena.deals import Deals
from arena.games import Game
from arena.rl import MOVES, mask, observe, raw_env, vector_env

LIBRARY = Path(__file__).parents[1] / "docs" / "training.md"
MARKS = ("<!-- figures -->\n", "<!-- end of the figures -->\n")
CASES: tuple[tuple[Game, int], ...] = tuple(
    (game, seats)
    for game in map(registry.game, MOVES)
    for seats in (game.min_seats, game.max_seats)
)
BATCHES = (1, 16, 64, 256, 1024, 4096, 16384)
SECONDS = 0.25
"""CPU time of one part of one round."""


def library(game: Game, seats: int, *, seen: bool) -> Iterator[int]:
    """Plays holes; yields the decisions of each."""
    deals, rng, pack = Deals(bytes(32)), random.Random(1), game.pack(seats)
    order = tuple(range(seats))
    for deal in itertools.count():
        deck = deals.deck("bench", deal, 1, pack)
        hole = game.start(seats=seats, order=order, deck=deck, turn_cap=game.turn_cap)
        decisions = 0
        while acting := hole.to_act():
            for seat in acting:
                legal = hole.legal(seat)
                if seen:
                    np.array(observe(msgspec.structs.asdict(hole.view(seat))), np.int16)
                    np.array(mask(game.name, legal), np.int8)
                hole.apply(seat, rng.choice(legal))
                decisions += 1
        hole.scores()
        yield decisions


def environment(game: Game, seats: int) -> Iterator[int]:
    """Plays holes in the AEC environment, which always makes observations."""
    env, rng = raw_env(game.name, seats=seats, holes=1), random.Random(1)
    env.reset(seed=1)
    while True:
        decisions = 0
        while not env.terminations[env.agent_selection]:
            observation, *_ = env.last()
            env.step(rng.choice(observation["action_mask"].nonzero()[0]))
            decisions += 1
        yield decisions
        env.reset()


def batch(game: Game, seats: int, size: int, *, seen: bool) -> Iterator[int]:
    """Plays a batch; yields the decisions of some steps at a time."""
    env, rng = vector_env(game.name, size, seats=seats, seed=1), np.random.default_rng(1)
    for _ in range(60):  # until the rows are no longer in step
        env.step(env.random_actions(rng))
    while True:
        for _ in range(10):
            if seen:
                env.observe()
                env.legal()
            env.step(env.random_actions(rng))
        yield 10 * size


def rate(plays: Iterator[int]) -> float:
    """Decisions a second of CPU time."""
    next(plays)
    decisions, begun = 0, time.process_time()
    while (used := time.process_time() - begun) < SECONDS:
        decisions += next(plays)
    return decisions / used


def round_of(game: Game, seats: int) -> dict[tuple[str, bool], float]:
    """Every part once: by what it is, and whether it is seen."""
    found = {("environment", True): rate(environment(game, seats))}
    for seen in (False, True):
        found["library", seen] = rate(library(game, seats, seen=seen))
        for size in BATCHES:
            found[f"batch {size:,}", seen] = rate(batch(game, seats, size, seen=seen))
    return found


def lines(rounds: Mapping[str, list[dict[tuple[str, bool], float]]]) -> list[str]:
    """The table, in Markdown."""
    parts = ["library", "environment", *(f"batch {size:,}" for size in BATCHES)]
    table = [
        "| thousand decisions a second | " + " | ".join(rounds) + " |",
        "|---|" + "---:|" * len(rounds),
    ]
    for seen in (False, True):
        for part in parts:
            if ("library", seen) == (part, seen) or (part, seen) in next(iter(rounds.values()))[0]:
                cells = []
                for each in rounds.values():
                    median = statistics.median(it[part, seen] for it in each) / 1000
                    ratio = statistics.median(it[part, seen] / it["library", seen] for it in each)
                    times = "" if part == "library" else f" ({ratio:.2g}x)"
                    cells.append(f"{median:,.0f}{times}")
                what = f"{part}, seen" if seen else part
                table.append(f"| {what} | " + " | ".join(cells) + " |")
    return table


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--publish", action="store_true")
    asked = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rounds: dict[str, list[dict[tuple[str, bool], float]]] = {
        f"{game.name}, {seats}": [] for game, seats in CASES
    }
    for _ in range(asked.rounds):
        for game, seats in CASES:
            rounds[f"{game.name}, {seats}"].append(round_of(game, seats))
    shown = "\n".join(lines(rounds)) + "\n"
    print(shown)
    if asked.publish:
        begin, end = map(re.escape, MARKS)
        text = LIBRARY.read_text(encoding="utf-8")
        text = re.sub(f"({begin}).*({end})", rf"\1{shown}\2", text, flags=re.DOTALL)
        LIBRARY.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
