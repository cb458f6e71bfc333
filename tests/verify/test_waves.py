"""Folders of events that decided in waves."""

import functools
import shutil

import msgspec
import pytest
import trio
from msgspec import UNSET

from arena.event.results import Counts, counting_of, schedule_of, table_of
from arena.event.tournament import Tournament
from arena.model import (
    ADJUSTED,
    RaceSettings,
    RatingSettings,
    Settings,
    TrialSettings,
    TrialVerdict,
    UserError,
)
from arena.registry import render
from arena.store import Store, read_event, read_records
from arena.verify.findings import LOG
from arena.verify.whole import verify

from .conftest import SECRET, Deaf, Playing, line_of, lines, make, restate, rewrite

NAMES = ("ann", "bob", "cyd")
RACE = Settings(
    game="play-nine",
    format="racing",
    rate_on=ADJUSTED,
    deals=2,
    series=2,
    turn_cap=4,
    racing=RaceSettings(close=0.1, budget=40),
)
WARM_UP = 3 * 2 * 2


def resume(folder, settings, stop_after=None):
    """Play on, until so many more matches are played or all are."""
    with Store.open(folder) as store:
        stop = trio.Event()
        tournament = Tournament(store, SECRET, Deaf())
        executor = Playing(settings, {})
        inner, played = executor.record, 0

        def record(spec, attempt):
            nonlocal played
            played += 1
            if played == stop_after:
                stop.set()
            return inner(spec, attempt)

        executor.record = record
        trio.run(functools.partial(tournament.play, executor, stop))
        if not tournament.left:
            tournament.conclude()
        return tournament.result()


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A race that ended by its budget, after several waves."""
    return make(tmp_path_factory.mktemp("waves") / "race", RACE, NAMES)


@pytest.fixture
def race(raced, tmp_path):
    """A copy of it, to be tampered with."""
    return shutil.copytree(raced, tmp_path / "race")


def difference(folder):
    """What is found."""
    found = verify(folder, jobs=1).difference
    assert found is not None
    return found


def test_a_true_race_is_verified(race):
    """What was decided is decided again, from the log alone."""
    verdict = verify(race, jobs=1)
    assert verdict.difference is None
    assert WARM_UP < verdict.matches == verdict.planned <= 40
    assert 4 == len(verdict.tables)
    found = table_of(race)
    assert found.ended.startswith("the budget of 40 matches, with open: ")
    assert found.verdict is None


def test_a_race_is_decided_by_its_own_constants_and_not_by_today_s_defaults(tmp_path):
    """They are in its settings, under its commitment."""
    racing = RaceSettings(close=0.1, budget=60, growth=2.0, looks=3)
    rating = RatingSettings(borrowed=0, error_rate=0.2, least_spread=0.5)
    settings = msgspec.structs.replace(RACE, racing=racing, rating=rating)
    folder = make(tmp_path / "race", settings, NAMES)
    assert (racing, rating) == ((s := read_event(folder).settings).racing, s.rating)
    assert WARM_UP < verify(folder, jobs=1).matches
    assert verify(folder, jobs=1).difference is None
    restate(folder, settings=msgspec.structs.replace(settings, racing=RACE.racing))
    assert "commitment" in str(difference(folder))


def test_an_interrupted_race_has_the_same_matches_and_table(raced, tmp_path):
    """Wherever it is stopped: in the warm-up, between waves, in a later one."""
    digests = {record.id: record.digest for record in read_records(raced)}
    expected = render(table_of(raced), "md", canonical=True)
    for stop in (1, 5, WARM_UP, WARM_UP + 1, WARM_UP + 7):
        folder = make(tmp_path / str(stop), RACE, NAMES, stop_after=stop)
        assert not read_event(folder).finished
        assert verify(folder, jobs=1).difference is None
        resume(folder, RACE, stop_after=3)
        found = resume(folder, RACE)
        assert read_event(folder).finished
        assert expected == render(found, "md", canonical=True)
        counts = Counts(folder)
        counted = [record for record in read_records(folder) if counts(record)]
        assert digests == {record.id: record.digest for record in counted}


def test_a_match_of_any_wave_that_is_missing_is_found(race):
    """It is named, though later waves can't be decided without it."""
    before = lines(race)
    records = list(read_records(race))
    for number, record in enumerate(records):
        rewrite(race, before[:number] + before[number + 1 :])
        found = difference(race)
        assert (LOG, record.id, "schedule") == (found.file, found.match, found.what)
        assert "no record of it" in found.found


def test_the_last_wave_left_out_is_found(race):
    """Its first match is missing: results didn't end the race before it."""
    before = lines(race)
    rewrite(race, before[:WARM_UP])
    assert "this match, as the event is over" == difference(race).expected


def test_a_match_of_a_wave_that_was_never_decided_is_found(race):
    """It is rightly played and could have been decided on; it just wasn't."""
    event = read_event(race)
    schedule = schedule_of(event, SECRET)
    last = max(record.deal for record in read_records(race))
    pairing = next(read_records(race)).pairing
    _, spec = schedule.find(pairing, last + 1, 0)
    stray = line_of(Playing(RACE, {}).record(spec, 0))
    before = lines(race)
    for place in (0, 5, len(before)):
        rewrite(race, [*before[:place], stray, *before[place:]])
        found = difference(race)
        assert (LOG, place + 1, spec.id) == (found.file, found.line, found.match)
        assert "which no format has scheduled" in found.found
        # Elsewhere it is kept, and doesn't count.
        counts = Counts(race)
        assert len(before) == sum(counts(record) for record in read_records(race))


def test_a_log_that_was_cut_in_its_first_wave_is_mended(race):
    """Though matches of later waves are there: they are decided on again."""
    expected = render(table_of(race), "md", canonical=True)
    before = lines(race)
    rewrite(race, before[:3] + before[4:])
    counting = counting_of(read_event(race), SECRET)
    records = list(read_records(race))
    for record in records:
        counting.add(record)
    counting.counted()
    assert counting.left
    with pytest.raises(UserError, match=r"2 of 12 matches are missing"):
        table_of(race)
    rewrite(race, before)
    assert expected == render(table_of(race), "md", canonical=True)


def test_no_part_of_a_race_can_be_played_apart(race):
    """What comes next follows from all results."""
    restate(race, shard="1/2", finished=False, secret="")
    with (
        Store.open(race) as store,
        pytest.raises(UserError, match="--shard: racing decides by results"),
    ):
        Tournament(store, SECRET, Deaf())


def test_a_shard_of_a_race_is_no_shard(tmp_path):
    """An event.json that says so was changed."""
    folder = make(tmp_path / "race", RACE, NAMES, stop_after=5)
    restate(folder, shard="1/2")
    found = difference(folder)
    assert ("shard", "none, as racing is played whole", "1/2") == (
        found.what,
        found.expected,
        found.found,
    )


def test_a_trial_is_verified_and_says_what_it_showed(tmp_path):
    """Two bots of one kind: the new one is not shown to be better."""
    settings = Settings(
        game="play-nine",
        format="trial",
        rate_on=ADJUSTED,
        deals=5,
        series=5,
        turn_cap=4,
        trial=TrialSettings(new="bob@1", effect=30.0, budget=90),
    )
    folder = make(tmp_path / "trial", settings, ("ann", "bob"))
    verdict = verify(folder, jobs=1)
    assert verdict.difference is None
    assert verdict.matches == verdict.planned >= 40
    assert table_of(folder).verdict in set(TrialVerdict)
    before = lines(folder)
    rewrite(folder, before[1:])
    assert "no record of it" in difference(folder).found


def test_a_trial_decides_by_the_proofs_that_its_settings_ask_for(tmp_path):
    """One that asks for none of forfeits ends as it did; what it asks is under the commitment."""
    asked = TrialSettings(
        new="bob@1", effect=2.0, alpha=0.49, beta=0.49, budget=120, forfeits=0.6, skew=3.0
    )
    settings = Settings(
        game="play-nine",
        format="trial",
        rate_on=ADJUSTED,
        deals=5,
        series=5,
        turn_cap=4,
        trial=asked,
    )
    older = msgspec.structs.replace(asked, forfeits=UNSET, skew=UNSET)
    crash = {"bob@1": (7, "crash")}
    ended = []
    for name, trial in (("new", asked), ("older", older)):
        with_it = msgspec.structs.replace(settings, trial=trial)
        folder = make(tmp_path / name, with_it, ("ann", "bob"), faults=crash)
        assert (b"forfeits" in (folder / "event.json").read_bytes()) == (trial is asked)
        verdict = verify(folder, jobs=1)
        assert verdict.difference is None
        ended.append((verdict.matches, table_of(folder).verdict))
    (matches, _), before = ended
    assert before == (40, TrialVerdict.BETTER)
    assert matches > 40
    restate(tmp_path / "new", settings=msgspec.structs.replace(settings, trial=older))
    assert "commitment" in str(difference(tmp_path / "new"))


def test_a_trial_ends_where_a_bot_is_withdrawn(tmp_path):
    """The other one is the better."""
    settings = Settings(
        game="play-nine",
        format="trial",
        rate_on=ADJUSTED,
        deals=5,
        series=5,
        turn_cap=4,
        trial=TrialSettings(new="bob@1"),
    )
    folder = make(
        tmp_path / "trial", settings, ("ann", "bob"), faults={"bob@1": (7, "crash")}, last=20
    )
    assert verify(folder, jobs=1).difference is None
    found = table_of(folder)
    assert ("bob@1 was withdrawn", TrialVerdict.NOT_BETTER) == (found.ended, found.verdict)


def test_the_schedule_knows_every_match_that_a_race_could_come_to(race):
    """Not only those that it came to."""
    schedule = schedule_of(read_event(race), SECRET)
    for record in read_records(race):
        _, spec = schedule.find(record.pairing, record.deal, record.rotation)
        assert (record.id, record.series, record.seats) == (spec.id, spec.series, spec.seats)
