"""Listen on this machine and serve an ASGI app, guarded from other pages, within a trio program.

    with listen(port) as listening:            # 0 or None: any free port
        server = Server(guard_app(app, listening, LOOPBACK), listening)
        await nursery.start(server.serve)
        print(url_of(listening))
        await server.stop()

Theory of operation. One task accepts connections, one task each serves them. An error in one ends
that one alone. Cancelling the nursery ends everything at once, since nothing is shielded; `stop`
accepts no more connections and gives the open ones GRACE_S to end.

A page on the web can make the visitor's browser request 127.0.0.1, and, with a name of its own that
it resolves to this address, read the answer (DNS rebinding). So a request must name this server by
a name that no stranger can resolve to it and use an expected method, and a request that changes
something must come from a page of ours. Answers tell the browser to load nothing from elsewhere, to
run no script but ours, and to allow no framing.

Invariant: no exception of a connection or of the app leaves here; at most MOST_CONNECTIONS are
open. No answer leaves without the guard's headers; a refused request never reaches the app.
"""

import errno
import ipaddress
import socket
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

import trio
from starlette.responses import PlainTextResponse

from arena.live.http import App, Connection, Message, Receive, Scope, Send
from arena.model import Frozen, UserError
from arena.system import network

LOOPBACK = "127.0.0.1"
# A viewer has one open stream and at times one more connection; a class has a hundred viewers.
MOST_CONNECTIONS = 256
# Bytes that the kernel buffers for a client that doesn't read; its default is megabytes.
SEND_BUFFER = 65_536
GRACE_S = 1.0  # for open connections, when the server stops
FULL_S = 0.2  # before the next accept, when no descriptors are left
_BACKLOG = 64
_FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

READ_ONLY = frozenset({"GET", "HEAD"})

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with none, forms of ours would have no Origin
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_NAMES = frozenset(name for name, _ in HEADERS)
_NOT_KEPT = ((b"cache-control", b"no-store"),)


def listen(port: int | None, host: str = LOOPBACK) -> network.Socket:
    """A listening socket; UserError if the port can't be opened."""
    try:
        found = network.addresses(host, port or 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UserError(f"{host}: this machine has no such address to listen on") from None
    family, kind, protocol, _, address = found[0]
    listening = network.new_socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit both.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise UserError(_why_not(error, port, host)) from None
    listening.setblocking(False)  # noqa: FBT003 - positional only
    return listening


def _why_not(error: OSError, port: int | None, host: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; name another, or none: then one that is free is taken"
    if error.errno == errno.EACCES:
        return f"port {port} is not for you to open; name one above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host}: this machine has no such address to listen on"
    return f"can't listen on {host}, port {port}: {error.strerror}"


def host_of(header: str) -> str:
    """The name in a Host header, without port and brackets; empty if it is malformed."""
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    """Whether a host is an IP address, which can't be pointed elsewhere."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard(Frozen, frozen=True):
    app: App
    methods: Collection[str] = READ_ONLY
    names: Collection[str] = ("localhost",)
    addresses: Collection[str] | None = ("127.0.0.1", "::1")
    """By these and by the names, in lower case, a browser may call us; None allows any address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", ()) if pair[0] not in _NAMES]
                caching = () if any(key == b"cache-control" for key, _ in kept) else _NOT_KEPT
                message = {**message, "headers": [*kept, *HEADERS, *caching]}
            await send(message)

        status, text = self._judge(scope)
        if status:
            allow = {"allow": ", ".join(sorted(self.methods))} if status == 405 else None
            await PlainTextResponse(f"{text}\n", status, allow)(scope, receive, sending)
        else:
            await self.app(scope, receive, sending)

    def _judge(self, scope: Scope) -> tuple[int, str]:
        """(status, reason) of a refusal, or (0, "")."""
        headers = dict(scope["headers"])
        if sum(key == b"host" for key, _ in scope["headers"]) != 1 or not self._ours(
            headers[b"host"].decode("latin-1")
        ):
            return 421, "this server goes by another name; open it by the address it printed"
        if scope["method"] not in self.methods:
            return 405, "there is nothing here but to look at"
        if scope["method"] not in READ_ONLY and not self._same_origin(headers):
            return 403, "that may be asked for by our own pages alone"
        return 0, ""

    def _ours(self, header: str) -> bool:
        host = host_of(header)
        if host in self.names:
            return True
        return is_address(host) and (self.addresses is None or host in self.addresses)

    @staticmethod
    def _same_origin(headers: dict[bytes, bytes]) -> bool:
        site = headers.get(b"sec-fetch-site", b"same-origin")
        try:
            origin = urlsplit(headers.get(b"origin", b"").decode("latin-1")).netloc
        except ValueError:
            return False
        return site in (b"same-origin", b"none") and origin == headers[b"host"].decode("latin-1")


def guard_app(
    app: App, listening: network.Socket, host: str, methods: Collection[str] = READ_ONLY
) -> Guard:
    """The app behind a `Guard` that fits the address."""
    if ipaddress.ip_address(listening.getsockname()[0]).is_loopback:
        return Guard(app, methods)
    names = ["localhost", network.host_name(), *([] if is_address(host) else [host])]
    return Guard(app, methods, frozenset(map(str.lower, names)), addresses=None)


class Server:
    """See the module. `failed` is called with the app's errors."""

    def __init__(
        self,
        app: App,
        listening: network.Socket,
        *,
        failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self._app = app
        self._listening = listening
        self._failed = failed
        self._open = 0
        self._stopping = trio.Event()
        self._ended = trio.Event()

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until stopped or cancelled; closes the socket."""
        accepting = trio.socket.from_stdlib_socket(self._listening)
        try:
            with accepting:
                async with trio.open_nursery() as nursery:
                    async with trio.open_nursery() as taking:
                        taking.start_soon(self._accept, accepting, nursery)
                        task_status.started()
                        await self._stopping.wait()
                        taking.cancel_scope.cancel()
                    accepting.close()
                    nursery.cancel_scope.deadline = trio.current_time() + GRACE_S
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """Accept no more connections, give the open ones a moment, and end."""
        self._stopping.set()
        await self._ended.wait()

    async def _accept(self, accepting: trio.socket.SocketType, nursery: trio.Nursery) -> None:
        while True:
            try:
                client, _ = await accepting.accept()
            except OSError as error:
                if error.errno in _FULL:
                    await trio.sleep(FULL_S)
                continue  # otherwise the client left before it was accepted
            if self._open < MOST_CONNECTIONS:
                self._open += 1
                nursery.start_soon(self._serve, client)
            else:
                client.close()

    async def _serve(self, client: trio.socket.SocketType) -> None:
        try:
            with client:
                await Connection(trio.SocketStream(client), self._app).run()
        except OSError:
            pass  # the connection broke before its first byte
        except Exception as error:  # noqa: BLE001 - an error of the app ends its connection alone
            self._failed(error)
        finally:
            self._open -= 1


def url_of(listening: network.Socket) -> str:
    """The address for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        host = LOOPBACK if address.version == 4 else "::1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
