"""Counts that speed depends on: calls to the system, bytes, decisions, memory. Never a time.

Bounds lie a little above what is needed, so that one more call a decision, or one more field in a
message, goes beyond them.
"""

import gc
import mmap
import statistics
import struct
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from measures.conversation import Conversation, series_of, settings_of
from measures.worker import COMMAND, Worker

COUNTED_WORKER = Path(__file__).with_name("counted_worker.py")
TABLES = [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 2), ("four-card-golf", 8)]
SHORT, LONG, TIMES = 1, 5, 4
"""Matches of the two series whose difference is counted, so that starting bots is not; and how
often each is played: what else goes on may add a call, but never spares one, so the least counts.
"""

# ----------------------------------------------------------------------------- to the system


def per_decision(worker, look):
    """How far each of the numbers that `look` gives goes up with a decision."""
    least = {}
    for _ in range(TIMES):
        for matches in (SHORT, LONG):
            before = look()
            decisions = sum(
                seen.decisions for seen in worker.play(series_of(worker.names, matches))
            )
            # It waits for its next job now, so nothing is on the move.
            now = [*(after - then for then, after in zip(before, look(), strict=True)), decisions]
            least[matches] = list(map(min, now, least.get(matches, now)))
    *more, decisions = (long - short for short, long in zip(least[SHORT], least[LONG], strict=True))
    return [each / decisions for each in more]


def fields(path, *names):
    """Numbers out of a file of `name: number` lines."""
    found = dict(line.split(":", 1) for line in path.read_text().splitlines())
    return [int(found[name]) for name in names]


@pytest.fixture
def start_worker(instant_bots):
    """Start a worker on one core, with two bots at hand."""
    from arena.executors.local import cores

    workers = []

    def start():
        workers.append(Worker(instant_bots, core=cores()[-1], command=COMMAND))
        return workers[-1]

    yield start
    for worker in workers:
        worker.close()


@pytest.mark.process
@pytest.mark.alone
def test_kernel_counts(start_worker):
    """A decision is one write and one read that finds something, and one sleep at most."""
    worker = start_worker()
    process = Path(f"/proc/{worker.process.pid}")
    try:
        fields(process / "io", "syscr")
    except OSError as error:
        pytest.skip(f"this kernel doesn't count reads and writes: {error}")

    def look():
        switches = fields(process / "status", "voluntary_ctxt_switches")
        return [*fields(process / "io", "syscr", "syscw"), *switches]

    reads, writes, sleeps = per_decision(worker, look)
    # Beside the questions there are a score of notices a match, and what the meters read.
    # The first read finds nothing where the bot hasn't run yet, and then comes a second.
    assert reads < 2.1
    assert reads - sleeps < 1.2
    assert writes < 1.15
    # None at all when the bot has the core at once and has answered before it is looked for.
    assert sleeps < 1.1


@pytest.mark.process
@pytest.mark.long("calls a decision")
@pytest.mark.alone
def test_calls(instant_bots, tmp_path):
    """A decision is write, yield, read; where the bot hasn't run yet, wait and read once more."""
    from arena.executors.local import cores

    file = tmp_path / "calls"
    file.write_bytes(bytes(16))
    command = [sys.executable, "-P", str(COUNTED_WORKER), str(file)]
    worker = Worker(instant_bots, core=cores()[-1], command=command)
    with file.open("rb") as opened:
        counted = mmap.mmap(opened.fileno(), 16, prot=mmap.PROT_READ)
    try:
        calls, waits = per_decision(worker, lambda: struct.unpack("=QQ", counted[:]))
    finally:
        worker.close()
        counted.close()
    # A wait comes with a second read.
    assert calls - 2 * waits < 3.3
    # Fewer would mean that calls are made in a way that counted_worker.py doesn't see.
    assert calls - 2 * waits > 2.7
    assert waits < 1.1


# ------------------------------------------------------------------------------------- bytes

# What four matches of bots that draw their moves say, by kind: messages, and their bytes.
MESSAGES = {
    ("play-nine", 2): {
        "hello": (2, 528),
        "match": (8, 645),
        "act": (1239, 607_716),
        "hole_end": (72, 13_856),
        "match_end": (8, 440),
    },
    ("play-nine", 6): {
        "hello": (6, 1_584),
        "match": (24, 1_938),
        "act": (2801, 2_250_078),
        "hole_end": (216, 83_728),
        "match_end": (24, 1_896),
    },
    ("four-card-golf", 2): {
        "hello": (2, 538),
        "match": (8, 645),
        "act": (284, 119_772),
        "hole_end": (72, 11_759),
        "match_end": (8, 440),
    },
    ("four-card-golf", 8): {
        "hello": (8, 2_152),
        "match": (32, 2_581),
        "act": (539, 407_652),
        "hole_end": (288, 117_164),
        "match_end": (32, 2_912),
    },
}
"""The deals and the bots are fixed, so the numbers are exact. A larger one needs a reason: every
bot pays for every byte of every question."""


def specs_of(seats, matches):
    """So many matches of that many seats."""
    return series_of(tuple("abcdefgh"[:seats]), matches).matches


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_messages(game, seats):
    """Matches take as many messages of each kind as ever, and no more bytes."""
    count, size = Counter(), Counter()

    def said(_seat, line):
        kind = line[9 : line.index(b'"', 9)].decode()
        count[kind] += 1
        size[kind] += len(line)

    conversation = Conversation(settings_of(game, seats), said)
    for spec in specs_of(seats, 4):
        conversation.play(spec)
    expected = MESSAGES[game, seats]
    assert {kind: messages for kind, (messages, _) in expected.items()} == count
    over = {kind: size[kind] - most for kind, (_, most) in expected.items() if size[kind] > most}
    assert {} == over


# ------------------------------------------------------------------------------------ memory


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_nothing_is_left_of_a_match(game, seats):
    """Memory doesn't grow with the number of matches; decks that are kept are a bounded lot."""
    conversation = Conversation(settings_of(game, seats))
    specs = specs_of(seats, 15)
    blocks = []
    for _ in range(3):
        for spec in specs:
            conversation.play(spec)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    # A match that left anything behind would leave at least one block, fifteen here.
    assert blocks[2] - blocks[1] < 15


@pytest.mark.parametrize(
    ("game", "seats", "most"),
    [
        ("play-nine", 2, 1_500),
        ("play-nine", 6, 2_000),
        ("four-card-golf", 2, 1_500),
        ("four-card-golf", 8, 2_000),
    ],
)
def test_memory_of_a_decision(game, seats, most):
    """What is held at a time between one question and the next stays small."""
    peaks = []
    held = 0

    def said(_seat, _line):
        nonlocal held
        now, peak = tracemalloc.get_traced_memory()
        peaks.append(peak - held)
        held = now
        tracemalloc.reset_peak()

    conversation = Conversation(settings_of(game, seats), said)
    specs = specs_of(seats, 2)
    conversation.play(specs[0])
    peaks.clear()
    tracemalloc.start()
    try:
        conversation.play(specs[1])
    finally:
        tracemalloc.stop()
    # The median: holes are dealt and matches begun between some of them.
    assert 0 < statistics.median(peaks) < most, statistics.quantiles(peaks)
