"""Venue of an event: the executor that plays it, on this machine or on a Dask cluster.

`distributed` is loaded only for a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from arena.event.options import RunOptions
from arena.event.workshop import Workshop
from arena.executors import Executor
from arena.executors.cores import fair_jobs
from arena.executors.local import LocalExecutor
from arena.machine import Notify
from arena.machine.facts import played_here, with_host, worker_config, workers_of
from arena.model import Bot, Event
from arena.store import Store

if TYPE_CHECKING:
    from arena.executors.dask import DaskExecutor


class Venue(NamedTuple):
    executor: Executor
    event: Event  # with the machines that are going to play it
    cluster: DaskExecutor | None = None

    def attach(self, store: Store, note: Notify) -> None:
        """Record machines that join the cluster later; `note` shows what happens there."""
        if self.cluster is None:
            return

        def joined(fit: Any) -> None:  # noqa: ANN401 - its type needs `distributed`
            now = with_host(store.event, fit.sandbox, fit.confinement, (fit.machine,))
            if now != store.event:
                store.restate(now)

        self.cluster.crew.joined = joined
        self.cluster.crew.note = note
        self.cluster.log = lambda: (store.written, store.durable)


@contextmanager
def venue(
    event: Event, secret: bytes, bots: Sequence[Bot], workshop: Workshop, options: RunOptions
) -> Iterator[Venue]:
    config = worker_config(event, secret, bots, workshop.backend)
    where, room, notify = options.cluster, workshop.room, workshop.notify
    if where is None:
        workers = workers_of(options.jobs, room, notify)
        here = replace(config, probe=workshop.backend.probe())
        local = LocalExecutor(here, jobs=workers, pin=options.pin)
        yield Venue(local, played_here(event, workshop.backend))
        return

    import trio

    from arena.bots import pack
    from arena.executors.cluster import MOST_LOCAL, connected
    from arena.executors.crew import Crew
    from arena.executors.dask import DaskExecutor

    pin, ours = options.pin, where.workers
    if ours and ours <= MOST_LOCAL:
        workers_of(ours, room, notify)
        pin = pin and ours <= fair_jobs()
    with connected(where) as cluster:
        crew = Crew(
            cluster,
            config,
            sandbox=options.sandbox or "auto",
            bundle=lambda name: pack(name, cache=workshop.cache),
            pin=pin,
            judge=ours is None,
            note=notify,
        )
        executor = DaskExecutor(crew)
        try:
            for fit in trio.run(executor.gather):
                event = with_host(event, fit.sandbox, fit.confinement, (fit.machine,))
            yield Venue(executor, event, executor)
        finally:
            executor.close()
