"""Has the kernel send a signal on its behalf: a pipe whose readiness is told to somebody else."""

import fcntl
import os
import signal
import sys

F_SETSIG = 10

try:
    read, write = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, int(sys.argv[1]))
    fcntl.fcntl(read, F_SETSIG, signal.SIGUSR2)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
    os.write(write, b"x")
    print("BROKE the signal was asked for")
except OSError as error:
    print("HELD", error.strerror)
