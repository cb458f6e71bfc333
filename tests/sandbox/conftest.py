"""Real programs in real sandboxes, awaited by reading pipes and process handles."""

import contextlib
import functools
import os
import select
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from arena.sandbox import Exited, Launch, Started
from arena.sandbox.bwrap import Bubblewrap, candidates
from arena.sandbox.cgroupfs import NoGroupsError, membership
from arena.sandbox.client import Spawner
from arena.sandbox.landlock import Landlock
from arena.sandbox.none import Unconfined

DEADLINE_S = 90.0
"""For a busy machine; a passing test waits milliseconds."""

SYSTEM = shutil.which("bwrap") and os.path.realpath(shutil.which("bwrap"))
TOOLS = {"bwrap-system" if tool == SYSTEM else "bwrap-wheel": tool for tool in candidates()}
"""Every bwrap on this machine; with the system's and the wheel's, everything is run with both."""


def chosen(name):
    if name == "none":
        return Unconfined()
    if name == "landlock":
        backend = Landlock()
        if not backend.abi:
            pytest.skip("this kernel has no Landlock")
        assert backend.probe().works, backend.probe().detail
        return backend
    backend = Bubblewrap(TOOLS[name])
    if not namespaces_allowed():
        pytest.skip("this machine refuses user namespaces")
    assert backend.probe().works, backend.probe().detail
    return backend


@functools.cache
def namespaces_allowed():
    """Whether the machine lets a sandbox be built at all, found without the code under test."""
    unshare = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10020000) != 0)"
    return subprocess.run([sys.executable, "-c", unshare], check=False).returncode == 0


def each(*names):
    """Of several the first bwrap and Landlock; the others with the long rest."""
    rest = pytest.mark.long("every sandbox")
    first = next(iter(TOOLS), "none")
    return [pytest.param(name, marks=() if name in (first, "landlock") else rest) for name in names]


@pytest.fixture(params=each(*TOOLS, "landlock", "none"))
def backend(request):
    """Every backend in turn."""
    return chosen(request.param)


@pytest.fixture(params=each(*TOOLS))
def bwrap(request):
    """Every bwrap in turn."""
    return chosen(request.param)


@pytest.fixture
def anybwrap():
    """One bwrap, for what doesn't depend on its version."""
    return chosen(max(TOOLS))


class Bot:
    """A started program, with waiting that has a deadline."""

    def __init__(self, spawner, process, token):
        self.spawner = spawner
        self.process = process
        self.id = process.id
        self.token = token
        self.pid = None
        self.buffer = {process.stdout: b"", process.stderr: b""}
        self.open = {process.stdin, process.stdout, process.stderr}

    def write(self, data):
        os.write(self.process.stdin, data)

    def close_stdin(self):
        self.open.discard(self.process.stdin)
        os.close(self.process.stdin)

    def _fill(self, descriptor, deadline):
        left = deadline - time.monotonic()
        ready, _, _ = select.select([descriptor], [], [], max(left, 0))
        assert ready, f"nothing to read; so far {self.buffer}"
        chunk = os.read(descriptor, 65536)
        self.buffer[descriptor] += chunk
        return bool(chunk)

    def line(self):
        deadline = time.monotonic() + DEADLINE_S
        out = self.process.stdout
        while b"\n" not in self.buffer[out]:
            if not self._fill(out, deadline):
                raise AssertionError(f"output ended: {self.buffer}, {self.errors()!r}")
        line, _, self.buffer[out] = self.buffer[out].partition(b"\n")
        return line.decode()

    def _all(self, descriptor):
        deadline = time.monotonic() + DEADLINE_S
        while self._fill(descriptor, deadline):
            pass
        return self.buffer[descriptor].decode()

    def output(self):
        return self._all(self.process.stdout)

    def errors(self):
        return self._all(self.process.stderr)

    def exited(self):
        return self.spawner.exited(self)


class Host:
    """A spawner, the programs of a test, and the answers sorted by program."""

    def __init__(self, folder, spawner):
        self.spawner = spawner
        self.folder = folder
        self.bots = {}
        self.ended = {}

    def start(self, backend, *run, files=None, root=None, **options):
        token = uuid.uuid4().hex
        if root is None:
            root = self.folder / f"bot-{token}"
            root.mkdir()
        for name, text in (files or {}).items():
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        launch = Launch(run=(*run, token), root=str(root), **options)
        bot = Bot(self, self.spawner.spawn(backend.plan(launch)), token)
        self.bots[bot.id] = bot
        return bot

    def python(self, backend, code, **options):
        """A Python bot: the interpreter that runs the tests, exposed as a roster would."""
        run = (str(Path(sys.executable).resolve()), "-c", code)
        return self.start(backend, *run, expose=(sys.base_prefix,), **options)

    def receive(self):
        ready, _, _ = select.select([self.spawner.fileno()], [], [], DEADLINE_S)
        assert ready, "the spawner says nothing"
        for news in self.spawner.receive():
            if isinstance(news, Started):
                self.bots[news.id].pid = news.pid
            else:
                assert isinstance(news, Exited)
                assert news.id not in self.ended, "told twice"
                self.ended[news.id] = news

    def exited(self, bot):
        while bot.id not in self.ended:
            self.receive()
        return self.ended[bot.id]

    def started(self, bot):
        while bot.pid is None:
            assert bot.id not in self.ended, self.ended
            self.receive()
        return bot.pid

    def close(self):
        """End the programs that are left."""
        if self.spawner._process.poll() is None:
            for bot in self.bots.values():
                if bot.id not in self.ended:
                    self.spawner.kill(bot.id)
                    self.exited(bot)
        for bot in self.bots.values():
            for descriptor in bot.open:
                os.close(descriptor)
        assert [] == [pid for bot in self.bots.values() for pid in alive(bot.token)]


@pytest.fixture(scope="module")
def spawner():
    """`spawner()`: the one of these tests; another one when a test has ended it."""
    with contextlib.ExitStack() as stack:
        begun = []

        def get():
            if not begun or begun[-1]._process.poll() is not None:
                begun.append(stack.enter_context(Spawner()))
            return begun[-1]

        yield get


@pytest.fixture
def host(tmp_path, spawner):
    """A running spawner; nothing of what it started may survive the test."""
    found = Host(tmp_path, spawner())
    yield found
    found.close()


@pytest.fixture
def lone_host(tmp_path):
    """The same, but its spawner has started nothing before."""
    with Spawner() as spawner:
        found = Host(tmp_path, spawner)
        yield found
        spawner.close()
        found.close()


def alive(token):
    """Pids of the processes that have the token in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if token.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


@pytest.fixture
def processes():
    """Find processes by a token of their command line, and wait until given ones are gone."""

    class Processes:
        alive = staticmethod(alive)

        @staticmethod
        def handles(pids):
            return [os.pidfd_open(pid) for pid in pids]

        @staticmethod
        def gone(handles):
            waiting = set(handles)
            deadline = time.monotonic() + DEADLINE_S
            while waiting:
                left = max(deadline - time.monotonic(), 0)
                ended, _, _ = select.select(list(waiting), [], [], left)
                assert ended, "something survives"
                for handle in ended:
                    waiting.discard(handle)
                    os.close(handle)

    return Processes


@pytest.fixture
def group():
    """Make a control group of version 1 below our own; gone afterwards."""
    made = []

    def make(controller, name, value):
        try:
            found = membership(Path("/proc/self"), controller)
        except NoGroupsError as unfit:
            pytest.skip(str(unfit))
        folder = found.own / f"arena-test-{os.getpid()}"
        if found.version != 1 or os.geteuid():
            pytest.skip("control groups of version 1 are made by root")
        folder.mkdir()
        made.append(folder)
        (folder / name).write_text(value)
        return folder

    yield make
    for folder in made:
        folder.rmdir()


@pytest.fixture
def within():
    """What to put before a command that is to run in some groups."""

    def before(*groups):
        enter = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
        return ["sh", "-c", f'{enter}exec "$@"', "sh"]

    return before
