"""A look at a count that goes on."""

import itertools
import random
from collections import Counter

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.event.results import counting_of, table_of
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.store import read_event, read_records, secret_of


@pytest.mark.no_cover
@pytest.mark.parametrize("more", [{}, {"seats": 3, "game": "four-card-golf"}])
def test_a_look_changes_nothing_and_is_changed_by_nothing(play_event, tmp_path, more):
    """The table of what lies behind the front stays as it was, and the last one is the result."""
    names = [f"{name}@1" for name in ("ann", "bob", "cyd", "dan")]
    folder = play_event(tmp_path / "event", names, deals=3, series=2, **more) or tmp_path / "event"
    event = read_event(folder)
    told = []
    counting = counting_of(event, secret_of(folder, event), rated=told.append)
    looks = []
    for record in read_records(folder):
        counting.add(record)
        counted = counting.so_far()
        looks.append((counted, table(event, counted)))
    assert [table(event, counted) for counted, _ in looks] == [found for _, found in looks]
    matches = [found.matches for _, found in looks]
    assert matches == sorted(matches)
    assert 0 < len(set(matches))
    assert looks[-1][1] == replace(table_of(folder), open_pairs=UNSET)
    assert looks[-1][0].missing == 0
    seats = event.settings.seats
    assert len({(each.pairing, each.deal) for each in told}) == len(told) == matches[-1] // seats


@pytest.mark.no_cover
@pytest.mark.parametrize("seats", [2, 3])
def test_a_look_has_no_result_of_an_annulled_bot(lab, seats):
    """From the moment a bot is annulled every number is that of the final count; here two are, one
    after the other, while others' matches go on.
    """
    names = "abcde"
    blocks = lab.schedule(itertools.combinations(names, seats), deals=6, series=2)
    event = lab.event(names, seats=seats)
    looking, seen = lab.count(blocks, []), []
    draw = random.Random(seats)
    played = Counter()
    for series in (series for block in blocks for series in block.series):
        for spec in series.matches:
            played.update(spec.seats)
            fell = {
                name: (3, 12)
                for name, since in (("b", 1), ("e", 3))
                if name in spec.seats and played[name] > since
            }
            totals = {name: draw.randint(60, 90) for name in spec.seats}
            looking.add(lab.record(spec, totals, fell=fell))
        counted = looking.so_far()
        final = looking.counted()
        assert table(event, counted) == table(event, final)
        assert (counted.tally.accounts, counted.tally.gaps, counted.tally.forfeited) == (
            final.tally.accounts,
            final.tally.gaps,
            final.tally.forfeited,
        )
        seen.append({out.entrant for out in counted.withdrawn if out.annulled})
    assert counted.missing == 0
    assert [{"b"}, {"b", "e"}] == [gone for gone, _ in itertools.groupby(seen) if gone]


def test_looks_count_once_more_for_each_annulled_bot(lab, monkeypatch):
    """What lies behind the front is counted again only when a look finds a bot annulled."""
    blocks = lab.round_robin("abcd", deals=3)
    counting, walks = lab.count(blocks, []), []
    walk = Counting._walk

    def watched(self, gone=frozenset(), **more):
        if gone:
            walks.append(gone)
        return walk(self, gone, **more)

    monkeypatch.setattr(Counting, "_walk", watched)
    for series in (series for block in blocks for series in block.series):
        for spec in series.matches if counting.wanted(series) == 0 else ():
            counting.add(lab.record(spec, fell={"b": (3, 12)} if "b" in spec.seats else {}))
            counting.so_far()
    assert counting.left == 0
    assert walks == [{"b"}]
    counting.add(lab.record(next(lab.specs(blocks)), fell={"b": (3, 12)}))
    look = table(lab.event("abcd"), counting.so_far())
    assert walks == [{"b"}, {"b"}], "a late record puts the front back at the first series"
    assert look == table(lab.event("abcd"), counting.counted())
