"""A worker process, which notes what it charges the bot in seat 0 for each decision.

    python timed_worker.py FILE

FILE grows by 8 bytes a decision: seconds, as a double. They are written when the decision is over
and the next one has not been asked, so no bot is charged for it.
"""

import itertools
import os
import struct
import sys

from arena.engine import match
from arena.executors.worker import main


class Noted(match.TimeAccount):
    """A clock that tells; the clocks of a match are made in the order of its seats."""

    __slots__ = ("seat",)
    made = itertools.count()
    seats = 2
    file = -1

    def __init__(self, *limits):
        super().__init__(*limits)
        self.seat = next(self.made) % self.seats

    def charge(self, seconds):
        """Book it, and note it."""
        super().charge(seconds)
        if self.seat == 0:
            os.write(self.file, struct.pack("=d", seconds))


if __name__ == "__main__":
    Noted.file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    match.TimeAccount = Noted
    main()
