"""The referee's end: what it promises when things go wrong."""

import os
import resource
import select
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from arena.model import HostError, UserError
from arena.sandbox import Launch, SpawnPlan, canary
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.client import Spawner
from arena.sandbox.installations import Installation
from arena.sandbox.none import Unconfined

pytestmark = pytest.mark.process


@pytest.fixture
def host(lone_host):
    """These tests do to the spawner what they will."""
    return lone_host


def answers(spawner):
    """The next news; what the spawner says of itself isn't any."""
    while True:
        ready, _, _ = select.select([spawner.fileno()], [], [], 30)
        assert ready
        if news := spawner.receive():
            return news


def open_files(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_receive_never_waits(host):
    """Without news there is an empty list at once."""
    assert host.spawner.receive() == []


def test_death_of_the_spawner_is_a_host_error(host):
    """A killed spawner is told with the signal, by receive, spawn and kill alike."""
    plan = Unconfined().plan(Launch(run=("true",), root=str(host.folder)))
    host.spawner._process.kill()
    host.spawner._process.wait()
    with pytest.raises(HostError, match="signal 9"):
        host.spawner.receive()
    with pytest.raises(HostError, match="signal 9"):
        host.spawner.spawn(plan)
    with pytest.raises(HostError, match="signal 9"):
        host.spawner.kill(1)


def test_bug_of_the_spawner_is_told(host):
    """A spawner that dies of an exception hands over its last line."""
    host.spawner._socket.send(b"no JSON")
    with pytest.raises(HostError, match="exit 1.*JSONDecodeError"):
        answers(host.spawner)


def test_failed_spawn_leaks_no_descriptor(host):
    """When a program can't be asked for, its pipes are closed again."""
    plan = Unconfined().plan(Launch(run=("true",), root=str(host.folder)))
    host.spawner._process.kill()
    host.spawner._process.wait()
    before = open_files("self")
    for _ in range(5):
        with pytest.raises(HostError):
            host.spawner.spawn(plan)
    assert open_files("self") == before


def test_pipes_are_ours_alone(host):
    """Our ends are non-blocking and closed in whatever else we execute."""
    bot = host.start(Unconfined(), "cat", "-")
    for descriptor in (bot.process.stdin, bot.process.stdout, bot.process.stderr):
        assert not os.get_blocking(descriptor)
        assert not os.get_inheritable(descriptor)


def test_no_more_processes_is_the_hosts_fault(host):
    """When the machine can't fork, the program's Exited carries a host error; all goes on."""
    if os.geteuid() == 0:
        pytest.skip("root has no limit of processes")
    pid = host.spawner._process.pid
    host.start(Unconfined(), "true").exited()  # it has raised its own limits by now
    before = resource.prlimit(pid, resource.RLIMIT_NPROC)
    resource.prlimit(pid, resource.RLIMIT_NPROC, (0, before[1]))
    exited = host.start(Unconfined(), "true").exited()
    assert "could not start a process" in exited.host_error
    assert exited.code is None
    resource.prlimit(pid, resource.RLIMIT_NPROC, before)
    assert host.start(Unconfined(), "true").exited().code == 0


def test_no_more_descriptors_is_the_hosts_fault(host):
    """When the spawner has no descriptor left, that is told, and all goes on."""
    pid = host.spawner._process.pid
    host.start(Unconfined(), "true").exited()
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    for room in (1, 4, 7):
        used = open_files(pid)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + room, before[1]))
        exited = host.start(Unconfined(), "true").exited()
        assert "could not start a process" in exited.host_error
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    assert host.start(Unconfined(), "true").exited().code == 0


def test_broken_tool_is_the_hosts_fault(host, tmp_path):
    """A bwrap that fails before the program runs says why, and not on the bot's stderr."""
    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\necho no such namespace >&2\nexit 3\n")
    tool.chmod(0o755)
    options = {"tool": str(tool), "args": ("--x",), "spare uid": False}
    plan = SpawnPlan(backend="bwrap", argv=("true",), env={}, cwd="/", rlimits={}, options=options)
    process = host.spawner.spawn(plan)
    (exited,) = answers(host.spawner)
    assert (exited.host_error, exited.code) == ("no such namespace", None)
    os.set_blocking(process.stderr, True)
    assert os.read(process.stderr, 100) == b""
    for descriptor in (process.stdin, process.stdout, process.stderr):
        os.close(descriptor)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo bubblewrap 0.7.0", "older"),
        ("echo hello", "is no bubblewrap"),
        ("exit 1", "does not run"),
        ("[ $1 = --version ] && echo bubblewrap 0.9 && exit; echo not now >&2; exit 1", "not now"),
    ],
)
def test_bad_candidates_are_refused(tmp_path, script, reason):
    """A bwrap that is too old, something else or doesn't work is refused with the reason."""
    tool = tmp_path / "bwrap"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    backend = Bubblewrap(str(tool))
    probe = backend.probe()
    assert not probe.works
    assert reason in probe.detail
    with pytest.raises(HostError, match=reason):
        backend.plan(Launch(run=("true",), root="/"))


NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")

LEAKS = {
    # What is found: the guard's arguments, what stands in their place.
    "net namespace": (["--unshare-all"], [f"--unshare-{n}" for n in NAMESPACES if n != "net"]),
    "process": (["--unshare-all"], [f"--unshare-{n}" for n in NAMESPACES if n != "pid"]),
    "write access to /": (["--remount-ro", "/"], []),
    "write access to /dev": (["--dir", "/dev"], ["--tmpfs", "/dev"]),
    "capabilities": (["--cap-drop", "ALL"], ["--cap-add", "CAP_CHOWN"]),
}


def replaced(args, old, new):
    """The arguments with one sequence replaced, which must be there."""
    (at,) = (at for at in range(len(args)) if args[at : at + len(old)] == old)
    return (*args[:at], *new, *args[at + len(old) :])


@pytest.mark.parametrize("leak", LEAKS)
def test_canary_finds_a_leak(anybwrap, leak):
    """With one guard removed, the canary names what it could reach."""

    def leaky(launch):
        plan = anybwrap.plan(launch)
        args = replaced(list(plan.options["args"]), *LEAKS[leak])
        return msgspec.structs.replace(plan, options={**plan.options, "args": args})

    assert leak in canary.run_canary(leaky, namespaces=True)[0]
    assert canary.run_canary(anybwrap.plan, namespaces=True)[0] == ""


def test_canary_finds_a_visible_file(anybwrap):
    """A sandbox that shows a file of the referee is found out."""

    def leaky(launch):
        outside = str(Path(launch.root).parent)
        return anybwrap.plan(msgspec.structs.replace(launch, expose=(outside, *launch.expose)))

    assert "file of the referee" in canary.run_canary(leaky, namespaces=True)[0]


def test_canary_finds_what_lies_beside_a_program(anybwrap, monkeypatch):
    """Were the whole folder above `bin` shown, as root that of another user, it would be told."""
    real = canary.find_installation

    def whole(program):
        found = real(program)
        prefix = program.parent.parent
        return (found or Installation(prefix, (), generic=False))._replace(parts=(prefix,))

    monkeypatch.setattr(canary, "find_installation", whole)
    assert "beside a program" in canary.run_canary(anybwrap.plan, namespaces=True)[0]


def test_canary_finds_no_sandbox(anybwrap):
    """Without any confinement it speaks up, whatever it sees first."""
    assert "canary" in canary.run_canary(Unconfined().plan, namespaces=True)[0]


def test_empty_or_impossible_commands(tmp_path):
    """What no backend can start is the user's mistake."""
    for run in ((), ("a=b",), ("a\0b",)):
        with pytest.raises(UserError, match="run"):
            Unconfined().plan(Launch(run=run, root=str(tmp_path)))
    with pytest.raises(UserError, match="expose"):
        Unconfined().plan(Launch(run=("x",), root=str(tmp_path), expose=("a/../b",)))


def test_memory_of_the_spawner_is_flat(host):
    """Many programs later the spawner holds what it held, descriptors included."""

    def held():
        pid = host.spawner._process.pid
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]), open_files(pid)

    def play(count):
        bots = [host.start(Unconfined(), "true") for _ in range(count)]
        for bot in bots:
            bot.exited()
            for descriptor in bot.open:
                os.close(descriptor)
            bot.open = set()

    play(20)
    pages, descriptors = held()
    for _ in range(3):
        play(30)
    later, still = held()
    assert still == descriptors
    assert later - pages < 100  # 400 KiB


def test_ctrl_c_is_not_the_spawners(host):
    """SIGINT to the terminal's group doesn't touch it, and to itself neither."""
    process = host.spawner._process
    assert os.getpgid(process.pid) != os.getpgid(0)
    host.start(Unconfined(), "true").exited()  # it has come up
    os.kill(process.pid, signal.SIGINT)
    assert host.start(Unconfined(), "true").exited().code == 0


def test_a_stopped_spawner_is_killed_in_the_end(monkeypatch):
    """close() of a spawner that hangs kills it and says so."""
    monkeypatch.setattr("arena.sandbox.client.CLOSE_S", 0.05)
    spawner = Spawner()
    process = spawner._process
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(HostError, match="did not end"):
        spawner.close()
    assert isinstance(process, subprocess.Popen)
    assert process.returncode == -signal.SIGKILL
