"""Connect to a Dask cluster: the only module that imports `distributed`, wrapped with types.

Everything here blocks, so trio calls it in threads. Tasks are pickles, which anyone who can reach
a worker may send: so a connection that leaves this machine is TLS with certificates of both ends,
or there is none.

Invariant: nothing is sent to a scheduler or a worker before its address has been checked.
"""

import contextlib
import ipaddress
import logging
import re
import shlex
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena.exhaustion import ran_out
from arena.model import Frozen, HostError, UserError
from arena.system import randomness

CONNECT_S = 10.0
# For a goodbye to workers that may be gone.
LEAVE_S = 5.0
_ADDRESS = re.compile(r"(?:(tls|tcp)://)?(\[[^\]]+\]|[^:/\[\]]+):(\d+)")
_LOCAL = re.compile(r"local:(\d+)")
MOST_LOCAL = 256  # workers of `local:N`: more are a slip of the finger
EXTRA = "pip install 'nine-arena[dask]'"


class ClusterOptions(Frozen, frozen=True, kw_only=True):
    """A Dask cluster to play on (`--on dask`)."""

    place: str
    """`local:N`, the scheduler's address, or its file."""
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        if (self.tls_ca is None) != (self.tls_cert is None) or (self.tls_key and not self.tls_cert):
            raise UserError("--tls-ca and --tls-cert go together (and --tls-key, if it is apart)")

    @property
    def workers(self) -> int | None:
        """N of `local:N`."""
        found = _LOCAL.fullmatch(self.place)
        return int(found[1]) if found else None

    @property
    def files(self) -> dict[str, Path]:
        """Those of the certificates, by their flags."""
        every = {"--tls-ca": self.tls_ca, "--tls-cert": self.tls_cert, "--tls-key": self.tls_key}
        return {flag: path for flag, path in every.items() if path}

    @property
    def flags(self) -> str:
        """The flags that ask for it, for copying."""
        files = (word for flag, path in self.files.items() for word in (flag, str(path)))
        return shlex.join(["--on", "dask", self.place, *files])


class Peer(NamedTuple):
    address: str
    threads: int


class Cluster:
    def __init__(self, place: str, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._client = connect()
        self.place = place

    def peers(self) -> list[Peer]:
        """The workers that are there; OSError when the scheduler isn't."""
        if self._client.status == "closed":  # it has given up to connect again
            try:
                self._client = self._connect()
            except UserError as error:
                raise ConnectionError(str(error)) from None
        if not self.connected:  # it is connecting again
            raise ConnectionError(self.place)
        # Not `scheduler_info`: of a thousand workers that is a megabyte, twice a second.
        known = self._client.nthreads()
        return [Peer(address, threads) for address, threads in sorted(known.items())]

    @property
    def connected(self) -> bool:
        return bool(self._client.status == "running")

    def submit(
        self, function: Callable[..., Any], *arguments: object, peer: Peer, then: Callable[[], None]
    ) -> Any:  # noqa: ANN401 - a future of distributed's
        """Run a function on one worker; `then` is called in some thread when it has ended."""
        future = self._client.submit(
            function, *arguments, workers=[peer.address], allow_other_workers=False, pure=False
        )
        future.add_done_callback(lambda _: then())
        return future

    def hold(self, total: str, bundle: bytes, peer: Peer) -> Any:  # noqa: ANN401 - as above
        """Upload bytes that workers copy from each other; to this one first, again if it dies."""
        return self._client.submit(
            bytes,
            bundle,
            key=f"arena-bundle-{total}-{randomness.token_hex(4)}",  # one that has failed stays so
            workers=[peer.address],
            allow_other_workers=True,
        )

    def close(self) -> None:
        _quietly(self._client.close)

    def leave(self, function: Callable[[str], None], event: str, peers: list[Peer]) -> None:
        """Call a function on workers at once, before all tasks; skip those out of reach."""
        if not self.connected:
            return
        with contextlib.suppress(Exception):
            self._client.sync(
                self._client._run,  # noqa: SLF001 - `run` with a limit to the waiting
                function,
                event,
                workers=[peer.address for peer in peers],
                on_error="ignore",
                callback_timeout=LEAVE_S,
            )


def refused(address: str) -> str:
    """Why nothing may be sent to that address; empty: it may."""
    if (found := _ADDRESS.fullmatch(address)) is None:
        return "is no address of a scheduler or worker: tls://HOST:PORT"
    if found[1] != "tls" and not _loopback(found[2]):
        return (
            "is plain TCP beyond this machine, where anybody could send programs to run: start "
            "scheduler and workers with certificates, and name tls://HOST:PORT"
        )
    return ""


def _loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"


@contextlib.contextmanager
def connected(where: ClusterOptions) -> Iterator[Cluster]:
    """The cluster at an address, or in a scheduler's file, or a new one of this machine."""
    place, workers = where.place, where.workers
    if workers is None:
        _address(where)  # what is wrong with it, before half a second of loading
    distributed = _library()
    security = _security(distributed, where)
    with contextlib.ExitStack() as stack:
        ours = ""
        if workers is not None:
            ours = stack.enter_context(_of_our_own(distributed, workers, security))

        def connect() -> Any:  # noqa: ANN401 - distributed has no types
            # A scheduler that is started anew may have written another address into its file.
            address = ours or _address(where)
            if address.startswith("tls://"):
                _check_tls(security, address)
            client = _client(distributed, address, security)
            listens = client.scheduler_info(n_workers=0)["address"]
            if why := refused(listens):
                _quietly(client.close)
                what = f"the scheduler listens at {listens}, which {why}"
                raise UserError(f"--on dask {place}: {what}")
            return client

        yield stack.enter_context(contextlib.closing(Cluster(place, connect)))


def _address(where: ClusterOptions) -> str:
    place = where.place
    if place.startswith("local:"):
        raise UserError(f"--on dask {place}: local:N is N worker processes of this machine")
    if "://" not in place and not _ADDRESS.fullmatch(place):
        path = Path(place)
        try:
            found = msgspec.json.decode(path.read_bytes(), type=Mapping[str, object])
            place = str(found["address"])
        except OSError as error:
            what = "neither local:N, nor an address (tls://HOST:PORT), nor a scheduler's file"
            raise UserError(f"--on dask {path}: {what}: {error.strerror}") from None
        except (msgspec.DecodeError, KeyError):
            what = f"not what `dask scheduler --scheduler-file {path}` writes"
            raise UserError(f"--on dask {path}: {what}") from None
    if "://" not in place:
        place = f"{'tls' if where.tls_ca else 'tcp'}://{place}"
    if why := refused(place):
        raise UserError(f"--on dask {place}: {why}")
    return place


def _library() -> Any:  # noqa: ANN401 - distributed has no types
    try:
        import dask  # noqa: PLC0415 - an extra, and half a second
        import distributed  # noqa: PLC0415
    except ImportError:
        raise UserError(f"--on dask needs Dask: {EXTRA}") from None
    # Bundles of some size, and another scheduler's pages at the usual port, are nothing to warn of.
    for message in ("Sending large graph", r"\s*Port \d+ is already in use"):
        warnings.filterwarnings("ignore", message=message)
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.comm.timeouts.connect": f"{CONNECT_S:g} s"})
    return distributed


def _security(distributed: Any, where: ClusterOptions) -> Any:  # noqa: ANN401 - as above
    """With the flags' files, else those that Dask's own settings name, if they do."""
    if where.tls_ca is None:
        return distributed.Security()
    for flag, path in where.files.items():
        try:
            path.read_bytes()
        except OSError as error:
            raise UserError(f"{flag} {path}: {error.strerror}") from None
    mine = {}
    for role in ("client", "scheduler", "worker"):
        mine[f"tls_{role}_cert"] = str(where.tls_cert)
        mine[f"tls_{role}_key"] = str(where.tls_key or where.tls_cert)
    return distributed.Security(require_encryption=True, tls_ca_file=str(where.tls_ca), **mine)


def _check_tls(security: Any, address: str) -> None:  # noqa: ANN401 - as above
    if not (security.tls_ca_file and security.tls_client_cert):
        flags = "--tls-ca CA --tls-cert CERTIFICATE --tls-key KEY"
        raise UserError(f"--on dask {address}: needs certificates: {flags}")
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:
        raise UserError(f"--on dask {address}: the certificates can't be used: {error}") from None


def _client(distributed: Any, address: str, security: Any) -> Any:  # noqa: ANN401 - as above
    try:
        return distributed.Client(
            address, security=security, timeout=CONNECT_S, set_as_default=False
        )
    except (OSError, TimeoutError) as error:
        reason = _innermost(error)
        what = "start it, or name another; one with certificates is tls://HOST:PORT"
        if address.startswith("tls://"):
            what = "start it, or look whether its certificates are of the same authority"
        why = f"no scheduler answers there ({reason}); {what}"
        raise UserError(f"--on dask {address}: {why}") from None


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextlib.contextmanager
def _of_our_own(distributed: Any, workers: int, security: Any) -> Iterator[str]:  # noqa: ANN401
    """A scheduler in this process, and worker processes, on the loopback alone."""
    if not 1 <= workers <= MOST_LOCAL:
        raise UserError(f"--on dask local:{workers}: 1 to {MOST_LOCAL} workers")
    import dask  # noqa: PLC0415 - an extra

    theirs = {
        "distributed.worker.preload": ["arena.executors.dask_tasks"],
        # It looks at every thread a hundred times a second, on the bots' cores.
        "distributed.worker.profile.enabled": False,
        # And these look at themselves, which takes a process the hundredth part of a core.
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.worker.memory.monitor-interval": "5s",
        "distributed.scheduler.active-memory-manager.start": False,
        # Of the last thousand messages to each worker, tasks and all, a scheduler keeps a copy.
        "distributed.admin.low-level-log-length": 10,
    }
    try:
        with _deaf(), dask.config.set(theirs):
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://" if security.tls_ca_file else "tcp://",
                security=security,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError) as error:
        what = ran_out(error) or _innermost(error)
        raise HostError(f"--on dask local:{workers}: can't start its processes: {what}") from None
    try:
        # What is started anew in the place of a dead one stays out of the terminal's group, too.
        with dask.config.set(theirs):
            yield cluster.scheduler_address
    finally:
        _quietly(cluster.close)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Children that are started now don't hear Ctrl-C before they have left its group."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _quietly(close: Callable[..., Any]) -> None:
    """Say goodbye; a cluster that is gone already is no trouble."""
    with contextlib.suppress(Exception):
        close(timeout=LEAVE_S)
