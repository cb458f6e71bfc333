"""A look at a count that goes on."""

import pytest

from arena.ratings.standings import table
from arena.store import read_event, read_records, secret_of
from arena.tournament import counting_of, table_of


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
    assert looks[-1][1] == table_of(folder)
    assert looks[-1][0].missing == 0
    seats = event.settings.seats
    assert len({(each.pairing, each.deal) for each in told}) == len(told) == matches[-1] // seats
