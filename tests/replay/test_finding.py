"""Looking for matches: by bot, fault, strokes; what a beginning of an id may mean."""

import itertools

import msgspec
import pytest

from arena.event import search
from arena.event.search import (
    Bound,
    Search,
    SearchResult,
    counted_record,
    record_of_attempt,
    records_of,
    search_matches,
    seat_of,
)
from arena.model import UserError
from arena.store import Store, read_records


@pytest.fixture
def friday(events, folder):
    """Three bots, two deals a pairing; ann fails in the first match of hers."""
    done = []

    def how(spec):
        if "ann@1" in spec.seats and not done:
            done.append(spec.id)
            return {"fails": events.failing("ann@1", 9)}
        return {}

    return folder(events.event_of(names=("ann", "bob", "cyd"), deals=2), how)


def ids(path, **search):
    """What a search finds."""
    limit = search.pop("limit", None)
    found = search_matches(path, Search(**search), print, limit=limit)
    return [record.id for record, counts in found.records if counts]


def test_matches_are_found_by_bot_and_fault(friday):
    """All the bots that are named are at the table; a fault is the first bot's."""
    records = list(read_records(friday))
    assert [record.id for record in records] == ids(friday)
    assert [r.id for r in records if "bob@1" in r.seats] == ids(friday, bots=("bob@1",))
    both = [r.id for r in records if {"bob@1", "cyd@1"} == set(r.seats)]
    assert both == ids(friday, bots=("cyd@1", "bob@1"))
    (faulty,) = [record for record in records if record.faults]
    assert [faulty.id] == ids(friday, fault="any") == ids(friday, fault="crash", bots=("ann@1",))
    other = next(seat for seat in faulty.seats if seat != "ann@1")
    assert [] == ids(friday, fault="any", bots=(other,)) == ids(friday, fault="timeout")


def test_matches_are_found_by_strokes(friday):
    """Of the first bot or of the winner; a match that a forfeit cut short has no strokes."""
    whole = [record for record in read_records(friday) if not record.faults]
    for bound in ("<350", ">=350", "=400", "400"):
        read = Bound.read(bound)
        wanted = [r.id for r in whole if read.holds(min(r.totals))]
        assert wanted == ids(friday, totals=(read,))
        mine = [
            r.id
            for r in whole
            if "bob@1" in r.seats and read.holds(r.totals[r.seats.index("bob@1")])
        ]
        assert mine == ids(friday, totals=(read,), bots=("bob@1",))
    lost = [
        r.id
        for r in whole
        if "bob@1" in r.seats
        and r.totals[r.seats.index("bob@1")] > r.totals[1 - r.seats.index("bob@1")]
    ]
    assert lost == ids(friday, bots=("bob@1",), margins=(Bound(">", 0),))


def test_matches_are_sorted_and_forfeits_come_last(friday):
    """By strokes or by margin; in no order is a match left out."""
    records = list(read_records(friday))
    (cut,) = [record.id for record in records if record.faults]
    whole = [record for record in records if not record.faults]
    leads = {r.id: abs(r.totals[0] - r.totals[1]) for r in whole}
    assert [*sorted(leads, key=lambda at: (leads[at], at)), cut] == ids(friday, sort="closest")
    widest = [*sorted(leads, key=lambda at: (-leads[at], at)), cut]
    assert widest == ids(friday, sort="widest")
    assert widest[:2] == ids(friday, sort="widest", limit=2)
    best = {r.id: min(r.totals) for r in whole}
    assert [*sorted(best, key=lambda at: (best[at], at)), cut] == ids(friday, sort="best")
    worst = [*sorted(best, key=lambda at: (-best[at], at)), cut]
    assert worst == ids(friday, sort="worst")
    mine = ids(friday, sort="worst", bots=("ann@1",))
    assert cut == mine[-1]
    assert sum("ann@1" in record.seats for record in records) == len(mine)


@pytest.mark.parametrize("sort", ["best", "worst", "closest", "widest"])
def test_forfeits_are_sorted_by_how_far_they_got(events, folder, sort):
    """Every match fails at a later question: the furthest come first."""
    how = zip(itertools.cycle(["ann@1", "bob@1"]), range(3, 1000, 40), strict=False)
    path = folder(events.event_of(deals=2), lambda spec: {"fails": events.failing(*next(how))})
    holes = {record.id: len(record.holes) for record in read_records(path)}
    assert len(set(holes.values())) > 2
    for wanted in ({}, {"fault": "crash"}, {"bots": ("bob@1",)}, {"bots": ("ann@1",)}):
        found = ids(path, sort=sort, **wanted)
        assert sorted(holes) == sorted(found)
        assert sorted(holes.values(), reverse=True) == [holes[match] for match in found]


def test_where_the_others_play_on_a_match_has_a_result(events, folder):
    """At a table of three: the winner's strokes are known, the forfeiter's aren't."""
    done = []

    def how(spec):
        done.append(spec.id)
        return {"fails": events.failing("bob@1", 3)} if len(done) == 1 else {}

    path = folder(events.event_of("four-card-golf", seats=3, turn_cap=4), how)
    records = {record.id: record for record in read_records(path)}
    (cut,) = [match for match, record in records.items() if record.faults]
    strokes = {
        match: min(total for seat, total in enumerate(record.totals) if seat not in record.forfeits)
        for match, record in records.items()
    }
    assert sorted(strokes, key=lambda match: (strokes[match], match)) == ids(path, sort="best")
    for sort in ("best", "worst"):
        assert cut == ids(path, sort=sort, bots=("bob@1",))[-1]


def test_a_limit_keeps_the_first_and_counts_all(friday):
    """What is left out is known by its number."""
    found = search_matches(friday, Search(), print, limit=2)
    assert (2, 12) == (len(found.records), found.matches)


@pytest.mark.parametrize("text", ["", "x", "<", "< 3 4", "==3", "1e3", "9" * 10])
def test_what_is_no_comparison(text):
    """Nothing is guessed."""
    assert Bound.read(text) is None


def test_a_beginning_that_no_other_has_is_enough(friday):
    """Else those that it may be are named, or those near it."""
    one = next(read_records(friday))
    assert [one] == records_of(friday, one.id, print)
    several = one.id.rpartition("-")[0]
    with pytest.raises(
        UserError, match=rf"{several} may be any of these: {several}-0, {several}-1"
    ):
        records_of(friday, several, print)
    with pytest.raises(UserError, match=rf"there is no match 'x{one.id}'; near it: .*{one.id}"):
        records_of(friday, f"x{one.id}", print)


def test_bots_are_named_by_id_or_name(events):
    """A name that several have is not guessed, nor one that is near."""
    event = events.event_of(names=("ann", "bob"))
    twin = msgspec.structs.replace(event.entrants[0], id="ann@2", version="2")
    event = msgspec.structs.replace(event, entrants=(*event.entrants, twin))
    assert "ann@2" == seat_of(event, "ann@2")
    assert "bob@1" == seat_of(event, "bob")
    for who, told in (
        ("ann", "ann may be any of these: ann@1, ann@2"),
        ("bobb", "no bot 'bobb' takes part; near it: bob@1"),
        ("\x1b[2J", r"no bot '.*x1b\[2J' takes part; some: ann@1, bob@1, ann@2"),
    ):
        with pytest.raises(UserError, match=told):
            seat_of(event, who)


def test_the_playing_that_counts_is_shown(events, folder):
    """A series that was cut short and played again: its second attempt, unless one is named."""
    path = folder(events.event_of(deals=2), finished=False)
    records = list(read_records(path))
    series = [record for record in records if record.series == records[0].series]
    log = path / "matches.jsonl"
    kept = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(kept[:1] + kept[len(series) :]))
    (path / "matches.index").unlink(missing_ok=True)
    with Store.open(path) as store:
        for record in series:
            store.append(msgspec.structs.replace(record, attempt=1))
    assert 1 == counted_record(path, series[0].id, print).attempt
    assert [0, 1] == [record.attempt for record in records_of(path, series[0].id, print)]
    assert 0 == record_of_attempt(path, series[0].id, 0, print).attempt
    with pytest.raises(UserError, match="has no attempt 7; there are: 0, 1"):
        record_of_attempt(path, series[0].id, 7, print)
    found = search_matches(path, Search(), print, everything=True)
    assert [(0, False)] == [(r.attempt, counts) for r, counts in found.records if not counts]


def test_the_first_matches_of_a_list_need_no_second_reading(friday, monkeypatch):
    """Nothing is sought but the first that count: they are the same as by going through all."""
    few = search_matches(friday, Search(), print, limit=2)
    every = search_matches(friday, Search(), print, limit=None)
    assert few == SearchResult(records=every.records[:2], matches=every.matches)
    read = []
    some = search.store.read_some
    monkeypatch.setattr(
        search.store, "read_some", lambda *words: (read.append(r) or r for r in some(*words))
    )
    search_matches(friday, Search(), print, limit=2)
    assert 2 == len(read)


def test_a_large_log_is_said_to_take_a_while(friday, monkeypatch):
    """Before it is read, with how long it may take."""
    monkeypatch.setattr("arena.event.results.LONG_LOG", 1)
    lines = []
    search_matches(friday, Search(), lines.append, limit=2)
    assert [f"reading {friday}: 0.0 GB of matches, about 0 s"] == lines
