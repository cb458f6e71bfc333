"""Which matches count, and who is withdrawn."""

from __future__ import annotations

import pytest

from arena.model import FaultKind, Settings, UserError, Withdrawal
from arena.ratings.counts import PlannedMatches
from arena.ratings.incremental import Counting
from arena.schedule import at_once, wave_of

CRASH = (3, 12)


def faulty(lab, blocks, bot, where, **more):
    """Records of all specs; `bot` crashes in its matches with the numbers in `where`."""
    records = []
    number = 0
    for spec in lab.specs(blocks):
        fell = {}
        if bot in spec.seats:
            if number in where:
                fell = {bot: CRASH}
            number += 1
        records.append(lab.record(spec, fell=fell, **more))
    return records


def test_every_match_counts_once(lab):
    """A record that is fed twice counts once."""
    blocks = lab.round_robin("abc", deals=2)
    records = [lab.record(spec) for spec in lab.specs(blocks)]
    counting = lab.count(blocks, records + records)
    counted = counting.counted()
    assert (counted.tally.matches, counted.missing, counted.planned) == (12, 0, 12)
    assert counting.plan == PlannedMatches(12, {"a": 8, "b": 8, "c": 8})
    assert counted.not_reproducible == frozenset()


def test_two_faults_in_a_row_are_forgiven(lab):
    """A finished match breaks the row."""
    blocks = lab.round_robin("ab", deals=4)
    counted = lab.count(blocks, faulty(lab, blocks, "a", {0, 1, 3, 4, 6, 7})).counted()
    assert counted.withdrawn == ()
    assert counted.tally.accounts["a"].faults == {"crash": 6}


def test_withdrawn_in_the_second_half_forfeits_the_rest(lab):
    """After the third fault in a row the remaining matches are forfeits, played or not."""
    blocks = lab.round_robin("ab", deals=4)
    records = faulty(lab, blocks, "a", {1, 2, 3}, totals={"a": 50, "b": 90})
    counted = lab.count(blocks, records).counted()
    assert counted.withdrawn == (Withdrawal(entrant="a", after=records[3].id, annulled=False),)
    assert counted.tally.matches == 4
    assert counted.tally.pairs["a", "b"].second == 4
    assert counted.tally.accounts["b"].deals == 4


def test_withdrawn_in_the_first_half_is_annulled(lab):
    """Every match with an annulled bot vanishes from everybody's results; its faults stay."""
    blocks = lab.schedule(["ab", "ac", "bc"], deals=4)
    records = faulty(lab, blocks, "a", {0, 1, 2})
    counted = lab.count(blocks, records).counted()
    assert counted.withdrawn == (Withdrawal(entrant="a", after=records[2].id, annulled=True),)
    assert list(counted.tally.pairs) == [("b", "c")]
    assert counted.tally.matches == 8
    assert counted.tally.accounts["a"].faults == {"crash": 3}
    assert counted.tally.accounts["a"].matches == 0


def test_exactly_half_is_not_annulled(lab):
    """Under half means under half."""
    blocks = lab.round_robin("ab", deals=3)
    counted = lab.count(blocks, faulty(lab, blocks, "a", {0, 1, 2})).counted()
    assert [out.annulled for out in counted.withdrawn] == [False]


def test_a_series_may_stop_after_the_third_fault(lab):
    """What was not played after a withdrawal is not missing."""
    blocks = lab.round_robin("ab", deals=5)
    records = faulty(lab, blocks, "a", {0, 1, 2})[:3]
    counting = lab.count(blocks, records)
    assert lab.wanted(counting) == []
    assert counting.counted().missing == 0
    assert [out.annulled for out in counting.counted().withdrawn] == [True]


def test_matches_after_a_withdrawal_change_nothing(lab):
    """Whether a void match was played is an accident of timing."""
    blocks = lab.schedule(["ab", "bc", "ac"], deals=3)
    records = faulty(lab, blocks, "a", {3, 4, 5})
    void = [r for r in records if "a" in r.seats][6:]
    assert len(void) == 6
    full = lab.count(blocks, records).counted()
    short = lab.count(blocks, [r for r in records if r not in void]).counted()
    assert full.tally.accounts == short.tally.accounts
    assert full.tally.pairs == short.tally.pairs
    assert full.withdrawn == short.withdrawn != ()
    assert full.tally.pairs["a", "c"].second == 3


def test_a_void_match_neither_breaks_nor_fills_the_opponents_row(lab):
    """The row of faults is among the matches that count."""
    blocks = lab.schedule(["ab", "bc"], deals=3)
    by_number = {}
    records = []
    for number, spec in enumerate(lab.specs(blocks)):
        # a falls out at its third match; b fails once before, in a void match, and later.
        fell = {}
        if number < 3:
            fell = {"a": CRASH}
        if number in {2, 4, 6}:
            fell |= {"b": CRASH}
        by_number[number] = spec.id
        records.append(lab.record(spec, fell=fell))
    counted = lab.count(blocks, records).counted()
    assert [out.entrant for out in counted.withdrawn] == ["a"]
    # Without the void match in between, two faults (2, 6) and then a third make a row.
    records[7] = lab.record(
        next(s for s in lab.specs(blocks) if s.id == by_number[7]), fell={"b": CRASH}
    )
    counted = lab.count(blocks, records).counted()
    assert [(out.entrant, out.after) for out in counted.withdrawn] == [
        ("a", by_number[2]),
        ("b", by_number[7]),
    ]


def test_only_a_complete_attempt_counts(lab):
    """A series counts whole: the first attempt that holds all its matches."""
    blocks = lab.round_robin("ab", deals=2)
    specs = list(lab.specs(blocks))
    first = [lab.record(specs[0], {"a": 70}, attempt=0)]
    second = [lab.record(spec, {"a": 70}, attempt=1) for spec in specs]
    third = [lab.record(spec, {"a": 99}, attempt=2) for spec in specs]
    counting = lab.count(blocks, third + first + second)
    assert counting.counted().tally.pairs["a", "b"].first == 2
    assert {chosen.attempt for chosen in counting.chosen()} == {1}
    unfinished = lab.count(blocks, first)
    assert unfinished.counted().missing == 4
    assert list(unfinished.chosen()) == []


def test_a_match_that_was_replayed_otherwise_marks_its_bots(lab):
    """Partial attempts are not counted, but compared."""
    blocks = lab.schedule(["ab", "cd"], deals=2)
    specs = list(lab.specs(blocks))
    records = [lab.record(spec, attempt=1) for spec in specs]
    same = lab.record(specs[0], attempt=0)
    other = lab.record(specs[4], {"c": 12}, attempt=0)
    assert lab.count(blocks, [*records, same]).counted().not_reproducible == frozenset()
    assert lab.count(blocks, [*records, other]).counted().not_reproducible == frozenset("cd")


def test_two_records_of_one_match_in_one_attempt_are_settled_by_content(lab):
    """Which of two records counts does not depend on which came first."""
    blocks = lab.round_robin("ab")
    specs = list(lab.specs(blocks))
    one, two = lab.record(specs[0], {"a": 70}), lab.record(specs[0], {"a": 95})
    rest = [lab.record(spec) for spec in specs[1:]]
    forward = lab.count(blocks, [one, two, *rest]).counted()
    backward = lab.count(blocks, [two, one, *rest]).counted()
    assert forward.tally.accounts == backward.tally.accounts
    assert forward.not_reproducible == frozenset("ab")


def test_a_gap_breaks_the_row_and_is_missing(lab):
    """While an event is unfinished, what was not played proves nothing."""
    blocks = lab.schedule(["ab", "ac", "ad"], deals=1)
    records = faulty(lab, blocks, "a", {0, 1, 4, 5})
    gap = [record for record in records if record.seats != ("a", "c")]
    assert len(gap) == len(records) - 1
    counted = lab.count(blocks, gap).counted()
    assert (counted.missing, counted.withdrawn) == (1, ())


def test_withdrawn_tells_only_what_is_final(lab):
    """Three faults behind a gap are not final; once it is filled they are."""
    blocks = lab.schedule(["ab", "ac", "ad"], deals=3)
    records = faulty(lab, blocks, "a", {6, 7, 8})
    counting = lab.count(blocks, records[3:])
    assert counting._front.withdrawn == {}
    assert lab.wanted(counting) == [(records[0].series, 0)]
    for record in records[:3]:
        counting.add(record)
    assert list(counting._front.withdrawn) == ["a"]
    assert lab.wanted(counting) == []


def test_the_next_attempt_has_the_next_number(lab):
    """A series that was cut short is to be played again, whole, under a new number."""
    blocks = lab.round_robin("ab", deals=2)
    specs = list(lab.specs(blocks))
    records = [lab.record(specs[0], attempt=0), lab.record(specs[0], attempt=1)]
    counting = lab.count(blocks, records)
    assert lab.wanted(counting) == [
        (specs[0].series, 2),
        (specs[2].series, 0),
    ]


def test_chosen_leaves_out_void_and_annulled_matches(lab):
    """The counted records, as the log prints them."""
    blocks = lab.schedule(["ab", "bc", "ac"], deals=4)
    counting = lab.count(blocks, faulty(lab, blocks, "a", {0, 1, 2}))
    assert {chosen.series.entrants for chosen in counting.chosen()} == {("b", "c"), ("c", "b")}
    blocks = lab.schedule(["ab"], deals=4)
    counting = lab.count(blocks, faulty(lab, blocks, "a", {1, 2, 3}))
    assert [len(chosen.matches) for chosen in counting.chosen()] == [4, 0]


def test_records_of_another_event_are_refused(lab):
    """A log that does not belong to the schedule is an error of the user's."""
    blocks = lab.round_robin("ab")
    strangers = [lab.record(spec) for spec in lab.specs(lab.round_robin("xy"))]
    counting = lab.count(blocks, strangers)
    with pytest.raises(UserError, match="did not plan"):
        counting.counted()
    forged = [lab.record(spec) for spec in lab.specs(lab.round_robin("ab", deals=2))]
    with pytest.raises(UserError, match="did not plan"):
        lab.count(blocks, forged).counted()


def test_rated_events_are_told_in_the_order_of_the_schedule(lab):
    """Live ratings see each rated deal once, when all before it have been counted."""
    blocks = lab.schedule(["ab", "bc"], deals=1)
    told = []
    counting = Counting(
        at_once(wave_of(lambda: blocks)), Settings(game="play-nine"), rated=told.append
    )
    records = [
        lab.record(spec, {"a": 70, "b": 80, "c": 80}, kind=FaultKind.EXIT)
        for spec in lab.specs(blocks)
    ]
    for record in reversed(records[1:]):
        counting.add(record)
    assert told == []
    counting.add(records[0])
    assert [(r.entrants, r.places) for r in told] == [(("a", "b"), (1, 2)), (("b", "c"), (1, 1))]
    assert counting.counted().tally.matches == 4


def test_when_a_bot_is_withdrawn_is_the_events_to_say(lab):
    """After as many faulted matches as it states, and annulled before the share that it states."""
    blocks = lab.round_robin("ab", deals=5)
    records = faulty(lab, blocks, "a", {0, 1, 2, 3, 4})
    for after, below, annulled in (
        (2, 0.5, True),
        (2, 0.2, False),
        (4, 0.5, True),
        (5, 0.5, False),
    ):
        settings = Settings(game="play-nine", withdraw_after=after, annul_below=below)
        counting = Counting(at_once(wave_of(lambda: blocks)), settings)
        for record in records:
            counting.add(record)
        out = Withdrawal(entrant="a", after=records[after - 1].id, annulled=annulled)
        assert (out,) == counting.counted().withdrawn
    settings = Settings(game="play-nine")
    assert (3, 0.5) == (settings.withdrawn_after, settings.annulled_below)
    settings = Settings(game="play-nine", withdraw_after=5, annul_below=0.25)
    assert (5, 0.25) == (settings.withdrawn_after, settings.annulled_below)
