"""Whether others take the core that we play on: tried out, as nothing that a bot shows proves it.

A bot can look starved: by many busy threads of its own, or by one that lets everybody go first. So
its tree is stopped, and this process wants the core itself for a moment. If it doesn't get it,
somebody else has it, and that isn't the bot.
"""

from __future__ import annotations

import os
import time

from arena.sandbox.delays import Own

TRIAL_S = 0.01
"""Some turns of the kernel's scheduler, which takes three or four milliseconds for one."""

SHARE = 0.75
"""Who gets less of the core has somebody beside himself. One other busy task leaves a half."""

KNOWN_S = 1.0
"""For so long the last trial is good enough where no verdict hangs on it."""


class Core:
    """The core of this thread, and what is known of it."""

    def __init__(self) -> None:
        self.own = Own()
        self.count = len(os.sched_getaffinity(0))
        """How many cores it may be; all that is started from here has the same."""
        self.alone = self.count == 1
        self._tried = float("-inf")
        self._overloaded = False

    @property
    def known(self) -> bool | None:
        """What the last trial found; None: it is too long ago."""
        return self._overloaded if time.monotonic() - self._tried < KNOWN_S else None

    def overloaded(self) -> bool:
        """Try it: run for TRIAL_S, or until that can't be had in good time."""
        begun, used = time.monotonic(), time.thread_time()
        while (got := time.thread_time() - used) < TRIAL_S:
            if time.monotonic() - begun > TRIAL_S / SHARE:
                break
        self._tried = time.monotonic()
        self._overloaded = got < SHARE * (self._tried - begun)
        return self._overloaded

    def close(self) -> None:
        """Give back what is held open."""
        self.own.close()
