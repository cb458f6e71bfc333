"""Events on machines that are apart: certificates, a cache each, a cable that is pulled.

The scheduler, four workers and the command have a network namespace and a host name of their own.
"""

import json
import shutil
import time
from importlib.util import find_spec

import pytest

from .clusters import WAIT_S, Cluster, certificates
from .machines import Network, impossible

pytestmark = [
    pytest.mark.process,
    pytest.mark.long("clusters in network namespaces"),
    pytest.mark.skipif(not find_spec("distributed"), reason="the extra `dask` is not installed"),
]

NODES = 4
# The least that Dask takes: after so long without a sign of life a connection is given up.
SILENT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}
# Nobody is slow, but four nodes share the cores of one, and a machine may have more to do.
PATIENT = ("--move-time", "60s", "--start-time", "60s", "--series", 2, "--game", "four-card-golf")


class Far:
    """A cluster of machines: the scheduler's, a worker on each of the nodes, and the command's."""

    def __init__(self, network, cluster, tls, theirs):
        self.network = network
        network.begin()
        self.mine = network.machine("mine")
        self.nodes = [
            # Of one machine's facts only this can be made to differ.
            network.machine(f"node-{number}", cores=1 if number == 1 else None)
            for number in range(1, NODES + 1)
        ]
        self._cluster = cluster
        self._tls = "--protocol", "tls", *theirs
        head = network.machine("head")
        cluster.begin(*self._tls, "--host", head.address, machine=head)
        self.address = json.loads(cluster.file.read_text())["address"]
        self.flags = "--on", "dask", self.address, *tls
        self._workers = [self._start(node) for node in self.nodes]
        self.settled()

    def _start(self, node):
        return self._cluster.add(*self._tls, machine=node)

    def settled(self):
        """Wait until there is a worker on each node."""
        for worker in self._workers:
            self._cluster.joined(worker)

    def replace(self, number):
        """Kill the worker of a node, and start another."""
        self._workers[number].kill()
        self._workers[number] = self._start(self.nodes[number])

    def wait(self, number):
        """Wait until the worker of a node has ended by itself."""
        self._workers[number].wait()


@pytest.fixture(scope="module")
def far(environment, forks, tmp_path_factory):
    """Machines in a network."""
    if why := impossible():
        pytest.skip(why)
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("far")
    network = Network(folder)
    cluster = Cluster(folder, {**environment, **SILENT}, forks)
    try:
        yield Far(network, cluster, *certificates(folder / "ours"))
    finally:
        cluster.end()
        network.end()


def told(process):
    """The events of a command, as they come."""
    return map(json.loads, process.stdout)


def ended(process):
    """Whether a command has ended well; what it said otherwise."""
    _, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr


def test_a_cable_that_is_pulled_costs_time_and_nothing_else(
    arena, bot, comparable, far, running, tmp_path
):
    """Nobody says goodbye; what was in play there is played elsewhere, and the node cleans up."""
    field = [bot("ann"), bot("bob", "slow", 4)]
    flags = ["--deals", 8, *PATIENT, "--seed", "cable", "--sandbox", "none"]
    arena("run", *field, *flags, "--jobs", 1, "--out", "one")
    far.settled()
    process = running(
        "run", *field, *flags, *far.flags, "--no-pin", "--out", "two", machine=far.mine
    )
    node = far.nodes[1]
    matches, lost = 0, set()
    for event in told(process):
        if event["event"] == "void":
            lost.add(event["reason"].rpartition(":")[0])
        if event["event"] == "match":
            matches += 1
            if matches == 4:
                far.network.pull(node)
    ended(process)
    assert {f"its worker tls://{node.address}"} == lost
    assert comparable("one") == comparable("two")
    event = json.loads((tmp_path / "two" / "event.json").read_text())
    assert {len(each.cores) for each in far.nodes} == {each["cores"] for each in event["machines"]}
    hashes = {entrant["hash"] for entrant in event["entrants"]}
    for each in far.nodes:
        assert hashes <= {path.name for path in (each.cache / "bots").iterdir()}
    far.wait(1)
    deadline = time.monotonic() + WAIT_S
    while left := far.network.processes(node):
        assert time.monotonic() < deadline, f"processes {left} are still there"
        time.sleep(0.05)
    far.network.plug(node)
    far.replace(1)


def test_between_machines_nobody_is_spoken_to_without_certificates(bot, far, running, tmp_path):
    """Plain TCP, no certificate, a foreign authority's: one line each, and no event."""
    field = [bot("ann"), bot("bob")]
    foreign, _ = certificates(tmp_path / "foreign")
    for place, flags, words in (
        (far.address.replace("tls", "tcp"), [], "plain TCP beyond this machine"),
        (far.address, [], "needs certificates: --tls-ca CA"),
        (far.address, foreign, "no scheduler answers there"),
    ):
        process = running(
            "run", *field, "--on", "dask", place, *flags, "--out", "no", machine=far.mine
        )
        _, stderr = process.communicate(timeout=WAIT_S)
        assert 2 == process.returncode
        (line,) = [line for line in stderr.splitlines() if line.startswith("arena: ")]
        assert words in line
        assert not (tmp_path / "no").exists()
