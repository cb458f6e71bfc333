"""Admit the workers of a cluster, watch which of them are there, and send them tasks.

Theory of operation (docs/design/cluster.md says why). Twice a second the scheduler is polled. A new
worker is examined, its cores are probed, and its cache gets the bots, which it builds and starts.
One that fails any of this is refused with a line, and examined again later if the reason may pass.
One that fails in a series is suspended: what it has in play ends, then it is as if it were new; so
is one after the scheduler was lost. Blocking calls are made in threads; futures call back by trio's
token.

Invariant: no task goes to a worker that is not among `peers`; no core has two slots; a worker is
admitted by one trio task at a time, and only when nothing of ours is in play there.
"""

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from arena.bots import Bundle
from arena.executors import WorkerConfig, dask_tasks
from arena.executors.cluster import Cluster, Peer, refused
from arena.executors.core_probe import CoreTrial
from arena.executors.dask_tasks import Ask, CoreTrials, NodeFit, NodeUnfit
from arena.model import Bot, HostError, UserError
from arena.system import clock, randomness

POLL_S = 0.5
ASK_S = 30.0
LOST_S = 60.0  # we wait so long for a scheduler that can't be reached
BUSY_S = 10.0  # until a worker that has failed, or whose cores other work takes, is examined again
# And one with a fault that can be repaired while the event goes on.
MEND_S = 60.0
SLOWEST = 0.5
"""Of the speed here. The slower of two machines gives a bot fewer thoughts in its limit; processors
of some years differ by less than that, and bots seldom need half of it."""
_REASON_CHARS = 300
_LOST = frozenset({"KilledWorker", "CancelledError", "FutureCancelledError"})

_encode = msgspec.json.Encoder().encode


class LostError(Exception):
    """The worker is gone, or has lost our task."""


class UnfitError(Exception):
    """The worker can't play this event; the message says why."""

    def __init__(self, reason: str, *, again: float = MEND_S, crowded: str = "") -> None:
        super().__init__(reason)
        self.again = again  # seconds until it is examined again
        self.until = clock.monotonic() + again
        self.crowded = crowded
        """The machine whose cores are others'; when one of those leaves, it is examined again."""


class Node(msgspec.Struct, kw_only=True, eq=False):
    peer: Peer
    process: str  # identifies the process: another one may get its address
    fit: NodeFit
    cores: tuple[int | None, ...]  # of its slots
    slots: int = 0
    crowded: dict[int, int] = {}  # by slot: how many trials in a row found other work on its core


class Crew:
    def __init__(
        self,
        cluster: Cluster,
        config: WorkerConfig,
        *,
        sandbox: str,
        bundle: Callable[[str], Bundle | None],
        pin: bool,
        judge: bool,
        note: Callable[[str], None],
    ) -> None:
        self.cluster = cluster
        self.name = randomness.token_hex(8)  # of the event on the workers
        self._configured: dict[str, Peer] = {}  # workers that have the event's WorkerConfig
        self._config = config
        entrants = tuple(bot.entrant for bot in config.bots)
        self._ask = _encode(Ask(settings=config.settings, entrants=entrants, sandbox=sandbox))
        self._bundle = bundle
        self.pin = pin
        self.judge = judge and pin  # whether busy cores and slow machines are refused
        self.note = note
        self._speed_here = 0
        self._uploaded: dict[str, tuple[str, Any]] = {}
        self._packing = trio.Lock()
        self.joined: Callable[[NodeFit], None] = lambda _: None
        """Called with each worker that is going to play."""
        self.peers: dict[str, Peer] = {}
        self.nodes: dict[str, Node] = {}
        self._leaving: dict[str, Node] = {}
        """Those that get nothing more, and still have something in play."""
        self._refused: dict[str, UnfitError] = {}
        self._waiting: dict[str, set[trio.CancelScope]] = defaultdict(set)
        """Cancelled when a worker is lost."""
        self._locks: dict[str, trio.Lock] = {}
        self._entered_in: dict[tuple[str, str], tuple[Bot, ...]] = {}
        """By host and cache: a bot is built and started once in each."""
        self._admitting: set[str] = set()
        self._failed: Exception | None = None  # the error of an admission in the background
        self._lost_since: float | None = None

    async def poll(self) -> list[Peer]:
        """The workers to be admitted now, by the scheduler. HostError: it is gone for good."""
        if self._failed:
            raise self._failed
        try:
            with trio.fail_after(ASK_S):
                peers = await trio.to_thread.run_sync(self.cluster.peers, abandon_on_cancel=True)
        except (OSError, trio.TooSlowError):
            self._without_scheduler()
            return []
        now = {peer.address: peer for peer in peers}
        gone = [address for address in self.peers if self.lost or address not in now]
        if self.lost:  # a worker with one of these addresses is a new one
            self.note("note: the scheduler is there again")
        self._lost_since = None
        self.peers = now
        for address in gone:
            self._drop(address)
        busy = self.nodes.keys() | self._leaving.keys() | self._admitting
        later = {who for who, unfit in self._refused.items() if unfit.until > clock.monotonic()}
        return [peer for who, peer in now.items() if who not in busy and who not in later]

    @property
    def lost(self) -> bool:
        return self._lost_since is not None

    def _without_scheduler(self) -> None:
        place = self.cluster.place
        if self._lost_since is None:
            self._lost_since = clock.monotonic()
            waits = f"waiting {LOST_S:.0f} s for it"
            self.note(f"note: the scheduler {place} can't be reached; {waits}")
        elif clock.monotonic() - self._lost_since > LOST_S:
            raise HostError(f"the scheduler {place} can't be reached any more")

    def _drop(self, address: str) -> None:
        """A worker is gone: cancel what waits for it."""
        self._configured.pop(address, None)
        if gone := self.nodes.pop(address, None) or self._leaving.pop(address, None):
            for unfit in self._refused.values():
                if unfit.crowded == gone.fit.host:
                    unfit.until = 0.0
        self._refused.pop(address, None)
        for scope in self._waiting.pop(address, ()):
            scope.cancel()

    def hopeful(self) -> bool:
        """Whether a worker was refused for a reason that may pass soon."""
        return any(unfit.again <= BUSY_S for unfit in self._refused.values())

    async def measure_here(self) -> None:
        if self.judge:
            found = dask_tasks.answer(await trio.to_thread.run_sync(dask_tasks.try_cores, (None,)))
            assert isinstance(found, CoreTrials)
            self._speed_here = found.trials[0].speed

    def start_admission(self, peer: Peer) -> None:
        """Admit it in the background: a machine may build bots for longer than a wave lasts."""
        self._admitting.add(peer.address)
        trio.lowlevel.spawn_system_task(self._admit_for_itself, peer)

    async def _admit_for_itself(self, peer: Peer) -> None:
        try:
            await self.admit(peer)
        except Exception as error:  # noqa: BLE001 - the next `poll` raises it
            self._failed = error

    async def admit(self, peer: Peer) -> None:
        self._admitting.add(peer.address)
        try:
            await self._enter(peer)
        except LostError:
            if peer.address in self.peers and self.cluster.connected:
                lost = UnfitError("was lost while it was made ready", again=BUSY_S)
                self._leave_out(peer, "is left out", lost)
        except UnfitError as unfit:
            self._leave_out(peer, "is left out", unfit)
        else:
            if self._refused.pop(peer.address, None):
                self.note(f"note: worker {peer.address} plays now")
        finally:
            self._admitting.discard(peer.address)

    def _leave_out(self, peer: Peer, how: str, unfit: UnfitError) -> None:
        before = self._refused.get(peer.address)
        self._refused[peer.address] = unfit
        if before is None or str(before) != str(unfit):
            self.note(f"note: worker {peer.address} {how}: {unfit}")

    def leave(self, node: Node) -> None:
        """Send it nothing more; if it is still there, it is examined anew."""
        if self.nodes.get(node.peer.address) is node:
            del self.nodes[node.peer.address]
            self._leaving[node.peer.address] = node
            self._entered_in.pop((node.fit.host, node.fit.cache), None)

    def suspend(self, node: Node, why: str, *, again: float = BUSY_S) -> None:
        """`leave`, and refuse it for a while: it has failed."""
        if self.nodes.get(node.peer.address) is node:
            self.leave(node)
            self._leave_out(node.peer, "sits out", UnfitError(_line(why), again=again))

    def slot_over(self, node: Node) -> None:
        node.slots -= 1
        if not node.slots and self._leaving.get(node.peer.address) is node:
            del self._leaving[node.peer.address]

    async def _enter(self, peer: Peer) -> None:
        if why := refused(peer.address):
            raise UnfitError(why, again=math.inf)
        theirs, ours = await self.call(peer, dask_tasks.versions), dask_tasks.versions()
        if not isinstance(theirs, list) or len(theirs) != len(ours):
            raise _strange()
        for what, there, here in zip(("arena", "Python"), theirs, ours, strict=True):
            if there != here:
                why = f"has {what} {there}, here it is {here}; both must be the same"
                raise UnfitError(why, again=math.inf)
        fit = _fit(await self.call(peer, dask_tasks.look, self._ask))
        async with self._locks.setdefault(fit.host, trio.Lock()):
            trials = await self._cores(peer, fit)
            cache = fit.host, fit.cache
            if (bots := self._entered_in.get(cache)) is None:
                await self._send(peer, fit.missing)
                entered = _fit(await self.call(peer, dask_tasks.enter, self._ask))
                bots = self._entered_in[cache] = entered.bots
            config = replace(self._config, bots=bots, sandbox=fit.sandbox)
            self._configured[peer.address] = peer
            process = await self.call(peer, dask_tasks.keep, self.name, _encode(config))
            machine = replace(fit.machine, speed=min(trial.speed for trial in trials))
            fit, own = replace(fit, machine=machine), tuple(trial.core for trial in trials)
            self.nodes[peer.address] = Node(peer=peer, process=process, fit=fit, cores=own)

    async def _cores(self, peer: Peer, fit: NodeFit) -> list[CoreTrial]:
        """A core for each thread of a worker, on which no other worker of ours plays."""
        if not self.pin:
            (trial,) = await self._try_cores(peer, (None,))
            return [trial] * peer.threads
        nodes = (*self.nodes.values(), *self._leaving.values())
        others = {core for node in nodes if node.fit.host == fit.host for core in node.cores}
        # A worker with cores of its own, as in a batch system, shares none of these.
        taken = others.intersection(fit.cores)
        left = [core for core in fit.cores if core not in taken]
        if len(taken) + peer.threads > fit.room or len(left) < peer.threads:
            raise UnfitError(
                f"has {_threads(peer)}, and the machine has room for {fit.room} "
                f"of this event, {len(taken)} taken by other workers there; start fewer of them, "
                "or say --no-pin if times needn't be even",
                again=MEND_S if taken else math.inf,
                crowded=fit.host if taken else "",
            )
        if not self.judge:
            return list(await self._try_cores(peer, left[: peer.threads]))
        return await self._free(peer, left)

    async def _free(self, peer: Peer, cores: list[int]) -> list[CoreTrial]:
        """One core for each thread, of those on which a trial finds no other work."""
        free: list[CoreTrial] = []
        while cores and len(free) < peer.threads:
            some = cores[: peer.threads - len(free)]
            cores = cores[len(some) :]
            trials = await self._try_cores(peer, some)
            for trial in trials:
                if trial.speed < SLOWEST * self._speed_here:
                    raise UnfitError(
                        f"is {trial.speed / self._speed_here:.2f} times as fast as the machine "
                        f"here; under {SLOWEST:g} bots would get too little in their limits; "
                        "say --no-pin if times needn't be even",
                        again=math.inf,
                    )
            free += [trial for trial in trials if trial.free]
        if len(free) < peer.threads:
            raise UnfitError(
                f"has {_threads(peer)}, and other work takes its cores; it is examined again every "
                f"{BUSY_S:.0f} s; say --no-pin if times needn't be even",
                again=BUSY_S,
            )
        return free

    async def _try_cores(self, peer: Peer, cores: Sequence[int | None]) -> tuple[CoreTrial, ...]:
        found = _answer(await self.call(peer, dask_tasks.try_cores, tuple(cores)))
        if not isinstance(found, CoreTrials) or [each.core for each in found.trials] != [*cores]:
            raise _strange()
        return found.trials

    async def _send(self, peer: Peer, missing: Sequence[str]) -> None:
        """Fill its cache. It knows which packages a bot needs when it has the bot."""
        sent: set[str] = set()
        while new := [name for name in missing if name not in sent]:
            for name in new:
                if held := await self._hold(name, peer):
                    await self.call(peer, dask_tasks.take, name, *held)
            sent.update(new)
            missing = _fit(await self.call(peer, dask_tasks.look, self._ask)).missing

    async def _hold(self, name: str, peer: Peer) -> tuple[str, Any] | None:
        """Upload an entry of our cache: its checksum, and a future of distributed's."""
        async with self._packing:  # one for all, and one at a time in memory
            if held := self._uploaded.get(name):
                if held[1].status in {"pending", "finished"}:
                    return held
                held[1].release()  # its scheduler is gone, or all workers that had it
            try:
                bundle = await trio.to_thread.run_sync(self._bundle, name)
            except UserError as error:
                raise UnfitError(_line(str(error))) from None
            if bundle is None:
                return None
            future = await self._submitted(lambda: self.cluster.hold(*bundle, peer))
            self._uploaded[name] = bundle.sum, future
            return self._uploaded[name]

    def close(self) -> None:
        """Make the workers forget the event. Blocks."""
        self._uploaded.clear()
        self.cluster.leave(dask_tasks.leave, self.name, list(self._configured.values()))

    async def call(self, peer: Peer, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
        """Run a task: its result. LostError: its worker is gone; UnfitError: it failed there."""
        result, future = await self.ask(peer, function, *arguments)
        future.release()
        return result

    async def ask(
        self, peer: Peer, function: Callable[..., Any], *arguments: object
    ) -> tuple[Any, Any]:
        """Run a task: its result, and its future for the caller to release."""
        token, ended = trio.lowlevel.current_trio_token(), trio.Event()

        def wake() -> None:
            with contextlib.suppress(trio.RunFinishedError):
                token.run_sync_soon(ended.set)

        if peer.address not in self.peers:
            raise LostError
        future = None
        with trio.CancelScope() as scope:
            self._waiting[peer.address].add(scope)
            try:
                future = await self._submitted(
                    lambda: self.cluster.submit(
                        dask_tasks.do, function.__name__, *arguments, peer=peer, then=wake
                    )
                )
                await ended.wait()
                return await _result(future), future
            except BaseException:
                if future is not None:
                    future.release()
                raise
            finally:
                self._waiting.get(peer.address, set()).discard(scope)
        raise LostError  # while we waited

    async def _submitted(self, submit: Callable[[], Any]) -> Any:  # noqa: ANN401
        try:
            return await trio.to_thread.run_sync(submit)
        except Exception:  # noqa: BLE001 - a client says in many ways that it has lost its scheduler
            raise LostError from None


async def _result(future: Any) -> Any:  # noqa: ANN401
    if future.status not in {"finished", "error"}:
        raise LostError
    try:
        with trio.fail_after(ASK_S):
            trouble, result = await trio.to_thread.run_sync(future.result, abandon_on_cancel=True)
    except trio.TooSlowError:
        raise LostError from None
    except ImportError as error:
        raise UnfitError(f"can't load the arena there: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever has failed there
        if type(error).__name__ in _LOST:
            raise LostError from None
        raise UnfitError(f"could not do its part: {_line(str(error))}") from None
    if trouble:
        raise UnfitError(f"could not do its part: {_line(str(trouble))}")
    return result


def _strange() -> UnfitError:
    return UnfitError("gives answers to something else", again=math.inf)


def _answer(encoded: Any) -> dask_tasks.NodeAnswer:  # noqa: ANN401 - a worker may send anything
    try:
        found: dask_tasks.NodeAnswer = dask_tasks.answer(encoded)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        raise _strange() from None
    return found


def _fit(encoded: Any) -> NodeFit:  # noqa: ANN401 - as above
    found = _answer(encoded)
    if isinstance(found, NodeUnfit):
        raise UnfitError(_line(found.trouble))
    if not isinstance(found, NodeFit):
        raise _strange()
    return found


def _line(text: str) -> str:
    return "; ".join(filter(None, map(str.strip, text.splitlines())))[:_REASON_CHARS]


def _threads(peer: Peer) -> str:
    return f"{peer.threads} thread{'' if peer.threads == 1 else 's'}"
