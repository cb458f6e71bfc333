"""The numbers of a report, against the same numbers worked out plainly from the records."""

import collections
import itertools
import math
import random
import re
from statistics import fmean, stdev

import msgspec
import pytest

from arena.audit import chance
from arena.audit.chance import both_tails, cell_of
from arena.audit.rated_deals import full_holes
from arena.model import Fault, FaultHost, FaultKind, HoleRecord, SeatUse
from arena.ratings.intervals import student95, wilson
from tests.records import match_record


@pytest.fixture(autouse=True)
def no_tries(monkeypatch):
    """These tests are not about p-values."""
    for name in ("TRIES", "FEWEST_TRIES"):
        monkeypatch.setattr(chance, name, 1)


def close(value):
    """As exact as a report is."""
    return pytest.approx(value, abs=1e-6)


def above_others(values):
    """Each less the mean of the others."""
    return [value - fmean(values[:at] + values[at + 1 :]) for at, value in enumerate(values)]


def test_no_p_is_more_than_1(invented):
    """Also where it is corrected for several parts."""
    audit = invented(19, bots=4, seats=3, deals=5).audit()
    assert 1.0 == max(row.p for row in (*audit.luck, *audit.later, *audit.lift, *audit.feeding))


def test_nothing_has_no_sign(invented, without):
    """A difference of nothing is 0.0 in the JSON, never -0.0."""
    event = invented(18, bots=4, seats=3, deals=2)
    records = [without(record, totals=(90, 90, 90), luck=()) for record in event.records()]
    assert not re.findall(rb'"\w+":-0.0[,}]', msgspec.json.encode(event.audit(records)))


def test_a_playoff_is_left_out(without):
    """Holes are nine, of all seats, and have scores."""
    hole = HoleRecord(order=(0, 1), moves="", scores=(1, 2))
    record = match_record(holes=(hole,) * 11)
    assert 9 == len(list(full_holes(record)))
    for other in (without(hole, scores=()), without(hole, order=(0,)), without(hole, order=(0, 0))):
        assert [hole] == list(full_holes(match_record(holes=(other, hole))))


def by_deal(records):
    """The matches of each deal."""
    deals = collections.defaultdict(list)
    for record in records:
        deals[record.pairing, record.deal].append(record)
    return deals


def test_discards(invented):
    """How many cards each left to each, and how many were taken. The expected number is a factor of
    the giver times one of the taker, and of each of them as many in all as there were.
    """
    event = invented(20, bots=3, seats=3, deals=4)
    records = list(event.records())
    left, taken = collections.Counter(), collections.Counter()
    for record in records:
        turns = record.holes[0].moves.replace("draw,discard", "discard").split(",")
        for at, turn in enumerate(turns[1:]):
            pair = record.seats[at % 3], record.seats[(at + 1) % 3]
            left[pair] += 1
            taken[pair] += turn == "take 0"
    rows = {(row.giver, row.taker): row for row in event.audit(records).feeding}
    assert left == {pair: row.left for pair, row in rows.items()}
    assert taken == {pair: row.taken for pair, row in rows.items()}
    for side, name in itertools.product((0, 1), event.names):
        some = [row for pair, row in rows.items() if pair[side] == name]
        assert sum(row.taken for row in some) == pytest.approx(sum(row.expected for row in some))
    rates = {pair: row.expected / row.left for pair, row in rows.items()}
    a, b, c = event.names
    assert rates[a, b] * rates[b, c] * rates[c, a] == pytest.approx(
        rates[b, a] * rates[c, b] * rates[a, c]
    )


def test_capped_holes(invented):
    """Those without a knock, in all and by pair; a pair plays each of its deals twice. The interval
    is that of as many independent holes as the spread of the deals is worth.
    """
    event = invented(21, bots=4, seats=2, deals=20)
    records = list(event.records())
    capped = collections.Counter()
    for record in records:
        capped[tuple(sorted(record.seats))] += not record.holes[0].moves.endswith("knock")
    audit = event.audit(records)
    assert capped == {row.bots: row.capped for row in audit.capped_pairs}
    assert {40} == {row.holes for row in audit.capped_pairs}
    assert (capped.total(), 240) == (audit.capped.count, audit.capped.of)
    share = capped.total() / 240
    assert audit.capped.share == close(share)
    deals = [
        fmean(not record.holes[0].moves.endswith("knock") for record in some)
        for some in by_deal(records).values()
    ]
    variance = share * (1 - share)
    independent = min(240, variance * len(deals) / stdev(deals) ** 2)
    low, high = wilson(share, independent, variance)
    assert (close(low), close(high)) == (audit.capped.low, audit.capped.high)


def test_seats_and_places(invented, without):
    """Strokes above the table's mean, averaged over deals, with Student's interval; a match by its
    seats, a hole by its order of play.
    """
    event = invented(22, bots=3, seats=3, deals=5)
    draw = random.Random(1)
    records = []
    for record in event.records():
        scores = tuple(draw.randrange(20) for _ in range(3))
        order = draw.choice(list(itertools.permutations(range(3))))
        records.append(
            without(record, holes=(without(record.holes[0], scores=scores, order=order),))
        )
    audit = event.audit(records)
    seats, places = [[], [], []], [[], [], []]
    for some in by_deal(records).values():
        for at in range(3):
            seats[at].append(fmean(r.totals[at] - fmean(r.totals) for r in some))
            holes = [record.holes[0] for record in some]
            places[at].append(fmean(h.scores[h.order[at]] - fmean(h.scores) for h in holes))
    for effects, shown in ((audit.by_seat, seats), (audit.by_place, places)):
        for effect, values in zip(effects, shown, strict=True):
            half = student95(4) * stdev(values) / math.sqrt(5)
            assert close(fmean(values)) == effect.strokes
            assert (close(fmean(values) - half), close(fmean(values) + half)) == (
                effect.low,
                effect.high,
            )


def test_a_rotation_that_is_missing(invented):
    """What seats are worth to the bot that sat best or worst: mean over its matches."""
    event = invented(23, bots=2, deals=3, seats=2)
    records = list(event.records())[:-1]
    audit = event.audit(records)
    worth = [effect.strokes for effect in audit.by_seat]
    assert round(abs(fmean(worth[r.seats.index("bot0@1")] for r in records)), 4) == audit.rotation


def test_strokes_on_later_rotations(invented):
    """Less luck, the opponents' mean and the seat's worth: the mean of the later ones less the
    first; its error by cells of deals.
    """
    event = invented(24, bots=4, seats=3, deals=3)
    records = list(event.records())
    shown = {
        record.id: above_others(
            [total - luck / 1000 for total, luck in zip(record.totals, record.luck, strict=True)]
        )
        for record in records
    }
    worth = [fmean(values[seat] for values in shown.values()) for seat in range(3)]
    gains = {name: collections.defaultdict(lambda: [0.0] * 3) for name in event.names}
    for (pairing, deal), some in by_deal(records).items():
        for place, rotation in enumerate(event.order(pairing, deal)):
            record = some[rotation]
            for seat, name in enumerate(record.seats):
                gains[name][cell_of(pairing, deal, 128)][place] += (
                    shown[record.id][seat] - worth[seat]
                )
    for row in event.audit(records).later:
        cells = [above_others(cell) for cell in gains[row.bot].values()]
        assert 9 == row.deals
        assert row.strokes == close(-sum(cell[0] for cell in cells) / 9)
        squares = sum(gain * gain for cell in cells for gain in cell)
        assert row.error == close(math.sqrt(squares / 3) / 9)


def test_luck(invented):
    """Its mean over rated deals, in strokes a match, and how unusual that is by Student's t."""
    event = invented(25, bots=3, seats=2, deals=4)
    records = list(event.records())
    luck = collections.defaultdict(list)
    for some in by_deal(records).values():
        for name in some[0].seats:
            luck[name].append(fmean(r.luck[r.seats.index(name)] for r in some) / 1000)
    for row in event.audit(records).luck:
        mean, error = fmean(luck[row.bot]), stdev(luck[row.bot]) / math.sqrt(8)
        assert (close(mean), close(error), close(mean / error)) == (row.strokes, row.error, row.z)
        assert row.p_alone == close(both_tails(mean / error, 7))


def test_luck_of_few_deals_is_not_tested(invented):
    """Of four the error means nothing; of five it does."""
    assert () == invented(26, bots=2, deals=4).audit().luck
    assert 2 == len(invented(26, bots=2, deals=5).audit().luck)


def test_pairs_whose_strokes_follow_from_skill_have_no_lift(invented, without):
    """Skills show in no lift: what a bot does to its table's mean is its skill's."""
    event = invented(27, bots=5, seats=3, deals=2)
    skill = {name: 7 * number * number for number, name in enumerate(event.names)}
    records = [
        without(record, totals=tuple(skill[name] for name in record.seats), luck=())
        for record in event.records()
    ]
    lift = event.audit(records).lift
    assert 10 == len(lift)
    for row in lift:
        assert 6 == row.events
        assert abs(row.strokes) < 0.001


def test_the_lift_of_a_pair_by_hand(invented, without):
    """Two of four make eight strokes less together. Above the table's mean that is -8/3 each, with
    either of the others; their skill by least squares is 4 less than the others', which leaves -4/3
    together and 8/3 apart.
    """
    event = invented(30, bots=4, seats=3, deals=2)
    pair = {"bot0@1", "bot1@1"}
    records = [
        without(
            record,
            totals=tuple(90 - 8 * (name in pair <= set(record.seats)) for name in record.seats),
            luck=(),
        )
        for record in event.records()
    ]
    (row,) = (row for row in event.audit(records).lift if set(row.bots) == pair)
    assert (4, pytest.approx(-4, abs=1e-4)) == (row.events, row.strokes)


def test_time_of_a_bot(invented, without):
    """Means by decision and by match; shares of limits by the most of any."""
    event = invented(28, bots=2, deals=1)
    limits = event.event.settings.limits
    first, second = event.records()
    spent = (
        SeatUse(decisions=3, think_ms=10.0, max_ms=6.0, waited_ms=1.0, off_turn_ms=0.5),
        SeatUse(decisions=5, think_ms=30.0, max_ms=20.0, waited_ms=4.0, off_turn_ms=0.25),
    )
    idle = SeatUse(decisions=0, think_ms=0.0, max_ms=0.0)
    audit = event.audit(
        [
            without(record, use=tuple(use if name == "bot0@1" else idle for name in record.seats))
            for record, use in zip((first, second), spent, strict=True)
        ]
    )
    busy, other = audit.time
    assert ("bot0@1", 2, 5.0, 20.0) == (busy.bot, busy.matches, busy.mean_ms, busy.max_ms)
    assert (2.5, 0.375) == (busy.waited_ms, busy.off_turn_ms)
    assert round(20 / limits.move_ms, 4) == busy.share
    assert round(30 / limits.match_ms, 4) == busy.bank_share
    assert ("bot1@1", 2, 0.0, 0.0) == (other.bot, other.matches, other.mean_ms, other.share)


def test_faults_by_halves_of_the_event(invented, without):
    """By when matches ended; the one in the middle is early."""
    event = invented(29, bots=2, deals=3)
    crash = Fault(
        kind=FaultKind.CRASH, seat=0, hole=1, turn=1, message="", host=FaultHost(load=1.5)
    )
    calm = Fault(kind=FaultKind.CRASH, seat=0, hole=1, turn=1, message="", host=FaultHost(load=0.5))
    records = [
        without(record, ended=10.0 - at, faults=(crash if at else calm,) if at != 1 else ())
        for at, record in enumerate(event.records())
    ][:5]
    audit = event.audit(records)
    early, late = collections.Counter(), collections.Counter()
    for at, record in enumerate(records):
        if at != 1:
            (early if at >= 2 else late)[record.seats[0]] += 1
    assert {row.bot: (row.early, row.late) for row in audit.faults} == {
        name: (early[name], late[name]) for name in early | late
    }
    assert 1.5 == audit.load
