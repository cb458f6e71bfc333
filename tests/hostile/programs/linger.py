"""Try to outlive one's end: linger.py WAY. Says "up" when all is arranged; ends after 20 s.

With `linger.py WAY leave` the program itself leaves, with status 0, when what it has started is
at work; else it stays.
"""

import contextlib
import os
import signal
import sys
import time

way = sys.argv[1]
leaves = "leave" in sys.argv[2:]
ready, told = os.pipe()
signal.alarm(20)


def stay():
    signal.alarm(20)
    os.write(told, b"x")
    while True:
        time.sleep(60)


def deaf():
    for number in range(1, signal.NSIG):
        if number != signal.SIGALRM:
            with contextlib.suppress(OSError, ValueError):  # SIGKILL and SIGSTOP
                signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGALRM})


def pair():
    """Two that watch each other by pipes; who is left alone makes another."""
    end = time.monotonic() + 15
    while time.monotonic() < end:
        my_read, my_life = os.pipe()
        its_read, its_life = os.pipe()
        if os.fork() == 0:
            os.setsid()
            signal.alarm(20)
            my_read, my_life, its_read, its_life = its_read, its_life, my_read, my_life
        os.close(my_read)
        os.close(its_life)
        os.write(told, b"x")
        os.read(its_read, 1)  # its end
        os.close(its_read)
        os.close(my_life)
    os._exit(0)


if os.fork() == 0:
    if way == "daemon":
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        for number in (0, 1, 2):
            os.dup2(os.open("/dev/null", os.O_RDWR), number)
    elif way == "deaf":
        deaf()
    elif way == "closed":
        for number in (0, 1, 2):
            os.close(number)
    elif way == "stopped":
        signal.alarm(0)
        os.write(told, b"x")
        if os.fork() == 0:
            time.sleep(18)
            os.killpg(0, signal.SIGKILL)  # the end that an alarm gives to the others
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    elif way == "orphans":
        for _ in range(5):
            if os.fork():
                os._exit(0)
            os.setsid()
    elif way == "undying":
        pair()
    stay()
os.read(ready, 2 if way == "undying" else 1)
print("up", flush=True)
if leaves:
    sys.exit(0)
if way == "deaf":
    deaf()
if way == "closed":
    for number in (0, 1, 2):
        os.close(number)
while True:
    time.sleep(60)
