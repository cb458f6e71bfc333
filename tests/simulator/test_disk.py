"""The disk that forgets: what a power cut may leave, for each way of cutting."""

import errno
import random

import pytest

from tests.simulator.disk import SECTOR, WAYS, Disk
from tests.simulator.faults import Fault, Faults
from tests.simulator.loop import within
from tests.simulator.programs import Process

DRAWS = 60


class World:
    parent = None

    @staticmethod
    def buried(process):
        del process


class Machine:
    """A disk, and the process that uses it."""

    closing = False

    def __init__(self, root, faults=()):
        self._faults = Faults(faults)
        self._faults.world = self
        self.disk = Disk(root, self._faults)
        self.process = Process(World(), "a process")
        self.root = root

    def strike(self, fault, place):
        self._faults.last(place, fault.how)

    def do(self, work):
        return within(self.process).run(work, self.disk)

    def cut(self, way, seed=1):
        self.disk.crash(self.process)
        self.disk.cut(way, random.Random(seed))
        return {path.name: path.read_bytes() for path in self.root.iterdir()}


@pytest.fixture
def machines(tmp_path):
    """As many machines as a test wants."""
    made = []

    def machine(*faults):
        made.append(Machine(tmp_path / str(len(made)), faults))
        return made[-1]

    return machine


def write(disk, name, data, *, sync=False, mode="ab"):
    with disk.open_file(disk.root / name, mode, buffering=0) as file:
        file.write(data)
        if sync:
            file.sync()


@pytest.mark.parametrize("way", WAYS)
def test_what_was_synced_stays_and_its_name_too(machines, way):
    machine = machines()

    def work(disk):
        write(disk, "a", b"first", sync=True)
        disk.sync_folder(disk.root)
        write(disk, "a", b" second")

    machine.do(work)
    found = machine.cut(way)
    assert found["a"].startswith(b"first")
    assert len(found["a"]) <= len(b"first second")


def test_a_file_that_was_synced_can_lose_its_name(machines):
    machine = machines()
    machine.do(lambda disk: write(disk, "a", b"first", sync=True))
    assert machine.cut("none") == {}


@pytest.mark.parametrize(
    ("way", "possible"),
    [
        ("none", {b"old"}),
        ("all", {b"oldAB"}),
        ("first", {b"old", b"oldA", b"oldAB"}),
        ("any", {b"old", b"oldA", b"old\0B", b"oldAB"}),
    ],
)
def test_each_way_leaves_just_what_it_may(machines, way, possible):
    def work(disk):
        write(disk, "a", b"old", sync=True)
        disk.sync_folder(disk.root)
        write(disk, "a", b"A")
        write(disk, "a", b"B")

    found = set()
    for seed in range(DRAWS):
        machine = machines()
        machine.do(work)
        found.add(machine.cut(way, seed)["a"])
    assert found == possible


def test_a_long_write_is_torn_between_sectors(machines):
    found = set()
    for seed in range(DRAWS):
        machine = machines()

        def work(disk):
            write(disk, "a", b"x" * 100, sync=True)
            disk.sync_folder(disk.root)
            write(disk, "a", b"y" * (2 * SECTOR))

        machine.do(work)
        data = machine.cut("any", seed)["a"]
        assert data[:100] == b"x" * 100
        pieces = (data[100:SECTOR], data[SECTOR : 2 * SECTOR], data[2 * SECTOR :])
        assert all(len(set(piece)) <= 1 for piece in pieces)
        found.add(tuple(piece[:1] for piece in pieces))
    assert len(found) > 4


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_takes_anothers_place_is_the_old_one_or_the_new(machines, way):
    for seed in range(DRAWS):
        machine = machines()

        def work(disk):
            write(disk, "a", b"old", sync=True)
            disk.sync_folder(disk.root)
            write(disk, "b", b"new", sync=True, mode="wb")
            disk.rename(disk.root / "b", disk.root / "a")

        machine.do(work)
        assert machine.cut(way, seed)["a"] in {b"old", b"new"}


def test_without_a_sync_before_it_a_new_name_can_stand_for_nothing(machines):
    def work(disk):
        write(disk, "b", b"new", mode="wb")
        disk.rename(disk.root / "b", disk.root / "a")
        disk.sync_folder(disk.root)

    machine = machines()
    machine.do(work)
    assert machine.cut("none") == {"a": b""}


def test_what_a_failed_sync_was_to_write_is_lost_although_it_can_be_read(machines):
    machine = machines(Fault("disk error", "sync", 1, "EIO 1"))

    def work(disk):
        with disk.open_file(disk.root / "a", "ab", buffering=0) as file:
            disk.sync_folder(disk.root)
            file.write(b"lost")
            with pytest.raises(OSError, match="Input/output"):
                file.sync()
            file.write(b"kept")
            file.sync()

    machine.do(work)
    assert (machine.root / "a").read_bytes() == b"lostkept"
    assert machine.cut("all") == {"a": b"\0\0\0\0kept"}


def test_a_full_disk_takes_a_part_and_then_nothing(machines):
    machine = machines(Fault("disk error", "write", 1, "ENOSPC 1"))

    def work(disk):
        with disk.open_file(disk.root / "a", "ab", buffering=0) as file:
            assert file.write(b"12345678") == 4
            with pytest.raises(OSError, match="No space") as caught:
                file.write(b"5678")
            assert caught.value.errno == errno.ENOSPC
            assert file.write(b"5678") == 4

    machine.do(work)


def test_folders_are_kept_or_lost_as_files_are(machines):
    def work(disk):
        disk.make_folder(disk.root / "in" / "out", parents=True)
        disk.sync_folder(disk.root)

    machine = machines()
    machine.do(work)
    machine.disk.crash(machine.process)
    machine.disk.cut("none", random.Random(1))
    assert (machine.root / "in").is_dir()
    assert not (machine.root / "in" / "out").exists()
