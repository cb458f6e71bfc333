"""Rated deals and the sums of them, computed by hand."""

from __future__ import annotations

import pytest

from arena.model import Fault, FaultKind, HoleRecord
from arena.ratings.archive import summarize
from arena.ratings.outcomes import PairCount, Tally
from tests.records import match_record

A = frozenset("a")


def tally(lab, records, blocks, **changes):
    """The sums over records, each in a schedule of its own order."""
    found = Tally(margin=100, **changes)
    specs = {spec.id: spec for spec in lab.specs(blocks)}
    for record in records:
        found.match(specs[record.id], summarize(record))
    return found


def play(lab, names, *rotations):
    """One rated deal: keyword arguments of `record` for each rotation."""
    blocks = lab.schedule([names], deals=1)
    specs = lab.specs(blocks)
    records = [lab.record(s, **kw) for s, kw in zip(specs, rotations, strict=True)]
    return tally(lab, records, blocks)


def test_an_event_is_the_sum_over_its_rotations(lab):
    """The bot with fewer strokes over all rotations wins, however the matches went."""
    found = play(lab, "ab", {"totals": {"a": 100, "b": 90}}, {"totals": {"a": 80, "b": 95}})
    assert found.pairs == {("a", "b"): PairCount(first=1)}
    margin = next(iter(found.accounts["a"].margin.values()))
    assert (margin.value, margin.weight, margin.events) == (-5_000, 2, 1)


def test_equal_sums_tie(lab):
    """A rated tie is a tie."""
    found = play(lab, "ab", {"totals": {"a": 100, "b": 90}}, {"totals": {"a": 80, "b": 90}})
    assert found.pairs == {("a", "b"): PairCount(ties=1)}


def test_playoffs_break_ties_apart_from_the_rating(lab):
    """Places in the matches break the tie of an event for W-T-L alone."""
    tied = {"totals": {"a": 90, "b": 90}}
    found = play(lab, "ab", tied | {"places": (1, 2)}, tied)
    assert found.pairs == {("a", "b"): PairCount(ties=1, first_playoffs=1, first_places=1)}
    found = play(lab, "ab", tied | {"places": (1, 2)}, tied | {"places": (1, 2)})
    assert found.pairs == {("a", "b"): PairCount(ties=1)}


def test_an_incomplete_event_is_left_out(lab):
    """Without all rotations nobody has won; the match's own sums count."""
    blocks = lab.schedule(["ab"], deals=1)
    spec = next(lab.specs(blocks))
    found = tally(lab, [lab.record(spec)], blocks)
    assert found.pairs == {}
    assert (found.accounts["a"].matches, found.accounts["a"].deals) == (1, 0)


def test_a_forfeiter_is_last_in_the_whole_event(lab):
    """One forfeit outweighs any number of strokes, and counts as the margin in strokes."""
    found = play(
        lab,
        "ab",
        {"totals": {"a": 10, "b": 110}},
        {"fell": {"a": (4, 30)}},
    )
    assert found.pairs == {("a", "b"): PairCount(second=1)}
    margin = next(iter(found.accounts["b"].margin.values()))
    assert margin.value == 100_000 - 100_000
    assert margin.weight == 2


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"a": (2, 9)}, {"a": (9, 99), "b": (1, 1)}, PairCount(second=1)),
        ({"a": (2, 9)}, {"b": (3, 5)}, PairCount(second=1)),
        ({"a": (2, 9)}, {"b": (2, 8)}, PairCount(first=1)),
        ({"a": (1, 1)}, {"b": (1, 1)}, PairCount(ties=1)),
        ({"a": (1, 1), "b": (5, 1)}, {"a": (7, 3), "b": (2, 2)}, PairCount(first=1)),
    ],
    ids=["fewer", "later hole", "later decision", "same decision", "latest of several"],
)
def test_order_among_forfeiters(lab, first, second, expected):
    """Fewer forfeits, then the later one; the same decision ties."""
    found = play(lab, "ab", {"fell": first}, {"fell": second})
    assert found.pairs == {("a", "b"): expected}


def test_a_table_of_three_counts_all_pairs(lab):
    """Strokes compare with the mean of the opponents; a forfeiter's fallback counts for nobody."""
    totals = {"a": 60, "b": 90, "c": 120}
    found = play(
        lab,
        "abc",
        {"totals": totals},
        {"totals": totals},
        {"totals": totals, "fell": {"a": (2, 5)}},
    )
    assert found.pairs == {
        ("a", "b"): PairCount(second=1),
        ("a", "c"): PairCount(second=1),
        ("b", "c"): PairCount(first=1),
    }
    values = {n: next(iter(a.margin.values())).value for n, a in found.accounts.items()}
    assert values == {
        "a": 2 * (-30_000 - 60_000) + 200_000,
        "b": 2 * (30_000 - 30_000) - 100_000 - 30_000,
        "c": 2 * (30_000 + 60_000) - 100_000 + 30_000,
    }
    assert (found.accounts["a"].holes, found.accounts["b"].holes) == (19, 27)


def test_at_a_bigger_table_a_withdrawn_seat_forfeits_and_the_others_count(lab):
    """Whatever the withdrawn bot did, it has lost; the others' strokes are their own."""
    blocks = lab.schedule(["abc"], deals=1)
    specs = list(lab.specs(blocks))
    found = Tally(margin=100)
    scores = {"a": 10, "b": 80, "c": 90}
    for spec in specs[:2]:
        found.match(spec, summarize(lab.record(spec, scores)))
    found.match(specs[2], summarize(lab.record(specs[2], scores, fell={"a": (1, 1)})), out=A)
    assert found.pairs == {
        ("a", "b"): PairCount(second=1),
        ("a", "c"): PairCount(second=1),
        ("b", "c"): PairCount(first=1),
    }
    strokes = {n: next(iter(a.margin.values())) for n, a in found.accounts.items()}
    assert [(strokes[n].value, strokes[n].weight) for n in "abc"] == [
        (2 * (-70_000 - 80_000) + 200_000, 6),
        (2 * (70_000 - 10_000) - 100_000 - 10_000, 6),
        (2 * (80_000 + 10_000) - 100_000 + 10_000, 6),
    ]
    assert (found.accounts["a"].matches, found.accounts["b"].matches) == (2, 3)


def test_an_annulled_seat_vanishes_and_the_others_count(lab):
    """Pairs with it are nobody's result; the pair that is left is rated as it played."""
    blocks = lab.schedule(["abc"], deals=1)
    told = []
    found = Tally(margin=100, rated=told.append)
    for spec in lab.specs(blocks):
        found.match(spec, summarize(lab.record(spec, {"a": 10, "b": 80, "c": 90})), gone=A)
    assert found.pairs == {("b", "c"): PairCount(first=1)}
    assert set(found.accounts) == {"b", "c"}
    assert [(event.entrants, event.places) for event in told] == [(("b", "c"), (1, 2))]


def test_a_forfeit_of_ones_own_is_later_than_one_by_withdrawal(lab):
    """Even a bot that did not start came further than one that was not to start."""
    blocks = lab.schedule(["ab"], deals=1)
    specs = list(lab.specs(blocks))
    found = Tally(margin=100)
    found.match(specs[0], summarize(lab.record(specs[0], fell={"b": (0, 0)})))
    found.void(specs[1], frozenset("a"))
    assert found.pairs == {("a", "b"): PairCount(second=1)}


def test_events_are_rated_when_complete_in_any_order(lab):
    """The sums don't depend on the order of the matches, and rotations may come apart."""
    blocks = lab.round_robin("abcd", seats=3, deals=2)
    records = [
        lab.record(spec, {n: 60 + 7 * i + (spec.deal * 13 * i) % 40 for i, n in enumerate("abcd")})
        for spec in lab.specs(blocks)
    ]
    forward, backward = tally(lab, records, blocks), tally(lab, records[::-1], blocks)
    assert forward.pairs == backward.pairs
    assert forward.accounts == backward.accounts


def test_own_holes_are_those_before_the_fault(lab):
    """What the fallback played on, and the hole of the fault, are not the bot's own."""
    spec = next(lab.specs(lab.schedule(["abc"], deals=1)))
    played = summarize(lab.record(spec, {"a": 91, "b": 90, "c": 90}, fell={"a": (3, 7)}))
    assert (played.strokes, played.holes) == ((21, 90, 90), (2, 9, 9))
    assert played.think_us == (20_000, 20_000, 20_000)


def test_a_hole_that_a_forfeit_cut_short_is_nobodys():
    """It has no scores, so it is in nobody's strokes and holes."""
    scores = HoleRecord(order=(0, 1), moves="draw", scores=(3, 4))
    cut = HoleRecord(order=(1, 0), moves="draw")
    record = match_record(
        holes=(scores, cut),
        totals=(3, 4),
        places=(2, 1),
        faults=(Fault(kind=FaultKind.EXIT, seat=0, hole=2, turn=30, message="left"),),
    )
    played = summarize(record)
    assert (3, 4) == played.strokes
    assert (1, 1) == played.holes
