"""What it costs an event to be looked at: none against fifty viewers, in turns.

`python bench/live.py [--turns N] [--seconds S] [--viewers N] [--bots N]`. One event of C bots is
played with `--live`, and viewers come and go: for some seconds there are fifty, for the next none,
and so on. Most read all that comes, one in ten never reads, one in ten is reset and comes back
every second. Told are matches a second in turns with viewers and in those without (neighbours are
compared, so that what else the machine does is in both), and the CPU time of arena's own process,
which serves.

The viewers are one process with the lowest priority: they would be on other machines.
"""

import argparse
import json
import os
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

BOTS = Path(__file__).parent / "bots"
PARTS = "head:index.html%20progress%20ranking%20matches%20notes"
READ_BYTES = 1 << 16
AGAIN_S = 1.0
# After viewers have come or gone, before anything is counted.
SETTLE_S = 0.5
LINGER = (1).to_bytes(4, "little") + bytes(4)


class Viewers:
    """So many viewers in one process, who come and go as they are told."""

    def __init__(self, url, number):
        place = urlsplit(url)
        self.place = (place.hostname, place.port)
        self.asked = f"GET /live?parts={PARTS} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()
        self.number = number
        self.few = max(1, number // 10)
        self.waiting = selectors.DefaultSelector()
        self.held = []
        self.leaving = []
        self.came = 0

    def one(self, *, reads=True):
        """A new one; who never reads lets little wait."""
        client = socket.create_connection(self.place)
        if not reads:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(self.asked)
        client.setblocking(False)  # noqa: FBT003 - positional only
        if reads:
            self.waiting.register(client, selectors.EVENT_READ)
        return client

    def come(self):
        """All of them."""
        self.held = [self.one(reads=number >= self.few) for number in range(self.number - self.few)]
        self.leaving = [self.one() for _ in range(self.few)]

    def go(self, clients):
        """Some of them, without a word."""
        for client in clients:
            if client.fileno() >= 0:
                if client in self.waiting.get_map():
                    self.waiting.unregister(client)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
                client.close()
        clients.clear()

    def read(self, client):
        """What has come for one."""
        try:
            data = client.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.came += len(data)
        if not data:
            self.waiting.unregister(client)

    def run(self):
        """Until there are no more orders; then how many bytes came."""
        self.waiting.register(sys.stdin, selectors.EVENT_READ)
        again = time.monotonic() + AGAIN_S
        while True:
            for key, _ in self.waiting.select(AGAIN_S):
                if key.fileobj is not sys.stdin:
                    self.read(key.fileobj)
                    continue
                order = os.read(0, 1)
                if order == b"+":
                    self.come()
                elif order == b"-":
                    self.go(self.held)
                    self.go(self.leaving)
                else:
                    print(self.came, flush=True)
                    return
            if self.leaving and time.monotonic() >= again:
                again = time.monotonic() + AGAIN_S
                self.go(self.leaving)
                self.leaving = [self.one() for _ in range(self.few)]


def bots_in(root, number):
    """The bots: C, answering at once, told apart by their names."""
    made = []
    for name in (f"bot-{n}" for n in range(number)):
        folder = root / name
        folder.mkdir()
        (folder / "bot.c").write_bytes((BOTS / "instant" / "bot.c").read_bytes())
        manifest = (BOTS / "instant" / "bot.toml").read_text().replace("instant", name)
        (folder / "bot.toml").write_text(manifest)
        made.append(folder)
    return made


def cpu_of(pid):
    """Seconds of one process, its threads included, its children not."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Turn:
    """Some seconds with viewers or without."""

    def __init__(self, matches, seconds, cpu):
        self.rate = matches / seconds
        self.share = cpu / seconds


def play(root, options):
    """(turns without, turns with viewers, bytes that they got)."""
    bots = bots_in(root, options.bots)
    command = [sys.executable, "-P", "-m", "arena", "run", *map(str, bots), "--live", "--json"]
    command += ["--deals", "100000", "--out", str(root / "event"), "--seed", "live"]
    env = {**os.environ, "XDG_CACHE_HOME": str(root / "cache")}
    arena = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
    url = ""
    while not url:
        said = json.loads(arena.stdout.readline())
        url = said["url"] if said["event"] == "live" else ""
    lookers = subprocess.Popen(
        [sys.executable, __file__, "--look", url, "--viewers", str(options.viewers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )
    counting = Counting(arena.stdout)
    turns = ([], [])
    counting.wait(3)
    for number in range(2 * options.turns):
        there = number % 2
        lookers.stdin.write(b"+" if there else b"-")
        counting.wait(SETTLE_S)
        cpu = cpu_of(arena.pid)
        matches, took = counting.wait(options.seconds)
        turns[there].append(Turn(matches, took, cpu_of(arena.pid) - cpu))
        turn = turns[there][-1]
        who = options.viewers if there else 0
        print(f"{who:3} viewers: {turn.rate:6.1f} matches/s, own CPU {100 * turn.share:4.1f} %")
    lookers.stdin.close()
    came = int(lookers.stdout.read())
    arena.send_signal(signal.SIGUSR1)
    arena.stdout.close()
    arena.wait()
    return (*turns, came)


class Counting:
    """The lines of an event, counted as they come."""

    def __init__(self, stream):
        self.stream = stream
        os.set_blocking(stream.fileno(), False)
        self.poll = selectors.DefaultSelector()
        self.poll.register(stream, selectors.EVENT_READ)

    def wait(self, seconds):
        """(matches, seconds) from now on."""
        begun, matches = time.monotonic(), 0
        while (left := begun + seconds - time.monotonic()) > 0:
            if self.poll.select(left):
                matches += os.read(self.stream.fileno(), 1 << 20).count(b'"event":"match"')
        return matches, time.monotonic() - begun


def main():
    """Take the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--bots", type=int, default=6)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--look", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        os.nice(19)
        Viewers(options.look, options.viewers).run()
        return
    with tempfile.TemporaryDirectory() as folder:
        without, looked_at, came = play(Path(folder), options)
    for viewers, turns in ((0, without), (options.viewers, looked_at)):
        rate = statistics.median(turn.rate for turn in turns)
        share = statistics.median(turn.share for turn in turns)
        print(f"{viewers} viewers: {rate:.1f} matches/s (median of {len(turns)} turns), "
              f"arena's own process {100 * share:.2f} % of a core")  # fmt: skip
    # Each turn with viewers against the mean of those before and behind it.
    lost = [
        1 - turn.rate / statistics.mean([before.rate, behind.rate])
        for before, turn, behind in zip(without, looked_at, without[1:], strict=False)
    ]
    quarters = statistics.quantiles(lost, n=4)
    more = statistics.mean(t.share for t in looked_at) - statistics.mean(t.share for t in without)
    all_cores = more / len(os.sched_getaffinity(0))
    print(
        f"lost: median {100 * statistics.median(lost):+.1f} %, middle half "
        f"{100 * quarters[0]:+.1f} to {100 * quarters[2]:+.1f} %\n"
        f"more CPU of the process that serves: {100 * more:.2f} % of a core, "
        f"{100 * all_cores:.2f} % of all; {came / 1e6:.0f} MB sent"
    )


if __name__ == "__main__":
    main()
