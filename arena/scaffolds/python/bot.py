"""A bot that plays play-nine and four-card-golf. Your strategy goes into choose()."""

import json
import random
import sys
from typing import Any

Grid = list[int | None]  # None is a card that you don't know

UNKNOWN = 6  # what such a card counts: about the mean of the pack, in both games
POINTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0]  # four-card-golf: by rank, 1 to 13


def choose(game: str, view: dict[str, Any], legal: list[str], rng: random.Random) -> str:
    """Your strategy goes here: return one of the moves in `legal`.

    view["seat"]      your seat, from 0
    view["grids"]     everybody's cards by seat; None: you don't know it
    view["phase"]     "tee", "turn" or "drawn"
    view["discard"]   the top of the discard pile
    view["drawn"]     the card in your hand in phase "drawn", else None
    view["pile"]      the whole discard pile, the top last
    view["stock"]     how many cards the stock has
    view["recycled"]  [], or the cards in the stock since the pile was reshuffled into it
    view["order"]     seats in the order of play, the dealer last
    view["turns"]     turns that each seat has begun on this hole
    view["ended_by"]  the seat that ended the hole (this is your last turn), or None
    view["known"]     four-card-golf: by seat, who knows each card: n, o, r or a
    """
    if game not in ("play-nine", "four-card-golf"):
        return rng.choice(legal)  # another game: its scores are for you to write
    if view["phase"] == "tee":
        return rng.choice(legal)  # all cards are face down: any two are as good

    grid = view["grids"][view["seat"]]
    card = view["discard"] if view["phase"] == "turn" else view["drawn"]
    saving, position = best_place(game, grid, card)

    if view["phase"] == "turn":
        if "knock" in legal and score(game, grid) <= 8:
            return "knock"
        return f"take {position}" if saving > 3 else "draw"
    if saving > 0:
        return f"swap {position}"
    return rng.choice([move for move in legal if move.startswith(("flip", "discard"))])


def best_place(game: str, grid: Grid, card: int) -> tuple[int, int]:
    """How many strokes `card` saves in its best place, and that place."""
    now = score(game, grid)
    savings = [now - score(game, [*grid[:i], card, *grid[i + 1 :]]) for i in range(len(grid))]
    best = max(savings)
    return best, savings.index(best)


def score(game: str, grid: Grid) -> int:
    """Strokes of a grid, as far as it is known."""
    if game == "four-card-golf":
        return sum(UNKNOWN if card is None else POINTS[card] for card in grid)
    strokes = 0
    for top, bottom in zip(grid[:4], grid[4:], strict=True):
        if top is not None and top == bottom:
            strokes += -10 if top == -5 else 0  # more columns of one number: more is saved
        else:
            strokes += UNKNOWN if top is None else top
            strokes += UNKNOWN if bottom is None else bottom
    return strokes


def say(answer: dict[str, str]) -> None:
    """Write one line, at once. Nothing else may go to stdout: log to sys.stderr."""
    print(json.dumps(answer), flush=True)


def main() -> None:
    """Answer `hello` and `act`; leave at `bye` or when the input ends."""
    game = ""
    rng = random.Random()
    for line in sys.stdin.buffer:  # bytes, so that only a newline ends a line
        message = json.loads(line)
        match message["type"]:
            case "hello":
                game = message["game"]
                say({"type": "ready"})
            case "match":
                rng.seed(message["seed"])  # the same match, the same moves
            case "act":
                # Also there: hole, totals, events, move_ms, bank_ms.
                move = choose(game, message["view"], message["legal"], rng)
                say({"turn": message["turn"], "move": move})
            case "bye":
                return


if __name__ == "__main__":
    main()
