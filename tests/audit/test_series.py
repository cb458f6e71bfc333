"""What hangs together within a block is found, and by how much; what doesn't, isn't."""

import random
from statistics import fmean

import pytest

from arena.audit import chance, series
from arena.audit.rated_deals import rated_deals
from arena.audit.report import AuditPart
from arena.audit.series import Blocks, Trends, _Slope
from arena.model import match_id
from arena.ratings.intervals import Moments, average


def kept(records, *, seats=2, cells=128, place=lambda record: record.deal):
    """What the two parts hold of these records."""
    parts = Blocks(seats), Trends(seats, cells, place)
    for event in rated_deals(records):
        assert event.whole
        for part in parts:
            part.add(event)
    return parts


class Moody:
    """Plants, in an invented event, what a bot's processes have in common."""

    def __init__(self, event, bot, spread=0.0, learns=0.0):
        self.event, self.bot, self.spread, self.learns = event, bot, spread, learns
        self.draw = random.Random(1)
        self.moods = {}
        self.make = event._record
        event._record = self.record

    def record(self, pairing, deal, rotation, sitting, cards, order):
        """A match, with the block and place that it has in the schedule."""
        series = self.event.series
        key = pairing, deal // series, order.index(rotation)
        own = self.moods.setdefault(key, self.draw.gauss(0, self.spread))
        own += self.learns * (deal % series) / (series - 1)

        def plant(strokes, _circle, _place):
            if self.bot in strokes:
                strokes[self.bot] += own

        self.event.plant = plant
        return self.make(pairing, deal, rotation, sitting, cards, order)


@pytest.fixture
def brief(monkeypatch):
    """Few permutations: enough for 1 % of five parts."""
    for name in ("TRIES", "FEWEST_TRIES"):
        monkeypatch.setattr(chance, name, 499)


# ---------------------------------------------------------------------------------- what is found


@pytest.mark.no_cover
def test_processes_with_a_mood_are_found_and_how_wide_its_intervals_would_be(invented):
    """A bot whose processes differ by four strokes; the width is that of blocks as the unit."""
    event = invented(1, bots=5, deals=40, series=10)
    Moody(event, "bot2@1", spread=4.0)
    records = list(event.records())
    audit = event.audit(records)
    rows = {row.bot: row for row in audit.together}
    assert (16, 160) == (rows["bot2@1"].blocks, rows["bot2@1"].events)
    assert rows["bot2@1"].p <= 0.01
    assert (("bot2@1",), 5) == next(
        (one.bots, one.rows) for one in audit.tested if one.part is AuditPart.SERIES
    )
    assert rows["bot2@1"].wider == max(row.wider for row in audit.together)
    # The table's own arithmetic, with a rated deal and with a block as what is independent.
    errors = [error_of(records, "bot2@1", size) for size in (1, 10)]
    assert rows["bot2@1"].wider == pytest.approx(errors[1] / errors[0], rel=0.1)
    assert all(row.p > 0.05 for row in audit.trends)


def error_of(records, bot, size):
    """The standard error of a bot's strokes in the table, with so many deals as one."""
    sums = {}
    for record in records:
        if bot in record.seats:
            own = record.seats.index(bot)
            less = [1000 * t - luck for t, luck in zip(record.totals, record.luck, strict=True)]
            unit = sums.setdefault((record.pairing, record.deal // size), [0, 0])
            unit[0] += less[own] - less[1 - own]
            unit[1] += 1
    strata = {}
    for (pairing, _), (value, weight) in sums.items():
        strata.setdefault(pairing, Moments()).add(value, weight)
    return average(strata.values()).error


@pytest.mark.no_cover
def test_a_mood_is_found_at_tables_of_three(invented):
    """Where what one gains is not what a single other loses."""
    event = invented(2, bots=4, seats=3, deals=20, series=5)
    Moody(event, "bot0@1", spread=6.0)
    rows = {row.bot: row for row in event.audit().together}
    assert rows["bot0@1"].p <= 0.01
    assert rows["bot0@1"].correlation == max(row.correlation for row in rows.values())
    assert 12 == rows["bot0@1"].blocks


@pytest.mark.no_cover
def test_a_bot_that_learns_in_every_series_alike_is_a_trend_and_nothing_else(invented):
    """Six strokes from the first match to the last: its blocks differ no more than chance's."""
    event = invented(3, bots=4, deals=60, series=10)
    Moody(event, "bot3@1", learns=-6.0)
    audit = event.audit()
    rows = {row.bot: row for row in audit.trends}
    assert rows["bot3@1"].p <= 0.01
    assert -6 == pytest.approx(rows["bot3@1"].strokes, abs=3 * rows["bot3@1"].error)
    assert (("bot3@1",), 4) == next(
        (one.bots, one.rows) for one in audit.tested if one.part is AuditPart.TREND
    )
    assert all(row.p > 0.05 for row in audit.together)


@pytest.mark.no_cover
def test_a_trend_is_found_where_each_series_has_an_order_of_its_own(invented):
    """By the places at which the matches were played, not by their deals."""
    event = invented(4, bots=4, deals=60, series=10, shuffled=True)

    class Learner(Moody):
        def record(self, pairing, deal, rotation, sitting, cards, order):
            first = deal - deal % 10
            at = order.index(rotation)
            played = sorted(
                range(first, first + 10),
                key=lambda other: event.deals.place(
                    match_id(pairing, other, event.order(pairing, other)[at])
                ),
            )
            own = -6 * played.index(deal) / 9

            def plant(strokes, _circle, _place):
                if self.bot in strokes:
                    strokes[self.bot] += own

            event.plant = plant
            return self.make(pairing, deal, rotation, sitting, cards, order)

    Learner(event, "bot3@1")
    audit = event.audit()
    rows = {row.bot: row for row in audit.trends}
    assert rows["bot3@1"].p <= 0.01
    assert -6 == pytest.approx(rows["bot3@1"].strokes, abs=3 * rows["bot3@1"].error)
    assert all(row.p > 0.05 for row in audit.together)


# ------------------------------------------------------------------------------- what chance does


@pytest.mark.usefixtures("brief")
@pytest.mark.long("false alarms")
def test_fair_blocks_are_called_unusual_as_seldom_as_is_said(invented):
    """In 60 fair events of few short blocks, in each of the two questions."""
    hits = {"together": [], "trends": []}
    for seed in range(60):
        event = invented(1000 + seed, bots=3, deals=16, series=3, shuffled=bool(seed % 2))
        blocks_, trends = kept(event.records(), place=event.place)
        for name, found in hits.items():
            rows = {"together": blocks_.rows, "trends": trends.rows}[name](b"%d" % seed)
            assert 3 == len(rows)
            found.append(min(row.p for row in rows) <= 0.05)
    for found in hits.values():
        assert 0 < sum(found) < 0.05 * 60 + 3 * (0.05 * 0.95 * 60) ** 0.5


@pytest.mark.no_cover
def test_independent_events_have_no_correlation_on_average(invented):
    """Over many fair events the estimate is 0, and where it is less, nothing gets narrower."""
    rows = [
        row
        for seed in range(30)
        for row in kept(invented(seed, bots=2, deals=12, series=4).records())[0].rows(b"")
    ]
    assert 0 == pytest.approx(fmean(row.correlation for row in rows), abs=0.1)
    assert min(row.correlation for row in rows) < 0
    assert 1.0 == min(row.wider for row in rows)


# ------------------------------------------------------------------------------------ by hand


class Made:
    """A part that is given its values, block by block."""

    def __init__(self, *blocks_, names=("ann@1", "bob@1")):
        self.part = Blocks(2)
        pairing = self.part._pairings["p"] = series._Pairing(names, 1)
        for block in blocks_:
            pairing.sizes.append(len(block))
            pairing.strokes[0].extend(block)


def test_variance_between_and_within_by_hand():
    """Two blocks of two deals: 0 and 2, 4 and 6, in units of a stroke."""
    one, other = Made([0, 2000], [4000, 6000]).part.rows(b"")
    # Between: 2 * 2² + 2 * 2² = 16 of one degree; within: 1 + 1 + 1 + 1 = 4 of two.
    assert one.correlation == other.correlation == pytest.approx((16 - 2) / (16 + 2))
    assert one.wider == pytest.approx((1 + 14 / 18) ** 0.5)
    assert ("ann@1", "bob@1") == (one.bot, other.bot)
    assert one.p == other.p > 0.3


def test_turning_a_place_on_leaves_what_it_is_worth():
    """The sum of each place stays; blocks of unlike lengths turn what they have."""
    shown = series._BlockStrokes([[5], [1, 7, 3], [2, 9]])
    assert (3, 6, [3, 2, 1]) == (shown.places, shown.events, shown.sizes)
    mean = 27**2 / 6
    assert shown.freedom == 2
    assert shown.variance == pytest.approx((25 + 1 + 49 + 9 + 4 + 81 - mean) / 5)
    assert shown.observed == pytest.approx(11**2 / 3 + 11**2 / 2 + 5**2 - mean)
    # The first places are 1, 2, 5 by length of the block, the second 7, 9, the third 3.
    assert shown.between([1, 0, 5]) == pytest.approx(12**2 / 3 + 14**2 / 2 + 1 - mean)
    assert shown.between([3, 2, 1]) == shown.observed


def test_a_trend_by_hand():
    """Ten blocks of three deals, each a stroke worse than the one before, for one of the two."""
    part = Trends(2, 128, lambda record: record.deal)
    part._slopes = {"ann@1": _Slope(128), "bob@1": _Slope(128)}
    for cell in range(10):
        for _ in range(2):  # the series of a block
            part._slopes["ann@1"].add(cell, [0, 1000, 2000])
            part._slopes["bob@1"].add(cell, [0, -1000, -2000])
    one, other = part.rows(b"")
    assert (2.0, -2.0) == (one.strokes, other.strokes)
    assert one.p == other.p <= 0.01
    assert 10 == one.blocks


def test_blocks_of_a_pairing_are_measured_by_its_own_spread():
    """What is plain among steady strokes isn't lost beside another pairing's wild ones."""
    draw = random.Random(1)
    wild = [[round(draw.gauss(0, 30_000)) for _ in range(4)] for _ in range(4)]
    made = Made(*wild)
    assert made.part.rows(b"")[0].p_alone > 0.1
    steady = made.part._pairings["q"] = series._Pairing(("ann@1", "cyd@1"), 1)
    for level in range(4):
        steady.sizes.append(4)
        steady.strokes[0].extend(1000 * level + draw.randrange(100) for _ in range(4))
    assert made.part.rows(b"")[0].p_alone < 0.01


@pytest.mark.parametrize("freedom", [3, 10, 50])
def test_sums_of_squares_become_standard_deviates(freedom):
    """Wilson's and Hilferty's: the deviate of the 95 % quantile of chi-square is that of 95 %."""
    quantile = {3: 7.815, 10: 18.307, 50: 67.505}[freedom]
    assert series._normal(quantile, freedom) == pytest.approx(1.645, abs=0.01)


def test_nine_blocks_are_too_few_for_a_trend():
    """Reversing so few shows 1 of 512 at best."""
    part = Trends(2, 128, lambda record: record.deal)
    part._slopes = {"ann@1": _Slope(128)}
    for cell in range(9):
        for _ in range(2):
            part._slopes["ann@1"].add(cell, [0, 1000, 2000])
    assert [] == part.rows(b"")


# ----------------------------------------------------------------------------- who can't be asked


def test_a_pairing_with_a_single_block_tells_nothing(invented):
    """It is counted as such, and the report asks nobody."""
    audit = invented(4, bots=3, deals=5).audit()
    assert (3, 3) == (audit.blocks, audit.single)
    assert () == audit.together == audit.trends
    assert not {AuditPart.SERIES, AuditPart.TREND} & {one.part for one in audit.tested}


def test_series_of_one_match_tell_nothing(invented):
    """There is nothing that could hang together."""
    part, trends = kept(invented(5, bots=2, deals=12, series=1).records())
    assert (12, 0) == (part.many, part.alone)
    assert [] == part.rows(b"") == trends.rows(b"")


def test_who_always_makes_the_same_strokes_is_not_asked():
    """Where nothing varies, nothing varies by block; where only blocks do, all is theirs."""
    assert [] == Made([2000, 2000], [2000, 2000]).part.rows(b"")
    one, _ = Made([1000, 1000], [2000, 2000]).part.rows(b"")
    assert 1.0 == one.correlation
    one, _ = Made([1000, 3000], [1000, 3000], [3000, 1000]).part.rows(b"")
    assert -1.0 == one.correlation
    assert 1.0 == one.wider


def test_only_pairings_with_several_blocks_are_asked_about(invented):
    """In an event that is not over, or of a race, one may have more than another."""
    event = invented(6, bots=3, deals=8, series=4)
    records = list(event.records())
    alone = records[-1].pairing
    part, _ = kept([r for r in records if r.pairing != alone or r.deal < 4])
    assert (5, 1) == (part.many, part.alone)
    blocks_ = sorted(row.blocks for row in part.rows(b""))
    assert [2, 2, 4] == blocks_
