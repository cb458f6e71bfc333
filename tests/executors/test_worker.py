"""What a worker tells, when whoever feeds it is slow to listen."""

import os
import select
import threading

import msgspec
import pytest
import trio

from arena.engine.match import FinishedMatch
from arena.executors import SeriesEnd
from arena.executors.local import parse_report
from arena.executors.worker import HELD_BYTES, HELD_S, _Output, report_line
from tests.records import match_record


def played(number, words=""):
    """A finished match, and what its bot wrote."""
    record = match_record(id=f"m-{number}", series="s", deal=number, seats=("a", "b"))
    return FinishedMatch(record=record, stderr={"a": words} if words else {})


def told(data):
    """What lines say: the match or the series of each."""
    reports = [parse_report(line) for line in data.splitlines()]
    return [
        report.series if isinstance(report, SeriesEnd) else report.record.id for report in reports
    ]


def fill(pipe):
    """Leave no room in it; how many bytes that took."""
    filled = 0
    while True:
        try:
            filled += os.write(pipe, b"x" * 4096)
        except BlockingIOError:
            return filled


END = SeriesEnd(series="s", attempt=0)


@pytest.fixture
def pipe():
    """Both ends of one."""
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


async def test_a_full_pipe_holds_up_no_bot(pipe, autojump_clock):
    """While nobody reads, the worker's other work goes on; nothing is lost or out of order."""
    read, write = pipe
    out = _Output(write)
    assert not os.get_blocking(write), "it would block for ever"
    filled = fill(write)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(out.write_in_time)
        out.send(played(0))
        await trio.sleep(10 * HELD_S)
        out.send(played(1))
        await trio.sleep(10 * HELD_S)
        while filled:
            filled -= len(os.read(read, min(filled, 1 << 16)))
        await trio.sleep(2 * HELD_S)
        assert ["m-0", "m-1"] == told(os.read(read, 1 << 16))
        nursery.cancel_scope.cancel()


async def test_a_series_end_is_told_at_once_behind_its_matches(pipe):
    """The task that feeds the worker waits for it."""
    out = _Output(pipe[1])
    out.send(played(0))
    out.send(played(1))
    assert not select.select([pipe[0]], [], [], 0)[0]
    out.send(END)
    assert ["m-0", "m-1", "s"] == told(os.read(pipe[0], 1 << 16))


def test_more_than_a_pipe_holds_is_waited_with_between_matches(pipe):
    """What is held for a slow listener stays bounded, and all of it comes."""
    out = _Output(pipe[1])
    heard = bytearray()

    def listen():
        while not heard.endswith(report_line(END)):
            heard.extend(os.read(pipe[0], 1 << 12))

    listener = threading.Thread(target=listen)
    listener.start()
    for number in range(5):
        out.send(played(number, "x" * 3 * HELD_BYTES))
        assert not out._held
    out.send(END)
    listener.join()
    assert [*(f"m-{number}" for number in range(5)), "s"] == told(heard)


def test_the_bytes_of_a_worker_are_the_line_of_the_log():
    """Parsed once, and not encoded again; what the bots wrote is beside it."""
    one = played(0, "a\ttab and a line\n")
    report = parse_report(report_line(one)[:-1])
    assert (one.record, one.stderr) == (report.record, report.stderr)
    assert msgspec.json.encode(one.record) == report.encoded
    assert END == parse_report(report_line(END)[:-1])
