"""The index: found at once what the log has, and never anything else."""

import contextlib
import os

import pytest

from arena.model import UserError
from arena.store import Store, lines, log_reader, read_records, records_of_match, records_of_series
from arena.store.index import Index
from arena.store.lock import lock


@pytest.fixture
def folder(filled, record):
    """Eight matches, the last two of another attempt at the first."""
    folder = filled(6)
    with Store.open(folder) as store:
        store.append(record(0, attempt=1))
        store.append(record(1, attempt=1))
    return folder


def found(folder):
    """What a few questions have as answers."""
    return [
        [(r.deal, r.attempt) for r in records_of_match(folder, "p-000000-0")],
        [(r.deal, r.attempt) for r in records_of_match(folder, "p-000001-0")],
        [(r.deal, r.attempt) for r in records_of_match(folder, "p-000005-0")],
        [(r.deal, r.attempt) for r in records_of_series(folder, "s-0")],
        [(r.deal, r.attempt) for r in records_of_series(folder, "s-1")],
        records_of_match(folder, "p-000009-0"),
    ]


RIGHT = [
    [(0, 0), (0, 1)],
    [(1, 0), (1, 1)],
    [(5, 0)],
    [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)],
    [(3, 0), (4, 0), (5, 0)],
    [],
]


def test_a_match_and_a_series_are_found(folder):
    """All their playings, in the order of the file."""
    assert RIGHT == found(folder)


def test_what_is_found_is_found_without_reading_the_log(folder, monkeypatch):
    """From its first line on the log is read only for what isn't there."""
    begun = []

    def read(folder, event, *, start=0):
        begun.append(start)
        return read_records(folder, event, start=start)

    read_records = log_reader.read_records
    monkeypatch.setattr(log_reader, "read_records", read)
    assert 1 == len(records_of_match(folder, "p-000005-0"))
    assert 5 == len(records_of_series(folder, "s-0"))
    assert 0 not in begun
    assert not records_of_match(folder, "p-000009-0")
    assert 0 in begun


@pytest.mark.long("every byte of a log")
def test_a_flip_of_any_byte_of_the_index_changes_no_answer(folder, no_disk):
    """Nor does its end at any byte, nor its absence; and the next writer makes it again."""
    path = folder / "matches.index"
    whole = path.read_bytes()
    for at in range(len(whole)):
        for damaged in (whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :], whole[:at]):
            path.write_bytes(damaged)
            assert RIGHT == found(folder)
            Store.open(folder).close()
            assert whole == path.read_bytes()
    path.unlink()
    assert RIGHT == found(folder)


def test_an_index_of_another_log_is_not_believed(folder):
    """Lines that have moved, or gone, are looked for in the log."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes().splitlines(keepends=True)
    for other in (whole[1:], whole[:3], whole[:2] + whole[3:], whole[::-1], whole + whole[:1]):
        log.write_bytes(b"".join(other))
        everything = list(log_reader.read_records(folder))
        for name in {record.id for record in everything}:
            right = [record for record in everything if record.id == name]
            assert right == records_of_match(folder, name)


def test_an_index_that_lags_behind_is_made_good_by_the_log(folder, record):
    """A killed writer had not written its last entries."""
    path = folder / "matches.index"
    old = path.read_bytes()
    with Store.open(folder) as store:
        store.append(record(5, attempt=1))
    path.write_bytes(old)
    assert [0, 1] == [r.attempt for r in records_of_match(folder, "p-000005-0")]
    Store.open(folder).close()
    assert 9 == Index.load(folder).count


def test_a_damaged_line_is_told_and_not_taken_for_absent(folder):
    """A search for the match in it says where the damage is."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b'"p-000004-0"', b'"p-000004-1"'))
    with pytest.raises(UserError, match="line 5 "):
        records_of_match(folder, "p-000004-0")


def test_the_index_is_sized_by_the_count_of_lines(folder):
    """28 bytes a match, whatever the match: a million are 28 MB."""
    assert 20 + 8 * 28 == (folder / "matches.index").stat().st_size
    assert 8 == len((folder / lines.LOG).read_bytes().splitlines())


def test_a_reader_makes_the_index_of_a_large_log(filled, monkeypatch):
    """Once; what it finds by it is what the log has, and a writer goes on with it."""
    monkeypatch.setattr("arena.store.log_reader._WORTH_AN_INDEX", 0)
    folder = filled(6)
    whole = (folder / "matches.jsonl").read_bytes()
    first, *_, last = read_records(folder)
    (folder / "matches.index").unlink()
    assert [first] == records_of_match(folder, first.id)
    index = Index.load(folder)
    assert 6 == index.count
    assert index.mark is None
    made = (folder / "matches.index").read_bytes()
    assert [last] == records_of_match(folder, last.id)
    assert made == (folder / "matches.index").read_bytes()
    with Store.open(folder) as store:
        assert not store.mended
    assert len(whole) == Index.load(folder).mark
    assert whole == (folder / "matches.jsonl").read_bytes()


def test_a_reader_cuts_nothing_off_by_the_index_that_it_has_made(filled, monkeypatch):
    """It doesn't know what is durable, so a line that is damaged in the middle stays."""
    monkeypatch.setattr("arena.store.log_reader._WORTH_AN_INDEX", 0)
    folder = filled(6)
    log = folder / "matches.jsonl"
    first, *_ = read_records(folder)
    (folder / "matches.index").unlink()
    lines = log.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"deal"', b'"laed"')
    log.write_bytes(b"".join(lines))
    assert [first] == records_of_match(folder, first.id)
    with Store.open(folder):
        pass
    assert b"".join(lines) == log.read_bytes()


@pytest.mark.parametrize("how", ["played", "linked", "another's"])
def test_where_it_may_not_be_written_an_index_is_only_used(filled, monkeypatch, how, tmp_path):
    """Somebody plays there, a link would lead it elsewhere, or the folder isn't ours."""
    monkeypatch.setattr("arena.store.log_reader._WORTH_AN_INDEX", 0)
    folder = filled(6)
    first, *_ = read_records(folder)
    (folder / "matches.index").unlink()
    if how == "linked":
        (folder / ".matches.index.new").symlink_to(tmp_path / "theirs")
    if how == "another's":
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with lock(folder) if how == "played" else contextlib.nullcontext():
        assert [first] == records_of_match(folder, first.id)
    assert not (folder / "matches.index").exists()
    assert not (tmp_path / "theirs").exists()
