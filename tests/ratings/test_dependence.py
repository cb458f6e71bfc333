"""Errors grow where deals of a block depend on each other, and by as much."""

import itertools
import random
import statistics

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.model import ADJUSTED, BLOCKS, RESULTS, RatingSettings, Withdrawal
from arena.ratings.archive import summarize
from arena.ratings.dependence import BlockSpread, BlockSums, added, of_pair, variances
from arena.ratings.evidence import Evidence
from arena.ratings.fit import fit
from arena.ratings.outcomes import PairCount, Tally
from arena.ratings.pool import common_event
from arena.ratings.standings import table

SETTINGS = RatingSettings()


def sums(*blocks):
    """Of one table."""
    found = BlockSums()
    for number, values in enumerate(blocks):
        for value in values:
            found.add(f"{number}", value)
    return found


def shown(*tables):
    """Correlation and width of a bot's tables."""
    spread = added(own.spread() for own in tables)
    return spread.correlation(), spread.wider(spread.correlation())


def test_the_correlation_is_that_of_the_analysis_of_variance():
    """By hand: means 2 and 8 of two deals each; 36 between, 4 within."""
    correlation, wider = shown(sums([1, 3], [7, 9]))
    between, within = 36 / 1, 4 / 2
    assert correlation == pytest.approx((between - within) / (between + within))
    assert wider == pytest.approx(1 + correlation)


def test_blocks_of_unlike_sizes_have_the_same_correlation():
    """A block of ten and two of one deal: how many times as wide follows from their sizes."""
    draw = random.Random(3)
    found = []
    for _ in range(1000):
        moods = [draw.gauss(0, 700) for _ in range(12)]
        sizes = [1, 1, *[10] * 10]
        blocks = [
            [round(mood + draw.gauss(0, 1000)) for _ in range(size)]
            for mood, size in zip(moods, sizes, strict=True)
        ]
        found.append(shown(sums(*blocks))[0])
    assert statistics.mean(found) == pytest.approx(0.49 / 1.49, abs=0.03)


def test_no_error_is_less_than_by_deals():
    """Blocks that differ by less than chance would make them show a negative correlation."""
    assert (-1.0, 1.0) == shown(sums([1, 9], [9, 1]))
    assert (0.0, 1.0) == shown(sums([5, 5], [5, 5]))


def test_with_one_block_a_table_nothing_is_known():
    """A planned event that is over stands by its deals, one that isn't by a guess; of blocks of one
    deal there is nothing to know.
    """
    alone = {("a", "b"): sums([1, 5, 9, 2, 7])}
    assert {"a": 1.0, "b": 1.0} == variances(alone)
    assert {"a": 1.8, "b": 1.8} == pytest.approx(variances(alone, over=False))
    assert {"a": 1.0, "b": 1.0} == variances({("a", "b"): sums([1], [5], [9])}, over=False)
    assert {} == variances({}, over=False)


def test_while_an_event_is_played_few_blocks_count_for_little():
    """Others' blocks count as four more, the guess as four of theirs."""
    own = sums([1, 2, 3, 4], [3, 4, 5, 6], [2, 3, 4, 5])
    correlation = shown(own)[0]
    unsure = (2 * correlation + 4 * 0.2) / 6
    assert 1 + 3 * unsure == pytest.approx(variances({("a", "b"): own}, over=False)["a"])
    calm = [sums([1, 9, 2, 8], [8, 2, 9, 1], [1, 8, 2, 9]) for _ in range(20)]
    field = {("a", "b"): own} | {("c", f"d{n}"): each for n, each in enumerate(calm)}
    others = (40 * shown(*calm)[0] + 4 * 0.2) / 44
    borrowed = 1 + 3 * max(0.0, (2 * correlation + 4 * others) / 6)
    assert borrowed == pytest.approx(variances(field, over=False)["a"])
    assert 1 + 3 * correlation == pytest.approx(variances(field)["a"])
    assert 0 == BlockSpread(3, 3, 3, 1, 2.0, 2.0).freedom


def test_of_two_one_stands_for_both_and_the_larger_of_a_pair_counts():
    tables = {
        ("a", "b"): sums([1, 3], [7, 9]),
        ("a", "c"): sums([5, 6], [6, 5]),
        ("d", "a", "b"): sums([1, 9], [9, 1]),
    }
    found = variances(tables)
    assert ["a", "b", "c", "d"] == sorted(found)
    assert found["b"] > found["a"] > found["c"] == found["d"] == 1
    assert found["b"] == of_pair(found, ("a", "b"))
    assert 1 == of_pair(found, ("c", "nobody"))


def moody(lab, mood, *, names="abc", deals=20, series=5, out=()):
    """The first bot of each table has a mood in each block, in strokes."""
    found, draw = Tally(margin=100.0), random.Random(5)
    moods = {}
    for spec in lab.specs(
        lab.schedule(itertools.combinations(names, 2), deals=deals, series=series)
    ):
        own = moods.setdefault((spec.pairing, spec.deal // series), draw.gauss(0, mood))
        totals = {name: 90 + round(draw.gauss(0, 9)) for name in spec.seats}
        totals[min(spec.seats)] += round(own)
        found.match(spec, summarize(lab.record(spec, totals)), out=frozenset(out))
    return found


@pytest.mark.parametrize("rate_on", [RESULTS, ADJUSTED])
def test_leads_are_less_sure_where_deals_hang_together(lab, rate_on):
    """In an event that says so; in no older one."""
    found = moody(lab, 30)
    old = Evidence(lab.event("abc", rate_on=rate_on), found, {})
    new = Evidence(lab.event("abc", rate_on=rate_on, units=BLOCKS), found, {})
    assert new.lead("a", "b").error > 1.3 * old.lead("a", "b").error
    if rate_on == ADJUSTED:
        rest = new.forfeits("a", "b").lead, old.forfeits("a", "b").lead
        assert rest[0].error > 1.3 * rest[1].error
    calm = moody(lab, 0, deals=200)
    old, new = (Evidence(lab.event("abc", units=each), calm, {}) for each in (UNSET, BLOCKS))
    assert new.lead("a", "b").error == pytest.approx(old.lead("a", "b").error, rel=0.2)


def test_blocks_of_the_annulled_are_left_out(lab):
    found = moody(lab, 30)
    out = {"a": Withdrawal(entrant="a", after="x", annulled=True)}
    evidence = Evidence(lab.event("abc", rate_on=ADJUSTED, units=BLOCKS), found, out)
    assert ["b", "c"] == sorted(evidence._wider)


def test_deals_that_a_withdrawal_forfeited_say_nothing_of_blocks(lab):
    assert {} == moody(lab, 30, out="a").blocks[RESULTS]


def test_blocks_of_two_events_are_two(lab):
    """Though their pairings and deals have the same names."""
    found = moody(lab, 30, names="ab", deals=5)
    blocks = lab.schedule(["ab"], deals=5)
    for again in (False, True):
        if again:
            found.close()
        for spec in lab.specs(blocks):
            found.match(spec, summarize(lab.record(spec)))
    assert (15, 2) == (
        found.blocks[RESULTS]["a", "b"].deals,
        found.blocks[RESULTS]["a", "b"].blocks,
    )
    copied = found.copied()
    copied.blocks[RESULTS]["a", "b"].add("other", 1)
    assert 2 == found.blocks[RESULTS]["a", "b"].blocks


def test_at_tables_of_more_each_bot_has_sums_of_its_own(lab):
    found = Tally(margin=100.0)
    for spec in lab.specs(lab.schedule(["abc"], deals=2)):
        totals = {"a": 80, "b": 90, "c": 91}
        found.match(spec, summarize(lab.record(spec, totals)))
    shown = {table: own.value for table, own in found.blocks[ADJUSTED].items()}
    assert {("a", "b", "c"): -126_000, ("b", "a", "c"): 54_000, ("c", "a", "b"): 72_000} == shown


def test_results_count_for_fewer_where_they_depend_on_each_other():
    """As so many times fewer of the same shares."""
    many, few = PairCount(first=12, ties=4, second=8), PairCount(first=3, ties=1, second=2)
    wide = fit("ab", {("a", "b"): many}, seats=2, settings=SETTINGS, wider={"b": 4.0})
    assert wide == fit("ab", {("a", "b"): few}, seats=2, settings=SETTINGS)


def test_events_rated_together_take_the_larger_unit_of_any(lab):
    old, new = lab.event("ab"), lab.event("ab", units=BLOCKS, deals=3)
    found = common_event([old, new], old.entrants)
    assert BLOCKS == found.settings.units
    assert not common_event([old, old], old.entrants).settings.units


def test_the_intervals_of_a_table_are_as_wide_as_blocks_ask_for(lab):
    """Of strokes, of wins, of ratings; an event that is still played is as careful as a race."""
    blocks, draw, records = lab.schedule(["ab"], deals=12, series=3), random.Random(2), []
    for spec in lab.specs(blocks):
        low = 40 * (spec.deal // 3 % 2)
        totals = {"a": 70 + low + draw.randrange(9), "b": 90 + draw.randrange(9)}
        records.append(lab.record(spec, totals))
    counted = lab.count(blocks, records).counted()
    old, new = (table(lab.event("ab", units=unit), counted) for unit in (UNSET, BLOCKS))
    for before, after in zip(old.rows, new.rows, strict=True):
        assert (before.delta, before.win) == (after.delta, after.win)
        assert 1.5 < after.delta_ci / before.delta_ci < 3**0.5 + 0.01
        assert 1.2 < (after.win_high - after.win_low) / (before.win_high - before.win_low) < 3**0.5
        assert after.sigma_field > 1.2 * before.sigma_field
    few = lab.count(blocks, records[:6]).so_far()
    first = table(lab.event("ab", units=BLOCKS), few)
    alone = table(lab.event("ab"), few)
    assert first.rows[0].delta_ci == pytest.approx(1.4**0.5 * alone.rows[0].delta_ci, abs=0.01)
    over = replace(few, missing=0)
    assert alone.rows[0].delta_ci == table(lab.event("ab", units=BLOCKS), over).rows[0].delta_ci
