"""`--on dask`: an event on a Dask cluster, for the commands that play one.

The executor that plays where they say, and what its nodes add to the event. Loads
`distributed` only when it is asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from arena.executors import Executor, WorkerConfig
    from arena.model import Bot, Event
    from arena.sandbox import Backend
    from arena.store import Store

ENGINE = "dask"
_LOCAL = "local:"


class Where(NamedTuple):
    """What was asked for."""

    place: str
    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None

    @property
    def flags(self) -> str:
        """The flags that ask for it, for copying."""
        words = ["--on", ENGINE, self.place]
        files = {"--tls-ca": self.tls_ca, "--tls-cert": self.tls_cert, "--tls-key": self.tls_key}
        for flag, path in files.items():
            words += [flag, str(path)] if path else []
        return shlex.join(words)


@contextmanager
def playing(
    event: Event,
    secret: bytes,
    bots: Sequence[Bot],
    backend: Backend,
    *,
    sandbox: str,
    cache: Path,
    jobs: int | None,
    room: int,
    pin: bool,
    where: Where | None,
) -> Iterator[tuple[Executor, Event, Callable[[Store, Callable[[str], None]], None]]]:
    """An executor for the event; the event with the machines that are going to play it; and what
    is to be told where those are recorded that join later, and who shows notes.
    """
    from arena.executors.local import LocalExecutor
    from arena.machine.facts import played_here, worker_config, workers_of

    config = worker_config(event, secret, bots, backend)
    if where is None:
        workers = workers_of(jobs, room)
        local = LocalExecutor(config, jobs=workers, pin=pin)
        yield local, played_here(event, backend), lambda _store, _note: None
        return
    with _on_cluster(where, config, sandbox, cache, room, pin=pin) as (executor, fits):
        from arena.machine.groups import hosted

        for fit in fits:
            event = hosted(event, fit.sandbox, fit.confinement, (fit.machine,))

        def told(store: Store, note: Callable[[str], None]) -> None:
            def joined(fit: Any) -> None:  # noqa: ANN401
                now = hosted(store.event, fit.sandbox, fit.confinement, (fit.machine,))
                if now != store.event:
                    store.restate(now)

            executor.crew.joined = joined
            executor.crew.note = note
            executor.log = lambda: (store.written, store.durable)

        yield executor, event, told


@contextmanager
def _on_cluster(
    where: Where, config: WorkerConfig, sandbox: str, cache: Path, room: int, *, pin: bool
) -> Iterator[tuple[Any, list[Any]]]:
    import trio

    from arena.bots import pack
    from arena.executors.cluster import MOST_LOCAL, Tls, connected
    from arena.executors.cores import fair_jobs
    from arena.executors.crew import Crew
    from arena.executors.dask import DaskExecutor
    from arena.machine.facts import workers_of
    from arena.terminal.screen import say

    local = where.place.startswith(_LOCAL)
    number = where.place[len(_LOCAL) :] if local else ""
    if number.isdigit() and 1 <= int(number) <= MOST_LOCAL:
        workers_of(int(number), room)
        pin = pin and int(number) <= fair_jobs()
    tls = None
    if where.tls_ca and where.tls_cert:
        tls = Tls(where.tls_ca, where.tls_cert, where.tls_key)
    with connected(where.place, tls) as cluster:
        crew = Crew(
            cluster,
            config,
            sandbox=sandbox,
            bundle=lambda name: pack(name, cache=cache),
            pin=pin,
            judge=not local,
            note=say,
        )
        executor = DaskExecutor(crew)
        try:
            yield executor, trio.run(executor.gather)
        finally:
            executor.close()
