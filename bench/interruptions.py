"""Hundreds of kills: whether an event that is interrupted at any moment ends in the same bytes.

`python bench/interruptions.py [--count N] [--seed S] [--sandbox NAME]`. One event is played without
interruption. Then the same event is played again and again, and killed (SIGKILL to its whole tree,
to the parent or to a worker) at moments drawn by lot: after some time, or after some bytes of log.
After some kills the end of the log is damaged too, as a power cut may: what isn't durable yet torn,
zeroed or flipped, or a bit of the last line flipped. Each event is gone on with until it is over;
then its canonical log and tables are compared with the uninterrupted one's.

Ends with exit 1 and the seed if a line that was whole is gone, or a byte differs; the last line of
the output is JSON. A kill takes about a second.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from arena.store.index import Index
from arena.store.lines import strip_checksum

BOTS = Path(__file__).parent / "bots"
DEALS = 200
MATCHES = 2 * 3 * DEALS
STOPPED = 4
FORMATS = ("text", "md", "csv", "json")


class Lot:
    """One run of kills; `tally` has what was done."""

    def __init__(self, root, options):
        self.root = root
        self.options = options
        self.draw = random.Random(options.seed)
        self.tally = Counter()
        self.differences = []
        env = {"XDG_CACHE_HOME": str(root / "cache"), "NO_COLOR": "1"}
        self.env = {**os.environ, **env}
        self.bots = []
        for name in ("ann", "bob", "cyd"):
            folder = root / "bots" / name
            folder.mkdir(parents=True)
            (folder / "bot.c").write_bytes((BOTS / "instant" / "bot.c").read_bytes())
            manifest = (BOTS / "instant" / "bot.toml").read_text().replace("instant", name)
            (folder / "bot.toml").write_text(manifest)
            self.bots.append(str(folder))

    def command(self, *words):
        """The words of a command."""
        return [sys.executable, "-P", "-m", "arena", *map(str, words)]

    def start(self, out):
        """Begin the event, or go on with it."""
        if (out / "event.json").exists():
            words = ["resume", out, "--sandbox", self.options.sandbox]
        else:
            flags = ["--deals", str(DEALS), "--series", "4", "--seed", "kills"]
            words = ["run", *self.bots, *flags, "--sandbox", self.options.sandbox, "--out", out]
        return subprocess.Popen(
            self.command(*words, "--quiet"),
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def canonical(self, out):
        """What must not differ."""
        words = [["log", out, "--canonical"]]
        words += [["table", out, "--canonical", "--format", kind] for kind in FORMATS]
        return [subprocess.check_output(self.command(*each), env=self.env) for each in words]

    def await_moment(self, process, log):
        """Let some time pass, or something be logged."""
        if self.draw.random() < 1 / 3:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.draw.uniform(0, 1.0))
            return
        wanted = (log.stat().st_size if log.exists() else 0) + self.draw.randrange(1, 120_000)
        while process.poll() is None and not (log.exists() and log.stat().st_size >= wanted):
            time.sleep(0.001)

    def kill(self, process):
        """SIGKILL the parent, a worker, or all; pids that must soon be gone (none for a worker)."""
        tree = descendants(process.pid)
        target = self.draw.choice(("everything", "everything", "parent", "worker"))
        victims = {"everything": tree, "parent": tree[:1], "worker": tree[1:2]}[target]
        if process.poll() is not None or not victims:
            return []
        self.tally["kills"] += 1
        self.tally[f"of {target}"] += 1
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [] if target == "worker" else tree

    def damage(self, out):
        """What a power cut may do to the end of the log; how much of it must stay."""
        log = out / "matches.jsonl"
        data = bytearray(log.read_bytes() if log.exists() else b"")
        whole = data.rfind(b"\n") + 1
        lot = self.draw.random()
        mark = Index.load(out).mark or 0
        if lot < 1 / 4 and mark < len(data):
            self.tally["power cuts"] += 1
            at = self.draw.randrange(mark, len(data))
            how = self.draw.choice(("torn", "zeros", "flipped"))
            if how == "torn":
                del data[at:]
            elif how == "zeros":
                data[at:] = bytes(len(data) - at)
            else:
                data[at] ^= 1 << self.draw.randrange(8)
        elif lot < 3 / 8 and whole:
            self.tally["last lines flipped"] += 1
            del data[whole:]
            start = data.rfind(b"\n", 0, whole - 1) + 1
            data[self.draw.randrange(start, whole)] ^= 1 << self.draw.randrange(8)
        else:
            return sound(data)
        log.write_bytes(data)
        return sound(data)

    def event(self, number, right):
        """One event, killed until it is over."""
        out = self.root / f"event-{number}"
        log = out / "matches.jsonl"
        kept = b""
        while True:
            process = self.start(out)
            tree, before = [], self.tally["kills"]
            while not tree and process.poll() is None and self.tally["kills"] < self.options.count:
                self.await_moment(process, log)
                tree = self.kill(process)
            told = process.communicate()[1].decode()
            gone(tree)
            if process.returncode == 0:
                break
            if process.returncode == STOPPED and self.tally["kills"] > before:
                # A worker was killed that it can't do without: under the same series again and
                # again, or the one that tries how bots start. So it has stopped.
                self.tally["stopped, and gone on with"] += 1
                continue
            if not tree:
                raise SystemExit(f"seed {self.options.seed}: exit {process.returncode}: {told}")
            if not (log.read_bytes() if log.exists() else b"").startswith(kept):
                self.differences.append(f"event {number}: lines are gone")
            kept = self.damage(out)
        self.tally["events"] += 1
        self.tally["matches in the logs"] += log.read_bytes().count(b"\n")
        for was, now in zip(right, self.canonical(out), strict=True):
            if was != now:
                self.differences.append(f"event {number}: {was[:40]!r}… differs")


def sound(log):
    """A log's lines before its first damaged one: a process killed before it has opened the log
    leaves earlier damage there.
    """
    end = 0
    for line in bytes(log).splitlines(keepends=True):
        if not line.endswith(b"\n") or strip_checksum(line[:-1]) is None:
            break
        end += len(line)
    return bytes(log[:end])


def descendants(pid):
    """A process tree, the root first."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree, queue = [], [pid]
    while queue:
        tree.append(queue.pop())
        queue += children.get(tree[-1], [])
    return tree


def gone(pids):
    """Wait until none of them is there."""
    deadline = time.monotonic() + 30
    for pid in pids:
        while Path(f"/proc/{pid}").exists():
            if time.monotonic() > deadline:
                raise SystemExit(f"process {pid} is still there")
            time.sleep(0.002)


def main():
    """Kill, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=300, help="how many kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", default="none")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="arena-kills-") as root:
        lot = Lot(Path(root), options)
        whole = lot.start(Path(root, "whole"))
        if whole.wait():
            raise SystemExit(whole.stderr.read().decode())
        whole.communicate()
        right = lot.canonical(Path(root, "whole"))
        assert right[0].count(b"\n") == MATCHES
        number = 0
        while lot.tally["kills"] < options.count:
            lot.event(number, right)
            number += 1
    figures = {
        **{key: lot.tally[key] for key in sorted(lot.tally)},
        "differences": len(lot.differences),
        "sandbox": options.sandbox,
        "seed": options.seed,
        "seconds": round(time.monotonic() - begun),
    }
    for difference in lot.differences:
        print(f"seed {options.seed}: {difference}")
    print(json.dumps(figures))
    raise SystemExit(bool(lot.differences))


if __name__ == "__main__":
    main()
