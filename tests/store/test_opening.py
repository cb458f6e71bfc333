"""Opening a log after a crash: what is whole stays, what is damaged is never believed."""

import os
import tracemalloc

import pytest

from arena.model import UserError
from arena.store import Store, read_records
from arena.store.index import Index, IndexWriter
from arena.store.lines import LONGEST_LINE

COUNT = 6


@pytest.fixture
def folder(filled):
    """Six matches, all durable."""
    return filled(COUNT)


def ids(folder):
    return [record.deal for record in read_records(folder)]


def forget(folder, size):
    """Say that no more than this was durable, as before a sync."""
    writer = IndexWriter(folder, (folder / "matches.jsonl").stat().st_size)
    writer.write(size)
    writer.close()


def reopened(folder):
    """Open for writing as after a crash; the matches that are left, and what was told."""
    with Store.open(folder) as store:
        told = store.mended
    return ids(folder), told


def starts_of(whole):
    """Where each line begins, and the end."""
    at = [0]
    for line in whole.splitlines(keepends=True):
        at.append(at[-1] + len(line))
    return at


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.long("every byte of a log")
def test_a_log_cut_off_at_any_byte_keeps_its_whole_lines(folder, durable, no_disk):
    """A tear costs the line it is in, whatever the mark says, and no second opening finds more."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    index = (folder / "matches.index").read_bytes()
    starts = starts_of(whole)
    for cut in range(starts[-3], starts[-1]):
        log.write_bytes(whole[:cut])
        (folder / "matches.index").write_bytes(index)
        if not durable:
            forget(folder, starts[2])
        kept, told = reopened(folder)
        assert list(range(sum(start <= cut for start in starts[1:]))) == kept
        # Less than what was durable is worth a line, and so is a killed writer's half line.
        assert ("bytes at the log's end are gone" in told) == durable
        assert ("half a line" in told) == (not durable and cut not in starts)
        assert ("", kept) == reopened(folder)[::-1]


@pytest.mark.long("every byte of a log")
def test_a_flip_of_any_byte_in_the_last_line_costs_that_line(folder, no_disk):
    """Also one that makes a newline of it, or no newline of the last."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    last = starts_of(whole)[-2]
    for at in range(last, len(whole)):
        for damage in (whole[at] ^ 1, whole[at] ^ 128, 0, 10):
            if damage == whole[at]:
                continue
            log.write_bytes(whole[:at] + bytes([damage]) + whole[at + 1 :])
            kept, told = reopened(folder)
            assert list(range(COUNT - 1)) == kept
            assert "played again" in told
    assert (folder / "matches.damaged").exists()


def test_behind_the_mark_the_log_ends_before_the_first_damaged_line(folder):
    """After a power cut what follows a hole may be whole, and may be anything."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    index = (folder / "matches.index").read_bytes()
    starts = starts_of(whole)
    for line in range(2, COUNT):
        hole = bytes(starts[line + 1] - starts[line])
        log.write_bytes(whole[: starts[line]] + hole + whole[starts[line + 1] :])
        (folder / "matches.index").write_bytes(index)
        forget(folder, starts[2])
        kept, told = reopened(folder)
        assert list(range(line)) == kept
        # The zeros swallow the line after them, for they have no newline.
        assert f"{max(1, COUNT - 1 - line)} damaged line" in told or line == COUNT - 1


def test_a_flip_of_any_byte_that_was_durable_is_an_error_that_tells_what_to_do(folder):
    """Nothing before the last line is cut off by itself; --repair loses only that line."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    starts = starts_of(whole)
    for at in range(starts[2], starts[3] - 1, 7):
        damaged = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        log.write_bytes(damaged)
        with Store.open(folder) as store:
            assert not store.mended
            with pytest.raises(
                UserError, match=rf"line 3 \(byte {starts[2]}\).* 5 of 6 .*--repair"
            ):
                list(read_records(folder))
        assert damaged == log.read_bytes()
        with Store.open(folder, mend=True) as store:
            assert "1 damaged line moved" in store.mended
        assert [0, 1, 3, 4, 5] == ids(folder)
        assert damaged[starts[2] : starts[3]] in (folder / "matches.damaged").read_bytes()


def test_a_repair_of_a_whole_log_changes_nothing(folder):
    """Not even the time of the file."""
    before = (folder / "matches.jsonl").stat()
    with Store.open(folder, mend=True) as store:
        assert not store.mended
    assert before.st_ino == (folder / "matches.jsonl").stat().st_ino


def test_without_an_index_everything_whole_counts_as_durable(folder):
    """The mark went with it: what can't be judged isn't cut off, but for the very end."""
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    (folder / "matches.index").unlink()
    log.write_bytes(whole[:-1])
    assert list(range(COUNT - 1)) == reopened(folder)[0]
    assert COUNT - 1 == Index.load(folder).count


def test_what_a_killed_writer_had_not_finished_is_removed(folder):
    """Temporary files have names of their own."""
    (folder / ".table.txt.new").write_text("half")
    with Store.open(folder):
        pass
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("lines", [4, None])
def test_what_was_not_known_to_be_durable_is_written_once_more(folder, monkeypatch, lines):
    """A sync that failed leaves pages that the system takes for written; without an index, which
    knows how many lines are durable, all are.
    """
    log = folder / "matches.jsonl"
    whole = log.read_bytes()
    start = 0
    if lines is None:
        (folder / "matches.index").write_bytes(b"strange")
    else:
        start = starts_of(whole)[lines]
        forget(folder, start)
    written = []
    pwrite = os.pwrite
    monkeypatch.setattr(
        "os.pwrite", lambda fd, data, at: written.append((at, bytes(data))) or pwrite(fd, data, at)
    )
    Store.open(folder).close()
    assert (start, whole[start:]) in written
    assert whole == log.read_bytes()


@pytest.mark.parametrize("at", [2, COUNT])
def test_a_damaged_line_of_any_length_is_not_held(folder, at, monkeypatch):
    """Neither by a repair nor where it is the log's end: it is moved a block at a time."""
    log = folder / "matches.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    zeros = bytes(3 * LONGEST_LINE)
    log.write_bytes(b"".join([*lines[:at], zeros, b"\n", *lines[at:]]))
    longest = 0
    pread = os.pread

    def noted(descriptor, size, start):
        nonlocal longest
        longest = max(longest, size)
        return pread(descriptor, size, start)

    monkeypatch.setattr(os, "pread", noted)
    tracemalloc.start()
    with Store.open(folder, mend=True) as store:
        assert "1 damaged line moved" in store.mended
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert longest <= LONGEST_LINE
    assert most < 3 * LONGEST_LINE
    assert list(range(COUNT)) == ids(folder)
    assert zeros + b"\n" == (folder / "matches.damaged").read_bytes()


def test_lines_of_damage_between_whole_ones_are_moved_in_their_order(folder):
    """Side by side or apart, with or without a newline at the end."""
    log = folder / "matches.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    one, two = b"x\n", b"{}\n"
    log.write_bytes(b"".join([one, two, lines[0], two, *lines[1:], one, b"half"]))
    with Store.open(folder, mend=True) as store:
        assert "5 damaged lines moved" in store.mended
    assert b"".join(lines) == log.read_bytes()
    assert b"x\n{}\n{}\nx\nhalf\n" == (folder / "matches.damaged").read_bytes()
