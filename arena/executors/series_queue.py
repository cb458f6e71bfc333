"""Which series a free worker plays next.

Theory of operation. The series of a block are played one after another, in their order, since
rotations of a deal must never be alive at the same time; that a block stays with one worker is
not needed, as each series has processes of its own. While there are more blocks to come, the
oldest block that is not in play goes on, so that few are half done when somebody stops the
event. As the end comes into sight, the block with the most matches left goes on: the last
series then end at about the same time, where a whole block for each worker would leave cores
idle for as long as a block takes (three blocks for two workers take three series' time, not
four). What can't be had: a block takes the time of its series in a row, however many workers
there are, and nobody knows beforehand how slow a bot is.

A series that was void is played again after a pause that doubles each time, as what the machine
lacks may be there again by then. It goes to a machine, and there to a worker, that has voided it
least of all who are present: so a worker that fails at everything voids each series once, and
another one plays it.

What is played, and what counts, doesn't depend on any of this.

With a thousand slots tens of thousands of blocks are held, so those that are not in play are a
heap; and a turn that comes back wakes one of those who wait, not all. Void ones are few: a list.

Invariant: at most one series of a block is in play, and no series is given twice;
BLOCKS_A_WORKER blocks a worker are held at most. In the heap or the list is what is held and not
in play. Whoever is woken and takes one thing wakes the next if there is more.
"""

from __future__ import annotations

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
# After the first void of a series, or of a worker; then twice as long each time.
PAUSE_S = 1.0
# A worker that has failed ever since may have been mended.
LONGEST_PAUSE_S = 60.0

INNOCENT = (0, 0)


class WorkerId(NamedTuple):
    """Where a series is played."""

    machine: str
    worker: str


def pause(voids: int) -> float:
    """Seconds to let pass after so many voids in a row."""
    return min(PAUSE_S * 2.0 ** min(voids - 1, 16), LONGEST_PAUSE_S)


class QueuedBlock:
    """A block in the queue, and its next series."""

    def __init__(self, block: Block, number: int) -> None:
        self._rest = iter(block.series)
        self.series = next(self._rest)
        """The series whose turn it is."""
        self.number = number
        """Of the blocks of the queue, in their order."""
        self.left = sum(len(series.matches) for series in block.series)
        """Matches of the next series and those after it."""
        self.due = -math.inf
        """When it may be played again, on trio's clock."""
        self.voids: Counter[WorkerId] = Counter()
        """Of the next series."""

    def pass_on(self) -> bool:
        """The series has been played; whether there is another."""
        self.left -= len(self.series.matches)
        self.voids.clear()
        self.series = next(self._rest, self.series)
        return self.left > 0

    def void(self, where: WorkerId) -> None:
        """The series was void there."""
        self.voids[where] += 1
        self.due = trio.current_time() + pause(self.voids.total())

    def blame(self, where: WorkerId) -> tuple[int, int]:
        """How often the series was void on that machine, and by that worker."""
        there = sum(times for place, times in self.voids.items() if place[0] == where.machine)
        return there, self.voids[where]


class SeriesQueue:
    """See the module's docstring."""

    def __init__(
        self,
        blocks: Iterator[Block],
        *,
        workers: int,
        present: Callable[[], Iterable[WorkerId]] = tuple,
    ) -> None:
        """`present`: the workers that take turns now."""
        self._blocks = blocks
        self._width = BLOCKS_A_WORKER * workers
        self._present = present
        self._numbers = itertools.count()
        self._held = 0
        self._free: list[tuple[int, int, QueuedBlock]] = []
        self._void: list[QueuedBlock] = []
        self._dry = False
        self.over = trio.Event()
        """Everything has been played, or nothing more is handed out."""
        self._waiting = trio.lowlevel.ParkingLot()

    async def take(self, where: WorkerId) -> QueuedBlock | None:
        """A turn whose series is to be played there, and then given back; None when all are, or
        when nothing more is handed out.
        """
        while not self.over.is_set():
            self._fill()
            turn, due = self._again(where)
            if turn is None and self._free:
                turn = heappop(self._free)[-1]
            if turn is not None:
                if self._free or self._void:
                    self._waiting.unpark()
                return turn
            if not self._held:
                self.close()
                return None
            with trio.move_on_at(due):
                await self._waiting.park()
        return None

    def _again(self, where: WorkerId) -> tuple[QueuedBlock | None, float]:
        """A void turn that is due there; if there is none, when there may be one."""
        now = trio.current_time()
        present = list(self._present()) if self._void else []
        soonest = math.inf
        for turn in self._void:
            blame = turn.blame(where)
            if blame != INNOCENT and any(turn.blame(other) < blame for other in present):
                continue
            if turn.due <= now:
                self._void.remove(turn)
                return turn, now
            soonest = min(soonest, turn.due)
        return None, soonest

    def spare(self, leave: int) -> QueuedBlock | None:
        """One more turn without waiting, if more than `leave` are left for others."""
        self._fill()
        return heappop(self._free)[-1] if len(self._free) > leave else None

    def close(self) -> None:
        """Hand out nothing more."""
        self.over.set()
        self._waiting.unpark_all()

    def look_again(self) -> None:
        """Others are present than were: a void turn may be due to somebody who waits."""
        if self._void:
            self._waiting.unpark_all()

    def widen(self, workers: int) -> None:
        """Hold blocks for so many workers from now on."""
        self._width = max(self._width, BLOCKS_A_WORKER * workers)
        self._waiting.unpark_all()

    def put_back(self, turn: QueuedBlock) -> None:
        """The series of a turn was not played after all: it is as before."""
        if turn.voids:
            self._void.append(turn)
            self._waiting.unpark_all()
        else:
            heappush(self._free, self._placed(turn))
            self._waiting.unpark()

    def put_void(self, turn: QueuedBlock, where: WorkerId) -> None:
        """The series of a turn was void there: it is to be played again, but not at once."""
        turn.void(where)
        self.put_back(turn)

    def give_back(self, turn: QueuedBlock) -> None:
        """The series of a turn has been played, or needs no playing."""
        if turn.pass_on():
            heappush(self._free, self._placed(turn))
        else:
            self._held -= 1
        self._waiting.unpark()

    def _placed(self, turn: QueuedBlock) -> tuple[int, int, QueuedBlock]:
        """Before whatever goes on later; at the end the most matches left go first."""
        return -turn.left if self._dry else 0, turn.number, turn

    def _fill(self) -> None:
        while self._held < self._width and not self._dry:
            block = next(self._blocks, None)
            if block is None:
                self._dry = True
                self._free = [self._placed(turn) for _, _, turn in self._free]
                heapify(self._free)
            else:
                self._held += 1
                heappush(self._free, self._placed(QueuedBlock(block, next(self._numbers))))
