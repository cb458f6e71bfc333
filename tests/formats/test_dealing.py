"""From tables to blocks: chunks that depend on nothing but the deal."""

import pytest

from arena.formats.blocks import Dealing
from arena.model import SHUFFLED, Settings, UserError, block_of, pairing_id

TABLES = [("a", "b"), ("a", "c"), ("b", "c")]


def dealing(drawn, tables=TABLES, chunk=None, **settings):
    """Dealing for pairs."""
    return Dealing(Settings(game="play-nine", **settings), tables, drawn, chunk=chunk)


def test_a_chunk_is_a_series_and_never_longer_than_the_event(drawn):
    """Or what a format says."""
    assert 25 == dealing(drawn, deals=60).chunk
    assert 10 == dealing(drawn, deals=10).chunk
    assert 4 == dealing(drawn, deals=10, series=4).chunk
    assert 5 == dealing(drawn, deals=10, chunk=5).chunk


def test_tables_play_their_own_deals_chunk_by_chunk(drawn):
    """Of several chunks each table's first come first; the last of all may be shorter."""
    made = dealing(drawn, deals=10, series=4)
    one, two, three = made.pairings
    wave = made.wave({one: range(10), two: range(4, 8)}, more=7, note="so")
    assert (28, 7, "so") == (wave.matches, wave.more, wave.note)
    blocks = [(b.id, [s.deal for s in b.series[0].matches]) for b in wave.blocks()]
    assert [
        (f"{one}-000000", [0, 1, 2, 3]),
        (f"{two}-000004", [4, 5, 6, 7]),
        (f"{one}-000004", [4, 5, 6, 7]),
        (f"{one}-000008", [8, 9]),
    ] == blocks
    assert all(b.id == block_of(series.id) for b in wave.blocks() for series in b.series)
    assert {"a", "b", "c"} >= set(wave.by_entrant)
    assert 56 == sum(wave.by_entrant.values())
    assert list(made.wave({}).blocks()) == []
    assert three not in wave.deals


def test_deals_that_begin_within_a_chunk_are_refused(drawn):
    """They would be played, and could not be found again: no such event verifies."""
    made = dealing(drawn, deals=10, series=4)
    (one, *_) = made.pairings
    with pytest.raises(ValueError, match="deals from 6 on begin within a chunk of 4"):
        made.wave({one: range(6, 10)})


def test_a_deal_is_in_the_same_series_whatever_wave_it_is_in(drawn):
    """So what was played for one wave is not played again for another."""
    made = dealing(drawn, deals=12, series=4)
    pairing = pairing_id(("a", "b"))
    whole = list(made.wave({pairing: range(12)}).blocks())
    parts = [b for n in (0, 4, 8) for b in made.wave({pairing: range(n, n + 4)}).blocks()]
    assert whole == parts


def test_a_first_chunk_may_be_shorter_and_all_is_found_where_it_was_played(drawn, checked):
    made = Dealing(Settings(game="play-nine"), TABLES, drawn, chunk=5, first=2)
    one, two, _ = made.pairings
    waves = [made.wave({one: range(2), two: range(7)}), made.wave({one: range(2, 12)})]
    blocks = [(b.id, len(b.series[0].matches)) for wave in waves for b in wave.blocks()]
    assert [
        (f"{one}-000000", 2),
        (f"{two}-000000", 2),
        (f"{two}-000002", 5),
        (f"{one}-000002", 5),
        (f"{one}-000007", 5),
    ] == blocks
    made.find_ = made.find
    made.find = lambda *spec: made.find_(*spec, most=12)
    checked(made, waves)
    for begin in (1, 5):
        with pytest.raises(ValueError, match=f"deals from {begin} on begin within a chunk of 5"):
            made.wave({one: range(begin, 12)})


def test_no_place_is_two_matches(drawn):
    """Every match of a table, the last chunk's too, has a number of its own."""
    made = dealing(drawn, deals=10, series=4)
    found = [
        made.find(pairing, deal, rotation, most=10)
        for pairing in made.pairings
        for deal in range(10)
        for rotation in range(2)
    ]
    assert set(range(60)) == {place for place, _ in found}
    assert 60 == len({spec.id for _, spec in found})
    assert made.find(next(iter(made.pairings)), 10, 0, most=10) is None
    assert made.find("nobody", 0, 0, most=10) is None


def test_what_nobody_could_walk_along_is_refused(drawn):
    """A wave of more than five million matches."""
    made = dealing(drawn)
    pairing = next(iter(made.pairings))
    with pytest.raises(UserError, match=r"6,000,000 matches are more than 5,000,000"):
        made.wave({pairing: range(3_000_000)})


def test_each_rotation_plays_the_deals_of_a_block_in_an_order_of_its_own(drawn):
    """The same deals in every series, each in an order that was drawn; places stay unique."""
    made = dealing(drawn, deals=60, deal_order=SHUFFLED)
    plain = dealing(drawn, deals=60)
    blocks = list(made.wave(dict.fromkeys(made.pairings, range(60))).blocks())
    known = list(plain.wave(dict.fromkeys(plain.pairings, range(60))).blocks())
    place = 0
    orders = set()
    for block, old in zip(blocks, known, strict=True):
        for series, before in zip(block.series, old.series, strict=True):
            assert series.id == before.id
            assert set(before.matches) == set(series.matches)
            order = [drawn.place(spec.id) for spec in series.matches]
            assert sorted(order) == order
            orders.add(tuple(spec.deal for spec in series.matches))
            for spec in series.matches:
                found = made.find(spec.pairing, spec.deal, spec.rotation, most=60)
                assert (place, spec) == found
                place += 1
    assert 2 * len(blocks) == len(orders)
    assert not any(deals == tuple(sorted(deals)) for deals in orders)


def test_a_place_in_a_series_tells_nothing_of_the_place_in_another(drawn):
    """Of 8 deals in each of two series, one in eight has the same place in both, as by chance."""
    made = dealing(drawn, tables=[("a", "b")], deals=4_000, series=8, deal_order=SHUFFLED)
    hits = 0
    for block in made.wave(dict.fromkeys(made.pairings, range(4_000))).blocks():
        one, other = ([spec.deal for spec in series.matches] for series in block.series)
        hits += sum(a == b for a, b in zip(one, other, strict=True))
    spread = (4_000 * 1 / 8 * 7 / 8) ** 0.5
    assert abs(hits - 500) < 4 * spread
