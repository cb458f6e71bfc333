"""What of an event is shown while it is played."""

from types import SimpleNamespace

import pytest

from arena.event.results import counting_of
from arena.live.event_state import POINTS, SHOWN, EventState
from arena.live.pages import quick_fragments, slow_fragments
from arena.ratings.outcomes import RatedOutcome
from arena.ratings.standings import table
from arena.schedule import Wave
from arena.store import read_event, read_records, secret_of

NAMES = ("ann@1", "bob@1", "cyd@1")


@pytest.fixture
def event(play_event, tmp_path):
    """A finished event, to be heard again record by record."""
    folder = tmp_path / "event"
    play_event(folder, NAMES, deals=4, series=2)
    return SimpleNamespace(
        event=read_event(folder), records=list(read_records(folder)), folder=folder
    )


def pace(done=0, planned=24):
    return SimpleNamespace(planned=planned, more=0, done=done, faults=0, rate=lambda: 2.0)


def test_cards_are_shown_when_all_rotations_are_counted(event):
    """Not when the first is over, and not when all have been played but a series isn't whole."""
    show = EventState(event.event)
    secret = secret_of(event.folder, event.event)
    counting = counting_of(event.event, secret, rated=show.rated)
    played = set()
    shown_early = 0
    for record in event.records:
        counting.add(record)
        show.match(record)
        played.add(record.id)
        for other in event.records:
            rotations = {f"{other.pairing}-{other.deal:06d}-{turn}" for turn in (0, 1)}
            if show.shows(other.pairing, other.deal):
                assert rotations <= played
            else:
                shown_early += other.id in played
    assert shown_early, "the test has seen what it is about"
    assert all(show.shows(record.pairing, record.deal) for record in event.records)


def test_an_event_that_is_over_shows_all(event):
    """Also deals of which a rotation was void."""
    show = EventState(event.event)
    assert not show.shows("0" * 12, 3)
    show.rated(RatedOutcome(("a", "b"), (1, 2), "0" * 12, 5))
    assert [show.shows("0" * 12, deal) for deal in (3, 5, 6)] == [False, True, False]
    show.rated(RatedOutcome(("a", "b"), (1, 2), "0" * 12, 7, again=True))
    assert not show.shows("0" * 12, 7)
    show.state = "over"
    assert show.shows("0" * 12, 3)
    assert show.shows("0" * 12, 7)


def test_a_look_is_of_the_last_matches_the_latest_first(event):
    """With what may be told of them, and nothing that a bot has said."""
    show = EventState(event.event)
    for record in event.records * 3:
        show.match(record)
    show.wave(Wave(blocks=list, matches=24, by_entrant={}, note="two groups are open"))
    show.trouble("s", "out of memory")
    look = show.snapshot(pace(done=8), None)
    assert len(look.matches) == SHOWN
    assert look.matches[0].id == event.records[-1].id
    assert look.open == frozenset()
    assert (look.note, look.waves, look.voids) == ("two groups are open", 1, 1)
    assert look.left == (24 - 8) / 2.0
    assert set(look.matches[0].__struct_fields__) == {
        *("id", "pairing", "deal", "seats", "totals", "places", "faults"),
    }


def test_the_funnel_is_of_what_is_compared(event):
    """Of mu against the field's mean, which every match lowers; sigma has a floor."""
    show = EventState(event.event)
    for matches, error in ((10, 4.0), (40, 2.0)):
        rows = [
            SimpleNamespace(rank=1, rank_last=1, sigma=9.0, sigma_field=error + more)
            for more in (-0.5, 0.5)
        ]
        show.note_ranking(SimpleNamespace(rows=rows, matches=matches))
    assert [4.0, 2.0] == [each.error for each in show.snapshot(pace(), None).history]
    assert "polygon" in quick_fragments(show.snapshot(pace(), None))["progress"]


def test_history_is_thinned(event):
    """It begins where the event did, ends where it is, and is never long."""
    show = EventState(event.event)
    row = SimpleNamespace(rank=1, rank_last=1, sigma_field=2.0)
    for matches in range(1000):
        show.note_ranking(SimpleNamespace(rows=[row, row], matches=matches))
        show.note_ranking(SimpleNamespace(rows=[row, row], matches=matches))
    history = show.snapshot(pace(), None).history
    assert len(history) <= POINTS
    assert [history[0].matches, history[-1].matches] == [0, 999]
    assert [each.matches for each in history] == sorted({each.matches for each in history})
    show.note_ranking(SimpleNamespace(rows=[], matches=1001))
    assert show.snapshot(pace(), None).history == history


def test_history_goes_on_from_fewer_matches(event):
    """A withdrawn bot may take matches along; a curve that runs back on itself says nothing."""
    show = EventState(event.event)
    row = SimpleNamespace(rank=1, rank_last=1, sigma_field=2.0)
    for matches in (100, 200, 300, 150, 250):
        show.note_ranking(SimpleNamespace(rows=[row, row], matches=matches))
    history = show.snapshot(pace(), None).history
    assert [each.matches for each in history] == [100, 150, 250]


def test_the_ranking_says_how_many_more_deals_tell_neighbours_apart(event):
    """With the ranking, so that it changes as that does."""
    counting = counting_of(event.event, secret_of(event.folder, event.event))
    for record in event.records:
        counting.add(record)
    found = table(event.event, counting.so_far(), ahead=True)
    now = EventState(event.event).snapshot(pace(), found)
    one, two = found.open_pairs[0].bots
    assert f"{one} and {two}: " in slow_fragments(now)["ranking"]


def test_of_what_is_over_nothing_is_left(event):
    """Also where a bot was withdrawn, and the rest of its matches with it."""
    show = EventState(event.event)
    assert 'max="24"' in quick_fragments(show.snapshot(pace(done=20), None))["progress"]
    show.state = "over"
    assert 'max="20"' in quick_fragments(show.snapshot(pace(done=20), None))["progress"]
