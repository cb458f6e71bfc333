"""A count while an event is played: what it costs is counted in looks, never timed."""

from __future__ import annotations

import random

import msgspec
import pytest

from arena.model import FaultKind, Settings
from arena.ratings.archive import Archive, pack_summary, summarize
from arena.ratings.counts import PlannedMatches, ScheduleWalk
from arena.ratings.incremental import Counting
from arena.schedule import ScheduleEnd, at_once, wave_of

CRASH = (3, 12)
SETTINGS = Settings(game="play-nine")


class Watched:
    """A schedule that counts how often a block of it was made."""

    def __init__(self, blocks):
        self.blocks, self.made = blocks, 0

    def __call__(self):
        for block in self.blocks:
            self.made += 1
            yield block


def planned(blocks):
    """How much there is to play."""
    plan = PlannedMatches()
    plan.add(wave_of(lambda: blocks))
    return plan


def watched(schedule):
    """A schedule that is watched, counted from what it watches."""
    wave = wave_of(lambda: schedule.blocks)
    return at_once(msgspec.structs.replace(wave, blocks=schedule))


def afresh(blocks, records):
    """What a whole count of the schedule finds, the archive apart."""
    played = {}
    for record in records:
        played.setdefault(record.series, []).append(summarize(record))
    annulled = frozenset()
    while True:
        walk = ScheduleWalk(planned(blocks), SETTINGS, annulled)
        for series in (series for block in blocks for series in block.series):
            if walk.take(series, played.get(series.id, ())) is None:
                walk.skip(series)
        if walk.annulled == annulled:
            return walk.result(ScheduleEnd())
        annulled = walk.annulled


def same(found, expected):
    """Assert that two counts are equal in all that is published."""
    assert found.tally.accounts == expected.tally.accounts
    assert found.tally.pairs == expected.tally.pairs
    assert found.tally.matches == expected.tally.matches
    assert found.withdrawn == expected.withdrawn
    assert found.not_reproducible == expected.not_reproducible
    assert found.missing == expected.missing


@pytest.mark.parametrize("names", ["abcd", "abcdefghijkl"])
def test_a_whole_event_walks_the_schedule_once(lab, names):
    """Handing out, counting, what is left and the table: each block is made a single time."""
    blocks = lab.round_robin(names, deals=3)
    schedule = Watched(blocks)
    counting = Counting(watched(schedule), SETTINGS)
    assert counting.plan.matches == counting.left
    for block in counting.ahead():
        for series in block.series:
            assert counting.wanted(series) == 0
            for spec in series.matches:
                counting.add(lab.record(spec))
            assert counting.wanted(series) is None
    assert counting.left == 0
    assert list(counting.ahead()) == []
    assert counting.counted().missing == 0
    assert schedule.made == len(blocks)


@pytest.mark.parametrize("names", ["abcd", "abcdefghijkl"])
def test_a_record_is_looked_at_as_often_in_a_small_event_as_in_a_large_one(lab, names, monkeypatch):
    """Once, when its series is complete; asking what is wanted looks at no record."""
    looks = 0
    of = Archive.of

    def looked(archive, series):
        nonlocal looks
        playings = list(of(archive, series))
        looks += len(playings)
        return playings

    monkeypatch.setattr(Archive, "of", looked)
    blocks = lab.round_robin(names, deals=4)
    counting = lab.count(blocks, [])
    records = 0
    for block in counting.ahead():
        for series in block.series:
            counting.wanted(series)
            for spec in series.matches:
                counting.add(lab.record(spec))
                records += 1
            counting.wanted(series)
    counting.counted()
    assert looks == records


def test_resuming_looks_no_further_than_the_records_reach(lab):
    """What is left after half an event is known without walking the other half."""
    blocks = lab.round_robin("abcdefghij", deals=2)
    schedule = Watched(blocks)
    counting = Counting(watched(schedule), SETTINGS)
    half = blocks[:20] + blocks[21:24]
    for spec in lab.specs(half):
        counting.add(lab.record(spec))
    assert counting.left == counting.plan.matches - 4 * len(half)
    assert schedule.made <= 25
    assert next(counting.ahead()) is blocks[20]


def test_a_table_in_between_walks_no_further_than_the_records_reach(lab):
    """The rest is missing, and isn't walked along."""
    blocks = lab.round_robin("abcdefghij", deals=2)
    schedule = Watched(blocks)
    counting = Counting(watched(schedule), SETTINGS)
    for spec in lab.specs(blocks[1:4]):
        counting.add(lab.record(spec))
    schedule.made = 0
    assert counting.counted().missing == counting.plan.matches - 4 * 3
    assert schedule.made <= 5
    schedule.made = 0
    assert len(list(counting.chosen())) == sum(len(block.series) for block in blocks[1:4])
    assert schedule.made <= 2 * 5


def test_any_order_of_records_gives_the_same_at_any_time(lab):
    """Late, double, void and cut short: always what a whole count finds."""
    draw = random.Random(11)
    for round_ in range(40):
        blocks = lab.schedule(["ab", "cd", "ac", "bd", "ad", "bc"], deals=4, series=2)
        records = []
        for spec in lab.specs(blocks):
            for attempt in range(draw.choice([1, 1, 1, 2])):
                fell = {e: CRASH for e in spec.seats if e == "a" and draw.random() < 0.6}
                totals = {"b": draw.choice([80, 80, 80, 81])} if round_ % 2 else {}
                records.append(
                    lab.record(spec, totals, fell=fell, kind=FaultKind.EXIT, attempt=attempt)
                )
        draw.shuffle(records)
        if draw.random() < 0.5:
            del records[draw.randrange(len(records)) :]
        counting, added = lab.count(blocks, []), []
        for record in records:
            counting.add(record)
            added.append(record)
            if draw.random() < 0.1:
                same(counting.counted(), afresh(blocks, added))
        found = counting.counted()
        same(found, afresh(blocks, added))
        assert (counting.left == 0) == (found.missing == 0)
        assert (lab.wanted(counting) == []) == (found.missing == 0)


def test_a_round_after_another_ends_every_event(lab):
    """Whatever order series are played in and whoever falls: in the end nothing is missing."""
    draw = random.Random(5)
    for _ in range(40):
        blocks = lab.schedule(["ab", "cd", "ac", "bd", "ad", "bc"], deals=4, series=2)
        specs = {spec.id: spec for spec in lab.specs(blocks)}
        faulty = {name for name in specs if draw.random() < 0.4}
        counting = lab.count(blocks, [])
        for _ in range(len(specs)):
            wanted = [
                (series, attempt)
                for block in counting.ahead()
                for series in block.series
                if (attempt := counting.wanted(series)) is not None
            ]
            if not wanted:
                break
            draw.shuffle(wanted)
            for series, attempt in wanted[: draw.randint(1, len(wanted))]:
                # Like a worker, it stops after three faults in a row.
                row = 0
                for spec in series.matches:
                    fell = {"a": CRASH} if spec.id in faulty and "a" in spec.seats else {}
                    counting.add(lab.record(spec, fell=fell, attempt=attempt))
                    row = row + 1 if fell else 0
                    if row == 3:
                        break
        assert counting.counted().missing == counting.left == 0


def test_a_late_record_is_counted_and_nothing_is_told_twice(lab):
    """A lower attempt that turns up behind the front takes the place of the higher one."""
    blocks = lab.round_robin("abc", deals=2)
    told = []
    counting = Counting(at_once(wave_of(lambda: blocks)), SETTINGS, rated=told.append)
    late = []
    for number, spec in enumerate(lab.specs(blocks)):
        late += [lab.record(spec, {"a": 70}, attempt=0)] if number < 2 else []
        counting.add(lab.record(spec, {"a": 95}, attempt=1))
    assert len(told) == 6
    for record in late:
        counting.add(record)
    records = late + [lab.record(spec, {"a": 95}, attempt=1) for spec in lab.specs(blocks)]
    same(counting.counted(), afresh(blocks, records))
    assert len(told) == 6
    assert counting.left == 0


def test_a_deal_that_a_late_record_has_dealt_again_was_not_told_as_settled(lab):
    """A withdrawal cuts a series short; where a lower attempt undoes it, all of that series is
    wanted again, with deals that had been counted in all rotations.
    """
    blocks = lab.schedule(["ab"], deals=6)
    one, two = blocks[0].series
    told = []
    counting = Counting(at_once(wave_of(lambda: blocks)), SETTINGS, rated=told.append)
    failing = (*one.matches[-2:], two.matches[0])
    for spec in (*one.matches, two.matches[0]):
        fell = {"a": (1, 1)} if spec in failing else {}
        counting.add(lab.record(spec, fell=fell, attempt=1))
    assert [out.after for out in counting.counted().withdrawn] == [two.matches[0].id]
    assert counting.left == 0
    assert [(rated.deal, rated.again) for rated in told] == [(0, True)]
    for spec in one.matches:
        counting.add(lab.record(spec))
    assert counting.left == len(two.matches)
    for spec in two.matches:
        counting.add(lab.record(spec, attempt=2))
    assert counting.left == 0
    assert [(rated.deal, rated.again) for rated in told[1:]] == [(n, False) for n in range(1, 6)]


def test_sealed_records_are_the_same_records(lab):
    """Sealing is no more than a way to keep them; a series without any can be sealed too."""
    archive, blocks = Archive(), lab.round_robin("ab", deals=3)
    records = [lab.record(spec, {"a": 60 + n}) for n, spec in enumerate(lab.specs(blocks))]
    for record in records:
        archive.add(record.series, pack_summary(record))
    series = records[0].series
    before = list(archive.of(series))
    archive.seal(series)
    archive.seal("nobody's")
    assert archive.sealed(series)
    assert before == list(archive.of(series))
    assert [] == list(archive.of("nobody's"))
    assert {records[-1].series} == archive.open
    archive.add(records[0].series, pack_summary(records[0]))
    assert [*before, before[0]] == list(archive.of(series))
    assert not archive.sealed(series)
    archive.reopen()
    assert not archive.sealed("nobody's")
    assert {record.series for record in records} == archive.series


def test_in_a_part_of_an_event_nobody_is_withdrawn(lab):
    """What lies between its series is elsewhere: each is judged by itself."""
    blocks = lab.round_robin("abc", deals=4)
    part = wave_of(lambda: blocks)
    for apart in (True, False):
        counting = Counting(at_once(part), SETTINGS, apart=apart)
        for spec in lab.specs(blocks):
            counting.add(lab.record(spec, fell={"a": CRASH} if "a" in spec.seats else {}))
        assert apart == (not counting.counted().withdrawn)
        assert 0 == counting.left
