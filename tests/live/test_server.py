"""The server under our pages: whatever comes from a client ends with that client."""

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from arena.live import http
from arena.live.server import Guard, guard_app, host_of, listen, url_of
from arena.model import UserError

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: bKdPyn3u98cTfZJSh4TNeQ==\r\n\r\n"
)


async def hello(scope, receive, send):
    """Says hello, and how long the request's body was."""
    told = await receive()
    text = f"hello {scope['path']} {len(told['body'])}".encode()
    headers = [(b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


class Endless:
    """Says more and more, and knows how many are still being told."""

    def __init__(self):
        self.listening = 0
        self.left = trio.Event()

    async def __call__(self, scope, receive, send):
        if scope["path"] == "/hello":
            await hello(scope, receive, send)
            return
        self.listening += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                body = {"type": "http.response.body", "body": b"x" * 65536, "more_body": True}
                await send(body)
        finally:
            self.listening -= 1
            self.left.set()


async def test_an_app_is_served_on_this_machine_with_its_headers(web):
    """The answer is the app's, and the guard's headers are on it."""
    async with web.serving(hello) as server:
        answer = await web.ask(server.port, path="/a%20b")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert body == b"hello /a b 0"
    assert head.startswith(b"HTTP/1.1 200")
    assert b"content-security-policy: default-src 'none'; script-src 'self'" in head
    for line in (b"x-content-type-options: nosniff", b"x-frame-options: DENY", b"no-store"):
        assert line in head
    assert server.errors == []


async def test_a_connection_takes_one_request_after_another(web):
    """Keep-alive, and a request sent before the first was answered."""
    async with web.serving(hello) as server:
        stream = await trio.open_tcp_stream("127.0.0.1", server.port)
        async with stream:
            one = b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
            await stream.send_all(one % 1 + one % 2)
            await stream.send_all(one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") % 3)
            answer = await web.until_closed(stream)
    assert [answer.count(b"hello /%d" % number) for number in (1, 2, 3)] == [1, 1, 1]


async def test_head_has_the_head_alone_and_ends(web):
    """Also of an answer without an end."""
    endless = Endless()
    async with web.serving(hello) as server:
        answer = await web.ask(server.port, method="HEAD")
    assert answer.endswith(b"\r\n\r\n")
    async with web.serving(endless) as server:
        answer = await web.ask(server.port, method="HEAD")
    assert answer.endswith(b"\r\n\r\n")
    assert endless.listening == 0


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "[::1", "127.0.0.1.nip.io"]
)
async def test_another_name_is_refused(web, host):
    """A name that somebody else can point here never reaches the app (DNS rebinding)."""
    async with web.serving(hello) as server:
        answer = await web.ask(server.port, host=host)
    assert answer.startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))
    assert b"hello" not in answer


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:8000"])
async def test_our_own_names_are_not(web, host):
    """With any port, which a tunnel may have changed."""
    async with web.serving(hello) as server:
        assert b"hello" in await web.ask(server.port, host=host)


async def test_two_hosts_or_none_are_refused(web):
    """A request that says both has something to hide."""
    async with web.serving(hello) as server:
        answer = await web.ask(server.port, "Host: localhost")
        assert answer.startswith(b"HTTP/1.1 4")
        async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
            await stream.send_all(b"GET / HTTP/1.0\r\n\r\n")
            assert (await web.until_closed(stream)).startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "FOO"])
async def test_what_is_to_be_looked_at_takes_no_other_method(web, method):
    """405, and the two that it takes."""
    async with web.serving(hello) as server:
        answer = await web.ask(server.port, method=method)
    assert answer.startswith(b"HTTP/1.1 405")
    assert b"allow: GET, HEAD" in answer


async def test_a_change_must_be_asked_for_by_our_own_page(web):
    """Where POST is allowed: with the Origin of this very server."""
    async with web.serving(hello, methods=("GET", "HEAD", "POST")) as server:
        own = f"Origin: http://127.0.0.1:{server.port}"

        async def post(*lines):
            body = b"move"
            length = f"Content-Length: {len(body)}"
            return await web.ask(server.port, length, *lines, method="POST", body=body)

        assert b"hello / 4" in await post(own)
        assert b"hello / 4" in await post(own, "Sec-Fetch-Site: same-origin")
        for lines in (
            (),
            ("Origin: http://evil.example",),
            ("Origin: null",),
            ("Origin: http://[",),
            ("Origin: http://127.0.0.1:1",),
            (own, "Sec-Fetch-Site: cross-site"),
        ):
            assert (await post(*lines)).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 10_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 30_000,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        UPGRADE + b"x\n",
    ],
)
async def test_what_is_no_request_ends_its_own_connection_alone(web, sent):
    """Refused or answered, closed, and the next one is served."""
    async with web.serving(hello, methods=("GET", "HEAD", "POST")) as server:
        async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
            try:
                await stream.send_all(sent)
                await stream.send_eof()
                await web.until_closed(stream)
            except (trio.BrokenResourceError, trio.BusyResourceError):
                pass  # closed with our bytes unread
        assert b"hello" in await web.ask(server.port)
    assert server.errors == []


async def test_any_bytes_in_any_pieces_end_in_an_answer_or_a_close(web):
    """A request that is damaged at random, and sent in random pieces: the next one is served."""
    draw = random.Random(7)
    whole = b"POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nmove" + UPGRADE
    async with web.serving(hello, methods=("GET", "HEAD", "POST")) as server:
        for _ in range(60):
            sent = bytearray(whole)
            for _ in range(draw.randrange(6)):
                at = draw.randrange(len(sent))
                sent[at : at + draw.randrange(3)] = draw.randbytes(draw.randrange(3))
            async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
                try:
                    while sent:
                        size = draw.randrange(1, 40)
                        await stream.send_all(sent[:size])
                        del sent[:size]
                    await stream.send_eof()
                    answer = await web.until_closed(stream)
                except (trio.BrokenResourceError, trio.BusyResourceError):
                    continue  # closed with our bytes unread
                assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
        assert b"hello" in await web.ask(server.port)
    assert server.errors == []


async def test_who_hangs_up_is_told_no_more(web):
    """The app is cancelled as soon as a client goes, and when it goes without a word."""
    for abrupt in (False, True):
        endless = Endless()
        async with web.serving(endless) as server:
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await trio.to_thread.run_sync(client.recv, 100)
                assert endless.listening == 1
                if abrupt:
                    linger = (1).to_bytes(4, "little") + bytes(4)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await endless.left.wait()
            assert endless.listening == 0
        assert server.errors == []


async def test_who_does_not_read_is_dropped_and_holds_nobody_up(web, monkeypatch):
    """After the deadline of one write; others are served meanwhile."""
    monkeypatch.setattr(http, "WRITE_S", 0.2)
    endless = Endless()
    async with web.serving(endless) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await trio.to_thread.run_sync(client.recv, 100)
            assert b"hello" in await web.ask(server.port, path="/hello")
            await endless.left.wait()
            assert endless.listening == 0
    assert server.errors == []


async def test_a_client_that_does_not_read_does_not_keep_the_server_from_ending(web):
    """Stopping and cancelling end it, with its write under way."""
    endless = Endless()
    async with web.serving(endless) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await trio.to_thread.run_sync(client.recv, 100)
            await server.stop()
            assert endless.listening == 0


async def test_an_app_that_fails_ends_its_own_answer_alone(web):
    """Before and after it has begun to answer; the error is handed to whoever wants it."""

    async def broken(scope, receive, send):
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"so far", "more_body": True})
        raise RuntimeError(scope["path"])

    async with web.serving(broken) as server:
        early = await web.ask(server.port, path="/early")
        late = await web.ask(server.port, path="/late")
    assert early.startswith(b"HTTP/1.1 500")
    assert b"so far" in late
    assert len(server.errors) == 2


def test_a_port_in_use_is_one_line():
    """And so are an address that isn't ours and one that is none."""
    with listen(None) as first:
        port = first.getsockname()[1]
        with pytest.raises(UserError, match=f"^port {port} is in use; .*$"):
            listen(port)
    for host in ("192.0.2.1", "no such host", "x" * 300):
        with pytest.raises(UserError, match="no such address"):
            listen(None, host)


def test_it_listens_on_loopback_alone():
    """As the kernel tells it; and the URL is what a browser takes."""
    with listen(None) as socket_:
        port = socket_.getsockname()[1]
        assert socket_.getsockname()[0] == "127.0.0.1"
        assert url_of(socket_) == f"http://127.0.0.1:{port}/"
        table = Path("/proc/net/tcp").read_text().split("\n")
        here = [line.split()[1] for line in table if f":{port:04X} " in line]
        assert here[:1] == [f"0100007F:{port:04X}"]
        assert not os.get_inheritable(socket_.fileno())


def test_an_address_for_others_is_called_by_addresses_and_this_machines_name():
    """Never by a name that somebody else chose."""
    with listen(None, "0.0.0.0") as socket_:
        guard = guard_app(hello, socket_, "0.0.0.0")
        assert url_of(socket_).startswith("http://127.0.0.1:")
    assert guard._ours("192.168.1.5:8000")
    assert guard._ours(socket.gethostname())
    assert not guard._ours("evil.example")


def test_names_of_hosts():
    """What is between brackets and ports."""
    assert host_of("[::1]:80") == "::1"
    assert host_of("Localhost.:80") == "localhost"
    assert host_of("[") == ""
    assert Guard(hello)._ours("127.0.0.1:x")


def test_nothing_here_is_loaded_for_help():
    """The server's libraries are for those who ask for a page."""
    code = "import arena.cli, sys; print([n for n in ('h11', 'trio') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n"
