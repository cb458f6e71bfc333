"""The table of small events."""

from __future__ import annotations

import math
import random

import msgspec
import pytest

from arena.model import ADJUSTED, Duel, RaceSettings, Standing, Withdrawal
from arena.ratings.standings import table


def test_a_small_event_by_hand(lab):
    """Two bots, two deals: each number of the table."""
    blocks = lab.round_robin("ab", deals=2)
    totals = [{"a": 80, "b": 90}, {"a": 90, "b": 90}, {"a": 85, "b": 90}, {"a": 100, "b": 90}]
    records = [
        lab.record(spec, made, ms=3.5, off_turn_ms=number / 4)
        for number, (spec, made) in enumerate(zip(lab.specs(blocks), totals, strict=True))
    ]
    found = lab.table(blocks, records, "ba")
    # Deal 0: 165 against 180; deal 1: 190 against 180.
    first, second = found.rows
    assert (first.entrant, second.entrant) == ("a", "b")
    assert (first.rank, first.rank_last, second.rank) == (1, 2, 1)
    assert first.mu == second.mu == 25.0
    assert (first.wins, first.ties, first.losses) == (1, 0, 1)
    assert (first.win, first.deals, first.matches) == (0.5, 2, 4)
    assert first.delta == -1.25
    assert second.delta == 1.25
    assert (first.strokes, second.strokes) == (round(355 / 36, 3), 10.0)
    assert first.ms == 3.5
    assert first.off_turn_ms == (0 + 0.25 + 0.5 + 0.75) / 4
    assert first.p_next == 0.5
    assert second.p_next is None
    assert found.duels == (
        Duel(row="a", column="b", wins=1, ties=0, losses=1),
        Duel(row="b", column="a", wins=1, ties=0, losses=1),
    )
    assert (found.matches, found.planned) == (4, 4)


def test_rows_are_ranked_by_strength(lab):
    """The best comes first, with the probability that it is better than the next."""
    blocks = lab.round_robin("abcd", deals=6)
    skill = {"a": 95, "b": 70, "c": 80, "d": 120}
    found = lab.table(blocks, [lab.record(s, skill) for s in lab.specs(blocks)], "abcd")
    assert [(row.rank, row.rank_last, row.entrant) for row in found.rows] == [
        (1, 2, "b"),
        (1, 3, "c"),
        (2, 4, "a"),
        (3, 4, "d"),
    ]
    assert all(row.p_next > 0.8 for row in found.rows[:-1])
    assert found.rows[0].win == 1.0
    assert 0.8 < found.rows[0].win_low < 0.9
    assert found.rows[0].win_high == 1.0


def test_a_bot_that_never_played_has_a_row(lab):
    """It has no number: neither the prior's rating nor a rank was measured."""
    blocks = lab.round_robin("ab", deals=2)
    found = lab.table(blocks, [], "abz")
    assert [row.entrant for row in found.rows] == ["a", "b", "z"]
    assert found.rows == tuple(Standing(entrant=name) for name in "abz")
    assert (found.matches, found.planned) == (0, 4)


def test_annulled_bots_come_last(lab):
    """An annulled bot has no results, keeps its faults, and stands behind everybody."""
    blocks = lab.schedule(["ab", "ac", "bc"], deals=4)
    records = []
    for number, spec in enumerate(lab.specs(blocks)):
        fell = {"a": (1, 1)} if number < 3 else {}
        records.append(lab.record(spec, {"b": 70}, fell=fell))
    found = lab.table(blocks, records, "abc")
    assert [(row.entrant, row.rank, row.note) for row in found.rows] == [
        ("b", 1, ""),
        ("c", 1, ""),
        ("a", None, "annulled"),
    ]
    assert found.rows[1].p_next is None
    assert found.rows[2] == Standing(entrant="a", faults=(("crash", 3),), note="annulled")
    assert [out.entrant for out in found.withdrawn] == ["a"]


def test_an_annulled_bot_has_no_number_while_others_play_on(lab):
    """The sums still have its results then; its row doesn't, nor has anybody a duel with it."""
    blocks = lab.schedule(["ab", "ac", "bc"], deals=4, series=1)
    specs = list(lab.specs(blocks))
    counting = lab.count(
        blocks,
        [
            lab.record(spec, {"b": 70}, fell={"a": (1, 1)} if "a" in spec.seats else {})
            for spec in specs[:5]
        ],
    )
    found = table(lab.event("abc"), counting.so_far())
    row = found.rows[-1]
    assert (row.entrant, row.note, row.rank, row.mu, row.wins) == (
        "a",
        "annulled",
        None,
        None,
        None,
    )
    assert {duel.row for duel in found.duels} <= {"b", "c"}


@pytest.mark.no_cover
def test_the_error_of_what_is_compared_shrinks_and_sigma_does_not(lab):
    """However much is played, sigma stays above the prior's over the root of the field."""
    floor = 25 / 3 / math.sqrt(4)
    spread = []
    for deals in (4, 40, 400):
        blocks = lab.round_robin("abcd", deals=deals)
        records = [
            lab.record(spec, {spec.seats[n]: 80 + 10 * ((spec.deal + n) % 2) for n in (0, 1)})
            for spec in lab.specs(blocks)
        ]
        rows = lab.table(blocks, records, "abcd").rows
        assert all(row.sigma > floor for row in rows)
        spread.append(max(row.sigma_field for row in rows))
    assert spread[1] < spread[0] / 2
    assert spread[2] < spread[1] / 2


def test_nobody_alone_is_unsure_against_a_field(lab):
    """Of a table where one bot is left there is nobody to compare it with."""
    blocks = lab.schedule(["abc"], deals=2)
    counting = lab.count(blocks, [lab.record(spec) for spec in lab.specs(blocks)])
    counted = counting.counted()
    gone = tuple(Withdrawal(entrant=name, after="m", annulled=True) for name in "bc")
    rows = table(lab.event("abc"), msgspec.structs.replace(counted, withdrawn=gone)).rows
    assert (rows[0].rank, rows[0].sigma_field) == (1, None)


def test_notes_name_what_happened(lab):
    """A withdrawn bot that plays a deal differently the second time has both notes."""
    blocks = lab.round_robin("ab", deals=4)
    specs = list(lab.specs(blocks))
    records = [
        lab.record(spec, fell={"a": (2, 2)} if number in {1, 2, 3} else {}, attempt=1)
        for number, spec in enumerate(specs)
    ]
    records.append(lab.record(specs[0], {"a": 33}, attempt=0))
    found = lab.table(blocks, records, "ab")
    assert [row.note for row in found.rows] == ["not reproducible", "withdrawn, not reproducible"]
    assert found.rows[1].losses == 4
    # One match played even, three faults, and four void matches, at the published margin.
    assert found.rows[1].delta == pytest.approx(7 * 123 / 8)


def test_playoffs_show_in_the_results_and_not_in_the_rating(lab):
    """A tie that playoffs broke is a win in W-T-L; mu stays equal."""
    blocks = lab.round_robin("ab", deals=1)
    one, two = lab.specs(blocks)
    records = [lab.record(one, places=(1, 2)), lab.record(two, places=(2, 1))]
    found = lab.table(blocks, records, "ab", playoff=True)
    assert [(row.entrant, row.wins, row.ties, row.losses) for row in found.rows] == [
        ("a", 1, 0, 0),
        ("b", 0, 0, 1),
    ]
    assert found.rows[0].mu == found.rows[1].mu
    assert found.rows[0].win == 0.5


def test_luck_is_taken_off_and_rows_that_change_places_by_it_are_marked(lab):
    """The one that was lucky is ahead as played, and behind by strokes less luck."""
    blocks = lab.round_robin("abc", deals=30)
    draw = random.Random(6)
    records = []
    for spec in lab.specs(blocks):
        totals = {"a": 85, "b": 95, "c": 150}
        totals = {name: total + draw.randint(-3, 3) for name, total in totals.items()}
        luck = {"a": -20_000, "b": 0, "c": 500}
        record = lab.record(spec, totals)
        records.append(
            msgspec.structs.replace(record, luck=tuple(luck[name] for name in spec.seats))
        )
    played = lab.table(blocks, records, "abc", evaluator="golf-1")
    assert ["a", "b", "c"] == [row.entrant for row in played.rows]
    assert [True, True, False] == [row.disputed for row in played.rows]
    for row in played.rows:
        assert row.luck == pytest.approx(row.delta - row.adjusted, abs=0.0011)
    a, b, _ = played.rows
    assert a.adjusted - b.adjusted == pytest.approx(a.delta - b.delta + 30, abs=0.01)
    rated = lab.table(blocks, records, "abc", evaluator="golf-1", rate_on=ADJUSTED)
    assert ["b", "a", "c"] == [row.entrant for row in rated.rows]
    assert [True, True, False] == [row.disputed for row in rated.rows]
    plain = lab.table(blocks, records, "abc")
    assert {(None, None, False)} == {(r.luck, r.adjusted, r.disputed) for r in plain.rows}


def test_a_race_s_ranks_are_as_sure_as_its_stop_rule(lab):
    """What one look would tell apart, several may not."""
    blocks = lab.round_robin("ab", deals=40)
    draw = random.Random(4)
    records = [
        lab.record(spec, {"a": 90 + draw.randint(-5, 4), "b": 90 + draw.randint(-4, 5)})
        for spec in lab.specs(blocks)
    ]
    once = lab.table(blocks, records, "ab", rate_on=ADJUSTED)
    raced = lab.table(blocks, records, "ab", rate_on=ADJUSTED, racing=RaceSettings())
    assert [(1, 1), (2, 2)] == [(row.rank, row.rank_last) for row in once.rows]
    assert [(1, 2), (1, 2)] == [(row.rank, row.rank_last) for row in raced.rows]
    assert [row.mu for row in once.rows] == [row.mu for row in raced.rows]


@pytest.mark.parametrize("far", [True, False])
def test_in_a_race_who_is_far_away_is_no_burden_for_the_others(lab, far):
    """The closest have to be as sure as those of them that aren't known, as the race itself."""
    blocks = lab.round_robin("abc", deals=30)
    draw = random.Random(0)
    strokes = {"a": 90, "b": 88, "c": 130 if far else 91}
    records = [
        lab.record(spec, {name: strokes[name] + draw.randint(-6, 6) for name in spec.seats})
        for spec in lab.specs(blocks)
    ]
    found = lab.table(blocks, records, "abc", rate_on=ADJUSTED, racing=RaceSettings())
    ranks = [(row.rank, row.rank_last) for row in found.rows]
    assert "bac" == "".join(row.entrant for row in found.rows)
    assert ([(1, 1), (2, 2), (3, 3)] if far else [(1, 2), (1, 3), (2, 3)]) == ranks


def test_while_an_event_is_played_ranks_hold_at_every_look(lab):
    """The same matches tell two apart when they were all, and not when there is more to come."""
    draw = random.Random(4)
    half, whole = (lab.schedule(["ab"], deals=deals, series=40) for deals in (40, 80))
    records = [
        lab.record(spec, {"a": 90 + draw.randint(-5, 4), "b": 90 + draw.randint(-4, 5)})
        for spec in lab.specs(half)
    ]
    over, played = (lab.table(blocks, records, "ab", rate_on=ADJUSTED) for blocks in (half, whole))
    assert [(1, 1), (2, 2)] == [(row.rank, row.rank_last) for row in over.rows]
    assert [(1, 2), (1, 2)] == [(row.rank, row.rank_last) for row in played.rows]
    assert [row.mu for row in over.rows] == [row.mu for row in played.rows]
