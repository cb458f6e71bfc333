"""Folders of bots to look at, and a spawner double that runs builds unconfined."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.bots import interpreters
from arena.sandbox import Exited, SpawnPlan
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.client import Spawner
from arena.sandbox.none import Unconfined


class PlainBackend:
    """Runs a launch as it is, with /bot replaced by the real folder."""

    name = "double"

    def __init__(self):
        self.launches = []

    def plan(self, launch):
        self.launches.append(launch)

        def outside(text):
            return text.replace("/bot/", launch.root + "/") if text.startswith("/bot/") else text

        return SpawnPlan(
            backend=self.name,
            argv=tuple(map(outside, launch.run)),
            env={
                "PATH": "/usr/bin:/bin",
                **{name: outside(value) for name, value in launch.env.items()},
            },
            cwd=launch.root,
            rlimits={},
        )


class SpawnerDouble:
    """The spawner's client as builds see it, without a process of its own."""

    def __init__(self):
        self.ends = select.epoll()
        self.running = {}
        self.count = 0
        self.host_error = ""

    def spawn(self, plan):
        self.count += 1
        process = subprocess.Popen(
            plan.argv,
            env=dict(plan.env),
            cwd=plan.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        pidfd = os.pidfd_open(process.pid)
        self.ends.register(pidfd, select.EPOLLIN)
        self.running[pidfd] = (self.count, process)
        ours = [os.dup(p.fileno()) for p in (process.stdin, process.stdout, process.stderr)]
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        return SimpleNamespace(id=self.count, stdin=ours[0], stdout=ours[1], stderr=ours[2])

    def kill(self, number):
        for each, process in self.running.values():
            if each == number:
                os.killpg(process.pid, signal.SIGKILL)

    def receive(self):
        found = []
        for pidfd, _ in self.ends.poll(0):
            number, process = self.running.pop(pidfd)
            code = process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            self.ends.unregister(pidfd)
            os.close(pidfd)
            found.append(
                Exited(
                    id=number,
                    code=code if code >= 0 else None,
                    signal=-code if code < 0 else None,
                    cpu_ms=0,
                    memory_mb=0,
                    host_error=self.host_error,
                )
            )
        return found

    def fileno(self):
        return self.ends.fileno()

    def close(self):
        self.ends.close()


@pytest.fixture
def backend():
    return PlainBackend()


@pytest.fixture
def spawner():
    double = SpawnerDouble()
    yield double
    assert not double.running, "a build was left running"
    double.close()


@pytest.fixture
def spawners(spawner):
    return lambda: contextlib.nullcontext(spawner)


@pytest.fixture(params=["none", "bwrap"])
def real(request):
    """The sandbox's own backends and spawner."""
    backend = {"none": Unconfined, "bwrap": Bubblewrap}[request.param]()
    probe = backend.probe()
    if not probe.works:
        pytest.skip(probe.detail)
    return {"backend": backend, "spawners": Spawner}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def make(tmp_path):
    """Make a folder (or a file, when given text) below bots/ and give its path."""

    def make(name, content=None, *, executable=()):
        path = tmp_path / "bots" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, (str, bytes)):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            if executable:
                path.chmod(0o755)
            return path
        path.mkdir(exist_ok=True)
        for inner, text in (content or {}).items():
            file = path / inner
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)
            if inner in executable:
                file.chmod(0o755)
        return path

    return make


@pytest.fixture
def program():
    """Make an executable script, for PATH folders of a test's own."""

    def program(path: Path, text="#!/bin/sh\n"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    return program


@pytest.fixture
def as_systems(monkeypatch):
    """Have a folder count among the system's own, whose programs need no installation."""

    def as_systems(folder):
        monkeypatch.setattr(interpreters, "SYSTEM", (*interpreters.SYSTEM, str(folder)))

    return as_systems


@pytest.fixture
def as_ordinary_user(tmp_path):
    """Give up root's right to read everything, where the tests run as root; `tmp_path` and what
    is above it can be entered.
    """

    @contextlib.contextmanager
    def ordinary():
        if os.geteuid() != 0:
            yield
            return
        for place in (tmp_path / "bots", tmp_path, *tmp_path.parents):
            if place.parent.is_relative_to(tempfile.gettempdir()) and place.is_dir():
                place.chmod(0o755)
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return ordinary
