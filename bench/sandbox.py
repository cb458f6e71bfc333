"""What the sandbox costs: starting a bot in it, talking to it, being rid of it.

`python bench/sandbox.py [--rounds N] [--json]`. All is measured in turns (A, B, A, B…) in one run
and told as a ratio to the same program started plainly by subprocess.Popen, because a machine's
speed changes from minute to minute. Medians, with the middle half of what was seen.
"""

import argparse
import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.sandbox import Exited, Launch
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.client import Spawner
from arena.sandbox.landlock import Landlock
from arena.sandbox.none import Unconfined

# The system's: others may load whatever their site has been given to load.
PYTHON = "/usr/bin/python3"
BOT = "import sys\nfor line in sys.stdin:\n    sys.stdout.write('ok\\n')\n    sys.stdout.flush()\n"
PROGRAMS = {
    "python bot": ((PYTHON, "/bot/bot.py"), ()),
    "cat": (("/bin/cat",), ()),
}
QUESTION = b"q" * 399 + b"\n"
EXCHANGES = 300


class Plain:
    """A child by the standard library, without anything."""

    def __init__(self, run, root):
        run = [text.replace("/bot/", f"{root}/") for text in run]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(run, stdin=pipe, stdout=pipe, cwd=root, bufsize=0)
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()

    def end(self):
        """Kill it."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Confined:
    """A child by the spawner, as in an event."""

    def __init__(self, spawner, plan):
        self.spawner = spawner
        self.bot = spawner.spawn(plan)
        self.stdin, self.stdout = self.bot.stdin, self.bot.stdout

    def end(self):
        """Have it killed, and wait until nothing of it is left."""
        self.spawner.kill(self.bot.id)
        while True:
            select.select([self.spawner.fileno()], [], [])
            if any(isinstance(news, Exited) for news in self.spawner.receive()):
                break
        for descriptor in (self.bot.stdin, self.bot.stdout, self.bot.stderr):
            os.close(descriptor)


def exchange(child):
    """One question, one answer."""
    os.write(child.stdin, QUESTION)
    answer = b""
    while not answer.endswith(b"\n"):
        select.select([child.stdout], [], [])
        with contextlib.suppress(BlockingIOError):
            data = os.read(child.stdout, 4096)
            if not data:
                sys.exit("a program ended; in a sandbox that doesn't work?")
            answer += data


def measured(start):
    """(ms from nothing to the first answer, µs a round trip, ms until nothing of it is left)."""
    begun = time.perf_counter()
    child = start()
    exchange(child)
    first = time.perf_counter()
    for _ in range(EXCHANGES):
        exchange(child)
    talked = time.perf_counter()
    child.end()
    ended = time.perf_counter()
    return (first - begun) * 1e3, (talked - first) / EXCHANGES * 1e6, (ended - talked) * 1e3


def measure(rounds):
    """Every program in every backend, in turns."""
    # As in an event: a referee and its bots share a core.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    backends = [each for each in (Bubblewrap(), Landlock(), Unconfined()) if each.probe().works]
    seen = {}
    with tempfile.TemporaryDirectory() as root, Spawner() as spawner:
        Path(root).chmod(0o755)
        Path(root, "bot.py").write_text(BOT)
        for _ in range(rounds + 1):  # the first only warms up
            for program, (run, expose) in PROGRAMS.items():
                launch = Launch(run=run, root=root, expose=expose)
                found = seen.setdefault((program, "plain"), [])
                found.append(measured(lambda run=run: Plain(run, root)))
                for backend in backends:
                    plan = backend.plan(launch)
                    found = seen.setdefault((program, backend.name), [])
                    found.append(measured(lambda plan=plan: Confined(spawner, plan)))
    return {key: list(zip(*found[1:], strict=True)) for key, found in seen.items()}


def main():
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    seen = measure(asked.rounds)
    rows = []
    for (program, way), columns in seen.items():
        row = {"program": program, "way": way, "user": "root" if not os.geteuid() else "user"}
        for name, values, plain in zip(
            ("start_ms", "exchange_us", "end_ms"), columns, seen[program, "plain"], strict=True
        ):
            quarters = statistics.quantiles(values, n=4)
            row[name] = [round(each, 2) for each in quarters]
            row[f"{name}_ratio"] = round(quarters[1] / statistics.median(plain), 2)
        rows.append(row)
    if asked.json:
        print(json.dumps(rows, indent=1))
        return
    print("| program | way | start to first answer | ratio | round trip | ratio | end |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for row in rows:
        (s1, s2, s3), (_, x2, _), (_, e2, _) = row["start_ms"], row["exchange_us"], row["end_ms"]
        print(
            f"| {row['program']} | {row['way']} | {s2:.1f} ms ({s1:.1f} to {s3:.1f}) "
            f"| {row['start_ms_ratio']:.2f} | {x2:.1f} µs | {row['exchange_us_ratio']:.2f} "
            f"| {e2:.1f} ms |"
        )


if __name__ == "__main__":
    main()
