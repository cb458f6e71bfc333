"""Measure whether other programs use the core that a match is played on.

Nothing that a bot shows proves it: many busy threads of its own, or one of low priority, look like
starvation too. So while the bot's tree is stopped, this process spins for a moment. If it doesn't
get the core, another program has it, and that isn't the bot.
"""

from __future__ import annotations

import os
import time

from arena.sandbox.delays import OwnWait

TRIAL_S = 0.01
"""Some time slices of the scheduler, of three or four milliseconds each."""

SHARE = 0.75
"""With less of the core than this, we aren't alone on it. One other busy task leaves a half."""

KNOWN_S = 1.0
"""How long a trial's result may be used where no charge depends on it."""


class Core:
    def __init__(self) -> None:
        self.own = OwnWait()
        self.count = len(os.sched_getaffinity(0))
        """How many cores we may use; our children inherit them."""
        self.alone = self.count == 1
        self._tried = float("-inf")
        self._overloaded = False

    @property
    def recent(self) -> bool | None:
        """The result of the last trial; None: it is too old."""
        return self._overloaded if time.monotonic() - self._tried < KNOWN_S else None

    def overloaded(self) -> bool:
        """Spin until we have had TRIAL_S of CPU, or it takes too long."""
        begun, used = time.monotonic(), time.thread_time()
        while (got := time.thread_time() - used) < TRIAL_S:
            if time.monotonic() - begun > TRIAL_S / SHARE:
                break
        self._tried = time.monotonic()
        self._overloaded = got < SHARE * (self._tried - begun)
        return self._overloaded

    def close(self) -> None:
        self.own.close()
