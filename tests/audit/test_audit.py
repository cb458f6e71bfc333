"""What is planted is found, what isn't is found as seldom as is said, and nothing else moves it."""

import random

import msgspec
import pytest

from arena.audit import chance, discards, table_mates, waits
from arena.audit.rated_deals import RatedDeal
from arena.audit.report import STRICT, AuditPart
from arena.model import Fault, FaultHost, FaultKind, SeatUse


@pytest.fixture
def brief(monkeypatch):
    """Few permutations: enough for 5 % of eight parts."""
    for name in ("TRIES", "FEWEST_TRIES"):
        monkeypatch.setattr(chance, name, 199)


@pytest.fixture
def intolerant(monkeypatch):
    """Nothing is tolerated, so that what is found is chance's."""
    monkeypatch.setattr(table_mates, "TOLERATED", 0.0)
    monkeypatch.setattr(discards, "TOLERATED", 0.0)
    monkeypatch.setattr(
        waits, "TOLERATED", -0.5
    )  # as long as a bot thinks, which is not asked about


def odds(audit):
    """Of each part, its most unusual row."""
    return {one.part: one.p for one in audit.tested}


def planted(event, **changes):
    """An event in which something is not as it should be."""
    for name, value in changes.items():
        setattr(event, name, value)
    return event


# ------------------------------------------------------------------------------------ the null


def alarms(audits):
    """How many reports call something unusual, and how often each part does by itself."""
    reports, parts, asked = 0, dict.fromkeys(AuditPart, 0), dict.fromkeys(AuditPart, 0)
    for audit in audits:
        reports += any(one.p <= audit.unusual for one in audit.tested)
        for one in audit.tested:
            asked[one.part] += 1
            parts[one.part] += one.p / len(audit.tested) <= audit.unusual
    return reports, parts, asked


def no_more_than(share, hits, of):
    """Not more than a share, as far as so many events can tell: three standard deviations."""
    return hits <= share * of + 3 * (share * (1 - share) * of) ** 0.5


@pytest.mark.usefixtures("brief")
@pytest.mark.long("false alarms")
def test_fair_events_of_two_are_called_unusual_as_seldom_as_is_said(invented):
    """In 120 fair events of unequal bots no part, and no report, is unusual more often than 5 %."""
    reports, parts, asked = alarms(invented(seed, deals=8, series=2).audit() for seed in range(120))
    assert no_more_than(0.05, reports, 120)
    for part in (
        AuditPart.CAPS,
        AuditPart.LUCK,
        AuditPart.LATER,
        AuditPart.SERIES,
        AuditPart.TREND,
    ):
        assert asked[part] > 60
        assert no_more_than(0.05, parts[part], asked[part])
    assert parts[AuditPart.LUCK] + parts[AuditPart.LATER] > 4
    assert parts[AuditPart.SERIES] + parts[AuditPart.TREND] > 4


@pytest.mark.usefixtures("brief", "intolerant")
@pytest.mark.long("false alarms")
def test_fair_events_of_three_are_called_unusual_as_seldom_as_is_said(invented):
    """So with pairs, of which nothing is tolerated here: bots of unequal skills, no friends."""
    reports, parts, asked = alarms(
        invented(seed, bots=4, seats=3, deals=8, series=2).audit() for seed in range(60)
    )
    assert no_more_than(0.05, reports, 60)
    for part in AuditPart:
        assert asked[part] > 48
        assert no_more_than(0.05, parts[part], asked[part])
    assert parts[AuditPart.LIFT] + parts[AuditPart.FEEDING] > 0


# ---------------------------------------------------------------------------------- what is found


@pytest.mark.no_cover
def test_a_bot_that_is_better_on_later_rotations_is_found(invented):
    """Five strokes, where the deal had been played before; nobody else is named."""

    def plant(strokes, _circle, place):
        if "bot1@1" in strokes:
            strokes["bot1@1"] -= 5 * (place > 0)

    audit = planted(invented(1, deals=45), plant=plant).audit()
    later = {row.bot: row for row in audit.later}
    assert later["bot1@1"].p <= 0.01
    assert -5 == pytest.approx(later["bot1@1"].strokes, abs=3 * later["bot1@1"].error)
    assert all(row.p > 0.05 for bot, row in later.items() if bot != "bot1@1")
    assert ("bot1@1",) == next(one.bots for one in audit.tested if one.part is AuditPart.LATER)


def test_it_is_found_at_a_table_of_three(invented):
    """Where the first of three rotations is held against both others."""

    def plant(strokes, _circle, place):
        if "bot2@1" in strokes:
            strokes["bot2@1"] -= 5 * (place > 0)

    audit = planted(invented(2, bots=4, seats=3, deals=15), plant=plant).audit()
    assert next(row for row in audit.later if row.bot == "bot2@1").p <= 0.01
    assert audit.strange == any(one.p <= 0.01 for one in audit.tested)


@pytest.mark.no_cover
def test_a_pair_that_feeds_each_other_is_found_at_a_table_of_four(invented):
    """One takes from the other twice as often as from anybody; all sit at the same table."""

    def take(giver, taker):
        return 0.75 if (giver, taker) == ("bot0@1", "bot2@1") else 0.32

    audit = planted(invented(3, bots=4, seats=4, deals=60), take=take).audit()
    first = audit.feeding[0]
    assert ("bot0@1", "bot2@1") == (first.giver, first.taker)
    assert first.p <= 0.01
    assert first.taken > 1.15 * first.expected
    assert all(row.p > 0.05 for row in audit.feeding[1:])
    assert () == audit.lift  # they have never sat apart


@pytest.mark.no_cover
def test_a_pair_that_plays_better_together_is_found(invented):
    """Eight strokes each at one table, at tables of three of six bots."""

    def plant(strokes, circle, _place):
        if {"bot0@1", "bot5@1"} <= set(circle):
            strokes["bot0@1"] -= 8
            strokes["bot5@1"] -= 8

    audit = planted(invented(4, bots=6, seats=3, deals=12), plant=plant).audit()
    assert ("bot0@1", "bot5@1") == audit.lift[0].bots
    assert audit.lift[0].p <= 0.01
    assert audit.lift[0].strokes < -1
    assert odds(audit)[AuditPart.LIFT] == audit.lift[0].p


@pytest.mark.no_cover
def test_a_biased_seat_is_found_and_the_rotation_leaves_nothing_of_it(invented):
    """Three strokes for who sits second: told as an effect of the seat, and unusual for nobody."""
    audit = planted(invented(5, deals=60), seat_worth=[3.0, 0.0]).audit()
    first, second = audit.by_seat
    assert 0 < first.low < 1.5 < first.high
    assert first.strokes == -second.strokes
    assert 0.0 == audit.rotation
    assert all(one.p > 0.05 for one in audit.tested)


def test_a_pair_that_never_ends_a_hole_is_found(invented):
    """Two of six that leave it to the cap whenever they meet."""

    def cap(circle):
        return 0.6 if {"bot0@1", "bot1@1"} == set(circle) else 0.02

    audit = planted(invented(6, bots=6, deals=12), cap=cap).audit()
    assert ("bot0@1", "bot1@1") == audit.capped_pairs[0].bots
    assert audit.capped_pairs[0].p <= 0.01
    assert audit.capped.low < audit.capped.share < audit.capped.high


def test_luck_that_isnt_chance_is_found(invented, without):
    """Two strokes a match that chance gives to one bot alone."""
    event = invented(7, deals=40)
    records = (
        without(
            record,
            luck=tuple(
                luck - 2000 * (name == "bot3@1")
                for name, luck in zip(record.seats, record.luck, strict=True)
            ),
        )
        for record in event.records()
    )
    audit = event.audit(records)
    assert {"bot3@1"} == {row.bot for row in audit.luck if row.p <= 0.01}
    assert audit.luck[3].strokes == pytest.approx(-2, abs=3 * audit.luck[3].error)


def kept_waiting(event, name, ms):
    """The audit of an event in which the machine keeps one bot waiting, so long a decision."""
    return planted(event, waited=lambda bot: 10 * ms * (bot == name)).audit()


def test_a_bot_that_the_machine_keeps_waiting_is_found(invented):
    """Four milliseconds a decision, of which one and as long as it thinks are not asked about."""
    audit = kept_waiting(invented(12, deals=20), "bot1@1", 4.0)
    found = {row.bot: row for row in audit.waits}
    assert found["bot1@1"].p <= 0.01
    assert found["bot1@1"].longer_ms == pytest.approx(4.0)
    assert found["bot0@1"].longer_ms == pytest.approx(-4 / 3)
    assert ("bot1@1",) == next(one.bots for one in audit.tested if one.part is AuditPart.WAITS)
    assert all(row.p > 0.05 for bot, row in found.items() if bot != "bot1@1")
    assert audit.strange


@pytest.mark.parametrize("ms", [0.0, 1.4])
def test_short_waits_are_not_asked_about(invented, ms):
    """Where none waits, nothing is tested; up to 1.5 ms a decision nothing is unusual."""
    audit = kept_waiting(invented(13, deals=20), "bot1@1", ms)
    assert (AuditPart.WAITS in odds(audit)) == bool(ms)
    assert odds(audit).get(AuditPart.WAITS, 1.0) == 1.0


def test_a_wait_is_compared_with_the_mean_of_the_others(invented):
    """At a table of three, in milliseconds a decision."""
    event = invented(12, deals=1)
    record = next(iter(event.records()))
    uses = [SeatUse(decisions=n, waited_ms=ms) for n, ms in ((1, 3), (2, 12), (0, 5))]
    record = msgspec.structs.replace(record, seats=("a@1", "b@1", "c@1"), use=tuple(uses))
    by_bot = waits.WaitsByBot(4)
    by_bot.add(RatedDeal("p", 0, (record,), whole=True))
    longer = {row.bot: row.longer_ms for row in by_bot.rows(b"seed")}
    assert longer == {"a@1": 3 - 5.5, "b@1": 6 - 4, "c@1": 5 - 4.5}


FEWEST_TRIES = chance.FEWEST_TRIES


def test_the_fewest_permutations_show_one_of_a_hundred():
    """Better and worse, after the correction for all parts of a report."""
    assert 2 * len(AuditPart) / (1 + FEWEST_TRIES) <= STRICT


# --------------------------------------------------------------------------------- what is counted


@pytest.mark.usefixtures("brief")
def test_an_event_with_a_fault_or_a_rotation_missing_is_left_out(invented, without):
    """It says nothing of skill; its time and its faults are told, by half of the event."""
    event = invented(8, bots=3, deals=4)
    records = [
        without(record, ended=float(number)) for number, record in enumerate(event.records())
    ]
    fault = Fault(
        kind=FaultKind.TIMEOUT, seat=0, hole=1, turn=3, message="", host=FaultHost(load=7.5)
    )
    failed = without(records[0], faults=(fault,))
    audit = event.audit([failed, *records[1:-1]])
    assert (23, 10, 2) == (audit.matches, audit.events, audit.left_out)
    assert [(failed.seats[0], "timeout", 1, 0)] == [
        (row.bot, row.kind, row.early, row.late) for row in audit.faults
    ]
    assert 7.5 == audit.load
    assert 46 == sum(use.matches for use in audit.time)
    assert audit.rotation > 0  # of the match whose other rotation is missing


@pytest.mark.usefixtures("brief")
def test_when_it_was_played_changes_nothing(invented, without):
    """The same records give the same report again, at whatever time each of them ended."""
    event = invented(9, bots=4, seats=3, deals=2)
    records = list(event.records())
    other = [without(record, ended=1000.0 - at, attempt=1) for at, record in enumerate(records)]
    assert event.audit(records) == event.audit(other)


def test_records_without_holes_luck_or_use_are_taken_as_they_are(invented, without):
    """A log of another's making, or of an event without a ledger: what it lacks isn't told."""
    event = invented(10, bots=4, seats=4, deals=1)
    records = [
        without(r, holes=(without(r.holes[0], scores=()),), luck=(), use=())
        for r in event.records()
    ]
    audit = event.audit(records)
    assert 1 == audit.events
    assert () == audit.luck == audit.time == audit.feeding == audit.capped_pairs
    assert audit.by_seat[0].low is None
    assert 0 == audit.capped.of


def test_an_event_of_which_nothing_counts(invented):
    """Nothing is tested, and nothing is certain."""
    audit = invented(11, bots=4, seats=4).audit([])
    assert () == audit.tested == audit.later == audit.lift
    assert (0.0, 1.0) == (audit.tied_events.low, audit.tied_events.high)
    assert 0.0 == audit.by_seat[0].strokes == audit.rotation


def test_many_bots_have_fewer_cells_and_a_short_list(invented, monkeypatch):
    """Of many pairs the ten most unusual are told, and draws are not fitted anew."""
    from arena.audit import auditor

    monkeypatch.setattr(auditor, "MANY", 5)
    monkeypatch.setattr(discards, "_MANY", 5)
    monkeypatch.setattr(chance, "_WORK", 1)
    audit = invented(12, bots=6, seats=3, deals=2).audit()
    assert 10 == len(audit.feeding) == len(audit.lift)
    assert 30 == next(one.rows for one in audit.tested if one.part is AuditPart.FEEDING)


@pytest.mark.usefixtures("brief")
def test_ties_are_counted_by_match_and_by_rated_event(invented, without):
    """Where all take the same strokes, all tie; with no spread the interval is cautious."""
    event = invented(13, deals=5)
    records = [without(record, totals=(90, 90)) for record in event.records()]
    audit = event.audit(records)
    assert (60, 60) == (audit.tied_matches.count, audit.tied_matches.of)
    assert (30, 30) == (audit.tied_events.count, audit.tied_events.of)
    assert 0.8 < audit.tied_events.low < 1.0 == audit.tied_events.high


@pytest.mark.usefixtures("brief")
def test_nobody_ever_takes_anything(invented):
    """A rate of nothing is nothing to fit."""
    event = planted(invented(14, bots=4, seats=3, deals=2), take=lambda _g, _t: -1.0)
    audit = event.audit()
    assert {0} == {row.taken for row in audit.feeding}
    assert {0.0} == {row.expected for row in audit.feeding}
    assert AuditPart.FEEDING in odds(audit)


def test_a_stranger_who_skips_seats_feeds_nobody(invented, without):
    """A bot that comes next in a forged order of play, but not at the table, is no neighbour."""
    event = invented(15, bots=3, seats=3, deals=1)
    draw = random.Random(1)
    records = []
    for record in event.records():
        order = draw.choice([(0, 2, 1), (2, 1, 0), (1, 0, 2)])
        holes = tuple(without(hole, order=order) for hole in record.holes)
        records.append(without(record, holes=holes))
    assert () == event.audit(records).feeding
