"""The results folder: nothing finished is lost, nothing damaged is believed."""

import errno
import os
import resource
import subprocess
import sys
import threading
import time

import pytest

from arena.model import Entrant, Event, HoleRecord, HostError, Settings, UserError
from arena.store import (
    Private,
    Store,
    canonical_line,
    is_results_folder,
    read_by_id,
    read_event,
    read_private,
    read_records,
    read_some,
    secret_of,
    writer,
)
from arena.store.index import Index
from tests.records import match_record

EVENT = Event(
    settings=Settings(game="play-nine"),
    entrants=tuple(
        Entrant(id=f"{name}@1", name=name, version="1", hash="00") for name in ("a", "b")
    ),
    commitment="c",
)
PRIVATE = Private(secret="ab" * 32, sources={"a@1": "/somewhere"}, cache="/cache")


def record(number):
    """A small record."""
    holes = (HoleRecord(order=(0, 1), moves="draw", scores=(1, 2)),)
    return match_record(series="s", deal=number, holes=holes, totals=(1, 2), ended=12.5)


@pytest.fixture
def folder(tmp_path):
    """A results folder with three matches, closed."""
    with Store.create(tmp_path / "event", EVENT, PRIVATE) as store:
        for number in range(3):
            store.append(record(number))
    return tmp_path / "event"


def test_what_was_appended_is_read_again(folder):
    """In the same order, with every field."""
    assert [record(0), record(1), record(2)] == list(read_records(folder))
    assert EVENT == read_event(folder)
    assert PRIVATE == read_private(folder)


def test_the_secret_is_private_until_it_is_revealed(folder):
    """private.json is its owner's alone; event.json has it when the event is over."""
    assert 0o600 == (folder / "private.json").stat().st_mode & 0o777
    assert bytes.fromhex("ab" * 32) == secret_of(folder, EVENT)
    (folder / "private.json").unlink()
    with pytest.raises(UserError, match="not been revealed"):
        secret_of(folder, EVENT)


def test_a_torn_last_line_is_passed_over_and_cut_off_by_the_next_writer(folder):
    """Whatever the place of the tear, the whole records before it stay."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    for cut in range(1, len(whole.splitlines(keepends=True)[-1])):
        log.write_bytes(whole[:-cut])
        assert [record(0), record(1)] == list(read_records(folder))
    with Store.open(folder) as store:
        store.append(record(7))
    assert [record(0), record(1), record(7)] == list(read_records(folder))


def test_a_log_of_one_torn_line_is_an_empty_log(folder):
    """Nothing before the tear means nothing at all."""
    (folder / "matches.jsonl").write_bytes(b"x" * 200_000)
    with Store.open(folder) as store:
        store.append(record(0))
    assert [record(0)] == list(read_records(folder))


def test_every_flipped_bit_is_found(folder):
    """A change of any byte of the log is an error that names the line."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    first = whole.index(b"\n")
    for at in range(first):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        log.write_bytes(damaged)
        with pytest.raises(UserError, match="line 1 "):
            list(read_records(folder))


def test_records_are_read_sorted_by_id(folder):
    """Whatever the order of the file, and a record that isn't wanted is left out."""
    with Store.open(folder) as store:
        for number in (9, 5, 7):
            store.append(record(number))
    assert [0, 2, 5, 7, 9] == [
        kept.deal for kept in read_by_id(folder, lambda head: head.id != "p-000001-0")
    ]
    assert [0, 1, 2, 9] == [
        kept.deal for kept in read_some(folder, lambda head: head.id[-3] in "0129")
    ]


def test_no_log_has_no_records(tmp_path):
    """A folder that was only prepared can be asked too."""
    assert [] == list(read_by_id(tmp_path, lambda head: True))


def test_a_damaged_event_file_is_refused(folder):
    """event.json carries a checksum too."""
    path = folder / "event.json"
    path.write_bytes(path.read_bytes().replace(b"play-nine", b"play-ten!"))
    with pytest.raises(UserError, match="checksum"):
        read_event(folder)


def test_a_later_format_is_refused(folder):
    """A folder of a newer arena is not misread."""
    from arena.store import add_checksum

    (folder / "event.json").write_bytes(add_checksum(b'{"format":99}') + b"\n")
    with pytest.raises(UserError, match="format 99"):
        read_event(folder)


def test_there_is_one_writer(folder):
    """A second one is refused by the first one's process id, until it is gone."""
    with Store.open(folder):
        assert os.getpid() == writer(folder)
        with pytest.raises(UserError, match=f"process {os.getpid()}"):
            Store.open(folder)
    assert writer(folder) is None
    Store.open(folder).close()


def test_a_killed_writer_s_lock_is_gone_with_it(folder):
    """SIGKILL leaves no stale lock."""
    code = (
        "import sys; from pathlib import Path; from arena.store import Store\n"
        "store = Store.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert b"open\n" == child.stdout.readline()
        assert child.pid == writer(folder)
        child.kill()
        child.wait()
        Store.open(folder).close()


def test_an_event_is_not_started_over_another(folder, tmp_path):
    """Nor in a folder with other things in it, nor where nothing can be written."""
    with pytest.raises(UserError, match="prepared.*arena run"):
        Store.create(folder, EVENT, PRIVATE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(UserError, match="not empty"):
        Store.create(tmp_path / "full", EVENT, PRIVATE)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="can't write"):
        Store.create(tmp_path / "file" / "below", EVENT, PRIVATE)


def test_a_preparation_that_was_killed_can_be_made_again(folder):
    """Before event.json is there, there is no event."""
    for name in ("event.json", "matches.jsonl", "matches.index"):
        (folder / name).unlink()
    (folder / ".event.json.new").write_text("half")
    Store.create(folder, EVENT, PRIVATE).close()
    assert EVENT == read_event(folder)


def test_a_folder_without_an_event_is_named(tmp_path):
    """The message says what is missing."""
    assert not is_results_folder(tmp_path)
    with pytest.raises(UserError, match="no event.json"):
        read_event(tmp_path)
    with pytest.raises(UserError, match="no event.json"):
        next(read_records(tmp_path))


def test_a_full_disk_leaves_no_half_record(folder):
    """The record that didn't fit is the host's trouble; those before it stay readable."""
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store.open(folder) as store:
        size = (folder / "matches.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, limits[1]))
        try:
            with pytest.raises(HostError, match="can't write"):
                store.append(record(3))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        store.append(record(4))
    assert [record(0), record(1), record(2), record(4)] == list(read_records(folder))


def test_a_record_is_durable_within_a_second_also_when_it_is_the_last(folder, monkeypatch):
    """Nothing more comes, and it is synced all the same; the index says so afterwards."""
    synced = threading.Event()
    fsync = os.fsync
    with Store.open(folder) as store:
        monkeypatch.setattr("os.fsync", lambda fd: fsync(fd) or synced.set())
        begun = time.monotonic()
        store.append(record(3))
        assert synced.wait(10)
        assert time.monotonic() - begun < 1
        size = (folder / "matches.jsonl").stat().st_size
        store.sync()
        assert size == Index.load(folder).mark
        assert 4 == Index.load(folder).count


def test_a_sync_that_fails_is_told_by_the_next_append(folder, monkeypatch):
    """And by all that follow: what was about to be durable may be lost."""

    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    with Store.open(folder) as store:
        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", refuse)
            store.append(record(3))
            with pytest.raises(HostError, match="Input/output error"):
                store.sync()
        with pytest.raises(HostError, match="Input/output error"):
            store.append(record(4))
    with Store.open(folder) as store:
        store.append(record(5))
    assert [0, 1, 2, 3, 5] == [kept.deal for kept in read_records(folder)]


def test_a_file_system_without_locks_is_named(folder, monkeypatch):
    """Two writers there could not be kept apart."""

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(UserError, match="has no locks"):
        Store.open(folder)
    assert writer(folder) is None


def test_the_canonical_line_leaves_out_what_differs_between_machines():
    """Attempts, times and clocks are the host's."""
    import msgspec

    here = record(1)
    there = msgspec.structs.replace(here, ended=99.0, attempt=3)
    assert canonical_line(here) == canonical_line(there)


def test_finishing_rewrites_the_event_whole(folder):
    """The secret is revealed in one step, and nothing private is left."""
    import msgspec

    with Store.open(folder) as store:
        store.conclude(msgspec.structs.replace(EVENT, finished=True, secret="cd" * 32))
    assert read_event(folder).finished
    assert bytes.fromhex("cd" * 32) == secret_of(folder, read_event(folder))
    assert {"event.json", "lock", "matches.index", "matches.jsonl"} == {
        path.name for path in folder.iterdir()
    }
