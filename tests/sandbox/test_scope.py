"""A group of its own for the spawner, from a service manager that is played by a script."""

import os
import sys

import pytest

from arena.sandbox import scope
from arena.sandbox.cgroupfs import Calls

pytestmark = pytest.mark.process

SYSTEMD_RUN = """#!/bin/sh
printf '%s\\n' "$XDG_RUNTIME_DIR $DBUS_SESSION_BUS_ADDRESS $SECRET" "$@" >>"$XDG_RUNTIME_DIR/calls"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""

MOUNT = "41 31 0:38 / {top} rw - cgroup2 cgroup2 rw\n"


class Session:
    """An ordinary login: our group isn't ours, but a service manager is there."""

    def __init__(self, folder):
        self.proc = folder / "proc"
        self.top = folder / "sys"
        self.own = self.top / "user.slice/session.scope"
        self.runtime = folder / "run"
        self.tool = folder / "bin/systemd-run"
        for place in (self.proc, self.own, self.runtime / "systemd", self.tool.parent):
            place.mkdir(parents=True)
        for group in (self.own, self.own.parent):
            (group / "cgroup.procs").touch()
        (self.runtime / "systemd/private").touch()
        (self.proc / "cgroup").write_text("0::/user.slice/session.scope\n")
        (self.proc / "mountinfo").write_text(MOUNT.format(top=self.top))
        self.script(SYSTEMD_RUN)
        self.environ = {
            "PATH": f"{self.tool.parent}:{os.defpath}",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus",
            "SECRET": "token",
        }

    def script(self, text):
        self.tool.write_text(text)
        self.tool.chmod(0o755)

    def launcher(self, *, calls=None, root=False):
        calls = calls or Calls()
        calls.proc, calls.root = self.proc, root
        return scope.launch_prefix(self.environ, calls)

    def calls(self):
        path = self.runtime / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path)


def test_scope(session):
    """A session's spawner is started in a delegated scope, tried once and with nothing else."""
    prefix = [
        str(session.tool),
        "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--",
    ]  # fmt: skip
    assert prefix == session.launcher()
    assert prefix == session.launcher()
    head, *rest = session.calls()
    assert f"{session.runtime} unix:path=/bus " == head
    assert prefix[1:] == rest[: len(prefix) - 1]
    assert 1 == sum(line == "--scope" for line in rest)
    assert {
        "XDG_RUNTIME_DIR": str(session.runtime),
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus",
    } == scope.variables(session.environ)


def test_bus_alone(session):
    """A service manager that listens on the bus alone will do."""
    (session.runtime / "systemd/private").unlink()
    (session.runtime / "bus").touch()
    assert session.launcher()


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\necho Failed to connect >&2; exit 1\n", "#!/nowhere\n", "#!/bin/true\n"]
)
def test_broken_manager(session, script):
    """What doesn't really start a program is not used."""
    session.script(script)
    assert [] == session.launcher()


def test_hanging_manager(session, monkeypatch):
    """A manager that doesn't answer is given up."""
    monkeypatch.setattr(scope, "TRIAL_S", 0.05)
    session.script(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    assert [] == session.launcher()


@pytest.mark.parametrize(
    "lack",
    [
        lambda session: session.tool.unlink(),
        lambda session: (session.runtime / "systemd/private").unlink(),
        lambda session: session.environ.pop("XDG_RUNTIME_DIR"),
        lambda session: (session.proc / "cgroup").write_text("4:memory:/\n0::/\n"),
        lambda session: (session.proc / "cgroup").unlink(),
    ],
    ids=["tool", "socket", "variable", "version 2", "groups"],
)
def test_nothing_to_ask(session, lack):
    """Where there is no manager, or no memory for it to give, nothing is started."""
    lack(session)
    assert [] == session.launcher()
    assert [] == session.calls()


def test_root(session):
    """Root makes its groups itself."""
    assert [] == session.launcher(root=True)
    assert [] == session.calls()


def test_delegated_unit(session):
    """In a unit whose group is delegated to us, a spawner has a place as it is."""

    class Marked(Calls):
        def delegated(self, folder):
            return folder == session.own.parent

    assert [] == session.launcher(calls=Marked())
    assert [] == session.calls()
