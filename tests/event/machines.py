"""Machines that are apart as far as the arena can tell: each has a network, a host name and a cache
of its own, and they reach each other by cables into one switch.

All of it is in network namespaces made here, the switch too, so the network of the machine that
the tests run on is never touched. What they have in common: clock, file system, cores.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

TOOLS = ("ip", "nsenter", "unshare")
GONE_S = 30


class Machine(NamedTuple):
    """A place to start processes."""

    name: str
    address: str
    network: str
    environment: dict[str, str]
    cores: list[int]

    @property
    def place(self):
        """What `forked.py` needs to know."""
        return {"network": self.network, "name": self.name, "cores": self.cores}

    @property
    def cache(self):
        """Where its arena keeps bots."""
        return Path(self.environment["XDG_CACHE_HOME"], "nine-arena")


class Network:
    """A switch, and the machines whose cables end there."""

    def __init__(self, folder):
        self._folder = folder
        self._prefix = f"arena-{secrets.token_hex(4)}"
        self._switch = self._space("switch")
        self._made = []

    def begin(self):
        """Make the switch."""
        self._namespace("switch")
        ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        ip("-n", self._switch, "link", "set", "switch", "up")

    def machine(self, name, *, cores=None):
        """Another one, with so many cores, else all; its name has at most 12 characters."""
        cores = sorted(os.sched_getaffinity(0))[:cores]
        space = self._namespace(name)
        number = len(self._made) - 1
        address = f"10.9.0.{number}"
        ip(
            *("link", "add", "eth0", "netns", space),
            *("type", "veth", "peer", "name", name, "netns", self._switch),
        )
        ip("-n", self._switch, "link", "set", name, "master", "switch", "up")
        ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", space, "link", "set", device, "up")
        environment = {"XDG_CACHE_HOME": str(self._folder / f"{name}-cache")}
        return Machine(name, address, f"/run/netns/{space}", environment, cores)

    def pull(self, machine):
        """Pull its cable: nothing is heard from it any more, not even that."""
        ip("-n", self._switch, "link", "set", machine.name, "down")

    def plug(self, machine):
        """Put its cable back."""
        ip("-n", self._switch, "link", "set", machine.name, "up")

    def processes(self, machine):
        """The pids of what runs there; bots have a network of their own, and aren't among them."""
        return [int(pid) for pid in ip("netns", "pids", self._space(machine.name)).split()]

    def end(self):
        """Kill everything, and take it apart."""
        deadline = time.monotonic() + GONE_S
        for space in self._made:
            while pids := ip("netns", "pids", space).split():
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                assert time.monotonic() < deadline, f"processes {pids} don't end"
                time.sleep(0.01)
        while self._made:
            ip("netns", "delete", self._made.pop())

    def _namespace(self, name):
        space = self._space(name)
        ip("netns", "add", space)
        self._made.append(space)
        return space

    def _space(self, name):
        return f"{self._prefix}-{name}"


def impossible():
    """Why there can be no such network here; empty: there can."""
    if lacking := [tool for tool in TOOLS if not shutil.which(tool)]:
        return f"no {' or '.join(lacking)} to make machines with (Debian: iproute2, util-linux)"
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    with tempfile.TemporaryDirectory() as folder:
        network = Network(Path(folder))
        try:
            network.begin()
            enter = [
                "nsenter",
                f"--net={network.machine('try').network}",
                "unshare",
                "--uts",
                "true",
            ]
            done = subprocess.run(enter, capture_output=True, text=True, check=False)
        except RuntimeError as error:
            return f"no network of machines can be made here: {error}"
        finally:
            network.end()
    return f"no machine can be entered here: {done.stderr.strip()}" if done.returncode else ""


def ip(*words):
    """What it says; RuntimeError if it can't."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
