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

Invariant: at most one series of a block is in play, and no series is given twice;
BLOCKS_A_WORKER blocks a worker are held at most.
"""

from __future__ import annotations

from collections.abc import Iterator

import trio

from arena.model import Block, Series

# Blocks that are held for each worker: one in play and one to choose from at the end.
BLOCKS_A_WORKER = 2


class Turn:
    """A block's place in the handout: its next series."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._at = 0
        self.in_play = False
        self.left = sum(len(series.matches) for series in block.series)
        """Matches of the next series and those after it."""

    @property
    def series(self) -> Series:
        """The series whose turn it is."""
        return self._block.series[self._at]

    def pass_on(self) -> bool:
        """The series has been played; whether there is another."""
        self.in_play = False
        self.left -= len(self.series.matches)
        self._at += 1
        return self._at < len(self._block.series)


class Handout:
    """See the module's docstring."""

    def __init__(self, blocks: Iterator[Block], *, workers: int) -> None:
        self._blocks = blocks
        self._width = BLOCKS_A_WORKER * workers
        self._held: list[Turn] = []
        self._dry = False
        self._changed = trio.Event()

    async def take(self) -> Turn | None:
        """A turn whose series is to be played, and then given back; None when all are."""
        while True:
            self._fill()
            free = [turn for turn in self._held if not turn.in_play]
            if free:
                chosen = max(free, key=lambda turn: turn.left) if self._dry else free[0]
                chosen.in_play = True
                return chosen
            if not self._held:
                return None
            await self._changed.wait()

    def spare(self, leave: int) -> Turn | None:
        """One more turn without waiting, if more than `leave` are left for others."""
        self._fill()
        free = [turn for turn in self._held if not turn.in_play]
        if len(free) <= leave:
            return None
        chosen = max(free, key=lambda turn: turn.left) if self._dry else free[0]
        chosen.in_play = True
        return chosen

    def widen(self, workers: int) -> None:
        """Hold blocks for so many workers from now on."""
        self._width = max(self._width, BLOCKS_A_WORKER * workers)
        self._wake()

    def put_back(self, turn: Turn) -> None:
        """The series of a turn has come to no end: it is somebody's turn again."""
        turn.in_play = False
        self._wake()

    def give_back(self, turn: Turn) -> None:
        """The series of a turn has been played, or needs no playing."""
        if not turn.pass_on():
            self._held.remove(turn)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    def _fill(self) -> None:
        while len(self._held) < self._width and not self._dry:
            block = next(self._blocks, None)
            if block is None:
                self._dry = True
            else:
                self._held.append(Turn(block))
