"""The schedule: who meets whom, on which deals, in which seats and series."""

import itertools
import math
from collections import Counter

import pytest

from arena.deals import Deals, secret_from_seed
from arena.formats.round_robin import RoundRobin
from arena.model import Entrant, Settings, UserError
from arena.schedule import NoResults, ScheduleEnd

DEALS = Deals(secret_from_seed("formats"))


def field(count, authors=None):
    """That many entrants."""
    return [
        Entrant(
            id=f"bot{n:02d}@1",
            name=f"bot{n:02d}",
            version="1",
            hash="",
            author=authors[n] if authors else "",
        )
        for n in range(count)
    ]


def schedule(bots=4, authors=None, **settings):
    """A round robin."""
    return RoundRobin(Settings(game="play-nine", **settings), field(bots, authors), DEALS)


def whole(format_):
    """Its only wave's blocks."""
    return list(format_.wave((), NoResults()).blocks())


def specs(format_):
    """All its matches in order."""
    return [spec for b in whole(format_) for series in b.series for spec in series.matches]


@pytest.mark.parametrize(("bots", "seats"), [(2, 2), (5, 2), (4, 3), (8, 8)])
def test_every_table_plays_every_deal_in_every_rotation(bots, seats):
    """All subsets meet; on each deal every entrant sits in every seat once."""
    made = schedule(bots, seats=seats, deals=3)
    played = specs(made)
    assert math.comb(bots, seats) * 3 * seats == len(played)
    wave = made.wave((), NoResults())
    assert len(played) == wave.matches
    assert len(played) == len({spec.id for spec in played})
    for (_, _), group in itertools.groupby(
        sorted(played, key=lambda s: (s.pairing, s.deal)), key=lambda s: (s.pairing, s.deal)
    ):
        group = list(group)
        assert list(range(seats)) == sorted(spec.rotation for spec in group)
        for seat in range(seats):
            assert seats == len({spec.seats[seat] for spec in group})
    counts = Counter(entrant for spec in played for entrant in spec.seats)
    assert dict(counts) == wave.by_entrant


@pytest.mark.parametrize(
    ("bots", "settings"),
    [(3, {"deals": 7, "series": 3}), (4, {"seats": 3, "deals": 2}), (5, {"tables": 4})],
)
def test_a_match_is_found_by_its_pairing_deal_and_rotation(bots, settings):
    """With its place in the schedule; what is not in it isn't found."""
    made = schedule(bots, **settings)
    for place, spec in enumerate(specs(made)):
        assert (place, spec) == made.find(spec.pairing, spec.deal, spec.rotation)
    for strange in (("x", 0, 0), (spec.pairing, -1, 0), (spec.pairing, 99, 0)):
        assert made.find(*strange) is None
    assert made.find(spec.pairing, 0, -1) is None
    assert made.find(spec.pairing, 0, len(spec.seats)) is None


def test_no_process_sees_a_deal_twice_and_a_block_s_series_share_its_deals():
    """Within a series every deal is there once; across a block's series in other rotations."""
    made = schedule(3, seats=3, deals=60, series=25)
    for block in whole(made):
        deals = [[spec.deal for spec in series.matches] for series in block.series]
        assert all(len(set(of_one)) == len(of_one) <= 25 for of_one in deals)
        assert 1 == len({tuple(of_one) for of_one in deals})


def test_the_rotation_of_a_series_can_t_be_known():
    """The first series of a block plays every rotation about equally often."""
    made = schedule(2, deals=400, series=400)
    (block,) = whole(made)
    rotations = Counter(spec.rotation for spec in block.series[0].matches)
    assert 140 < rotations[0] < 260


def test_the_cyclic_order_is_drawn_for_each_deal():
    """With three bots both cyclic orders occur, else A would always feed B."""
    made = schedule(3, seats=3, deals=40)
    orders = {spec.seats for spec in specs(made) if spec.rotation == 0}
    assert 6 == len(orders)


def test_the_order_of_names_changes_nothing():
    """Ids come from entrants, not from positions."""
    settings = Settings(game="play-nine", deals=2)
    one = RoundRobin(settings, field(4), DEALS)
    two = RoundRobin(settings, field(4)[::-1], DEALS)
    assert specs(one) == specs(two)


def test_adding_a_bot_leaves_the_other_pairings_deals_alone():
    """A pairing's specs are the same in a bigger field."""
    small, big = specs(schedule(3, deals=2)), specs(schedule(4, deals=2))
    assert {spec.id for spec in small} < {spec.id for spec in big}
    assert all(spec in big for spec in small)


def test_there_is_one_wave():
    """A round robin decides nothing on the way."""
    made = schedule()
    assert ScheduleEnd() == made.wave([made.wave((), NoResults())], NoResults())


def test_a_balanced_design_seats_everybody_about_equally():
    """60 bots at 4 seats, 300 tables: 20 each; no pair meets often."""
    made = schedule(60, seats=4, tables=300, deals=1)
    sat = Counter(entrant for table in made.tables for entrant in table)
    met = Counter(pair for table in made.tables for pair in itertools.combinations(table, 2))
    assert {20} == set(sat.values())
    assert max(met.values()) <= 3
    assert len(met) > 1_500
    assert 300 == len(set(made.tables))


@pytest.mark.parametrize(("bots", "seats"), [(6, 3), (6, 4), (8, 5)])
def test_a_design_can_use_up_all_tables(bots, seats):
    """As many tables as there are subsets: all of them, each once."""
    count = math.comb(bots, seats)
    made = schedule(bots, seats=seats, tables=count, deals=1)
    assert count == len(set(made.tables))


def test_bots_of_one_author_can_be_kept_apart():
    """No table seats an author twice, in both kinds of schedule."""
    authors = ["ann", "ann", "bob", "bob", "", ""]
    everything = schedule(6, authors, same_author=False, deals=1)
    assert 15 - 2 == len(everything.tables)
    design = schedule(6, authors, seats=3, tables=4, same_author=False, deals=1)
    by = dict(zip([entrant.id for entrant in field(6)], authors, strict=True))
    for table in design.tables:
        named = [by[entrant] for entrant in table if by[entrant]]
        assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("bots", "settings", "words"),
    [
        (1, {}, "at least 2 bots"),
        (60, {"seats": 4}, "--tables"),
        (4, {"tables": 7}, "--tables 7"),
    ],
)
def test_an_impossible_schedule_is_refused_with_a_way_out(bots, settings, words):
    """One line that says what to do."""
    with pytest.raises(UserError, match=words):
        schedule(bots, **settings)


def test_a_field_of_one_author_is_refused_when_authors_don_t_meet():
    """Nobody could play."""
    with pytest.raises(UserError, match="author"):
        schedule(3, ["ann"] * 3, same_author=False)
    with pytest.raises(UserError, match="only 0"):
        schedule(3, ["ann"] * 3, same_author=False, tables=1)


@pytest.mark.parametrize(
    ("bots", "settings", "words"),
    [
        (501, {"tables": 10}, "501 bots are more than 500"),
        (20, {"deals": 1_000_000}, "380,000,000 matches are more than"),
        (400, {"seats": 4, "tables": 50_000}, "would take too long to find"),
        (300, {"seats": 4, "tables": 10_000}, "would take too long to find"),
    ],
)
def test_what_would_take_for_ever_is_refused(bots, settings, words):
    """An event.json may state any numbers; nobody waits to learn that they are too large."""
    with pytest.raises(UserError, match=words):
        schedule(bots, **settings)


def test_a_series_is_named_after_its_pairing_its_first_deal_and_its_place():
    """No two have one name, and a folder's log names them so."""
    made = [each for b in whole(schedule(3, deals=4, series=2)) for each in b.series]
    assert len(made) == len({each.id for each in made})
    for each in made:
        first = each.matches[0]
        assert each.id.startswith(f"{first.pairing}-{min(m.deal for m in each.matches):06d}-s")
        assert {each.id} == {match.series for match in each.matches}
