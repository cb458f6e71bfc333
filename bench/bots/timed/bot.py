"""Takes its time, in one of these ways and for so many seconds a decision: `bot.py HOW SECONDS`.

What it plays is one decision a hole of four-card-golf. From `threads` on the ways make it look as
if others kept it waiting.
"""

import contextlib
import hashlib
import json
import os
import signal
import sys
import threading
import time


def brisk(_):
    """Take none."""


def computes(seconds):
    """Use the core."""
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass


def threads(seconds):
    """Sleep, while 32 threads want the core."""
    for _ in range(32):
        threading.Thread(target=grind, args=(1 << 30,), daemon=True).start()
    time.sleep(seconds)


def ending(seconds):
    """Have threads compute that end, and are forgotten by then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        some = [threading.Thread(target=grind, args=(2_000,)) for _ in range(8)]
        for each in some:
            each.start()
        for each in some:
            each.join()


def idle(seconds):
    """Sleep, beside a busy child and one that lets everybody go first, if it may."""
    fork(give_way)
    fork(computes, seconds)
    time.sleep(seconds)


def children(seconds):
    """Have a child compute, and wait for it."""
    os.waitpid(fork(computes, seconds), 0)


def unreaped(seconds):
    """Have children compute, one after another, whose ends are never reaped."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        fork(computes, 0.004)
        time.sleep(0.004)


def stops(seconds):
    """Stand still until a child lets it go on."""
    fork(go_on, os.getpid(), seconds)
    os.kill(os.getpid(), signal.SIGSTOP)


def fork(work, *words):
    """Have a child do something."""
    pid = os.fork()
    if pid == 0:
        work(*words)
        os._exit(0)
    return pid


def grind(rounds):
    """Compute without the interpreter's lock; a thousand rounds take half a millisecond."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", rounds)


def give_way():
    """Be busy, in the scheduling class that only runs on an idle core."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    computes(3600)


def go_on(pid, seconds):
    """Let another process go on, later."""
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


WAYS = {
    "brisk": brisk, "computes": computes, "sleeps": time.sleep, "threads": threads,
    "ending": ending, "idle": idle, "children": children, "unreaped": unreaped, "stops": stops,
}  # fmt: skip

how, number = WAYS[sys.argv[1]], float(sys.argv[2])
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        print('{"type":"ready"}', flush=True)
    elif kind == "bye":
        break
    elif kind == "act":
        how(number)
        legal = message["legal"]
        move = "knock" if "knock" in legal else legal[0]
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
