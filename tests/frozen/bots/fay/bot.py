"""A bot of the frozen events: SKILL per cent of its moves are considered, the others drawn by lot.

run: bot.py SKILL [FAULT QUESTION EVERY]. It follows from the match's seed alone. With a fault it
fails at that question of each match whose seed EVERY divides.
"""

import json
import os
import random
import signal
import sys
import time

MEAN_NINE = 604 / 108
MEAN_FOUR = 300 / 52
POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)


def nine(view):
    """Play-nine: the worst card goes, a matching column stays."""
    grid = view["grids"][view["seat"]]
    if view["phase"] == "tee":
        return "tee 0 5"
    values = []
    for position, card in enumerate(grid):
        other = grid[position ^ 4]
        matched = card is not None and card == other
        values.append(-9 if matched else MEAN_NINE if card is None else card)
    card = view["discard"] if view["phase"] == "turn" else view["drawn"]
    place = values.index(max(values))
    for position, other in enumerate(grid):
        if other == card and grid[position ^ 4] != card:
            place = position ^ 4
    gain = values[place] - (-9 if grid[place ^ 4] == card else card)
    if view["phase"] == "turn":
        return f"take {place}" if gain > 3 else "draw"
    if gain > 0:
        return f"swap {place}"
    return f"flip {grid.index(None)}"


def four(view):
    """Four-card golf: the worst card goes, at seven points it knocks."""
    grid = view["grids"][view["seat"]]
    values = [MEAN_FOUR if card is None else POINTS[card] for card in grid]
    worst = values.index(max(values))
    if view["phase"] == "turn":
        if view["ended_by"] is None and None not in grid and sum(values) <= 7:
            return "knock"
        return f"take {worst}" if values[worst] - POINTS[view["discard"]] > 2 else "draw"
    return f"swap {worst}" if values[worst] > POINTS[view["drawn"]] else "discard"


def fail(how, turn, legal):
    """Fail at a question, as told."""
    sys.stderr.write(f"about to {how}\n")
    sys.stderr.flush()
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "raise":
        raise RuntimeError("my own mistake")
    elif how == "exit":
        sys.exit(0)
    elif how == "hang":
        time.sleep(3600)
    line = {
        "illegal": json.dumps({"turn": turn, "move": "fly 3"}),
        "stale": json.dumps({"turn": "0-zzzz", "move": legal[0]}),
        "malformed": "take this!",
        "flood": "x" * 70_000,
    }[how]
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    """Read lines until `bye` or the end of input."""
    skill = int(sys.argv[1])
    how, at, every = sys.argv[2:5] or ("", "0", "1")
    at, every = int(at), int(every)
    draw, asked, failing = random.Random(0), 0, False
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "act":
            asked += 1
            if failing and asked == at:
                fail(how, message["turn"], message["legal"])
                continue
            view, legal = message["view"], message["legal"]
            move = four(view) if "known" in view else nine(view)
            if draw.randrange(100) >= skill or move not in legal:
                move = draw.choice(legal)
            sys.stdout.write(f'{{"turn":"{message["turn"]}","move":"{move}"}}\n')
            sys.stdout.flush()
        elif kind == "match":
            draw, asked = random.Random(message["seed"]), 0
            failing = bool(how) and message["seed"] % every == 0
        elif kind == "hello":
            if how == "no-start":
                sys.stderr.write("cannot find my brain\n")
                sys.exit(3)
            sys.stdout.write('{"type":"ready"}\n')
            sys.stdout.flush()
        elif kind == "bye":
            return


if __name__ == "__main__":
    main()
