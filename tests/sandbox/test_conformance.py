"""What every backend owes, whatever it confines."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.none import Unconfined

pytestmark = pytest.mark.process

DAEMONS = r"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready, told = os.pipe()
for depth in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.fork()
            os.write(told, b"x")
            while True:
                time.sleep(60)
        os._exit(0)
for _ in range(6):
    os.read(ready, 1)
print("up", flush=True)
LAST
"""
STAYING = DAEMONS.replace("LAST", "time.sleep(600)")
LEAVING = DAEMONS.replace("LAST", "sys.exit(5)")


def test_echo(host, backend):
    """What the referee writes arrives, and what the bot writes comes back."""
    bot = host.start(backend, "/bin/cat", "-")
    # The token that marks the process is cat's second file: it doesn't exist.
    bot.write(b"hello\n")
    assert bot.line() == "hello"
    bot.close_stdin()
    assert bot.exited().code == 1
    assert bot.token in bot.errors()


def test_the_name_of_its_control_group_tells_nothing(host, backend):
    """It is no number: one that counts starts would tell a bot how far the event is."""
    names = set()
    for _ in range(2):
        bot = host.start(backend, "/bin/cat", "/proc/self/cgroup")
        found = {line.split(":", 2)[2] for line in bot.output().splitlines()}
        names |= {name.rpartition("/")[2] for name in found if "/arena-" in name}
    assert not any(name.isdigit() for name in names), names
    assert len(names) in {0, 2}


def test_stderr(host, backend):
    """The standard error of the program is a pipe of its own, with nothing else on it."""
    bot = host.start(backend, "/bin/sh", "-c", "echo out; echo err >&2")
    assert bot.exited().code == 0
    assert (bot.output(), bot.errors()) == ("out\n", "err\n")


def test_exit_code(host, backend):
    """The exit status is told as it is, without the hint of a host's error."""
    codes = (0, 1, 3, 255)
    bots = [host.start(backend, "/bin/sh", "-c", f"exit {code}") for code in codes]
    for code, bot in zip(codes, bots, strict=True):
        exited = bot.exited()
        assert (code, None, "") == (exited.code, exited.signal, exited.host_error)


def test_signal(host, backend):
    """A program that dies of a signal is told by that signal."""
    numbers = (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM)
    bots = [host.start(backend, "/bin/sh", "-c", f"kill -{int(n)} $$") for n in numbers]
    for number, bot in zip(numbers, bots, strict=True):
        exited = bot.exited()
        assert (None, number, "") == (exited.code, exited.signal, exited.host_error)


NOT_EXECUTABLE = (
    # A command, the text and the modes of the bot's file, the status.
    ("no-such-program", "", 0o755, 127),
    ("/bot/missing", "", 0o755, 127),
    ("/bot/file", "echo never", 0o644, 126),
    ("./file", "#!/no/such/interpreter", 0o755, 127),
)


def test_exec_failure_is_the_bots(host, backend):
    """A command that can't be executed ends with 127 or 126 and a message on its stderr."""
    bots = []
    for number, (run, text, mode, _) in enumerate(NOT_EXECUTABLE):
        folder = host.folder / f"bot-{number}"
        folder.mkdir()
        (folder / "file").write_text(text)
        (folder / "file").chmod(mode)
        bots.append(host.start(backend, run, root=folder))
    for (run, _, _, code), bot in zip(NOT_EXECUTABLE, bots, strict=True):
        exited = bot.exited()
        assert (code, "") == (exited.code, exited.host_error)
        assert run.rpartition("/")[2] in bot.errors()


def test_missing_folder_is_the_hosts(host, backend):
    """A bot whose folder isn't there is nobody's loss: the host is told, with a reason."""
    exited = host.start(backend, "/bin/true", root=host.folder / "nowhere").exited()
    assert "nowhere" in exited.host_error or "No such file" in exited.host_error
    assert exited.code is None


def test_arguments_and_folder(host, backend):
    """Arguments arrive untouched; the bot's folder is its working directory."""
    odd = "a b\n'\"$(x)*\\é"
    bot = host.start(backend, "sh", "./run.sh", odd, files={"run.sh": 'printf "%s|" "$1"; pwd'})
    inside = "/bot" if backend.name == "bwrap" else str(host.folder / f"bot-{bot.token}")
    assert bot.output() == f"{odd}|{inside}\n"


def test_environment_is_exactly_the_fixed_one(host, backend, monkeypatch):
    """Five variables and what the launch adds; nothing of the referee's environment."""
    monkeypatch.setenv("SECRET", "of the referee")
    code = "import os\nfor item in os.environ.items(): print('='.join(item))"
    bot = host.python(backend, code, env={"A": "b"})
    found = set(bot.output().splitlines())
    path = f"PATH={sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    fixed = {"LANG=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "JAVA_TOOL_OPTIONS=-XX:MaxRAM=512m"}
    assert found == {path, "A=b", *fixed}


def test_no_descriptor_is_inherited(host, backend):
    """A program starts with the descriptors 0, 1 and 2 and no other."""
    code = """
import os
found = []
for number in range(1000):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
print(found, flush=True)
"""
    leaky, other = os.pipe()
    os.set_inheritable(leaky, True)
    try:
        assert host.python(backend, code).line() == "[0, 1, 2]"
    finally:
        os.close(leaky)
        os.close(other)


def test_signals_are_as_after_boot(host, backend):
    """No signal is ignored or blocked when a program starts."""
    script = 'while read -r line; do case $line in Sig[IB]*) echo "$line"; esac; done'
    bot = host.start(backend, "/bin/sh", "-c", f"{script} </proc/self/status")
    assert {int(line.split()[1], 16) for line in bot.output().splitlines()} == {0}


@pytest.fixture
def deaf():
    """As under nohup, or in the background of a shell without job control."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("deaf")
def test_signals_that_the_arena_ignores_are_not_ignored_by_bots(lone_host):
    """The spawner has inherited them."""
    spawner = Path(f"/proc/{lone_host.spawner._process.pid}/status").read_text()
    (ignored,) = (line for line in spawner.splitlines() if line.startswith("SigIgn:"))
    assert int(ignored.split()[1], 16) & 0x4003  # bit by bit HUP, INT and TERM
    test_signals_are_as_after_boot(lone_host, Unconfined())


def test_core_dumps_and_files_are_off(host, backend):
    """The limits of the plan are in force: no core file, open files, file size."""
    bot = host.start(backend, "/bin/sh", "-c", "ulimit -c; ulimit -f; ulimit -n; ulimit -d")
    assert [bot.line() for _ in range(4)] == ["0", "0", "256", str(512 * 1024)]


def test_closed_output_is_seen(host, backend):
    """A program that closes its output is seen to, while it goes on living."""
    bot = host.start(backend, "/bin/sh", "-c", "echo last; exec 1>&-; exec sleep 600")
    assert bot.output() == "last\n"
    host.spawner.kill(bot.id)
    assert bot.exited().signal == signal.SIGKILL


def test_kill_takes_the_whole_tree(host, backend, processes):
    """Daemons in sessions of their own that ignore SIGTERM are gone when Exited arrives."""
    bot = host.python(backend, STAYING)
    assert bot.line() == "up"
    assert len(processes.alive(bot.token)) >= 7
    host.spawner.kill(bot.id)
    exited = bot.exited()
    assert [] == processes.alive(bot.token)
    assert (None, signal.SIGKILL, "") == (exited.code, exited.signal, exited.host_error)


def test_end_takes_the_whole_tree(host, backend, processes):
    """When the program ends, what it has left behind ends with it, and it keeps its status."""
    bot = host.python(backend, LEAVING)
    assert bot.line() == "up"
    assert bot.exited().code == 5
    assert [] == processes.alive(bot.token)


def test_neighbours_are_spared(host, backend):
    """Killing one bot leaves the others alone, daemons and all."""
    victim = host.python(backend, STAYING)
    other = host.start(backend, "/bin/sh", "-c", "while read -r x; do echo $x; done")
    assert victim.line() == "up"
    host.spawner.kill(victim.id)
    victim.exited()
    other.write(b"still here\n")
    assert other.line() == "still here"


def test_kill_at_any_moment(host, backend, processes):
    """A kill right behind the start, at whatever stage it strikes, leaves nothing."""
    bots = [host.python(backend, STAYING) for _ in range(8)]
    for bot in bots:
        host.spawner.kill(bot.id)
    assert {(bot.exited().signal, bot.exited().host_error) for bot in bots} == {(9, "")}
    assert [] == [pid for bot in bots for pid in processes.alive(bot.token)]


def test_kill_of_the_gone_is_harmless(host, backend):
    """Killing a program that has ended, or an id that never was, changes nothing."""
    bot = host.start(backend, "/bin/true")
    bot.exited()
    host.spawner.kill(bot.id)
    host.spawner.kill(4711)
    assert host.start(backend, "/bin/true").exited().code == 0


def test_started_names_the_tree(host, backend):
    """Started gives a living process from whose folder in /proc the bot can be metered."""
    bot = host.start(backend, "/bin/cat", "-")
    pid = host.started(bot)
    assert Path(f"/proc/{pid}/schedstat").exists()


def test_usage_is_counted(host, backend):
    """CPU and memory of children count too."""
    code = "import os\nif os.fork() == 0:\n    x = b'x' * 100_000_000\n    sum(range(3_000_000))\n"
    code += "else:\n    os.wait()\n"
    exited = host.python(backend, code).exited()
    assert exited.code == 0
    assert exited.cpu_ms >= 20
    assert exited.memory_mb >= 95


def test_memory_is_limited(host, backend):
    """More memory than allowed can't be had."""
    code = "print('up', flush=True)\ntry:\n    b'x' * 200_000_000\nexcept MemoryError:\n"
    code += "    print('refused', flush=True)\n"
    bot = host.python(backend, code, memory_mb=128)
    assert (bot.line(), bot.line()) == ("up", "refused")


def test_many_at_once(host, backend):
    """Forty programs live side by side, and each has its own pipes."""
    bots = [host.start(backend, "/bin/sh", "-c", "read -r x; echo $x") for _ in range(40)]
    for number, bot in enumerate(bots):
        bot.write(b"%d\n" % number)
    assert [bot.line() for bot in bots] == [str(number) for number in range(40)]
    assert {bot.exited().code for bot in bots} == {0}


def test_sigkill_of_the_spawner(host, backend, processes):
    """When the spawner is killed outright, nothing that it started survives."""
    bot = host.python(backend, STAYING)
    assert bot.line() == "up"
    handles = processes.handles(processes.alive(bot.token))
    host.spawner._process.kill()
    host.spawner._process.wait()
    processes.gone(handles)


REFEREE = """
import os, select, sys
import msgspec
from arena.sandbox import SpawnPlan
from arena.sandbox.client import Spawner
spawner = Spawner()
bot = spawner.spawn(msgspec.json.decode(sys.argv[1], type=SpawnPlan))
select.select([bot.stdout], [], [], 30)
print(spawner._process.pid, os.read(bot.stdout, 100).decode(), flush=True)
sys.stdin.read()
"""


def test_sigkill_of_the_referee(host, backend, processes):
    """When the referee is killed outright, neither spawner nor bots survive."""
    import msgspec

    from arena.sandbox import Launch

    folder = host.folder / "bot"
    folder.mkdir()
    token = f"token{os.getpid()}"
    launch = Launch(
        run=(os.path.realpath(sys.executable), "-c", STAYING, token),
        root=str(folder),
        expose=(sys.base_prefix,),
    )
    plan = msgspec.json.encode(backend.plan(launch)).decode()
    with subprocess.Popen(
        [sys.executable, "-c", REFEREE, plan], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as referee:
        spawner, up = referee.stdout.readline().split()
        assert up == b"up"
        pids = [pid for pid in processes.alive(token) if pid != referee.pid]
        assert len(pids) >= 7
        handles = processes.handles([*pids, int(spawner)])
        referee.kill()
        processes.gone(handles)


def test_close_leaves_nothing(host, backend, processes):
    """close() returns when every tree is dead, and may be called again."""
    bots = [host.python(backend, STAYING) for _ in range(3)]
    assert {bot.line() for bot in bots} == {"up"}
    host.spawner.close()
    assert [] == [pid for bot in bots for pid in processes.alive(bot.token)]
    host.spawner.close()
