"""Loads the attacks, runs them, judges.

An attack is run guarded and, for its control, with its guards removed; `judged` compares the two.
Whatever a program claims, BROKE counts only with the proof that its row asks for: a secret in its
last line, or harm that the stage finds on its victims. And harm that was done counts even if the
program claims to have been held.
"""

import contextlib
import enum
import functools
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path

import guards
import msgspec
from stage import BITS, HERE

from arena.sandbox import Exited, Started
from arena.sandbox.bwrap import Bubblewrap, candidates
from arena.sandbox.none import Unconfined

OUTPUT_BYTES = 1 << 20
"""Kept of what a program prints; observers of floods read for themselves."""

GRACE_S = 20.0
"""For the spawner's own answers on a busy machine."""


class Attack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a table; README.md explains the keys."""

    name: str = ""
    program: str
    tries: str
    args: tuple[str, ...] = ()
    proof: str = ""
    harm: str = ""
    sibling: bool = False
    guards: dict[str, tuple[str, ...]] = {}
    gap: str | dict[str, str] = ""
    partner: tuple[str, ...] | None = None
    launch: dict[str, int | bool | dict[str, str]] = {}
    seconds: float = 10.0
    observe: str = ""
    needs: tuple[str, ...] = ()

    def gap_in(self, kind):
        """Why it is known to break through there; empty when it is not."""
        return self.gap if isinstance(self.gap, str) else self.gap.get(kind, "")


class State(enum.Enum):
    """What is known of an attack on a backend after both runs."""

    HELD = "held"
    OPEN = "open"
    """Nothing is meant to stop it there, and nothing does."""
    GAP = "gap"
    BROKE = "BROKE"
    CLOSED = "closed"
    """Called a gap, but held: the row has to be brought up to date."""
    VOID = "void"
    SKIPPED = "skipped"

    @property
    def good(self):
        return self in {State.HELD, State.OPEN, State.GAP}


class Result(msgspec.Struct, kw_only=True):
    """Of one run."""

    broke: bool | None
    """None: no verdict."""
    text: str
    note: dict[str, float] = {}


class Cell(msgspec.Struct, kw_only=True):
    """An attack on a backend."""

    state: State
    text: str
    alone: tuple[str, ...] = ()
    """Guards that hold it even when all the others that it tests are removed."""
    note: dict[str, float] = {}


def attacks():
    """All rows of all tables, by name."""
    found = {}
    for path in sorted((HERE / "attacks").glob("*.toml")):
        for name, row in tomllib.loads(path.read_text()).items():
            assert name not in found, f"two attacks are called {name}"
            found[name] = msgspec.convert({"name": name, **row}, Attack)
    return found


def backends():
    """Every backend by name, strongest first, working here or not."""
    system = shutil.which("bwrap")
    found = {}
    for tool in candidates():
        is_system = system and os.path.realpath(system) == os.path.realpath(tool)
        found["bwrap-system" if is_system else "bwrap-wheel"] = Bubblewrap(tool)
    with contextlib.suppress(ImportError):
        from arena.sandbox.landlock import Landlock

        found["landlock"] = Landlock()
    return {**found, "none": Unconfined()}


def strongest():
    """The name of the best backend that works here, or "none"."""
    return next(name for name, backend in backends().items() if backend.probe().works)


@functools.cache
def missing(need):
    """What the machine lacks, in words; empty when it has it."""
    kind, _, value = need.partition(":")
    if kind == "cores":
        return "" if len(os.sched_getaffinity(0)) >= int(value) else f"under {value} cores"
    if kind == "program":
        return "" if shutil.which(value, path="/usr/local/bin:/usr/bin:/bin") else f"no {value}"
    if kind == "family":
        try:
            socket.socket(int(value), socket.SOCK_SEQPACKET if value == "38" else 1).close()
        except OSError:
            return f"no address family {value}"
        return ""
    if kind == "path":
        return "" if Path(value).exists() else f"no {value}"
    if kind == "setting":
        name, _, wanted = value.partition("=")
        path = Path("/proc/sys", *name.split("."))
        return "" if path.exists() and path.read_text().strip() == wanted else f"not {value}"
    if kind == "call":
        return _missing_call(value)
    if kind == "user":
        return "" if (os.geteuid() == 0) == (value == "root") else f"for {value}"
    raise AssertionError(f"unknown need: {need}")


def _missing_call(table):
    """Whether this kernel takes calls by another table; tried in a child, as it may be deadly."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = str(HERE / "programs" / "call.c"), f"{folder}/call"
        built = subprocess.run(["gcc", "-w", "-D_GNU_SOURCE", "-o", program, source], check=False)
        if built.returncode:
            return "no gcc"
        made = subprocess.run([program, table], capture_output=True, text=True, check=False)
    return "" if made.stdout.startswith("BROKE") else f"the kernel has no {table}"


LANGUAGES = {"py": "", "sh": "bash", "js": "node", "java": "javac", "c": "gcc"}


def lacks(attack):
    """Why it can't be tried here; empty when it can."""
    language = LANGUAGES[attack.program.rpartition(".")[2]]
    needs = (*attack.needs, *([f"program:{language}"] if language else ()))
    return next(filter(None, map(missing, needs)), "")


class Bot:
    """A running program: its pipes, read with deadlines and caps."""

    def __init__(self, runner, process):
        self.runner = runner
        self.process = process
        self.pid = 0
        self.root = ""
        self.exited = None
        self.kill_ms = None
        self.buffers = {process.stdout: b"", process.stderr: b""}
        self.ended = set()

    def write(self, data):
        """Hand it a few bytes."""
        os.write(self.process.stdin, data)

    def line(self, seconds):
        """Its next line without the end, or None when the time or the output ends first."""
        deadline = time.monotonic() + seconds
        out = self.process.stdout
        while b"\n" not in self.buffers[out]:
            if not self._fill(deadline):
                return None
        line, _, self.buffers[out] = self.buffers[out].partition(b"\n")
        return line.decode(errors="replace")

    def rest(self, seconds):
        """All that it prints until its output ends, or the time."""
        deadline = time.monotonic() + seconds
        while self._fill(deadline):
            pass
        return self.buffers[self.process.stdout].decode(errors="replace")

    def wait_started(self, seconds):
        """The root of its tree as seen from outside, or 0 when it has not begun."""
        deadline = time.monotonic() + seconds
        while not self.pid and self.exited is None and time.monotonic() < deadline:
            self.runner.receive(deadline)
        return self.pid

    def wait(self, seconds):
        """Its Exited, or None when it still lives."""
        deadline = time.monotonic() + seconds
        while self.exited is None and time.monotonic() < deadline:
            self.runner.receive(deadline)
        return self.exited

    def kill(self):
        """End it; milliseconds until nothing of it was left."""
        if self.exited is None:
            begin = time.monotonic()
            self.runner.stage.spawner.kill(self.process.id)
            assert self.wait(GRACE_S), "the spawner does not answer"
            self.kill_ms = (time.monotonic() - begin) * 1000
        return self.kill_ms

    def errors(self):
        """What it has written to stderr."""
        return self.buffers[self.process.stderr].decode(errors="replace")

    def close(self):
        for descriptor in (self.process.stdin, self.process.stdout, self.process.stderr):
            os.close(descriptor)

    def _fill(self, deadline):
        """Read what there is; False when stdout has ended or the time has."""
        left = deadline - time.monotonic()
        wanted = [each for each in self.buffers if each not in self.ended]
        if left <= 0 or self.process.stdout not in wanted:
            return False
        ready, _, _ = select.select(wanted, [], [], left)
        for descriptor in ready:
            chunk = os.read(descriptor, 65536)
            self.buffers[descriptor] = (self.buffers[descriptor] + chunk)[-OUTPUT_BYTES:]
            if not chunk:
                self.ended.add(descriptor)
        return bool(ready)


class PlainBot(Bot):
    """The same without the spawner: a plain child that inherits all that it can."""

    def __init__(self, runner, plan):
        self.child = subprocess.Popen(
            plan.argv,
            cwd=plan.cwd,
            env={**os.environ, **plan.env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=False,
            start_new_session=True,
        )
        pipes = self.child
        self.stdin, self.stdout = pipes.stdin.fileno(), pipes.stdout.fileno()
        self.stderr = pipes.stderr.fileno()
        self.id = 0
        super().__init__(runner, self)
        self.pid = self.child.pid

    def wait(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self.child.wait(seconds)
            self.exited = Exited(
                id=0,
                code=code if code >= 0 else None,
                signal=-code if code < 0 else None,
                cpu_ms=0,
                memory_mb=0,
            )
        return self.exited

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.wait(GRACE_S)
        return 0.0

    def close(self):
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            pipe.close()


class Runner:
    """Starts programs on a stage."""

    def __init__(self, stage):
        self.stage = stage
        self.bots = {}

    def sibling(self, backend):
        """An innocent bot with a secret in its folder, its environment and its memory."""
        word = self.stage.facts["sibling_secret"]
        bot = self.start(backend, "victim.sh", (), env={"SIBLING_SECRET": word})
        strategy = Path(bot.root, "strategy")
        strategy.write_text(word + "\n")
        strategy.chmod(0o644)
        assert bot.line(GRACE_S) == "ready"
        assert bot.wait_started(GRACE_S)
        self.stage.facts |= {
            "sibling": bot.root,
            "sibling_file": str(strategy),
            "sibling_pid": str(bot.pid),
        }
        return bot

    def start(self, backend, program, args, removed=(), **fields):
        """Start a program of programs/; `removed`: without these guards."""
        launch = self.stage.launch(program, args, **fields)
        removed = tuple(guard.format_map(self.stage.facts) for guard in removed)
        plan = guards.without(backend, launch, removed)
        if guards.SPAWNER in removed:
            return PlainBot(self, plan)
        bot = Bot(self, self.stage.spawner.spawn(plan))
        bot.root = launch.root
        self.bots[bot.process.id] = bot
        return bot

    def receive(self, deadline):
        """Take the spawner's news, waiting until the deadline at most."""
        left = max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select([self.stage.spawner.fileno()], [], [], left)
        for news in self.stage.spawner.receive() if ready else ():
            if isinstance(news, Started):
                self.bots[news.id].pid = news.pid
            else:
                self.bots.pop(news.id).exited = news


class Scene:
    """One run, as an observer sees it."""

    def __init__(self, runner, attack, backend, removed):
        self.runner = runner
        self.attack = attack
        self.backend = backend
        self.removed = removed
        self.facts = runner.stage.facts
        self.note = {}
        self.bots = []
        self.bot = None

    def start(self, program, *args, confined=True, **launch):
        """Start another program in the same backend; it is ended with the scene."""
        removed = () if confined else self.removed
        bot = self.runner.start(self.backend, program, args, removed, **launch)
        self.bots.append(bot)
        return bot

    def start_row(self, args, facts):
        """Start the row's own program."""
        filled = [text.format_map(facts) for text in args]
        return self.start(self.attack.program, *filled, confined=False, **self.attack.launch)

    def kill(self, bot):
        """End a bot; milliseconds until nothing of it was left."""
        took = bot.kill()
        if took is not None:
            self.note["kill_ms"] = round(took, 1)
        return took

    def close(self):
        for bot in self.bots:
            bot.kill()
            bot.close()


def perform(runner, attack, backend, removed=()):
    """Run an attack once and judge it."""
    scene = Scene(runner, attack, backend, removed)
    try:
        if attack.sibling:
            scene.bots.append(runner.sibling(backend))
        facts = {**runner.stage.facts, "word": _word()}
        verdict = _observed(scene) if attack.observe else _reported(scene, facts)
    finally:
        scene.close()
    harmed = bool(attack.harm) and runner.stage.harmed(attack.harm)
    claims = verdict.startswith("BROKE")
    proof = attack.proof.format_map(facts)
    broke = (claims and proof in verdict and (harmed or not attack.harm)) or harmed
    if not (broke or claims or verdict.startswith("HELD")):
        return Result(broke=None, text=verdict, note=scene.note)
    if claims and not broke:
        verdict = f"HELD (without proof) {verdict}"
    # Nothing that changes from run to run belongs into the matrix.
    for name, value in facts.items():
        if name.endswith("secret") or name == "word":
            verdict = verdict.replace(value, f"<{name}>")
    return Result(broke=broke, text=verdict, note=scene.note)


def _word():
    """Bits that the receiver can't guess, of either sort."""
    while True:
        word = f"{secrets.randbits(BITS):0{BITS}b}"
        if 4 <= word.count("1") <= BITS - 4:
            return word


def _observed(scene):
    import observe

    scene.bot = scene.start_row(scene.attack.args, scene.facts)
    return getattr(observe, scene.attack.observe)(scene)


def _reported(scene, facts):
    """The last line of the row's program."""
    deadline = time.monotonic() + scene.attack.seconds
    if scene.attack.partner is not None:
        partner = scene.start_row(scene.attack.partner, facts)
        first = partner.line(scene.attack.seconds)
        if first is None or first.startswith("HELD"):
            return first or f"the partner is silent: {_end_of(partner)}"
    known = {**facts, "word": ""}  # it is the partner's to tell
    bot = scene.bot = scene.start_row(scene.attack.args, known)
    lines = bot.rest(deadline - time.monotonic()).split("\n")
    verdict = next((line for line in reversed(lines) if line.strip()), "")
    if bot.process.stdout not in bot.ended:
        bot.kill()
        return verdict if verdict.startswith(("HELD", "BROKE")) else "no verdict in time"
    exited = bot.wait(GRACE_S)
    assert exited, "it has closed its output and lives"
    scene.note["memory_mb"] = round(exited.memory_mb, 1)
    if scene.attack.partner is not None:
        scene.kill(partner)
    if exited.host_error:
        return f"host error: {exited.host_error}"
    if exited.signal == signal.SIGSYS:
        return "HELD killed by the filter of system calls"
    if not verdict.startswith(("HELD", "BROKE")):
        return f"no verdict: {_end_of(bot)}"
    return verdict


def _end_of(bot):
    exited = bot.wait(1)
    text = " ".join(bot.errors().split())[-300:]
    return f"{(exited.code, exited.signal, exited.host_error) if exited else 'lives'} {text}"


def judged(runner, attack, name, backend, *, thorough=False):
    """Run an attack guarded and unguarded. `thorough`: find out which of its guards hold alone."""
    kind = name.partition("-")[0]
    if reason := lacks(attack):
        return Cell(state=State.SKIPPED, text=reason)
    tested = attack.guards.get(kind, ())
    gap = attack.gap_in(kind)
    guarded = perform(runner, attack, backend)
    cell = functools.partial(Cell, text=guarded.text, note=guarded.note)
    if guarded.broke is None:
        return cell(state=State.VOID)
    if gap:
        return cell(state=State.GAP if guarded.broke else State.CLOSED)
    if kind == "none" and guards.SPAWNER not in tested and (guarded.broke or not tested):
        return cell(state=State.OPEN if guarded.broke else State.VOID)
    if guarded.broke:
        return cell(state=State.BROKE)
    control = perform(runner, attack, backend, tested)
    if not control.broke:
        text = f"guarded: {guarded.text}; without {', '.join(tested) or 'any guard'}: "
        return cell(state=State.VOID, text=text + control.text)
    alone = tested if len(tested) == 1 else ()
    if thorough and len(tested) > 1:
        alone = tuple(
            each for each in tested if _holds(runner, attack, backend, each, tested)
        )
    return cell(state=State.HELD, alone=alone)


def _holds(runner, attack, backend, guard, tested):
    others = tuple(each for each in tested if each != guard)
    return perform(runner, attack, backend, others).broke is False
