"""lean: the least that a Python bot can do for a legal move; no JSON is read.

Moves are drawn from `legal` by a generator that is seeded with the match's `seed`. With the word
`stamp` the time of the first question goes to standard error.
"""

import os
import sys
import time

state = 1
stamping = sys.argv[1:] == ["stamp"]


def choose(line):
    """The answer to an `act`."""
    global state  # noqa: PLW0603 - the least there is
    turn = line[22 : line.index(b'"', 22)]  # {"type":"act","turn":"…
    legal = line[line.rindex(b"[") + 2 : line.rindex(b"]") - 1].split(b'","')
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    return b'{"turn":"%b","move":"%b"}\n' % (turn, legal[(state >> 8) % len(legal)])


held = b""
while data := os.read(0, 65536):
    *lines, held = (held + data).split(b"\n")
    for line in lines:
        if line.startswith(b'{"type":"act"'):
            if stamping:
                os.write(2, b"%d\n" % time.monotonic_ns())
                stamping = False
            os.write(1, choose(line))
        elif line.startswith(b'{"type":"match"'):
            state = int(line[line.index(b'"seed":') + 7 : -1])
        elif line.startswith(b'{"type":"hello"'):
            os.write(1, b'{"type":"ready"}\n')
