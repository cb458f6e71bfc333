"""Write without end: flood.py WAY. Ends after 20 s."""

import os
import signal
import sys

signal.alarm(20)
way = sys.argv[1]
block = b"x" * 65536
lines = b'{"turn":"1-aaaa","move":"skip"}\n' * 2048
while True:
    try:
        if way == "stdout":
            os.write(1, lines)
        elif way == "stderr":
            os.write(2, lines)
        elif way == "line":
            os.write(1, block)
        elif way == "both":
            os.write(2, block)
            os.write(1, lines)
        elif way == "newlines":
            os.write(1, b"\n" * 65536)
        else:
            # Written anew by way of the descriptor's own name.
            for number in (1, 2):
                again = os.open(f"/proc/self/fd/{number}", os.O_WRONLY)
                os.write(again, lines)
                os.dup2(again, number)
                os.close(again)
    except OSError as error:
        if way == "again":
            os.write(2, f"{error}\n".encode())
        sys.exit(1)
