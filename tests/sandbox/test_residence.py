"""Folders that are kept in memory: what is there before a start, and what it may take."""

import ctypes
import os
import time
from pathlib import Path

import pytest

from arena.sandbox import residence
from arena.sandbox.residence import Residence

PAGE = os.sysconf("SC_PAGESIZE")


@pytest.fixture
def folder(tmp_path):
    """Make a folder with files of the given numbers of pages."""

    def folder(name, *pages):
        made = tmp_path / name / "inner"
        made.mkdir(parents=True)
        for number, count in enumerate(pages):
            (made / str(number)).write_bytes(b"x" * (count * PAGE - 1))
        (made / "empty").touch()
        (made / "link").symlink_to("/usr/bin/env")
        return made.parent

    return folder


def dropped(folder):
    """Ask the kernel to drop all of a folder; the pages that had to stay."""
    stayed = 0
    for path in sorted((folder / "inner").glob("[0-9]*")):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            for start in range(0, path.stat().st_size, PAGE):
                try:
                    os.preadv(handle, [bytearray(1)], start, os.RWF_NOWAIT)
                    stayed += 1
                except BlockingIOError:
                    continue
        finally:
            os.close(handle)
    return stayed


def all_dropped(folder):
    """Whether it can be had out of memory; a page on its way to the lists, on another core,
    stays for a moment.
    """
    deadline = time.monotonic() + 5
    while dropped(folder):
        if time.monotonic() > deadline:
            return False
    return True


def mapped(folder):
    """How many of its files are mapped here."""
    text = Path("/proc/self/maps").read_text()
    return len({line.split()[-1] for line in text.splitlines() if f"{folder}/" in line})


@pytest.fixture
def held(folder):
    """What is held of a folder of 300 pages, which nothing had read."""
    made = folder("bot", 300, 1, 2)
    if not all_dropped(made):
        pytest.skip("this file system is in memory anyway")
    kept = Residence()
    kept.hold(str(made))
    return kept, made


def test_all_pages_are_there_and_stay(held):
    """Of a file that nothing had read, and whoever asks for them to be dropped."""
    _, made = held
    assert 303 == dropped(made)


def test_pages_that_the_kernel_took_come_back(held):
    """For want of memory it may take any; the next start has them read again."""
    kept, made = held
    entry = kept._held[str(made)]
    address, size = ctypes.c_void_p(entry.address), ctypes.c_size_t(entry.size)
    residence.kernel._libc.madvise(address, size, 4)  # MADV_DONTNEED: unmapped, not dropped
    assert all_dropped(made)
    kept.hold(str(made))
    assert 303 == dropped(made)


def test_another_folder_of_the_same_name_is_mapped_anew(held, folder):
    """What lay there before is forgotten."""
    kept, made = held
    made.rename(made.with_name("old"))
    again = folder("bot", 5)
    kept.hold(str(again))
    assert (1, 0) == (mapped(again), mapped(made.with_name("old")))
    assert 5 == dropped(again)


@pytest.mark.parametrize("bound", ["MOST_BYTES", "MOST_FILES"])
def test_what_was_used_last_is_held(folder, monkeypatch, bound):
    """Up to a bound in bytes and in files; what is more by itself isn't held, and costs nothing."""
    monkeypatch.setattr(residence, bound, 4 * PAGE if bound == "MOST_BYTES" else 4)
    kept = Residence()
    a, b, c = folder("a", 1, 1), folder("b", 1, 1), folder("c", 1, 1)
    large = folder("large", *[1] * 5)
    for each in (a, b, a, c, large):
        kept.hold(str(each))
    assert [2, 0, 2, 0] == [mapped(each) for each in (a, b, c, large)]


def test_nothing_is_held_any_more(held):
    """A spawner that is closed leaves no mapping."""
    kept, made = held
    assert 3 == mapped(made)
    kept.release()
    assert 0 == mapped(made)


def test_nothing_to_hold(tmp_path):
    """No folder, none that is there, and one without content: a start tells what is wrong."""
    kept = Residence()
    for name in ("", str(tmp_path / "none"), str(tmp_path)):
        kept.hold(name)
    assert 0 == mapped(tmp_path)
