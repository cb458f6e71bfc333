"""Clients of a real server, over real sockets."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
import trio

from arena.live.server import run_loopback

# Whatever takes longer hangs.
PATIENCE_S = 30


async def until_closed(stream):
    """All that comes."""
    return b"".join([piece async for piece in stream])


async def ask(port, *lines, method="GET", path="/", host=None, body=b"", http="1.1"):
    """One request on a connection of its own; the whole answer."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        host = f"127.0.0.1:{port}" if host is None else host
        head = [f"{method} {path} HTTP/{http}", f"Host: {host}", "Connection: close", *lines]
        await stream.send_all("\r\n".join([*head, "", ""]).encode() + body)
        return await until_closed(stream)


@asynccontextmanager
async def serving(app, **options):
    """A server on a free port, and the errors of its app."""
    errors = []
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            server = await run_loopback(nursery, app, failed=errors.append, **options)
            port = int(server.url.rsplit(":", 1)[1].rstrip("/"))
            yield SimpleNamespace(port=port, errors=errors, url=server.url, stop=server.stop)
            await server.stop()


@pytest.fixture
def web():
    """Talking to a server."""
    return SimpleNamespace(ask=ask, serving=serving, until_closed=until_closed)
