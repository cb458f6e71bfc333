"""Choose which series a free worker plays next.

Theory of operation. The series of a block are played one after another, since rotations of a deal
must never be alive at the same time; they need not stay with one worker. While there are more
blocks to come, the oldest one that is not in play goes on, so that few are half done when the event
is stopped; then the one with the most matches left, so that the last series end together.

A void series is played again after a pause that doubles each time, on a machine, and there by a
worker, that has voided it least of all that are present: so a worker that fails at everything voids
each series once, and another one plays it.

With a thousand slots tens of thousands of blocks are held: those that are not in play are a heap,
and a block that comes back wakes one waiting worker. Void ones are few: a list.

Invariant: at most one series of a block is in play, and no series is given twice; at most
BLOCKS_A_WORKER blocks a worker are held. A worker that is woken and takes one block wakes the next
worker if there are more. What counts doesn't depend on any of this.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import trio

from arena.model import Block

# Blocks that are held for each worker: one in play and one to choose from at the end.
BLOCKS_A_WORKER = 2
PAUSE_S = 1.0  # after the first void of a series, or of a worker; then twice as long each time
LONGEST_PAUSE_S = 60.0  # a worker that has failed ever since may have been repaired


class WorkerId(NamedTuple):
    machine: str
    worker: str


def pause(voids: int) -> float:
    return min(PAUSE_S * 2.0 ** min(voids - 1, 16), LONGEST_PAUSE_S)


class QueuedBlock:
    def __init__(self, block: Block, number: int) -> None:
        self._rest = iter(block.series)
        self.series = next(self._rest)
        self.number = number  # of the blocks of the queue, in their order
        self.left = sum(len(series.matches) for series in block.series)
        """Matches of the next series and those after it."""
        self.due = -math.inf  # when it may be played again, on trio's clock
        self.voids: Counter[WorkerId] = Counter()  # of the next series

    def advance(self) -> bool:
        """The series has been played; whether there is another."""
        self.left -= len(self.series.matches)
        self.voids.clear()
        self.series = next(self._rest, self.series)
        return self.left > 0

    def blame(self, worker: WorkerId) -> tuple[int, int]:
        """How often the series was void on that machine, and by that worker."""
        there = sum(n for other, n in self.voids.items() if other.machine == worker.machine)
        return there, self.voids[worker]


class SeriesQueue:
    def __init__(
        self,
        blocks: Iterator[Block],
        *,
        workers: int,
        present: Callable[[], Iterable[WorkerId]] = tuple,
    ) -> None:
        """`present`: the workers that take series now."""
        self._blocks = blocks
        self._width = BLOCKS_A_WORKER * workers
        self._present = present
        self._numbers = itertools.count()
        self._held = 0
        self._free: list[tuple[int, int, QueuedBlock]] = []
        self._void: list[QueuedBlock] = []
        self._dry = False
        self.over = trio.Event()  # everything has been played, or nothing more is given out
        self._waiting = trio.lowlevel.ParkingLot()

    async def take(self, worker: WorkerId) -> QueuedBlock | None:
        """A block whose series the worker plays and gives back; None: no more are given out."""
        while not self.over.is_set():
            self._fill()
            block, due = self._due_void(worker)
            if block is None and self._free:
                block = heappop(self._free)[-1]
            if block is not None:
                if self._free or self._void:
                    self._waiting.unpark()
                return block
            if not self._held:
                self.close()
                return None
            with trio.move_on_at(due):
                await self._waiting.park()
        return None

    def _due_void(self, worker: WorkerId) -> tuple[QueuedBlock | None, float]:
        """A void block that is due for this worker; if there is none, when there may be one."""
        now = trio.current_time()
        present = list(self._present()) if self._void else []
        soonest = math.inf
        for block in self._void:
            blame = block.blame(worker)
            if blame != (0, 0) and any(block.blame(other) < blame for other in present):
                continue
            if block.due <= now:
                self._void.remove(block)
                return block, now
            soonest = min(soonest, block.due)
        return None, soonest

    def spare(self, leave: int) -> QueuedBlock | None:
        """One more block without waiting, if more than `leave` are left for other workers."""
        self._fill()
        return heappop(self._free)[-1] if len(self._free) > leave else None

    def close(self) -> None:
        self.over.set()
        self._waiting.unpark_all()

    def recheck_void(self) -> None:
        """Other workers are present than before: a void block may be due for one that waits."""
        if self._void:
            self._waiting.unpark_all()

    def widen(self, workers: int) -> None:
        """Hold blocks for so many workers from now on."""
        self._width = max(self._width, BLOCKS_A_WORKER * workers)
        self._waiting.unpark_all()

    def put_back(self, block: QueuedBlock) -> None:
        """The series was not played after all: the block is as before."""
        if block.voids:
            self._void.append(block)
            self._waiting.unpark_all()
        else:
            heappush(self._free, self._placed(block))
            self._waiting.unpark()

    def put_void(self, block: QueuedBlock, worker: WorkerId) -> None:
        """The series was void there: it is to be played again after a pause."""
        block.voids[worker] += 1
        block.due = trio.current_time() + pause(block.voids.total())
        self.put_back(block)

    def give_back(self, block: QueuedBlock) -> None:
        """The series has been played, or needs no playing."""
        if block.advance():
            heappush(self._free, self._placed(block))
        else:
            self._held -= 1
        self._waiting.unpark()

    def _placed(self, block: QueuedBlock) -> tuple[int, int, QueuedBlock]:
        """Its place in the heap: by age; at the end the most matches left go first."""
        return -block.left if self._dry else 0, block.number, block

    def _fill(self) -> None:
        while self._held < self._width and not self._dry:
            if (block := next(self._blocks, None)) is None:
                self._dry = True
                self._free = [self._placed(queued) for _, _, queued in self._free]
                heapify(self._free)
            else:
                self._held += 1
                heappush(self._free, self._placed(QueuedBlock(block, next(self._numbers))))
