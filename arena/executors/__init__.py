"""Where blocks are played: on this machine's cores (`local`), elsewhere later.

Theory of operation. An executor pulls blocks and plays the series of each one after another,
never two of a block at once, and blocks in whatever order. Before it starts a series it asks
`choose(series)` for the attempt to play, None meaning that nothing is to be played; a series
that the host's trouble has voided is asked about again. What happens goes to `report`. Setting
`stop` makes it hand out nothing more and return when what is in play has ended; cancelling it
kills everything.

Invariant: an executor decides nothing. What is played, and what counts, is the same whatever
the executor, its concurrency and its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import msgspec
import trio

from arena.model import Block, Bot, MatchRecord, Series, Settings


class WorkerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The first line to a worker: what all its series share."""

    settings: Settings
    secret: str
    """What the deals are drawn from, the beacon mixed in; hex."""
    bots: tuple[Bot, ...]
    sandbox: str
    core: int | None = None
    """The core that the worker and its bots are to stay on."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A line to a worker: play this series."""

    series: Series
    attempt: int
    try_core: bool = False
    """Find out afterwards whether others take the worker's core."""


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag="match"):
    """A line from a worker: a match is finished."""

    record: MatchRecord
    stderr: Mapping[str, str] = {}


class SeriesEnd(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """A line from a worker: the series is over, or void if `trouble` says why."""

    series: str
    attempt: int
    trouble: str = ""
    bug: str = ""
    """A traceback of our own: not the host's trouble, and not to be retried."""
    blameless: bool = False
    """Whether it is known that no bot has brought the trouble about."""
    crowded: bool | None = None
    """Whether others take the worker's core; None: nobody has asked."""


Report = Finished | SeriesEnd


class Executor(Protocol):
    """See the package's docstring."""

    async def play(
        self,
        blocks: Iterator[Block],
        *,
        choose: Callable[[Series], int | None],
        report: Callable[[Report], None],
        stop: trio.Event,
    ) -> None:
        """Play everything that `choose` wants of the blocks."""
