"""Observers: verdicts on what a program takes and leaves behind, measured from outside.

What a program says only steers the observer ("up": it has begun; "done": it has all that it
wanted; "refused": something said no) and fills in what nobody else can count ("held 96": MB in
the kernel's buffers). A verdict rests on /proc, on the file system, and on what is still alive.

Every observer stops an attack that has proven its point, at a small multiple of the limit: the
control runs, in which nothing else would stop it, leave the machine as it was.
"""

import contextlib
import json
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import guards
import msgspec
import run
from stage import BITS

from arena.bots import snapshot
from arena.engine import time_account as allowance
from arena.engine.contestant import STIRRED_S, STIRRED_TIMES, Contestant
from arena.engine.pipes import OVERSEE_S
from arena.model import Limits
from arena.sandbox.environment import INSIDE

HERE = Path(__file__).parent

PROVEN = 2
"""So many times the limit is a broken one, if it lasts."""

LASTS_S = 0.3
"""Guards that look every few milliseconds let a fast program through for so long, on a machine
that is busy; it isn't broken if that was its end."""

CAP = 10
"""A program that gets so far is stopped by the observer, for the machine's sake."""

SETTLE_S = 0.3
"""How long a tree is looked at when one of it has said that it is done or was refused: a guard, or
the others, may be on their way."""

QUIET_S = 1.5
"""How long a tree that says nothing may add nothing before it counts as spent."""

KILL_MS = 100.0
"""From the kill to the last process's end, on a machine at rest."""

EOF_S = 0.3
"""Time to read what dead programs have left in a pipe."""

LOADED = 5
"""So many kills may be tried for one that the machine was at rest for."""

STILL_LOOKS = 5
"""A tree that has used next to nothing in so many looks at it stands still."""

EXEC_FAILED = (126, 127)
OVER = "over"
MB = 1 << 20


# ------------------------------------------------------------------------------ who is alive


class Tree:
    """All processes of a bot, found by what they can't change from within."""

    def __init__(self, scene, bot):
        self.bot = bot
        self.namespace = ""
        self.folder = bot.folder  # also of a program that has left meanwhile
        self._strangers = set(scene.strangers)
        """Processes that were there before the program; a number that is free again is nobody's."""
        deadline = time.monotonic() + scene.attack.seconds
        while not bot.pid and bot.exited is None and time.monotonic() < deadline:
            scene.runner.receive(deadline)
        with contextlib.suppress(OSError):
            namespace = str(Path(f"/proc/{bot.pid}/ns/pid").readlink())
            if namespace != str(Path("/proc/self/ns/pid").readlink()):
                self.namespace = namespace
            self.folder = str(Path(f"/proc/{bot.pid}/cwd").readlink())
        if self.folder == "/":  # of a sandbox that is still being built; of many others, too
            self.folder = bot.folder

    def pids(self):
        """Those in its pid namespace; or its descendants, and whoever is or was at its folder."""
        there = run.processes()
        self._strangers &= there
        parents = {}
        found = set()
        for pid in there - self._strangers:
            with contextlib.suppress(OSError):
                stat = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
                if stat[0] in b"ZX":
                    continue
                parents[pid] = int(stat[1])
                if self._is_own(f"/proc/{pid}"):
                    found.add(pid)
        if not self.namespace and self.bot.pid in parents:
            found.add(self.bot.pid)
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def _is_own(self, entry):
        if self.namespace:
            return str(Path(f"{entry}/ns/pid").readlink()) == self.namespace
        if not self.folder:
            return False
        if self.folder == INSIDE:  # as every bot's is called in its own sandbox
            root = os.path.relpath(self.bot.root, tempfile.gettempdir()) if self.bot.root else ""
            if root not in os.fsdecode(_read(f"{entry}/mountinfo")):
                return False
        with contextlib.suppress(OSError):
            if str(Path(f"{entry}/cwd").readlink()) == self.folder:
                return True
        return f"{self.folder}/".encode() in _read(f"{entry}/cmdline")

    def tasks(self):
        """Threads of all of them."""
        count = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                count += sum(1 for _ in os.scandir(f"/proc/{pid}/task"))
        return count

    def memory_mb(self):
        """What they hold together, a page that several share counted once."""
        return sum(map(_memory_kb, self.pids())) / 1024

    def end(self):
        """Kill what is left of it, however it moves; for those that nobody else will end."""
        deadline = time.monotonic() + 20
        while (left := self.pids()) and time.monotonic() < deadline:
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)


def _memory_kb(pid):
    """Proportional size and page tables; who can't be looked into counts with all it maps."""
    kb = 0
    with contextlib.suppress(OSError):
        kb += sum(map(int, re.findall(rb"\nVmPTE:\s+(\d+)", _read(f"/proc/{pid}/status"))))
    try:
        rollup = _read(f"/proc/{pid}/smaps_rollup")
        kb += sum(map(int, re.findall(rb"\n(?:Pss|SwapPss):\s+(\d+)", rollup)))
    except PermissionError:
        with contextlib.suppress(OSError):
            kb += int(_read(f"/proc/{pid}/statm").split()[1]) * 4
    except OSError:
        pass
    return kb


def _read(path):
    """A file of /proc: there are many, hundreds of times a second."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(handle, 1 << 16), b""))
    finally:
        os.close(handle)


# ------------------------------------------------------------------------------ what it takes


class Says:
    """What a program has said so far."""

    def __init__(self, bot):
        self.bot = bot
        self.last = ""
        self.held = 0
        self.final = ""
        """Its line that says how it ended."""

    def listen(self, seconds):
        """Take what it says within the time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self.bot.process.stdout in self.bot.ended:
                time.sleep(left)
                return
            line = self.bot.line(left)
            if line is None:
                continue
            self.last = line
            word, _, rest = line.partition(" ")
            if word == "held":
                self.held = int(rest)
            elif word in {"done", "refused"}:
                self.final = line


def _watched(scene, look, limit):
    """Look again and again at how much it has until it is spent; (most, how it ended).

    An empty end: it never began, and the row proves nothing. OVER: it kept more than it may.
    """
    bot, says = scene.bot, Says(scene.bot)
    begin = time.monotonic()
    deadline = begin + scene.attack.seconds
    most = 0
    changed = proven = 0.0
    while time.monotonic() < deadline:
        says.listen(0.004)
        now = max(look(), says.held)
        if now > most:
            most, changed = now, time.monotonic()
        if now >= PROVEN * limit:
            proven = proven or time.monotonic()
            if time.monotonic() > proven + LASTS_S or now >= CAP * limit:
                return most, OVER
        if bot.wait(0.001) is not None:
            break
        # Others of its tree may still be at it when one of them has said how it ended.
        quiet = SETTLE_S if says.final else QUIET_S
        if says.last and time.monotonic() > (changed or begin) + quiet:
            break
    says.listen(0.05)  # what it had said before it ended
    if not says.last:
        return most, ""
    exited = bot.exited
    if exited is None:
        return most, says.final or "it goes on"
    if exited.host_error or exited.code in EXEC_FAILED:
        return most, ""
    ended = f"signal {exited.signal}" if exited.signal else f"exit {exited.code}"
    return most, f"killed: {exited.overstepped}" if exited.overstepped else says.final or ended


def _judged(scene, what, most, how, limit):
    scene.note[what] = round(most, 1)
    scene.kill(scene.bot)
    if not how:
        return f"it never began: {scene.bot.exited} {scene.bot.errors()[-300:]}"
    if how == OVER:
        return f"BROKE {what}: over {PROVEN} times the limit of {limit}"
    if how.startswith("done"):
        return f"BROKE {what}: it had all that it wanted, unnoticed"
    return f"HELD {how.partition(' ')[0]} {how.partition(' ')[2].lstrip('0123456789 ')}".rstrip()


def memory(scene):
    """Its tree stays near its memory; or it is killed, or refused."""
    limit = scene.attack.launch["memory_mb"]
    tree = Tree(scene, scene.bot)
    most, how = _watched(scene, tree.memory_mb, limit)
    return _judged(scene, "memory_mb", most, how, limit)


def tasks(scene):
    """Its processes and threads keep to their number; a bomb that is spent is dead in no time."""
    limit = scene.attack.launch["tasks"]
    tree = Tree(scene, scene.bot)
    try:
        most, how = _watched(scene, tree.tasks, limit)
        return _judged(scene, "tasks", most, how or "spent", limit)
    finally:
        tree.end()


def descriptors(scene):
    """One process holds no more open files than it may, those on their way through sockets and
    those of a second table included.
    """
    says = Says(scene.bot)
    deadline = time.monotonic() + scene.attack.seconds
    while not says.final and scene.bot.wait(0.001) is None and time.monotonic() < deadline:
        says.listen(0.05)
    scene.kill(scene.bot)
    word, _, rest = says.final.partition(" ")
    if not word:
        return f"it never began: {scene.bot.errors()[-300:]}"
    count = int(rest.split()[0])
    scene.note["descriptors"] = count
    return f"{'BROKE' if word == 'done' else 'HELD'} {' '.join(rest.split()[1:])}"


def disk(scene):
    """A build's folder takes no more room than it may."""
    limit = scene.attack.launch["disk_mb"]
    folder = _folder(scene)
    try:
        most, how = _watched(scene, lambda: _disk_mb(folder), limit)
        return _judged(scene, "disk_mb", most, how, limit)
    finally:
        scene.kill(scene.bot)
        _empty(folder)


def entries(scene):
    """A build makes no more files and folders than its limit."""
    limit = scene.attack.launch["disk_files"]
    folder = _folder(scene)
    try:
        most, how = _watched(scene, lambda: _entries(folder), limit)
        return _judged(scene, "files", most, how, limit)
    finally:
        scene.kill(scene.bot)
        _empty(folder)


def scratch(scene):
    """Its scratch space holds no more than was granted, in bytes and in what files need.

    The size of that space is no guard that a plan could do without: for the control it is made
    so large that nothing is in the way.
    """
    limit = scene.attack.launch["scratch_mb"]
    if scene.removed:
        scene.kill(scene.bot)
        scene.bot = _roomy(scene)
    most, how = _watched(scene, lambda: 0, limit)
    return _judged(scene, "scratch_mb", most, how, limit)


def _roomy(scene):
    fields = {**scene.attack.launch, "memory_mb": 2048}
    launch = scene.runner.stage.launch(scene.attack.program, scene.attack.args, **fields)
    plan = guards.without(scene.backend, launch, scene.removed)
    plan = msgspec.structs.replace(
        plan,
        share=msgspec.structs.replace(plan.share, disk_mb=0, files=0),
        options={**plan.options, "scratch": "mode=1777,size=1g,nr_inodes=1000000"},
    )
    bot = run.Bot(scene.runner, scene.runner.stage.spawner.spawn(plan))
    scene.runner.bots[bot.process.id] = bot
    scene.bots.append(bot)
    return bot


def ends(scene):
    """It ends by itself at its limit of CPU time."""
    most = scene.attack.launch["cpu_seconds"] * 1.5
    pid = scene.bot.wait_started(scene.attack.seconds)
    while (exited := scene.bot.wait(0.1)) is None and (used := _cpu_seconds(pid)) <= most:
        scene.note["seconds"] = used
    if exited is None:
        scene.kill(scene.bot)
        return "BROKE it goes on"
    if exited.signal not in {signal.SIGXCPU, signal.SIGKILL}:
        return f"it ended otherwise: {exited} {scene.bot.errors()[-300:]}"
    return f"HELD {signal.Signals(exited.signal).name}"


@mock.patch.multiple(allowance, BURST_S=0.3, SHARE=0.02)
def off_turn(scene):
    """A bot that isn't asked leaves the core alone once it has used up its allowance (smaller here,
    so that a loaded machine gives as much). The referee's own overseer looks after it.
    """
    pid = scene.bot.wait_started(scene.attack.seconds)
    contestant = Contestant(scene.bot.process, Limits())
    contestant.take_root(scene.bot.tree)
    try:
        begun, still = time.monotonic(), 0
        # Until a look finds the allowance empty, and while it may have itself continued: looks are
        # late on a loaded machine.
        most = allowance.BURST_S + 2 * (STIRRED_TIMES + 2) * OVERSEE_S
        while still < STILL_LOOKS and time.monotonic() < begun + scene.attack.seconds:
            time.sleep(OVERSEE_S)
            before, used = contestant.known_cpu, contestant.used()
            scene.note["seconds"] = round(used, 1)
            if used > most + allowance.SHARE * (time.monotonic() - begun):
                return "BROKE it goes on"
            if guards.OVERSEER not in scene.removed:
                contestant.oversee(used, time.monotonic())
            if contestant.restless:
                return "HELD it is killed"
            still = still + 1 if contestant.frozen and used - before < STIRRED_S else 0
        return "HELD it stands still" if still else f"no verdict: {used} s of CPU by {pid}"
    finally:
        contestant.forget()
        scene.kill(scene.bot)


def _cpu_seconds(root):
    """What a process has used, and its children, dead ones too."""
    used = 0.0
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{root}/stat").read_text().rpartition(")")[2].split()
        used += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
        used += sum(map(_cpu_seconds, children))
    return used


# ------------------------------------------------------------------------- what it leaves behind


def gone(scene):
    """Nothing is left when its Exited arrives, and that within 100 ms of the kill.

    The control is a plain child whose own process alone is killed, as a simple runner would.
    """
    if scene.bot.line(scene.attack.seconds) != "up":
        return f"it never began: {scene.bot.errors()[-300:]}"
    tree = Tree(scene, scene.bot)
    if guards.SPAWNER in scene.removed:
        time.sleep(0.1)  # comets are on their way
        scene.bot.child.kill()
        scene.bot.child.wait()
        return _survivors(scene, tree, scene.bot)
    time.sleep(0.1)
    took = scene.kill(scene.bot)
    verdict = _survivors(scene, tree, scene.bot)
    for _ in range(LOADED):
        if took <= KILL_MS or verdict.startswith("BROKE"):
            break
        again = scene.start(scene.attack.program, *scene.attack.args, **scene.attack.launch)
        if again.line(scene.attack.seconds) != "up":
            return f"it never began again: {again.errors()[-300:]}"
        tree = Tree(scene, again)
        time.sleep(0.1)
        took = min(took, scene.kill(again))
        verdict = _survivors(scene, tree, again)
    scene.note["kill_ms"] = round(took, 1)
    return verdict if took <= KILL_MS else f"BROKE it took {took:.0f} ms to die"


def left(scene):
    """Nothing is left when the program has ended by itself."""
    if guards.SPAWNER in scene.removed:
        tree = Tree(scene, scene.bot)
        scene.bot.child.wait(scene.attack.seconds)
        return _survivors(scene, tree, scene.bot)
    tree = Tree(scene, scene.bot)
    exited = scene.bot.wait(scene.attack.seconds)
    if exited is None or exited.code != 0:
        return f"it did not leave: {exited} {scene.bot.errors()[-300:]}"
    return _survivors(scene, tree, scene.bot)


def _survivors(scene, tree, bot=None):
    """Processes that are left, or keep the bot's output open, which /proc may show too late."""
    if not tree.folder and not tree.namespace:
        return "nobody could be looked for"
    found = tree.pids()
    scene.note["left"] = len(found)
    if not found and bot is not None:
        bot.rest(EOF_S)
        if bot.process.stdout not in bot.ended:
            return "BROKE somebody unseen is left"
    tree.end()
    return f"BROKE {'several' if len(found) > 1 else 'one'} left" if found else "HELD nothing left"


REFEREE = """
import os, subprocess, sys
import msgspec
from arena.sandbox import SpawnPlan, Started
from arena.sandbox.client import Spawner
import select
plan = msgspec.json.decode(sys.stdin.readline(), type=SpawnPlan)
if sys.argv[1] == "plain":
    child = subprocess.Popen(plan.argv, cwd=plan.cwd, env={**plan.env}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, start_new_session=True)
    child.stdout.readline()
    print(0, child.pid, flush=True)
else:
    spawner = Spawner()
    bot = spawner.spawn(plan)
    pid = 0
    while not pid:
        select.select([spawner.fileno()], [], [], 30)
        for news in spawner.receive():
            assert isinstance(news, Started), news
            pid = news.pid
    os.set_blocking(bot.stdout, True)
    assert b"up" in os.read(bot.stdout, 100)
    print(spawner._process.pid, pid, flush=True)
sys.stdin.read()
"""


class _Stray:
    """What Tree wants to know of a bot that somebody else has started."""

    def __init__(self, pid):
        self.pid = pid
        self.root = self.folder = ""
        self.exited = None


def referee_killed(scene):
    """When the referee is killed outright, nothing is left: neither of bots nor of the spawner."""
    return _orphaned(scene, "referee")


def spawner_killed(scene):
    """When the spawner is killed outright, nothing is left of its bots."""
    return _orphaned(scene, "spawner")


def _orphaned(scene, victim):
    scene.kill(scene.bot)  # one of its own is needed, in a process that can be killed
    plain = guards.SPAWNER in scene.removed
    launch = scene.runner.stage.launch(
        scene.attack.program, scene.attack.args, **scene.attack.launch
    )
    plan = guards.without(scene.backend, launch, scene.removed)
    with subprocess.Popen(
        [sys.executable, "-c", REFEREE, "plain" if plain else "spawner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as referee:
        referee.stdin.write(msgspec.json.encode(plan) + b"\n")
        referee.stdin.flush()
        told = referee.stdout.readline().split()
        if not told:
            return f"it never began: {referee.stderr.read().decode()[-500:]}"
        spawner, pid = map(int, told)
        tree = Tree(scene, _Stray(pid))
        handle = os.pidfd_open(spawner) if spawner else -1
        begin = time.monotonic()
        os.kill(spawner if spawner and victim == "spawner" else referee.pid, signal.SIGKILL)
        deadline = begin + 5
        while (tree.pids() or _lives(handle)) and time.monotonic() < deadline and not plain:
            time.sleep(0.001)
        scene.note["gone_ms"] = round((time.monotonic() - begin) * 1000, 1)
        spawner_lives = _lives(handle)
        if handle >= 0:
            os.close(handle)
        referee.kill()
    verdict = _survivors(scene, tree)
    if plain:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # comets stay in their group, and can be met there
    return "BROKE the spawner is left" if spawner_lives else verdict


def _lives(handle):
    return handle >= 0 and not select.select([handle], [], [], 0)[0]


# ----------------------------------------------------------------------------- what it inflicts

GROWN_MB = 8
"""What a referee may come to hold because a bot talks: a line's cap, a log's, and what its memory
allocator keeps of them."""

LISTENER = HERE / "listener.py"


def flat(scene):
    """The referee's memory doesn't grow with what a program writes.

    The control is a runner that collects the output, as the standard library's would.
    """
    scene.kill(scene.bot)
    naive = guards.SPAWNER in scene.removed
    launch = scene.runner.stage.launch(
        scene.attack.program, scene.attack.args, **scene.attack.launch
    )
    plan = guards.without(scene.backend, launch, scene.removed)
    done = subprocess.run(
        [sys.executable, str(LISTENER), "naive" if naive else "table"],
        input=msgspec.json.encode(plan),
        capture_output=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        return f"no listener: {done.stderr.decode()[-500:]}"
    told = json.loads(done.stdout)
    scene.note["grown_mb"] = round(told["grown_mb"], 1)
    if told["grown_mb"] > GROWN_MB:
        return "BROKE its output is collected without end"
    return "HELD"


# -------------------------------------------------------------------------------------- places


def _folder(scene):
    """The build's folder, by the name that it has outside: the last that was made."""
    bots = Path(scene.facts["folder"], "bots")
    return max(bots.iterdir(), key=lambda path: int(path.name))


def _walk(folder):
    """Every entry below, whatever its modes: as root, or as the owner of them all."""
    todo = [os.fspath(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError:
            continue


def _disk_mb(folder):
    total = 0
    for entry in _walk(folder):
        with contextlib.suppress(OSError):
            total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total / MB


def _entries(folder):
    return sum(1 for _ in _walk(folder))


def _empty(folder):
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False, capture_output=True)
    subprocess.run(["rm", "-rf", str(folder)], check=False, capture_output=True)
    folder.mkdir(exist_ok=True)


# ------------------------------------------------------------------- what the dead have left behind

RESIDUE_BITS = 64
RESIDUE_STRIDE = 1 << 16
RIGHT = 0.75
"""So many of the bits are no chance: of 64 one try in 30,000 comes to it by guessing."""


def residue(scene):
    """Whether a bot can tell which pages another one, which is gone, has read of a file: it is to
    begin with as after a boot, not in memory.
    """
    scene.bot.rest(scene.attack.seconds)
    scene.bot.wait(scene.attack.seconds)
    path, way = scene.attack.args[0].format_map(scene.facts), scene.attack.args[2]
    folder = scene.runner.stage.program("residue.c")
    cold = folder / "cold" if path.startswith("/bot/") else Path(path)
    if cold.parent == folder:
        cold.write_bytes(b"x" * (RESIDUE_BITS * RESIDUE_STRIDE))
    handle = os.open(cold, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)
    stride = cold.stat().st_size // RESIDUE_BITS
    word = f"{secrets.randbits(RESIDUE_BITS):0{RESIDUE_BITS}b}"
    said = ""
    send = "send"
    if way == "names":
        send, stride = "seek", secrets.token_hex(4)
    for words in ((send, word), (way, str(RESIDUE_BITS))):
        bot = scene.start("residue.c", path, str(stride), *words, confined=False, root=folder)
        said = bot.rest(scene.attack.seconds).strip()
        bot.wait(scene.attack.seconds)
    if not said.startswith("word "):
        return said or "no verdict: nothing was said"
    found = said.removeprefix("word ")
    right = sum(sent == heard for sent, heard in zip(word, found, strict=True)) / len(word)
    return f"{'BROKE' if right >= RIGHT else 'HELD'} of {RESIDUE_BITS} bits"


def read_times(scene):
    """Whether a bot can tell which files of its folder another one, which is gone, has read."""
    folder = scene.runner.stage.program("collude.c")
    for bit in range(BITS):
        (folder / f"bit{bit}").write_text("x")
    snapshot.set_modes(folder, folders=0o755, files=0o444)
    if "times" in scene.removed:
        for bit in range(BITS):
            os.utime(folder / f"bit{bit}", (1, 1))
    word = "0110100110010110"
    sender = scene.start("collude.c", "times", "/bot", "send", word, confined=False, root=folder)
    first = sender.line(scene.attack.seconds)
    sender.kill()
    if first != "ready":
        return first or "no verdict: the sender said nothing"
    reader = scene.start("collude.c", "times", "/bot", "receive", "16", confined=False, root=folder)
    said = reader.rest(scene.attack.seconds).strip()
    return "BROKE all bits" if said == f"BROKE {word}" else f"HELD {said}"
