"""The real driver and a plain one play the same bots to the same records."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
EXAMPLES = [ROOT / "example_bots" / name for name in ("greedy", "matcher", "quick", "strong")]
MEASURED = [ROOT / "bench" / "bots" / name for name in ("instant", "lean")]
CALM = ("calm", 0)
HERE = ("by_table", "at_first_look")
"""An answer comes after the first look for it, or it is there."""
ALL = (*HERE, "by_worker")


def told(records):
    """What the bots and the rules decided, and how often each bot was asked."""
    return [
        (
            record.id,
            record.digest,
            [(fault.kind.value, fault.seat, fault.hole, fault.turn) for fault in record.faults],
            [fault.line for fault in record.faults],
            [use.decisions for use in record.use],
        )
        for record in records
    ]


async def same(series, ways=ALL):
    """Play it plainly and in these ways; the plain driver's records."""
    plain = await series.plainly()
    for way in ways:
        real = await getattr(series, way)()
        assert told(plain) == told(real)
        assert all(record.digest == record.computed_digest() for record in real)
    return plain


def some(built, folders, count):
    """So many different bots of what can be built here."""
    found = built(*folders)
    if len(found) < count:
        pytest.skip("too few of these bots can be built here")
    return found[:count]


@pytest.mark.parametrize(
    ("game", "folders", "seats"),
    [
        ("play-nine", EXAMPLES[::-1], 3),
        ("four-card-golf", EXAMPLES, 4),
        ("four-card-golf", MEASURED, 2),
        ("play-nine", [*MEASURED, *EXAMPLES], 6),
    ],
)
@pytest.mark.long("tables of every size", quick=("play-nine-folders0-3",))
async def test_bots_that_play_well(ways, built, game, folders, seats):
    """Both games, at several tables: example bots, and those that speed is measured with."""
    series = ways(some(built, folders, seats), game, 2)
    plain = await same(series)
    assert 2 == len(plain)
    assert not any(record.faults for record in plain)


@pytest.mark.parametrize(
    ("how", "number", "game"),
    [
        ("late", 9, "play-nine"),
        ("pieces", 0, "four-card-golf"),
        ("crlf", 0, "play-nine"),
        ("wordy", 0, "four-card-golf"),
    ],
)
@pytest.mark.long("every manner of answering")
async def test_manners_that_are_no_faults(ways, bots, how, number, game):
    """Late within the limit, in pieces, with a carriage return, with more than was asked for."""
    plain = await same(ways(bots((how, number), CALM), game, 2), HERE)
    assert not any(record.faults for record in plain)


FAULTS = [
    ("illegal", "illegal"),
    ("stale", "stale"),
    ("twice", "stale"),
    ("exit", "exit"),
    ("status", "crash"),
    ("signal", "crash"),
    ("half", "exit"),
    ("close", "exit"),
    ("hang", "timeout"),
    ("junk", "malformed"),
    ("binary", "malformed"),
    ("empty", "malformed"),
    ("flood", "flood"),
]


@pytest.mark.parametrize(("how", "kind"), FAULTS)
@pytest.mark.long("every kind of fault", quick=("signal-crash", "illegal-illegal"))
async def test_faults(ways, bots, how, kind):
    """Each fault is the same fault at the same decision, and ends the match there."""
    (plain,) = await same(ways(bots((how, 7), CALM), "play-nine", 1), HERE)
    assert [kind] == [fault.kind.value for fault in plain.faults]


async def test_after_a_fault(ways, bots):
    """Fresh processes play the rest of the series, and the same fault comes again."""
    plain = await same(ways(bots(("illegal", 7), CALM), "four-card-golf", 2))
    assert ["illegal"] * 2 == [fault.kind.value for record in plain for fault in record.faults]


@pytest.mark.parametrize(("how", "others"), [("banner", [CALM, CALM]), ("no-start", [CALM])])
@pytest.mark.long("every kind of fault", quick=("no-start-others1",))
async def test_faults_at_the_start(ways, bots, how, others):
    """A bot that can't be started forfeits; its pipes' numbers, used anew, are left alone."""
    plain = await same(ways(bots((how, 0), *others), "four-card-golf", 2))
    assert ["start"] * 2 == [fault.kind.value for record in plain for fault in record.faults]


@pytest.mark.long("every kind of fault")
async def test_several_faults_at_one_table(ways, bots):
    """Two fall, one of them at the tee-off, where all are asked at once; the others finish."""
    kinds = [("junk", 1), CALM, ("exit", 9), ("late", 7), ("crlf", 0)]
    plain = await same(ways(bots(*kinds), "play-nine", 2), HERE)
    assert [2, 2] == [len(record.faults) for record in plain]


async def test_an_answer_too_many_at_the_end_of_a_match(ways, bots):
    """It waits for the next match of the same process, and is stale there."""
    kinds = [("echo", 9), ("knocks", 0)]
    first, second = await same(ways(bots(*kinds), "four-card-golf", 2))
    assert [] == [*first.faults]
    assert ["stale"] == [fault.kind.value for fault in second.faults]


async def test_what_a_bot_logs_is_told_with_its_match(ways, bots):
    """Also of a bot whose answers are there at the first look: each match has its own lines."""
    reports = await ways(bots(("logs", 0), ("logs", 0)), "four-card-golf", 6).reports()
    for report in reports:
        assert set(report.record.seats) == set(report.stderr)
        for seat, entrant in enumerate(report.record.seats):
            lines = report.stderr[entrant].splitlines()
            assert report.record.use[seat].decisions == len(lines)
            turns = [int(line.partition("-")[0]) for line in lines]
            assert sorted(turns) == turns
