"""Results read by a script, from folders with made-up matches."""

import pytest

import arena


@pytest.fixture
def friday(play_event, tmp_path):
    return play_event(tmp_path / "friday", ("ann@1", "bob@1", "cyd@1"), series=2)


def test_records_are_those_of_the_log(friday):
    """By id, too; a beginning of an id is enough."""
    results = arena.open_results(friday)
    records = list(results.matches())
    assert results.table.matches == len(records)
    assert records[3] == results.match(records[3].id)
    assert sorted(records, key=lambda record: record.id) == list(results.matches(sort=True))
    assert len(records) == len(list(results.lines(canonical=True)))
    assert ["ann@1", "bob@1", "cyd@1"] == sorted(entrant.id for entrant in results.entrants)
    assert results.report("csv").startswith("rank")
    assert not results.epochs


def test_rows_are_flat_and_alike(friday):
    """One for each seat, move and bot; numbers, texts and None alone."""
    results = arena.open_results(friday)
    matches, moves = results.match_rows(), results.move_rows()
    standings = results.standing_rows()
    for rows in (matches, moves, standings):
        assert 1 == len({tuple(row) for row in rows})
        values = {type(value) for row in rows for value in row.values()}
        assert values <= {int, float, str, bool, type(None)}
    assert 2 * results.table.matches == len(matches)
    assert {"ann@1", "bob@1", "cyd@1"} == {row["bot"] for row in matches}
    record = next(results.matches())
    own = [row for row in moves if row["match"] == record.id]
    assert results.move_rows(record.id) == own
    assert record.holes[0].moves == ",".join(row["move"] for row in own if row["hole"] == 1)
    steps = arena.replay_match(friday, record.id)
    assert len(own) == sum(len(hole.steps) for hole in steps.holes)


def test_a_search_finds_what_the_command_finds(friday):
    """Matches of a bot, the closest first."""
    search = arena.Search(bots=("ann@1",), sort="closest")
    found = arena.open_results(friday).search(search, limit=2)
    assert 2 == len(found.records) < found.matches
    assert all("ann@1" in record.seats for record, _ in found.records)


def test_an_event_is_rated_verified_and_audited(friday, tmp_path):
    """By one call each; a site, too."""
    assert arena.open_results(friday).table == arena.rate([friday])
    (found,) = arena.verify_results(friday, jobs=1)
    assert found.verified
    audit = arena.audit_results(friday)
    assert audit.matches == found.verdict.matches
    assert not arena.rate([friday], arena.RateOptions(until=0.0)).rows[0].deals
    for far in (3e11, -3e11, float("inf"), float("nan")):
        with pytest.raises(arena.UserError, match="is no time before the year 10000"):
            arena.rate([friday], arena.RateOptions(since=far))
    seen = []
    site = tmp_path / "site"
    (outcome,) = arena.publish(
        [friday], site, arena.PublishOptions(jobs=1), progress=lambda *at: seen.append(at)
    )
    assert outcome.matches == audit.matches
    assert (site / "index.html").exists()
    assert seen


def test_what_is_wrong_is_told_in_the_words_of_the_command(tmp_path):
    """As exceptions."""
    with pytest.raises(arena.UserError, match="there is no such folder"):
        arena.open_results(tmp_path / "nowhere")
    with pytest.raises(arena.UserError, match="no arena is playing there|no such folder"):
        arena.stop(tmp_path / "nowhere")
    assert not arena.is_results_folder(tmp_path)
