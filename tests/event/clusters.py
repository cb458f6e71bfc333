"""A Dask cluster for tests: processes that can be killed, on this machine or on several."""

import contextlib
import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

WAIT_S = 90
MANUAL = Path(__file__).parents[2] / "docs" / "cluster.md"
# The settings that it advises for every process, since they keep bots' cores free.
ADVISED = dict(re.findall(r"`(DASK_DISTRIBUTED__[A-Z_]+)=(\w+)`", MANUAL.read_text()))
assert len(ADVISED) == 4


class Forked:
    """A process that somebody else has started, as far as tests ask one of `subprocess`."""

    def __init__(self, pid):
        self.pid = pid
        try:
            self._fd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._fd = None

    def _ended(self, longest):
        if self._fd is not None and select.select([self._fd], [], [], longest)[0]:
            os.close(self._fd)
            self._fd = None
        return self._fd is None

    def poll(self):
        return 0 if self._ended(0) else None

    def wait(self):
        assert self._ended(WAIT_S), "a process doesn't end"

    def kill(self):
        if not self._ended(0):
            signal.pidfd_send_signal(self._fd, signal.SIGKILL)


class ForkedCommand:
    """A command that `forked.py` has started, as far as tests ask one of `subprocess`."""

    def __init__(self, forks, words, *, cwd, env, constants, machine=None):
        pipes = [os.pipe() for _ in range(3)]
        paths = [f"/proc/{os.getpid()}/fd/{writer}" for _, writer in pipes]
        self.returncode = None
        self.pid = forks.start(
            words=words,
            cwd=str(cwd),
            env=env,
            constants=constants,
            stdin="",
            out=paths[:2],
            ended=paths[2],
            machine=machine and machine.place,
        ).pid
        for _, writer in pipes:
            os.close(writer)
        self.stdout, self.stderr, self._ended = (os.fdopen(reader) for reader, _ in pipes)

    def poll(self, longest=0):
        if self.returncode is None and select.select([self._ended], [], [], longest)[0]:
            self.returncode = int(self._ended.read())
        return self.returncode

    def wait(self, timeout):
        if self.poll(timeout) is None:
            raise subprocess.TimeoutExpired("arena", timeout)

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=WAIT_S):
        """What is left of its outputs."""
        if self.stdout.closed:
            return "", ""
        found = {}

        def read(stream):
            found[stream] = stream.read()

        streams = (self.stdout, self.stderr)
        readers = [threading.Thread(target=read, args=(each,), daemon=True) for each in streams]
        for reader in readers:
            reader.start()
        deadline = time.monotonic() + timeout
        for reader in readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        if len(found) < len(readers) or self.poll(max(0.0, deadline - time.monotonic())) is None:
            raise subprocess.TimeoutExpired("arena", timeout)
        for stream in (*streams, self._ended):
            stream.close()
        return found[self.stdout], found[self.stderr]


class Forks:
    """`forked.py`, begun when it is first wanted."""

    def __init__(self):
        self._process = None

    def start(self, **order):
        """A scheduler or a worker; a command."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", Path(__file__).with_name("forked.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))

    def end(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder, environment, forks):
        self._forks = forks
        self.file = folder / "scheduler.json"
        cache = folder / "nodes-cache"
        self.cache = cache / "nine-arena"
        self._environment = {
            **environment,
            "XDG_CACHE_HOME": str(cache),
            **ADVISED,
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
            "DASK_TEMPORARY_DIRECTORY": str(folder / "dask"),
        }
        self._folder = folder
        self._running = []

    def begin(self, *flags, host="127.0.0.1", machine=None):
        """Start the scheduler."""
        address = () if any(flag.startswith("--protocol") for flag in flags) else ("--host", host)
        scheduler = self._start(
            *("scheduler", *address, "--port", "0", "--no-dashboard"),
            *("--dashboard-address", "127.0.0.1:0", "--scheduler-file", self.file, *flags),
            machine=machine,
        )
        deadline = time.monotonic() + WAIT_S
        while not self.file.exists():
            assert scheduler.poll() is None, "the scheduler has ended"
            assert time.monotonic() < deadline, "no scheduler"
            time.sleep(0.05)
        return scheduler

    def add(self, *flags, nanny=False, machine=None, **environment):
        """Start a worker; it may take a while until it is there."""
        host = machine.address if machine else "127.0.0.1"
        return self._start(
            *("worker", "--nthreads", "1", "--no-dashboard", "--scheduler-file", self.file),
            *("--host", host, *(() if nanny else ("--no-nanny",)), *flags),
            machine=machine,
            **environment,
        )

    def joined(self, worker):
        """Wait until a worker is one of the cluster's, by its own account."""
        log = self._log(self._running.index(worker))
        deadline = time.monotonic() + WAIT_S
        while b"Registered to:" not in log.read_bytes():
            assert worker.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "a worker doesn't join"
            time.sleep(0.05)

    def _log(self, number):
        return self._folder / f"dask-{number}.log"

    def _start(self, kind, *flags, machine, **environment):
        log = self._log(len(self._running))
        log.touch()
        theirs = machine.environment if machine else {}
        process = self._forks.start(
            kind=kind,
            flags=[str(flag) for flag in flags],
            env={**self._environment, **theirs, **environment},
            log=str(log),
            machine=machine and machine.place,
        )
        self._running.append(process)
        return process

    def end(self):
        """Kill everything, in each session that was started here."""
        for process in self._running[1:] + self._running[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(process, event, count=1):
    """Read events until so many of a kind have come."""
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            count -= 1
            if not count:
                return
    raise AssertionError(f"no {event}: {process.stderr.read()}")


def noted(process, *words):
    """Read events until there is a note with each of these words, in whatever order."""
    missing = set(words)
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "note":
            missing -= {word for word in missing if word in event["text"]}
        if not missing:
            return
    raise AssertionError(f"no note {missing}: {process.stderr.read()}")


def certificates(folder):
    """Make an authority and a certificate by the lines of the manual: a command's flags, Dask's."""
    (lines,) = re.findall(
        r"^```sh\n(key=.*\n(?:openssl .*\n)+)```", MANUAL.read_text(), re.MULTILINE
    )
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-ec", lines], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    files = folder / "ca.pem", folder / "node.pem", folder / "node.key"
    ours = zip(("--tls-ca", "--tls-cert", "--tls-key"), files, strict=True)
    theirs = zip(("--tls-ca-file", "--tls-cert", "--tls-key"), files, strict=True)
    return [list(itertools.chain(*flags)) for flags in (ours, theirs)]
