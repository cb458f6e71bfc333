"""A Dask cluster: workers that come, go and die, each playing some series at a time.

Theory of operation. We choose who plays what, Dask carries it there: every task is for one worker,
so what a death costs is known, and a worker that has not been admitted gets nothing. Twice a second
the scheduler is asked who is there. Who is new is looked at (versions, sandbox, limits, cores),
gets the bots that its cache lacks, builds them and starts each one; what is amiss is told in a
line, and the worker is left out. Each thread of the others is a slot, a trio task here, that takes
turns of the `Handout`, as local workers do: as many series at a time as take BATCH_S together by
what the slot's last ones took, so that fast bots don't wait for the network, and slower machines
take less. Towards the end nobody takes what others could play.

What a worker had in play when it was lost is void and played elsewhere, as after the death of a
local worker, each series alone from then on: so one that kills its workers is found, named, and
stops the event. A task's result is released when it has arrived. When the scheduler can't
be reached, LOST_TRIES times, the event stops, and can be gone on with there or elsewhere.

Blocking calls are made in threads; futures call back by trio's token.

Invariant: at most one series of a block is in play (`Handout`'s); of a series that was handed to a
worker either its reports are passed on, once, or that it is void; no core has two slots.
"""

from __future__ import annotations

import contextlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

import msgspec
import trio

from arena.executors import Config, Job, Report, SeriesEnd, nodes
from arena.executors.cluster import Cluster, Peer, refused
from arena.executors.handout import Handout, Turn
from arena.executors.nodes import Ask, Fit, Unfit
from arena.model import Block, Bot, HostError, Series, UserError

POLL_S = 0.5
# To wait for a first worker, or for another when all are gone.
WAIT_S = 60.0
# Before the scheduler is given up, so many times; each takes as long as its connection's timeout.
LOST_TRIES = 3
ASK_S = 30.0
# A task has its own way of some 5 ms, so this much work makes that half a percent.
BATCH_S = 1.0
# Series of a task: what their records take is held at once, by worker and parent.
MOST_BATCH = 16
_REASON_CHARS = 300

_encode = msgspec.json.Encoder().encode
_report = msgspec.json.Decoder(Report).decode


class LostError(Exception):
    """A worker is gone, or what we had there."""


class UnfitError(Exception):
    """A worker can't play this event, and why."""


class Node(msgspec.Struct, kw_only=True):
    """A worker that plays: what it has shown, and the cores of its slots."""

    peer: Peer
    fit: Fit
    cores: tuple[int | None, ...]


class DaskExecutor:
    """See the module's docstring."""

    def __init__(
        self,
        cluster: Cluster,
        config: Config,
        *,
        sandbox: str,
        bundle: Callable[[str], bytes],
        pin: bool,
        note: Callable[[str], None],
    ) -> None:
        """`sandbox`: as in `--sandbox`; `bundle`: a bot by its hash; `note` gets lines to show."""
        self.cluster = cluster
        self.name = secrets.token_hex(8)
        self._config = config
        self._ask = _ask(config, sandbox)
        self._bundle = bundle
        self._held: dict[str, Any] = {}
        self._pin = pin
        self._note = note
        self.joined: Callable[[Fit], None] = lambda _: None
        """Is told of everyone who is going to play."""
        self.peers: dict[str, Peer] = {}
        """Who is there, as last seen."""
        self.nodes: dict[str, Node] = {}
        self._refused: dict[str, str] = {}
        self._waiting: dict[str, set[trio.Event]] = defaultdict(set)
        """What is to be woken when a worker is lost."""
        self._locks: dict[str, trio.Lock] = {}
        self._entered_on: dict[str, tuple[Bot, ...]] = {}
        """These two of machines: a bot is built and tried once on each."""
        self._admitting: set[str] = set()
        self.alone: set[str] = set()
        """Series that were void: each is a task of its own from then on."""

    async def gather(self) -> list[Fit]:
        """Admit who is there, and wait for one at least; UserError when nobody can play."""
        with trio.move_on_after(WAIT_S):
            while not self.peers:
                await self.look_round()
                if not self.peers:
                    await trio.sleep(POLL_S)
            async with trio.open_nursery() as nursery:
                for peer in self.peers.values():
                    nursery.start_soon(self.admit, peer)
        if self.nodes:
            return [node.fit for node in self.nodes.values()]
        if not self.peers:
            raise UserError(
                f"--on dask {self.cluster.place}: the scheduler has no workers; start some: "
                "dask worker --nthreads 1 ADDRESS"
            )
        raise UserError(f"--on dask {self.cluster.place}: none of its workers can play; see above")

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

    def close(self) -> None:
        """Have the workers forget the event. Blocks."""
        self._held.clear()
        self.cluster.leave(nodes.leave, self.name, [node.peer for node in self.nodes.values()])

    # ------------------------------------------------------------------------- who is there

    async def look_round(self) -> list[Peer]:
        """Ask the scheduler who is there; who is new. HostError when it is gone."""
        for _ in range(LOST_TRIES):
            try:
                with trio.fail_after(ASK_S):
                    peers = await trio.to_thread.run_sync(
                        self.cluster.peers, abandon_on_cancel=True
                    )
            except (OSError, trio.TooSlowError):
                await trio.sleep(POLL_S)
            else:
                break
        else:
            raise HostError(f"the scheduler {self.cluster.place} can't be reached any more")
        now = {peer.id: peer for peer in peers}
        gone = [id_ for id_ in self.peers if id_ not in now]
        self.peers = now
        for id_ in gone:
            self.drop(id_)
        known = self.nodes.keys() | self._refused.keys() | self._admitting
        return [peer for id_, peer in now.items() if id_ not in known]

    def drop(self, id_: str) -> None:
        """Nothing is waited for there any more."""
        self.nodes.pop(id_, None)
        self._refused.pop(id_, None)
        for event in self._waiting.pop(id_, ()):
            event.set()

    async def admit(self, peer: Peer) -> Node | None:
        """Make a worker ready to play, or say why not."""
        self._admitting.add(peer.id)
        try:
            node = await self._entered(peer)
        except LostError:
            return None  # it has just gone
        except UnfitError as unfit:
            self._refused[peer.id] = str(unfit)
            self._note(f"note: worker {peer.address} is left out: {unfit}")
            return None
        finally:
            self._admitting.discard(peer.id)
        self.joined(node.fit)
        return node

    async def _entered(self, peer: Peer) -> Node:
        if why := refused(peer.address):
            raise UnfitError(why)
        theirs, ours = await self.call(peer, nodes.versions), nodes.versions()
        for what, there, here in zip(("arena", "Python"), theirs, ours, strict=True):
            if there != here:
                raise UnfitError(f"has {what} {there}, here it is {here}; both must be the same")
        fit = _fit(await self.call(peer, nodes.look, self._ask))
        async with self._locks.setdefault(fit.host, trio.Lock()):
            cores = self._cores(peer, fit)
            if (bots := self._entered_on.get(fit.host)) is None:
                bundles = [await self._hold(content) for content in fit.missing]
                entered = _fit(await self.call(peer, nodes.enter, self._ask, fit.missing, *bundles))
                bots = self._entered_on[fit.host] = entered.bots
            config = msgspec.structs.replace(self._config, bots=bots, sandbox=fit.sandbox)
            await self.call(peer, nodes.keep, self.name, _encode(config))
            node = self.nodes[peer.id] = Node(peer=peer, fit=fit, cores=cores)
        return node

    def _cores(self, peer: Peer, fit: Fit) -> tuple[int | None, ...]:
        """A core for each thread of a worker, on which nobody else of ours plays."""
        if not self._pin:
            return (None,) * peer.threads
        others = [node for node in self.nodes.values() if node.fit.host == fit.host]
        # What is kept to cores of its own, as a task of a batch system, shares none of these.
        taken = {core for node in others for core in node.cores if core in fit.cores}
        free = [core for core in fit.cores if core not in taken]
        if len(taken) + peer.threads > fit.room or len(free) < peer.threads:
            raise UnfitError(
                f"has {_count(peer.threads, 'thread')}, and the machine has room for {fit.room} "
                f"of this event, {len(taken)} taken by other workers there; start fewer of them, "
                "or say --no-pin if times needn't be even"
            )
        return tuple(free[: peer.threads])

    async def _hold(self, content: str) -> Any:  # noqa: ANN401 - a future of distributed's
        if content not in self._held:
            bundle = await trio.to_thread.run_sync(self._bundle, content)
            self._held[content] = await trio.to_thread.run_sync(self.cluster.hold, content, bundle)
        return self._held[content]

    # ------------------------------------------------------------------------- tasks

    async def call(self, peer: Peer, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
        """The result of a task; LostError if its worker is gone, UnfitError if it can't do it."""
        token, ended = trio.lowlevel.current_trio_token(), trio.Event()

        def wake() -> None:
            with contextlib.suppress(trio.RunFinishedError):
                token.run_sync_soon(ended.set)

        def submit() -> Any:  # noqa: ANN401
            task = function.__name__
            return self.cluster.submit(nodes.do, task, *arguments, peer=peer, then=wake)

        if peer.id not in self.peers:
            raise LostError
        self._waiting[peer.id].add(ended)
        future = None
        try:
            try:
                future = await trio.to_thread.run_sync(submit)
            except Exception:  # noqa: BLE001 - a client says in many ways that it has lost its scheduler
                raise LostError from None
            await ended.wait()
            return await self._result(future)
        finally:
            self._waiting[peer.id].discard(ended)
            if future is not None:
                future.release()

    async def _result(self, future: Any) -> Any:  # noqa: ANN401
        if future.status not in {"finished", "error"}:
            raise LostError
        try:
            with trio.fail_after(ASK_S):
                trouble, result = await trio.to_thread.run_sync(
                    future.result, abandon_on_cancel=True
                )
        except trio.TooSlowError:
            raise LostError from None
        except ImportError as error:
            raise UnfitError(f"can't load the arena there: {error}") from None
        except Exception as error:  # noqa: BLE001 - whatever has failed there
            if type(error).__name__ in {"KilledWorker", "CancelledError", "FutureCancelledError"}:
                raise LostError from None
            raise UnfitError(f"could not do its part: {_line(str(error))}") from None
        if trouble:
            raise UnfitError(f"could not do its part: {_line(trouble)}")
        return result


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
        self._handout = Handout(blocks, workers=1)
        self._choose = choose
        self._report = report
        self._stop = stop
        self._slots = 0
        self._batch = 1
        """The most series that any task has had."""
        self._alone_since = monotonic()

    async def play(self) -> None:
        """See `Executor`."""
        async with trio.open_nursery() as nursery:
            for node in list(self._executor.nodes.values()):
                self._begin(node, nursery)
            while self._slots or not self._stop.is_set():
                for peer in await self._executor.look_round():
                    nursery.start_soon(self._admit, peer, nursery)
                if self._slots:
                    self._alone_since = monotonic()
                elif monotonic() - self._alone_since > WAIT_S:
                    raise HostError(
                        f"no worker that could play has been at {self._executor.cluster.place} "
                        f"for {WAIT_S:.0f} s"
                    )
                await trio.sleep(POLL_S)
            nursery.cancel_scope.cancel()

    async def _admit(self, peer: Peer, nursery: trio.Nursery) -> None:
        node = await self._executor.admit(peer)
        if node and not self._stop.is_set():
            self._begin(node, nursery)

    def _begin(self, node: Node, nursery: trio.Nursery) -> None:
        for slot, core in enumerate(node.cores):
            self._slots += 1
            nursery.start_soon(self._work, node, slot, core, nursery.cancel_scope)
        self._handout.widen(self._slots * (1 + self._batch))

    async def _work(self, node: Node, slot: int, core: int | None, all_: trio.CancelScope) -> None:
        """A slot: play until there is nothing more, or the worker is lost."""
        pace = BATCH_S  # seconds a match, as long as nobody knows: one series
        try:
            while not self._stop.is_set():
                turns = await self._turns(pace)
                if not turns:
                    all_.cancel()  # all is played
                    return
                begun = monotonic()
                played = await self._play(node, slot, core, turns)
                if played is None:
                    return
                if played:
                    pace = (monotonic() - begun) / played
        finally:
            self._slots -= 1

    async def _turns(self, pace: float) -> list[Turn]:
        """So many turns as make a task; none: all is played."""
        first = await self._handout.take()
        if first is None:
            return []
        turns, seconds = [first], len(first.series.matches) * pace
        alone = self._executor.alone
        while (
            first.series.id not in alone
            and len(turns) < MOST_BATCH
            and seconds + pace * len(first.series.matches) <= BATCH_S
            and (turn := self._handout.spare(self._slots)) is not None
        ):
            if turn.series.id in alone:
                self._handout.put_back(turn)
                break
            turns.append(turn)
            seconds += len(turn.series.matches) * pace
        wanted = min(MOST_BATCH, int(BATCH_S / (pace * len(first.series.matches) or 1)))
        if wanted > self._batch:
            self._batch = wanted
            self._handout.widen(self._slots * (1 + wanted))
        return turns

    async def _play(
        self, node: Node, slot: int, core: int | None, turns: Sequence[Turn]
    ) -> int | None:
        """Play the series of some turns: how many matches that were; None: the worker is lost."""
        jobs: dict[str, tuple[Turn, Job]] = {}
        for turn in turns:
            if (attempt := self._choose(turn.series)) is None:
                self._handout.give_back(turn)
            else:
                jobs[turn.series.id] = turn, Job(series=turn.series, attempt=attempt)
        if not jobs:
            return 0
        executor = self._executor
        tasks = _encode([job for _, job in jobs.values()])
        why = f"its worker {node.peer.address} was lost"
        try:
            lines = await executor.call(
                node.peer,
                nodes.play,
                executor.name,
                slot,
                core,
                tasks,
            )
        except LostError:
            lines = b""
        except UnfitError as unfit:
            lines, why = b"", f"worker {node.peer.address} {unfit}"
        count = 0
        for line in lines.splitlines():
            message = _report(line)
            if isinstance(message, SeriesEnd):
                turn, _ = jobs.pop(message.series)
                self._told(turn, message)
            else:
                count += 1
                self._report(message)
        for turn, job in jobs.values():
            self._told(turn, SeriesEnd(series=job.series.id, attempt=job.attempt, trouble=why))
        if jobs:
            # If it is there nevertheless it will be seen as new, and looked at again.
            executor.drop(node.peer.id)
            return None
        return count

    def _told(self, turn: Turn, end: SeriesEnd) -> None:
        """A series is over, or void: then it is to be asked about again."""
        self._report(end)
        if end.trouble:
            self._executor.alone.add(end.series)
            self._handout.put_back(turn)
        else:
            self._handout.give_back(turn)


def _ask(config: Config, sandbox: str) -> bytes:
    entrants = tuple(bot.entrant for bot in config.bots)
    return _encode(Ask(settings=config.settings, entrants=entrants, sandbox=sandbox))


def _fit(told: bytes) -> Fit:
    found: Fit | Unfit = nodes.answer(told)
    if isinstance(found, Unfit):
        raise UnfitError(_line(found.trouble))
    return found


def _line(text: str) -> str:
    return "; ".join(filter(None, map(str.strip, text.splitlines())))[:_REASON_CHARS]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
