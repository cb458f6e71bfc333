"""Tells a word by an empty file's name in shared memory, /dev/shm."""

import os
import sys
import time

role, mark, *word = sys.argv[1:]
mark = f"arena-collude-{mark}-"
try:
    if role == "send":
        os.close(os.open(f"/dev/shm/{mark}{word[0]}", os.O_CREAT | os.O_WRONLY))
        print("ready", flush=True)
        time.sleep(30)
    found = [name for name in os.listdir("/dev/shm") if name.startswith(mark)]
    print("BROKE" if found else "HELD", *(name.rpartition("-")[2] for name in found))
except OSError as error:
    print("HELD", error.strerror)
