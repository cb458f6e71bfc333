"""A fork bomb that doubles: bomb.py DEPTH makes 2**DEPTH processes, and ends after 20 s."""

import os
import signal
import sys

print("up", flush=True)
signal.alarm(20)
for _ in range(int(sys.argv[1])):
    try:
        if os.fork() == 0:
            signal.alarm(20)  # not inherited
    except OSError as error:
        os.write(1, f"refused fork {error}\n".encode())
        break
while True:
    signal.pause()
