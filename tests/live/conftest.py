"""Clients of a real server, over real sockets."""

import json
import os
from contextlib import asynccontextmanager, closing
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import trio

from arena.live.server import LOOPBACK, Server, guard_app, listen, url_of
from tests.event.clusters import ForkedCommand

# Whatever takes longer hangs.
PATIENCE_S = 90


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
            listening = listen(None)
            served = guard_app(app, listening, LOOPBACK, **options)
            server = Server(served, listening, failed=errors.append)
            await nursery.start(server.serve)
            port = int(url_of(listening).rsplit(":", 1)[1].rstrip("/"))
            yield SimpleNamespace(port=port, errors=errors, url=url_of(listening), stop=server.stop)
            await server.stop()


@pytest.fixture
def web():
    """Talking to a server."""
    return SimpleNamespace(ask=ask, serving=serving, until_closed=until_closed)


BOT = """
import json, os, random, sys, time

# Each process takes a number; at its match AT, process PROCESS waits until GATE is there.
GATES = {gates!r}
number = 0
while not number or os.path.isdir(mine):
    number += 1
    mine = {count!r} + str(number)
os.mkdir(mine)
played = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready"}}), flush=True)
    elif message["type"] == "match":
        draw = random.Random(message["seed"])
        played += 1
        for process, at, gate in GATES:
            while (process, at) == (number, played) and not os.path.exists(gate):
                time.sleep(0.005)
    elif message["type"] == "act":
        move = draw.choice(message["legal"])
        print(json.dumps({{"turn": message["turn"], "move": move}}), flush=True)
"""


class Running:
    """A real event that is played in a process of its own, with gates that it waits at."""

    def __init__(self, folder, forks):
        self.folder = folder
        self.forks = forks
        self.results = folder / "event"
        self.gates = [folder / "gate-1", folder / "gate-2"]
        self.process = None

    def bots(self, *, gated=True):
        """The first waits: in the second rotation's series, and in the next block's first."""
        places = ((3, 3), (4, 3)) if gated else ()
        gates = [(*place, str(gate)) for place, gate in zip(places, self.gates, strict=False)]
        for name in ("ann", "bob"):
            bot = self.folder / name
            bot.mkdir()
            manifest = f'name = "{name}"\nauthor = "<b>{name}</b>"\nrun = ["python3", "bot.py"]\n'
            (bot / "bot.toml").write_text(manifest)
            (bot / "bot.py").write_text(
                BOT.format(gates=gates if name == "ann" else [], count=str(self.folder / name[:1]))
            )
        return [self.folder / "ann", self.folder / "bob"]

    def start(self, *words, command="run", live=("--live",), gated=True):
        """Play; the address of its page, when it is there."""
        if command == "run":
            words = (
                *(*self.bots(gated=gated), "--deals", "8", "--series", "4", "--seed", "live"),
                *("--out", self.results, "--move-time", "60s", "--match-time", "60s", *words),
            )
        flags = ("--sandbox", "none", "--jobs", "1", "--json", *live)
        words = [command, *map(str, words), *flags]
        own = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.process = ForkedCommand(self.forks, words, cwd=Path.cwd(), env=own, constants={})
        return self.until("live")["url"]

    def until(self, event):
        """The next line of that kind."""
        for line in self.process.stdout:
            said = json.loads(line)
            if said["event"] == event:
                return said
        raise AssertionError((event, self.process.stderr.read()))

    def pass_gate(self):
        """Go on to the next."""
        next(gate for gate in self.gates if not gate.exists()).touch()

    def end(self):
        """(exit code, stderr), when all is played."""
        for gate in self.gates:
            gate.touch()
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors


class Viewer:
    """Somebody who looks, and keeps every byte."""

    def __init__(self, url):
        self.url = urlsplit(url)
        self.bytes = b""

    def get(self, path="/", **headers):
        """(status, body) of a page."""
        asking = HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE_S)
        with closing(asking):
            asking.request("GET", path, headers=headers)
            answer = asking.getresponse()
            head = str(answer.headers).encode()
            body = answer.read()
        self.bytes += head + body
        return answer.status, body.decode()

    def messages(self, path="/live/events", **headers):
        """What comes, as (event, id, data)."""
        asking = HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE_S)
        with closing(asking):
            asking.request("GET", path, headers=headers)
            fields = {}
            for line in asking.getresponse():
                self.bytes += line
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "data" in fields:
                    yield fields.pop("event", "message"), fields.get("id"), fields.pop("data")

    def fragments(self, **headers):
        """Each message's fragments, until the end."""
        for event, _, data in self.messages(**headers):
            if event == "end":
                return
            if event == "message":
                yield json.loads(data)


@pytest.fixture
def running(forks, tmp_path):
    """An event to be started; it ends with the test."""
    running = Running(tmp_path, forks)
    yield running
    if running.process is not None and running.process.poll() is None:
        running.process.kill()
        running.process.communicate()
    elif running.process is not None:
        running.process.communicate()


@pytest.fixture
def viewer():
    """Makes one of an address."""
    return Viewer
