"""Play blocks on a Dask cluster, whose workers come, go and die.

Theory of operation (docs/design/cluster.md says why). Every task is for one worker, which was
admitted (`arena.executors.crew`). Each of its threads is a slot, a trio task here, which takes
blocks from the `SeriesQueue`: as many series as take BATCH_S together by what its last ones took;
towards the end none that another could play. What a lost worker had in play is void and played
elsewhere, each series alone from then on, so that one that kills its workers is found. A task's
result is released when its records are durable.

Invariant: at most one series of a block is in play (`SeriesQueue`'s); of a series that was handed
to a worker either its reports are passed on, once, or that it is void.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import trio

from arena.executors import Choose, Job, Report, Reporter, SeriesEnd, dask_tasks
from arena.executors.answers import InvalidAnswerError, parse_answer
from arena.executors.cluster import Peer
from arena.executors.crew import POLL_S, Crew, LostError, Node, UnfitError
from arena.executors.dask_tasks import NodeFit
from arena.executors.series_queue import QueuedBlock, SeriesQueue, WorkerId
from arena.model import Block, HostError, UserError
from arena.system import clock

WAIT_S = 60.0  # to wait for a first worker, or for another when all are gone
BATCH_S = 1.0  # a task has its own way of some 5 ms, so this much work makes that half a percent
# Of a task: worker and parent hold all its records at once, a megabyte; and so many blocks are held
# for each slot.
MOST_MATCHES = 400
MOST_SERIES = 64
# A slot's core is probed so often for other work, which takes 10 ms; a worker is suspended after so
# many positive probes in a row.
CROWDED_S = 10.0
CROWDED_TIMES = 3

Jobs = dict[str, tuple[QueuedBlock, Job]]
_encode = msgspec.json.Encoder().encode


class DaskExecutor:
    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.alone: set[str] = set()
        """Series that were void: each is a task of its own from then on."""
        self.log: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """The bytes of the log that are written, and that are durable."""
        self._arrived: deque[tuple[int, Any]] = deque()
        """Tasks with their results, and the size of the log when these had been written."""

    async def gather(self) -> list[NodeFit]:
        crew, place = self.crew, self.crew.cluster.place
        await crew.measure_here()
        waited_from, at_work = clock.monotonic(), 0
        over = trio.Event()

        async def admit(peer: Peer) -> None:
            nonlocal at_work
            await crew.admit(peer)
            at_work -= 1
            # A build may take long; a busy worker may be free in a moment.
            hopeful = not crew.peers or crew.hopeful()
            if not at_work and (crew.nodes or not hopeful):
                over.set()

        async with trio.open_nursery() as nursery:
            while not over.is_set() and (at_work or clock.monotonic() < waited_from + WAIT_S):
                for peer in await crew.poll():
                    at_work += 1
                    nursery.start_soon(admit, peer)
                with trio.move_on_after(POLL_S):
                    await over.wait()
        if not crew.peers:
            start = "dask worker --nthreads 1 ADDRESS"
            raise UserError(f"--on dask {place}: the scheduler has no workers; start some: {start}")
        if not crew.nodes:
            raise UserError(f"--on dask {place}: none of its workers can play; see above")
        return [node.fit for node in crew.nodes.values()]

    async def play(
        self, blocks: Iterator[Block], *, choose: Choose, report: Reporter, stop: trio.Event
    ) -> None:
        await _Round(self, blocks, choose, report, stop).play()

    def arrived(self, future: Any) -> None:  # noqa: ANN401 - a future of distributed's
        """A task's records are written: release it when they are durable."""
        self._arrived.append((self.log()[0], future))

    def release(self) -> None:
        _, durable = self.log()
        while self._arrived and self._arrived[0][0] <= durable:
            self._arrived.popleft()[1].release()

    def close(self) -> None:
        """Make the workers forget the event; its log is closed. Blocks."""
        for _, future in self._arrived:
            future.release()
        self.crew.close()


class _Round:
    def __init__(
        self,
        executor: DaskExecutor,
        blocks: Iterator[Block],
        choose: Choose,
        report: Reporter,
        stop: trio.Event,
    ) -> None:
        self._executor = executor
        self._crew = executor.crew
        self._queue = SeriesQueue(blocks, workers=1, present=self._present)
        self._choose = choose
        self._report = report
        self._stop = stop
        self._slots = 0
        self._batch = 1  # the most series that any task has had
        self._alone_since: float | None = None

    async def play(self) -> None:
        crew = self._crew
        async with trio.open_nursery() as nursery:
            self._begin_all(nursery)
            while self._slots or not self._stop.is_set():
                for peer in await crew.poll():
                    crew.start_admission(peer)
                self._begin_all(nursery)
                self._executor.release()
                self._check_workers()
                if self._stop.is_set():
                    self._queue.close()
                self._queue.recheck_void()
                await trio.sleep(POLL_S)
            nursery.cancel_scope.cancel()

    def _present(self) -> list[WorkerId]:
        return [_place(node) for node in self._crew.nodes.values()]

    def _check_workers(self) -> None:
        """HostError if there has been no worker for WAIT_S."""
        crew = self._crew
        if self._slots or crew.lost:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = clock.monotonic()
            crew.note(f"note: there is no worker to play; waiting {WAIT_S:.0f} s for one")
        elif clock.monotonic() - self._alone_since > WAIT_S:
            where = f"at {crew.cluster.place} for {WAIT_S:.0f} s"
            raise HostError(f"no worker that could play has been {where}")

    def _begin_all(self, nursery: trio.Nursery) -> None:
        for node in list(self._crew.nodes.values()):
            if node.slots or self._stop.is_set():
                continue
            self._crew.joined(node.fit)
            for slot, core in enumerate(node.cores):
                self._slots += 1
                node.slots += 1
                nursery.start_soon(self._work, node, slot, core, nursery.cancel_scope)
            self._queue.widen(self._slots * (1 + self._batch))

    async def _work(self, node: Node, slot: int, core: int | None, all_: trio.CancelScope) -> None:
        pace = BATCH_S  # seconds a match; as it isn't known yet, one series
        try_at = clock.monotonic() + CROWDED_S
        try:
            while self._takes(node):
                blocks = await self._next_blocks(_place(node), pace)
                if not blocks:
                    if not self._stop.is_set():  # all is played
                        all_.cancel()
                    return
                if not self._takes(node):  # stopped, or suspended, while we waited
                    for block in blocks:
                        self._queue.put_back(block)
                    return
                begun = clock.monotonic()
                try_core = self._crew.judge and begun > try_at
                played = await self._play(node, slot, core, blocks, try_core=try_core)
                if played:
                    pace = (clock.monotonic() - begun) / played
                if try_core:
                    try_at = clock.monotonic() + CROWDED_S
        finally:
            self._slots -= 1
            self._crew.slot_over(node)

    def _takes(self, node: Node) -> bool:
        return not self._stop.is_set() and self._crew.nodes.get(node.peer.address) is node

    async def _next_blocks(self, where: WorkerId, pace: float) -> list[QueuedBlock]:
        """The blocks of a task; none: all is played, or nothing more is given out."""
        first = await self._queue.take(where)
        if first is None:
            return []
        blocks, alone = [first], self._executor.alone
        most = min(BATCH_S / (pace or BATCH_S), MOST_MATCHES) / len(first.series.matches)
        wanted = max(1, min(int(most), MOST_SERIES))
        if wanted > self._batch:
            self._batch = wanted
            self._queue.widen(self._slots * (1 + wanted))
        while (
            first.series.id not in alone
            and len(blocks) < wanted
            and (block := self._queue.spare(self._slots)) is not None
        ):
            if block.series.id in alone:
                self._queue.put_back(block)
                break
            blocks.append(block)
        return blocks

    async def _play(
        self, node: Node, slot: int, core: int | None, blocks: list[QueuedBlock], *, try_core: bool
    ) -> int:
        """Play the next series of these blocks: how many matches that were."""
        jobs = self._jobs(blocks, try_core=try_core)
        if not jobs:
            return 0
        tasks = _encode([job for _, job in jobs.values()])
        lines, why, future = await self._lines(node, slot, core, tasks)
        if isinstance(lines, str):
            future.release()
            self._crew.leave(node)
            if lines == node.process:
                # It was idle for so long that it has forgotten the event: nothing is lost, and
                # other workers may have forgotten it too.
                for block, _ in jobs.values():
                    self._queue.put_back(block)
                return 0
            lines, future = b"", None
        try:
            played = parse_answer(lines, (job for _, job in jobs.values()))
        except InvalidAnswerError as invalid:  # nothing of it is taken
            played, why = [], f"gives an answer that is none: {invalid}"
            self._crew.suspend(node, why, again=math.inf)
            why = f"worker {node.peer.address} {why}"
        count = self._take(node, slot, jobs, played)
        if future is not None:
            self._executor.arrived(future)
        if jobs:  # a worker at this address is another one now
            self._crew.leave(node)
        for block, job in jobs.values():
            self._ended(node, block, job.end(why, blameless=not self._crew.cluster.connected))
        return count

    def _jobs(self, blocks: list[QueuedBlock], *, try_core: bool) -> Jobs:
        """What is to be played of these blocks, by the ids of the series."""
        jobs: Jobs = {}
        for block in blocks:
            if (attempt := self._choose(block.series)) is None:
                self._queue.give_back(block)
            else:
                job = Job(series=block.series, attempt=attempt, try_core=try_core and not jobs)
                jobs[block.series.id] = block, job
        return jobs

    def _take(self, node: Node, slot: int, jobs: Jobs, played: list[Report]) -> int:
        """Report what was played, and remove it from the jobs: how many matches that were."""
        count = 0
        for message in played:
            if isinstance(message, SeriesEnd):
                block, _ = jobs.pop(message.series)
                self._judge(node, slot, message)
                self._ended(node, block, message)
            else:
                count += 1
                self._report(message)
        return count

    async def _lines(
        self, node: Node, slot: int, core: int | None, jobs: bytes
    ) -> tuple[object, str, Any]:
        """The lines of a worker for some jobs; why some are missing; the task's future."""
        crew, where = self._crew, f"worker {node.peer.address}"
        lost = f"its {where} was lost"
        try:
            lines, future = await crew.ask(node.peer, dask_tasks.play, crew.name, slot, core, jobs)
        except LostError:
            return b"", lost, None
        except UnfitError as unfit:
            crew.suspend(node, str(unfit))
            return b"", f"{where} {unfit}", None
        return lines, lost, future

    def _judge(self, node: Node, slot: int, end: SeriesEnd) -> None:
        """Suspend a worker if a series has ended badly there."""
        if end.crowded is not None:
            node.crowded[slot] = node.crowded.get(slot, 0) + 1 if end.crowded else 0
            if node.crowded[slot] == CROWDED_TIMES:
                self._crew.suspend(node, "other work has come to take its cores")
        if end.trouble:
            self._crew.suspend(node, end.trouble)

    def _ended(self, node: Node, block: QueuedBlock, end: SeriesEnd) -> None:
        self._report(end)
        if not end.trouble:
            self._queue.give_back(block)
            return
        self._executor.alone.add(end.series)
        if end.blameless:
            self._queue.put_back(block)
        else:
            self._queue.put_void(block, _place(node))


def _place(node: Node) -> WorkerId:
    return WorkerId(node.fit.host, node.peer.address)
