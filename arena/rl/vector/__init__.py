"""Many holes, or matches, at once as numpy arrays: the rules of `arena.games` in columns.

This is a second implementation of the rules, made for speed. What keeps it equal to the first is a
test (tests/rl/test_vector.py) that plays the same decks and moves in both and compares all that a
seat can see, and all that it can't, after every move.
"""

from __future__ import annotations

import importlib

from arena.deals import Deals
from arena.rl.aec import HOLES, Reward, chosen_game
from arena.rl.vector.decks import DealtDecks, Decks, RandomDecks
from arena.rl.vector.table import BatchStep, VectorEnv


def vector_env(
    game: str,
    batch: int,
    *,
    seats: int = 2,
    holes: int = 1,
    reward: Reward = "strokes",
    turn_cap: int | None = None,
    seed: int | None = None,
    deals: Deals | None = None,
) -> VectorEnv:
    """A batch of holes (`holes=1`) or matches (`holes=9`) of a game, dealt and ready.

    Decks are numpy's from `seed`; or, at some 11 µs a deck, those of `deals`.
    """
    rules = chosen_game(game, seats, holes, reward, turn_cap)
    if not rules.about.vector:
        raise ValueError(f"{game} has no batches; use arena.rl.env")
    if batch < 1:
        raise ValueError(f"batch is {batch}: it must be 1 or more")
    if seed is not None and deals is not None:
        raise ValueError("give a seed or deals, not both: deals have a secret of their own")
    pack = rules.pack(seats)
    decks: Decks = RandomDecks(pack, seed) if deals is None else DealtDecks(pack, deals)
    module, _, name = rules.about.vector.partition(":")
    columns: type[VectorEnv] = getattr(importlib.import_module(module), name)
    return columns(
        batch=batch,
        seats=seats,
        holes=holes,
        zero_sum=reward == "margin",
        turn_cap=turn_cap or rules.turn_cap,
        decks=decks,
    )


__all__ = ["HOLES", "BatchStep", "VectorEnv", "vector_env"]
