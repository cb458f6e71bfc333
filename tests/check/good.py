# ruff: noqa: T201, SIM114 - it is a bot, and each branch is spoilt by itself
"""A bot without a mistake: the tests spoil one thing at a time."""

import json
import random
import sys

draw = random.Random(0)
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        ready = {"type": "ready"}
        print(json.dumps(ready), flush=True)
    elif kind == "match":
        draw.seed(message["seed"])
    elif kind == "act":
        turn, legal = message["turn"], message["legal"]
        answer = {"turn": turn, "move": draw.choice(legal)}
        print(json.dumps(answer), flush=True)
    elif kind == "hole_end":
        pass
    elif kind == "match_end":
        pass
    elif kind == "bye":
        break
