"""Deterministic scheduling: virtual time, trio in an order that a seed draws, threads as greenlets.

Theory of operation. `Loop.run` stands for `trio.run`: the product's tasks run on trio's own loop
with a clock that jumps to the next deadline when all wait. trio shuffles the tasks that are ready
by a private random source; it is seeded here, and trio's private switch sorts them before
(`tests/simulator/test_loop.py` guards both). Blocking code runs on a stack of its own, a greenlet,
as `Thread`: where it would block it calls `Loop.wait`, and goes on when what it waits for is there.
The main code may wait for a thread, too: then threads go on and time passes until it is.

Invariant: nothing here reads a clock, a random source, or the order of a set; one piece of code
runs at a time, and only a wait gives way to another.
"""

import contextvars
import math
import random
from collections.abc import Callable

import greenlet
import trio
import trio._core._run as trio_run
from trio.testing import MockClock

_process = contextvars.ContextVar("process", default=None)
_run_trio = trio.run
_ROUNDING = 1e-6
# A life of more virtual seconds than this hangs.
LONGEST_S = 20_000.0


class KilledError(BaseException):
    """The process that runs this code is dead: it does nothing more."""


class HangError(Exception):
    """Nothing goes on any more, or it never ends."""


def here():
    """The simulated process whose code runs now."""
    return _process.get()


def within(process):
    """A context in which code of this process runs."""
    context = contextvars.copy_context()
    context.run(_process.set, process)
    return context


class Signal:
    """Something to wait for: `ready` says whether it is there, `ring` that it may be."""

    def __init__(self, ready: Callable[[], bool]) -> None:
        self.ready = ready
        self._lot = trio.lowlevel.ParkingLot()

    def ring(self) -> None:
        if self._lot:
            self._lot.unpark_all()

    async def wait(self) -> None:
        while not self.ready():
            await self._lot.park()

    async def park(self) -> None:
        await self._lot.park()


_NEVER = Signal(lambda: False)


class Thread:
    """Blocking code of a process. The interface is that of `threading.Thread`."""

    def __init__(self, loop, process, target, args=()) -> None:
        self._loop = loop
        self.process = process
        self.error = None
        self.result = None
        self.wanted = None
        """(signal, deadline) while it waits."""
        self.over = Signal(lambda: self.done)
        self.done = False
        self.abandoned = False
        """Nobody waits for it: it may outlast its command's play."""
        self._target, self._args = target, args
        self._green = greenlet.greenlet(self._body)
        self._green.gr_context = within(process)

    def start(self) -> None:
        self._loop.threads.append(self)
        self.step()
        if not self.done and self._loop.nursery is not None:
            self._loop.nursery.start_soon(self.drive)

    def join(self, timeout=None) -> None:
        self._loop.wait(self.over, math.inf if timeout is None else timeout)

    def is_alive(self) -> bool:
        return not self.done

    def _body(self) -> None:
        try:
            self.result = self._target(*self._args)
        except BaseException as error:  # noqa: BLE001 - raised where the result is wanted
            self.error = error

    def due(self) -> bool:
        signal, deadline = self.wanted
        return signal.ready() or deadline <= self._loop.now() + _ROUNDING

    def step(self, *, kill=False) -> None:
        """Run it until it waits again, or ends."""
        while True:
            self._green.parent = greenlet.getcurrent()  # where its waits and its end lead back to
            self.wanted = self._green.throw(KilledError()) if kill else self._green.switch()
            if self._green.dead:
                self.wanted, self.done = None, True
                self._loop.threads.remove(self)
                self.over.ring()
                return
            if not kill:
                return

    async def drive(self) -> None:
        """Resume it whenever what it waits for is there, as a task of a run."""
        while not self.done:
            if not self.process.alive:
                self.step(kill=True)
            elif self.due():
                self.step()
            else:
                signal, deadline = self.wanted
                with trio.move_on_at(deadline - self._loop.base):
                    await signal.park()


class Loop:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"loop {seed}")
        self._clock = None
        self.base = 0.0
        self.threads = []
        self.nursery = None

    def now(self) -> float:
        return self.base + (self._clock.current_time() if self._clock else 0.0)

    def advance(self, seconds: float) -> None:
        if self._clock:
            self._clock.jump(max(0.0, seconds))
        else:
            self.base += max(0.0, seconds)

    def run(self, main, *args):
        """Stand for `trio.run`, in the process whose code runs now."""
        assert self._clock is None, "one run at a time"
        trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True
        trio_run._r.seed(self._random.getrandbits(64))
        result = error = None

        async def body() -> None:
            nonlocal result, error
            async with trio.open_nursery() as nursery:
                self.nursery = nursery
                for thread in list(self.threads):
                    nursery.start_soon(thread.drive)
                nursery.start_soon(self._limit)
                try:
                    result = await main(*args)
                except trio.Cancelled:
                    raise
                except BaseException as raised:  # noqa: BLE001 - raised as trio.run would
                    error = raised
                nursery.cancel_scope.cancel()

        clock = MockClock(autojump_threshold=0)
        clock.current_time = lambda: clock._virtual_base  # what it says at rate 0, sooner
        self._clock = clock
        try:
            _run_trio(body, clock=clock)
        finally:
            self.base += clock.current_time()
            self._clock = self.nursery = None
        if error is not None:
            raise error
        return result

    async def _limit(self) -> None:
        await trio.sleep(LONGEST_S)
        raise HangError(f"still at it after {LONGEST_S:.0f} s")

    def wait(self, signal: Signal, timeout: float = math.inf) -> bool:
        """Block until the signal is ready; whether it is."""
        deadline = self.now() + timeout
        current = greenlet.getcurrent()
        if current.parent is not None:
            process = here()
            while not signal.ready() and self.now() + _ROUNDING < deadline:
                if not process.alive:
                    raise KilledError
                current.parent.switch((signal, deadline))
            if not process.alive:
                raise KilledError
            return signal.ready()
        while not signal.ready() and self.now() + _ROUNDING < deadline:
            self._take_on(deadline)
        return signal.ready()

    def _take_on(self, deadline: float) -> None:
        """Run a thread that is due, or let time pass until one is."""
        for thread in self.threads:
            if not thread.process.alive:
                thread.step(kill=True)
                return
            if thread.due():
                thread.step()
                return
        soonest = min((thread.wanted[1] for thread in self.threads), default=math.inf)
        until = min(soonest, deadline)
        if until == math.inf:
            raise HangError("everything waits for something else")
        self.advance(until - self.now())

    def sleep(self, seconds: float) -> None:
        self.wait(_NEVER, seconds)

    def bury(self) -> None:
        """End the threads of dead processes."""
        for thread in [thread for thread in self.threads if not thread.process.alive]:
            thread.step(kill=True)


class Threading:
    """Stands for the module `threading` in blocking code."""

    def __init__(self, loop: Loop, refuse: Callable[[], bool] = lambda: False) -> None:
        self._loop = loop
        self._refuse = refuse

    def Thread(self, *, target, args=(), name="", daemon=None):  # noqa: N802 - the module's name
        del name, daemon
        thread = Thread(self._loop, here(), target, args)
        if self._refuse():
            thread.start = self._refused
        return thread

    @staticmethod
    def _refused() -> None:
        raise RuntimeError("can't start new thread")

    def Lock(self):  # noqa: N802
        return _Lock(self._loop)

    def Event(self):  # noqa: N802
        return _Event(self._loop)


class _Lock:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._held = False
        self._free = Signal(lambda: not self._held)

    def __enter__(self) -> None:
        self._loop.wait(self._free)
        self._held = True

    def __exit__(self, *_) -> None:
        self._held = False
        self._free.ring()


class _Event:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._set = False
        self._signal = Signal(lambda: self._set)

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True
        self._signal.ring()

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout=None) -> bool:
        return self._loop.wait(self._signal, math.inf if timeout is None else timeout)
