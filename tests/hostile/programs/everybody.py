"""Signals all that it can reach at once, with a signal that most ignore."""

import os
import signal

try:
    os.kill(-1, signal.SIGURG)
    print("BROKE somebody else could be signalled")  # it is also so when all have refused
except OSError as error:
    print("HELD", error.strerror)
