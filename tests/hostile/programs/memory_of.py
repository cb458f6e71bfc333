"""Reads the memory of another process through /proc."""

import sys

pid, address = sys.argv[1:]
try:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(int(address))
        print("BROKE", memory.read(24).decode(errors="replace"))
except OSError as error:
    print("HELD", error.strerror)
