"""Protect an ASGI app on this machine from other web pages.

A page on the web can make the visitor's browser request 127.0.0.1, and, with a name of its own that
it resolves to this address, read the answer (DNS rebinding). So a request must name this server by
a name that no stranger can resolve to it and use an expected method, and a request that changes
something must come from a page of ours. Answers tell the browser to load nothing from elsewhere, to
run no script but ours, and to allow no framing.

Invariant: no answer leaves without these headers; a refused request never reaches the app.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse

from arena.live.http import App, Message, Receive, Scope, Send

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


class Guard:
    def __init__(
        self,
        app: App,
        *,
        names: Collection[str] = ("localhost",),
        addresses: Collection[str] | None = ("127.0.0.1", "::1"),
        methods: Collection[str] = READ_ONLY,
    ) -> None:
        """`names`, `addresses`: by which a browser may call us; None allows any address."""
        self._app = app
        self._names = frozenset(name.lower() for name in names)
        self._addresses = None if addresses is None else frozenset(addresses)
        self._methods = frozenset(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", ()) if pair[0] not in _NAMES]
                caching = () if any(key == b"cache-control" for key, _ in kept) else _NOT_KEPT
                message = {**message, "headers": [*kept, *HEADERS, *caching]}
            await send(message)

        status, text = self._judge(scope)
        if status:
            allow = {"allow": ", ".join(sorted(self._methods))} if status == 405 else None
            await PlainTextResponse(f"{text}\n", status, allow)(scope, receive, sending)
        else:
            await self._app(scope, receive, sending)

    def _judge(self, scope: Scope) -> tuple[int, str]:
        """(status, reason) of a refusal, or (0, "")."""
        headers = dict(scope["headers"])
        if sum(key == b"host" for key, _ in scope["headers"]) != 1 or not self._ours(
            headers[b"host"].decode("latin-1")
        ):
            return 421, "this server goes by another name; open it by the address it printed"
        if scope["method"] not in self._methods:
            return 405, "there is nothing here but to look at"
        if scope["method"] not in READ_ONLY and not self._same_origin(headers):
            return 403, "that may be asked for by our own pages alone"
        return 0, ""

    def _ours(self, header: str) -> bool:
        host = host_of(header)
        if host in self._names:
            return True
        return is_address(host) and (self._addresses is None or host in self._addresses)

    @staticmethod
    def _same_origin(headers: dict[bytes, bytes]) -> bool:
        site = headers.get(b"sec-fetch-site", b"same-origin")
        try:
            origin = urlsplit(headers.get(b"origin", b"").decode("latin-1")).netloc
        except ValueError:
            return False
        return site in (b"same-origin", b"none") and origin == headers[b"host"].decode("latin-1")


_NOT_KEPT = ((b"cache-control", b"no-store"),)
