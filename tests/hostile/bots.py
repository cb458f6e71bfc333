"""Bots that run: started in a sandbox, or as plain children, read with deadlines and caps."""

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import guards

from arena.sandbox import Exited, Started

OUTPUT_BYTES = 1 << 20
"""Kept of what a program prints; observers of floods read for themselves."""

GRACE_S = 20.0
"""For the spawner's own answers on a busy machine."""


class Bot:
    """A running program: its pipes, read with deadlines and caps."""

    def __init__(self, runner, process):
        self.runner = runner
        self.process = process
        self.pid = self.tree = 0
        self.root = ""
        self.folder = ""
        """Where its processes are, as seen from outside, if that is known beforehand."""
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
        self.folder = os.path.realpath(plan.cwd)
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
            bot = PlainBot(self, plan)
            bot.root = launch.root
            return bot
        bot = Bot(self, self.stage.spawner.spawn(plan))
        bot.root = launch.root
        if plan.backend != "bwrap":  # which has another view of them
            bot.folder = os.path.realpath(plan.cwd)
        self.bots[bot.process.id] = bot
        return bot

    def receive(self, deadline):
        """Take the spawner's news, waiting until the deadline at most."""
        left = max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select([self.stage.spawner.fileno()], [], [], left)
        for news in self.stage.spawner.receive() if ready else ():
            if isinstance(news, Started):
                self.bots[news.id].pid, self.bots[news.id].tree = news.pid, news.tree
            else:
                self.bots.pop(news.id).exited = news
