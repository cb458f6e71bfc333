"""What a bot that is gone tells by what it left in the page cache: bits of 300, and bits a second.

    python bench/residue.py [--jobs N] [--tries N] [--sandbox NAME] [--way NAME]

Two bots that never live at the same time: the first reads some pages of a file that was not in
memory, the second finds out which: by its own major faults, by the blocks that it has had read, by
time; or the first asks for names that don't exist, and the second times who is told so faster. The
file lies in their own folder, in what is shown to both of an installation, or among the system's.
Of 300 guesses 150 are right, which is 0 bits. With --jobs above 1 honest bots start and end
meanwhile, as other workers' would. Needs gcc; run it as root and as an ordinary user.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import secrets
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from arena import registry
from arena.sandbox import Backend, Exited, Launch
from arena.sandbox.client import Spawner

SOURCE = Path(__file__).parents[1] / "tests/hostile/programs/residue.c"
BITS = 300
STRIDE = 1 << 16
WAYS = ("faults", "blocks", "time", "names")
START_S = 60.0


def ended(spawner: Spawner, backend: Backend, launch: Launch) -> str:
    """Run a program to its end; what it said last."""
    process = spawner.spawn(backend.plan(launch))
    said = b""
    deadline = time.monotonic() + START_S
    try:
        gone = False
        while not gone and time.monotonic() < deadline:
            ready, _, _ = select.select([spawner.fileno()], [], [], 1)
            gone = bool(ready) and any(isinstance(news, Exited) for news in spawner.receive())
        said = os.read(process.stdout, 1 << 16)
    finally:
        for descriptor in (process.stdin, process.stdout, process.stderr):
            os.close(descriptor)
    return said.decode().strip().rpartition("\n")[2]


def evict(path: Path) -> None:
    """Have a file out of memory, as after a boot."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def system_file() -> Path:
    """One of the system's that is large enough, and of which no program has mapped anything."""
    mapped = {
        line.split()[-1] for each in Path("/proc").glob("[0-9]*/maps") for line in lines(each)
    }
    for folder in ("/usr/lib", "/usr/libexec", "/usr/bin", "/usr/local"):
        for path in sorted(Path(folder).rglob("*")):
            large = path.is_file() and path.stat().st_size >= BITS * STRIDE
            if large and not path.is_symlink() and str(path) not in mapped:
                return path
    raise SystemExit("no file of the system's is large enough")


def lines(path: Path) -> list[str]:
    """Those of a file in /proc, if it is still there and ours to read."""
    try:
        return [line for line in path.read_text().splitlines() if "/" in line]
    except OSError:
        return []


@contextmanager
def honest(backend: Backend, jobs: int, launch: Launch) -> Iterator[None]:
    """Have other bots start and end meanwhile."""
    over = threading.Event()

    def play() -> None:
        with Spawner() as spawner:
            while not over.is_set():
                ended(spawner, backend, launch)

    others = [threading.Thread(target=play) for _ in range(jobs - 1)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        over.set()
        for other in others:
            other.join()


def bits_told(right: int, all_bits: int) -> float:
    """What a channel with these errors carries: of each bit 1 - H(error)."""
    error = 1 - right / all_bits
    if error in {0.0, 1.0}:
        return float(all_bits)
    entropy = -error * math.log2(error) - (1 - error) * math.log2(1 - error)
    return all_bits * (1 - entropy) if error < 0.5 else 0.0


def main() -> None:
    """Print a line for each sandbox, place and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--sandbox", action="append")
    parser.add_argument("--way", action="append", choices=WAYS)
    arguments = parser.parse_args()
    user = "ordinary user" if os.geteuid() else "root"
    print(f"as {user}, jobs {arguments.jobs}, {BITS} bits, {arguments.tries} tries")
    print(f"{'sandbox':9} {'place':8} {'way':7} {'right':>6} {'bits':>6} {'a second':>9}")
    for name in arguments.sandbox or ("bwrap", "landlock"):
        backend = registry.backend(name)
        for place in ("own", "exposed", "system"):
            for way in arguments.way or WAYS:
                rights, took = [], 0.0
                for _ in range(arguments.tries):
                    right, seconds = one(backend, place, way, arguments.jobs)
                    rights.append(right)
                    took += seconds
                told = bits_told(sum(rights), BITS * len(rights))
                mean = sum(rights) / len(rights)
                print(
                    f"{name:9} {place:8} {way:7} {mean:6.0f} {told / len(rights):6.0f} "
                    f"{told / took:9.0f}"
                )
                sys.stdout.flush()


def one(backend: Backend, place: str, way: str, jobs: int) -> tuple[int, float]:
    """Send a word once: how many bits of it were right, and how long both lived."""
    with tempfile.TemporaryDirectory(prefix="arena-residue-") as folder:
        Path(folder).chmod(0o755)
        root, shown = Path(folder, "bot"), Path(folder, "shown")
        for each in (root, shown):
            each.mkdir(mode=0o755)
        subprocess.run(["gcc", "-O1", "-o", str(root / "residue"), str(SOURCE)], check=True)
        where = {"own": root / "cold", "exposed": shown / "cold", "system": None}[place]
        if where is None:
            where = system_file()
        else:
            where.write_bytes(random.randbytes(BITS * STRIDE))
            where.chmod(0o644)
        evict(where)
        inside = "/bot/cold" if place == "own" else str(where)
        send, how = ("seek", secrets.token_hex(4)) if way == "names" else ("send", str(STRIDE))
        run = ("/bot/residue", inside, how)
        launch = Launch(run=run, root=str(root), expose=(str(shown),))
        word = f"{secrets.randbits(BITS):0{BITS}b}"

        def says(*words: str) -> Launch:
            return msgspec.structs.replace(launch, run=(*launch.run, *words))

        quiet = Launch(run=("/bot/residue",), root=str(root))
        with honest(backend, jobs, quiet), Spawner() as spawner:
            began = time.monotonic()
            sent = ended(spawner, backend, says(send, word))
            found = ended(spawner, backend, says(way, str(BITS)))
            seconds = time.monotonic() - began
        if sent != f"word {word}" or not found.startswith("word "):
            raise SystemExit(f"sent {sent!r}, found {found!r}")
        pairs = zip(word, found.removeprefix("word "), strict=True)
        return sum(a == b for a, b in pairs), seconds


if __name__ == "__main__":
    main()
