"""A Dask cluster: workers that come, go and die, each playing some series at a time.

Theory of operation. We choose who plays what, Dask carries it there: every task is for one worker,
so what a death costs is known, and a worker that has not been admitted gets nothing (`crew.py`).
Each thread of the others is a slot, a trio task here, that takes blocks from the `SeriesQueue`, as
local workers do: as many series at a time as take BATCH_S together by what the slot's last ones
took, so that fast bots don't wait for the network, and slower machines take less. Towards the end
no slot takes what another could play.

What a worker had in play when it was lost is void and played elsewhere, as after the death of a
local worker, each series alone from then on: so one that kills its workers is found, named, and
stops the event. A worker in whose hands a series came to no end sits out, and another machine
tries that series next. A task's result is released when its records are durable.
When the scheduler is gone for good the event stops, and can be gone on with there or elsewhere.

Invariant: at most one series of a block is in play (`SeriesQueue`'s); of a series that was handed
to a worker either its reports are passed on, once, or that it is void.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import trio

from arena.executors import Job, Report, SeriesEnd, dask_tasks
from arena.executors.answers import StrangeError, reports
from arena.executors.cluster import Peer
from arena.executors.crew import POLL_S, Crew, LostError, Node, UnfitError
from arena.executors.dask_tasks import NodeFit
from arena.executors.series_queue import QueuedBlock, SeriesQueue, WorkerId
from arena.model import Block, HostError, Series, UserError
from arena.system import clock

# To wait for a first worker, or for another when all are gone.
WAIT_S = 60.0
# A task has its own way of some 5 ms, so this much work makes that half a percent.
BATCH_S = 1.0
# Of a task: what their records take is held at once, by worker and parent, a megabyte; and blocks
# of so many series are held for each slot.
MOST_MATCHES = 400
MOST_SERIES = 64
# Whether others have come to take a slot's core is tried so often, which takes 10 ms; and found so
# many times in a row before the worker sits out.
CROWDED_S = 10.0
CROWDED_TIMES = 3

_encode = msgspec.json.Encoder().encode


class DaskExecutor:
    """See the module's docstring."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.alone: set[str] = set()
        """Series that were void: each is a task of its own from then on."""
        self.log: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """How much of the log is written, and how much of that is durable."""
        self._arrived: deque[tuple[int, Any]] = deque()
        """Tasks whose results have arrived, and where the log was when they had."""

    async def gather(self) -> list[NodeFit]:
        """Admit who is there, and wait for one at least; UserError when nobody can play."""
        crew, place = self.crew, self.crew.cluster.place
        await crew.measure_here()
        waited_from, at_work = clock.monotonic(), 0
        over = trio.Event()

        async def admit(peer: Peer) -> None:
            nonlocal at_work
            await crew.admit(peer)
            at_work -= 1
            # Builds may take their time; whoever is busy may be free in a moment.
            hopeful = not crew.peers or crew.hopeful()
            if not at_work and (crew.nodes or not hopeful):
                over.set()

        async with trio.open_nursery() as nursery:
            while not over.is_set() and (at_work or clock.monotonic() < waited_from + WAIT_S):
                for peer in await crew.look_round():
                    at_work += 1
                    nursery.start_soon(admit, peer)
                with trio.move_on_after(POLL_S):
                    await over.wait()
        if not crew.peers:
            raise UserError(
                f"--on dask {place}: the scheduler has no workers; start some: "
                "dask worker --nthreads 1 ADDRESS"
            )
        if not crew.nodes:
            raise UserError(f"--on dask {place}: none of its workers can play; see above")
        return [node.fit for node in crew.nodes.values()]

    async def play(
        self,
        blocks: Iterator[Block],
        *,
        choose: Callable[[Series], int | None],
        report: Callable[[Report], None],
        stop: trio.Event,
    ) -> None:
        """Play everything that `choose` wants of the blocks."""
        await _Round(self, blocks, choose, report, stop).play()

    def arrived(self, future: Any) -> None:  # noqa: ANN401 - a future of distributed's
        """A task's records are written: let go of it when they are durable."""
        self._arrived.append((self.log()[0], future))

    def release(self) -> None:
        """Let go of the results whose records no power cut takes away."""
        _, durable = self.log()
        while self._arrived and self._arrived[0][0] <= durable:
            self._arrived.popleft()[1].release()

    def close(self) -> None:
        """Have the workers forget the event, whose log is closed. Blocks."""
        for _, future in self._arrived:
            future.release()
        self.crew.close()


class _Round:
    """One call of `play`."""

    def __init__(
        self,
        executor: DaskExecutor,
        blocks: Iterator[Block],
        choose: Callable[[Series], int | None],
        report: Callable[[Report], None],
        stop: trio.Event,
    ) -> None:
        self._executor = executor
        self._crew = executor.crew
        self._queue = SeriesQueue(blocks, workers=1, present=self._present)
        self._choose = choose
        self._report = report
        self._stop = stop
        self._slots = 0
        self._batch = 1
        """The most series that any task has had."""
        self._alone_since: float | None = None

    async def play(self) -> None:
        """See `Executor`."""
        crew = self._crew
        async with trio.open_nursery() as nursery:
            self._begin_all(nursery)
            while self._slots or not self._stop.is_set():
                for peer in await crew.look_round():
                    crew.begin_to_admit(peer)
                self._begin_all(nursery)
                self._executor.release()
                self._see_whether_alone()
                if self._stop.is_set():
                    self._queue.close()
                self._queue.look_again()
                await trio.sleep(POLL_S)
            nursery.cancel_scope.cancel()

    def _present(self) -> list[WorkerId]:
        return [_place(node) for node in self._crew.nodes.values()]

    def _see_whether_alone(self) -> None:
        """Wait for a worker, if there is none, but not for ever."""
        crew = self._crew
        if self._slots or crew.lost:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = clock.monotonic()
            crew.note(f"note: there is no worker to play; waiting {WAIT_S:.0f} s for one")
        elif clock.monotonic() - self._alone_since > WAIT_S:
            raise HostError(
                f"no worker that could play has been at {crew.cluster.place} for {WAIT_S:.0f} s"
            )

    def _begin_all(self, nursery: trio.Nursery) -> None:
        """Begin with whoever has been admitted, in this round or before it."""
        for node in list(self._crew.nodes.values()):
            if not (node.slots or self._stop.is_set()):
                self._crew.joined(node.fit)
                self._begin(node, nursery)

    def _begin(self, node: Node, nursery: trio.Nursery) -> None:
        for slot, core in enumerate(node.cores):
            self._slots += 1
            node.slots += 1
            nursery.start_soon(self._work, node, slot, core, nursery.cancel_scope)
        self._queue.widen(self._slots * (1 + self._batch))

    async def _work(self, node: Node, slot: int, core: int | None, all_: trio.CancelScope) -> None:
        """A slot: play until there is nothing more, or the worker gets nothing more."""
        pace = BATCH_S  # seconds a match, as long as nobody knows: one series
        try_at = clock.monotonic() + CROWDED_S
        try:
            while not self._stop.is_set() and self._crew.nodes.get(node.peer.address) is node:
                turns = await self._turns(_place(node), pace)
                if not turns:
                    if not self._stop.is_set():  # all is played
                        all_.cancel()
                    return
                if self._stop.is_set() or self._crew.nodes.get(node.peer.address) is not node:
                    # That came while we waited.
                    for turn in turns:
                        self._queue.put_back(turn)
                    return
                begun = clock.monotonic()
                try_core = self._crew.judge and begun > try_at
                played = await self._play(node, slot, core, turns, try_core=try_core)
                if played:
                    pace = (clock.monotonic() - begun) / played
                if try_core:
                    try_at = clock.monotonic() + CROWDED_S
        finally:
            self._slots -= 1
            self._crew.slot_over(node)

    async def _turns(self, where: WorkerId, pace: float) -> list[QueuedBlock]:
        """So many turns as make a task; none: all is played, or nothing more is handed out."""
        first = await self._queue.take(where)
        if first is None:
            return []
        turns, alone = [first], self._executor.alone
        most = min(BATCH_S / (pace or BATCH_S), MOST_MATCHES) / len(first.series.matches)
        wanted = max(1, min(int(most), MOST_SERIES))
        if wanted > self._batch:
            self._batch = wanted
            self._queue.widen(self._slots * (1 + wanted))
        while (
            first.series.id not in alone
            and len(turns) < wanted
            and (turn := self._queue.spare(self._slots)) is not None
        ):
            if turn.series.id in alone:
                self._queue.put_back(turn)
                break
            turns.append(turn)
        return turns

    async def _play(
        self,
        node: Node,
        slot: int,
        core: int | None,
        turns: Sequence[QueuedBlock],
        *,
        try_core: bool,
    ) -> int:
        """Play the series of some turns: how many matches that were."""
        jobs = self._jobs(turns, try_core=try_core)
        if not jobs:
            return 0
        tasks = _encode([job for _, job in jobs.values()])
        lines, why, future = await self._lines(node, slot, core, tasks)
        if isinstance(lines, str):
            future.release()
            self._crew.leave(node)
            if lines == node.process:
                # It had nothing to play for so long that it has forgotten the event: nothing is
                # lost, and who is asked next may have forgotten it too.
                for turn, _ in jobs.values():
                    self._queue.put_back(turn)
                return 0
            lines, future = b"", None
        try:
            told = reports(lines, (job for _, job in jobs.values()))
        except StrangeError as strange:  # nothing of it is taken
            told, why = [], f"gives an answer that is none: {strange}"
            self._crew.sit_out(node, why, again=math.inf)
            why = f"worker {node.peer.address} {why}"
        count = self._take(node, slot, jobs, told)
        if future is not None:
            self._executor.arrived(future)
        if jobs:  # if somebody is there at all, it is another
            self._crew.leave(node)
        for turn, job in jobs.values():
            void = SeriesEnd(
                series=job.series.id,
                attempt=job.attempt,
                trouble=why,
                blameless=not self._crew.cluster.connected,
            )
            self._told(node, turn, void)
        return count

    def _jobs(
        self, turns: Sequence[QueuedBlock], *, try_core: bool
    ) -> dict[str, tuple[QueuedBlock, Job]]:
        """What is to be played of some turns, by the ids of the series."""
        jobs: dict[str, tuple[QueuedBlock, Job]] = {}
        for turn in turns:
            if (attempt := self._choose(turn.series)) is None:
                self._queue.give_back(turn)
            else:
                job = Job(series=turn.series, attempt=attempt, try_core=try_core and not jobs)
                jobs[turn.series.id] = turn, job
        return jobs

    def _take(
        self,
        node: Node,
        slot: int,
        jobs: dict[str, tuple[QueuedBlock, Job]],
        told: Sequence[Report],
    ) -> int:
        """Pass on what was played, and leave the jobs that were not: how many matches that were."""
        count = 0
        for message in told:
            if isinstance(message, SeriesEnd):
                turn, _ = jobs.pop(message.series)
                self._judge(node, slot, message)
                self._told(node, turn, message)
            else:
                count += 1
                self._report(message)
        return count

    async def _lines(
        self, node: Node, slot: int, core: int | None, jobs: bytes
    ) -> tuple[object, str, Any]:
        """What a worker tells of some jobs; why something is missing there; the task's future."""
        crew, where = self._crew, f"worker {node.peer.address}"
        lost = f"its {where} was lost"
        try:
            lines, future = await crew.ask(node.peer, dask_tasks.play, crew.name, slot, core, jobs)
        except LostError:
            return b"", lost, None
        except UnfitError as unfit:
            crew.sit_out(node, str(unfit))
            return b"", f"{where} {unfit}", None
        return lines, lost, future

    def _judge(self, node: Node, slot: int, end: SeriesEnd) -> None:
        """Whether a worker can go on, by how a series has ended there."""
        if end.crowded is not None:
            node.crowded[slot] = node.crowded.get(slot, 0) + 1 if end.crowded else 0
            if node.crowded[slot] == CROWDED_TIMES:
                self._crew.sit_out(node, "other work has come to take its cores")
        if end.trouble:
            self._crew.sit_out(node, end.trouble)

    def _told(self, node: Node, turn: QueuedBlock, end: SeriesEnd) -> None:
        """A series is over, or void: then it is to be asked about again."""
        self._report(end)
        if not end.trouble:
            self._queue.give_back(turn)
            return
        self._executor.alone.add(end.series)
        if end.blameless:
            self._queue.put_back(turn)
        else:
            self._queue.put_void(turn, _place(node))


def _place(node: Node) -> WorkerId:
    return WorkerId(node.fit.host, node.peer.address)
