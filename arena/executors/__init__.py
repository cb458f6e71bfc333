"""Executors play the blocks of an event: on this machine's cores, or on a cluster.

Theory of operation. An executor pulls blocks and plays the series of each one after another,
never two of a block at once, and blocks in whatever order. Before it starts a series it calls
`choose(series)` for the number of the attempt to play, None meaning that nothing is to be played;
a series that was void is chosen again. Each finished match and each end of a series goes to
`report`. Setting `stop` makes it start nothing more and return when what is in play has ended;
cancelling it kills everything.

Worker processes (`worker`) speak lines: a WorkerConfig and then Jobs go in. Out comes, for each
match, its record as the JSON that goes into the log, with a tab and the bots' stderr behind it if
there is any; and a SeriesEnd.

Invariant: an executor decides nothing. What is played, and what counts, is the same whatever
the executor, its concurrency and its order.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec
import trio

from arena.engine.match import FinishedMatch
from arena.model import Block, Bot, Series, Settings
from arena.sandbox import Probe


class WorkerConfig(msgspec.Struct, frozen=True, kw_only=True):
    settings: Settings
    secret: str  # the key of the deals, the beacon mixed in; hex
    bots: tuple[Bot, ...]
    sandbox: str
    probe: Probe | None = None  # what the parent has found about it on this machine
    core: int | None = None  # the core that the worker and its bots are to stay on


class SeriesEnd(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """The series is over, or void if `trouble` says why."""

    series: str
    attempt: int
    trouble: str = ""
    bug: str = ""  # a traceback of our own: not the host's trouble, and not to be retried
    blameless: bool = False  # whether it is known that no bot has brought the trouble about
    crowded: bool | None = None  # whether others take the worker's core; None: not tried


class Job(msgspec.Struct, frozen=True, kw_only=True):
    series: Series
    attempt: int
    try_core: bool = False  # find out afterwards whether others take the worker's core

    def end(self, trouble: str = "", **more: Any) -> SeriesEnd:  # noqa: ANN401 - fields of SeriesEnd
        return SeriesEnd(series=self.series.id, attempt=self.attempt, trouble=trouble, **more)


Report = FinishedMatch | SeriesEnd

SERIES_END = b'{"type":"series"'  # how the line of a SeriesEnd begins, and no record's
TAB = b"\t"  # between a record and the bots' stderr: JSON has none, it escapes those in strings

Choose = Callable[[Series], int | None]
"""The number of the attempt at a series that is to be played; None: nothing is."""
Reporter = Callable[[Report], None]


class Executor(Protocol):
    async def play(
        self, blocks: Iterator[Block], *, choose: Choose, report: Reporter, stop: trio.Event
    ) -> None:
        """Play everything that `choose` wants of the blocks."""
