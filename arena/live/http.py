"""Serve one HTTP/1.1 connection (h11) for an ASGI app.

Theory of operation. A connection is a loop of exchanges: a request is read whole, the app answers
it, and the next one follows if both sides keep the connection. While the app answers, a second task
watches for the client to hang up, which cancels the app. Each write has a deadline, so a client
that doesn't read is dropped. Nothing is shielded from cancellation (docs/design/live.md says why).

Invariant: for any bytes in any pieces an exchange ends within its deadlines; a connection holds at
most one request of HEAD_BYTES and BODY_BYTES, and one write of the app.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import h11
import trio

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]  # an ASGI application (version 3)

HEAD_BYTES = 16_384  # browsers send 2 KB of headers; h11's own default
BODY_BYTES = 16_384  # a move takes fifty bytes, and is all that a page sends
REQUEST_S = 30.0  # for a request to arrive; browsers open some connections in advance
WRITE_S = 10.0  # for a write of up to 64 KB; a client that takes longer does not read
READ_BYTES = 16_384

_NO_BODY = (204, 304)
GONE = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""A client has hung up, or reads no more."""


class _TooMuchError(Exception):
    """A request's body exceeds BODY_BYTES: the client's fault."""


class Connection:
    def __init__(self, stream: trio.SocketStream, app: App) -> None:
        self._stream = stream
        self._app = app
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)

    async def run(self) -> None:
        """Serve requests until either side closes. Only the app's own errors are raised."""
        try:
            while await self._exchange():
                self._http.start_next_cycle()
        except GONE:
            pass
        except _TooMuchError:
            await self._refuse(413)
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)

    async def _exchange(self) -> bool:
        with trio.fail_after(REQUEST_S):
            request = await self._event()
            if not isinstance(request, h11.Request):
                return False
            body = await self._body()
        scope = self._scope(request)
        over = False

        async def receive() -> Message:
            nonlocal body
            if body is None:
                await trio.sleep_forever()  # a disconnect cancels the app
            given, body = body, None
            return {"type": "http.request", "body": given, "more_body": False}

        async with trio.open_nursery() as nursery:
            answer = _Answer(self._http, self._stream, head=request.method == b"HEAD")
            answer.over = nursery.cancel_scope.cancel

            async def watch() -> None:
                nonlocal over
                if not await self._hear():
                    over = True
                    nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            try:
                await self._app(scope, receive, answer.send)
            except GONE:
                over = True
            except Exception:
                await answer.fail()
                raise
            nursery.cancel_scope.cancel()
        return not over and self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _event(self) -> Any:  # noqa: ANN401 - h11's events have no common type
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                await self._stream.send_all(self._http.send(go_on) or b"")
            self._http.receive_data(await self._stream.receive_some(READ_BYTES))

    async def _body(self) -> bytes | None:
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            if len(body) > BODY_BYTES:
                raise _TooMuchError
        return bytes(body)

    async def _hear(self) -> bool:
        """Wait for bytes out of turn; False if the client has hung up."""
        try:
            data = await self._stream.receive_some(READ_BYTES)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        if data:  # the next request, early
            self._http.receive_data(data)
        return bool(data)

    async def _refuse(self, status: int) -> None:
        """Answer a bad request, if an answer can still be sent."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        with suppress(*GONE):
            await _Answer(self._http, self._stream, head=False).whole(
                status, b"no request that can be answered here\n"
            )

    def _scope(self, request: h11.Request) -> Scope:
        path, _, query = request.target.partition(b"?")
        name = self._stream.socket.getsockname()
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": request.http_version.decode("ascii"),
            "method": request.method.decode("ascii"),
            "scheme": "http",
            "path": unquote(path.decode("ascii", "replace")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": [(bytes(key), bytes(value)) for key, value in request.headers],
            "client": None,  # not needed, so not recorded
            "server": (name[0], name[1]),
        }


class _Answer:
    def __init__(self, http: h11.Connection, stream: trio.SocketStream, *, head: bool) -> None:
        self._http = http
        self._stream = stream
        self._head = head
        self._start: Message | None = None
        self.over: Callable[[], None] = lambda: None
        """Called when all that is wanted has been said, whatever else the app would say."""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        data = b""
        if self._start is not None:
            start, self._start = self._start, None
            data = self._said(
                h11.Response(
                    status_code=start["status"],
                    headers=[(bytes(key), bytes(value)) for key, value in start["headers"]],
                )
            )
            if self._head or start["status"] in _NO_BODY:
                await self._write(data + self._said(h11.EndOfMessage()))
                self.over()
                await trio.lowlevel.checkpoint()
                return
        if body := message.get("body", b""):
            data += self._said(h11.Data(data=body))
        if not message.get("more_body", False):
            data += self._said(h11.EndOfMessage())
        await self._write(data)

    async def fail(self) -> None:
        """The app has raised: answer 500, unless an answer has begun."""
        if self._http.our_state is h11.SEND_RESPONSE:
            with suppress(*GONE):
                await self.whole(500, b"a mistake of ours\n")

    async def whole(self, status: int, text: bytes) -> None:
        """Send plain text as the last answer of the connection."""
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(text)).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"connection", b"close"),
        ]
        data = self._said(h11.Response(status_code=status, headers=headers))
        if not self._head:
            data += self._said(h11.Data(data=text))
        await self._write(data + self._said(h11.EndOfMessage()))

    def _said(self, event: h11.Event) -> bytes:
        return self._http.send(event) or b""

    async def _write(self, data: bytes) -> None:
        if data:
            with trio.fail_after(WRITE_S):
                await self._stream.send_all(data)
