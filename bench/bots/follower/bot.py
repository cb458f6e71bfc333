"""follower: draws and swaps, read by the standard library's JSON; asks for less if told so.

    bot.py [four-card-golf] [lean]

With and without `lean` it plays the same moves, so that only the questions differ.
"""

import json
import sys

lean = "lean" in sys.argv
positions = 30 if "four-card-golf" in sys.argv else 29  # 4 or 8 of them, in the highest bits
state = 1
for line in sys.stdin.buffer:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        answer = '{"type":"ready","lean":true}' if lean else '{"type":"ready"}'
    elif kind in ("act", "next"):
        view = message.get("view", {"phase": "turn", "drawn": message.get("drawn")})
        if view["phase"] == "tee":
            move = "tee 0 1"
        elif view["drawn"] is None:
            move = "draw"
        else:
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            move = f"swap {state >> positions}"
        answer = f'{{"turn":"{message["turn"]}","move":"{move}"}}'
    else:
        if kind == "match":
            state = message["seed"]
        continue
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()
