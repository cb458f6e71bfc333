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

What is played, and what counts, doesn't depend on any of this.

With a thousand slots tens of thousands of blocks are held, so those that are not in play are a
heap; and a turn that comes back wakes one of those who wait, not all.

Invariant: at most one series of a block is in play, and no series is given twice;
BLOCKS_A_WORKER blocks a worker are held at most. In the heap is what is held and not in play.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import trio

from arena.model import Block, Series

# Blocks that are held for each worker: one in play and one to choose from at the end.
BLOCKS_A_WORKER = 2


class Turn:
    """A block's place in the handout: its next series."""

    def __init__(self, block: Block, number: int) -> None:
        self._block = block
        self._at = 0
        self.number = number
        """Of the blocks of the handout, in their order."""
        self.left = sum(len(series.matches) for series in block.series)
        """Matches of the next series and those after it."""

    @property
    def series(self) -> Series:
        """The series whose turn it is."""
        return self._block.series[self._at]

    def pass_on(self) -> bool:
        """The series has been played; whether there is another."""
        self.left -= len(self.series.matches)
        self._at += 1
        return self._at < len(self._block.series)


class Handout:
    """See the module's docstring."""

    def __init__(self, blocks: Iterator[Block], *, workers: int) -> None:
        self._blocks = blocks
        self._width = BLOCKS_A_WORKER * workers
        self._numbers = itertools.count()
        self._held = 0
        self._free: list[tuple[int, int, Turn]] = []
        self._dry = False
        self._waiting = trio.lowlevel.ParkingLot()

    async def take(self) -> Turn | None:
        """A turn whose series is to be played, and then given back; None when all are."""
        while True:
            self._fill()
            if self._free:
                return heappop(self._free)[-1]
            if not self._held:
                self._waiting.unpark_all()
                return None
            await self._waiting.park()

    def spare(self, leave: int) -> Turn | None:
        """One more turn without waiting, if more than `leave` are left for others."""
        self._fill()
        return heappop(self._free)[-1] if len(self._free) > leave else None

    def widen(self, workers: int) -> None:
        """Hold blocks for so many workers from now on."""
        self._width = max(self._width, BLOCKS_A_WORKER * workers)
        self._waiting.unpark_all()

    def put_back(self, turn: Turn) -> None:
        """The series of a turn has come to no end: it is somebody's turn again."""
        heappush(self._free, self._placed(turn))
        self._waiting.unpark()

    def give_back(self, turn: Turn) -> None:
        """The series of a turn has been played, or needs no playing."""
        if turn.pass_on():
            heappush(self._free, self._placed(turn))
        else:
            self._held -= 1
        self._waiting.unpark()

    def _placed(self, turn: Turn) -> tuple[int, int, Turn]:
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
                heappush(self._free, self._placed(Turn(block, next(self._numbers))))
