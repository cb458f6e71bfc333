"""Take memory until refused or until so many MB are held: memory.py WAY MB."""

import mmap
import os
import signal
import sys

STEP = 8 << 20
way, goal = sys.argv[1], int(sys.argv[2]) << 20
signal.alarm(20)
print("up", flush=True)
kept = []
held = 0
try:
    while held < goal:
        if way == "bytes":
            kept.append(bytearray(os.urandom(1 << 20) * 8))
        elif way == "objects":
            kept.append([object() for _ in range(STEP // 24)])
        elif way == "doubling":
            kept = [bytearray(max(2 * held, STEP))]
            for at in range(0, len(kept[0]), 4096):
                kept[0][at] = 1
        elif way == "processes":
            # Nobody holds much, all together do.
            if os.fork() == 0:
                kept.append(bytearray(b"x") * STEP)
                signal.pause()
        else:
            shared = mmap.mmap(-1, STEP)
            shared[:] = bytes(STEP)
            kept.append(shared)
        held += STEP
    print("done", held >> 20, flush=True)
except (MemoryError, OSError) as error:
    if kept and way != "processes":
        kept.pop()  # room for the message
    print("refused", held >> 20, error, flush=True)
signal.pause()
