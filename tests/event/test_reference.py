"""The published results are what their log says, and the README shows them."""

import json
from pathlib import Path

import pytest

from arena.event.results import count_folder, table_of
from arena.model import Event
from arena.registry import render, table_files
from arena.store import read_event, read_records
from arena.verify.whole import verify

REPOSITORY = Path(__file__).parents[2]
RESULTS = REPOSITORY / "results"
GAMES = ("play-nine", "four-card-golf")


@pytest.mark.parametrize("game", GAMES)
def test_the_tables_derive_from_the_log(game):
    """Event and log are enough to make every published table again, byte for byte."""
    folder = RESULTS / game
    derived = table_of(folder)
    for name, report in table_files().items():
        assert report.file_text(derived) == (folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.long("the reference event")
def test_the_results_can_be_believed(game):
    """Commitment, deals, moves, schedule and tables follow from one another."""
    verdict = verify(RESULTS / game, jobs=2)
    assert verdict.difference is None
    assert verdict.proven
    assert set(table_files()) == set(verdict.tables)


@pytest.mark.parametrize("game", GAMES)
def test_the_event_is_whole_and_nothing_private_is_published(game):
    """Every planned match counts, every digest is right, no path or secret file lies about."""
    event, counting = count_folder(RESULTS / game)
    assert event.finished
    assert 0 == counting.counted().missing
    assert all(record.computed_digest() == record.digest for record in read_records(RESULTS / game))
    assert not any(record.faults for record in read_records(RESULTS / game))
    names = {path.name for path in (RESULTS / game).iterdir()}
    assert {"private.json", "stderr"}.isdisjoint(names)
    assert "/" not in json.dumps([entrant.name for entrant in event.entrants])


def test_the_bots_in_the_reference_are_the_bots_in_the_folder(tmp_path):
    """The published figures are of the programs that lie beside them."""
    from arena.bots import load

    bots = sorted(manifest.parent for manifest in REPOSITORY.glob("example_bots/*/bot.toml"))
    roster = load(bots, cache=tmp_path)
    now = {(c.entrant.id, c.entrant.hash) for c in roster.candidates}
    event: Event = read_event(RESULTS / "play-nine")
    published = {(entrant.id, entrant.hash) for entrant in event.entrants}
    assert now <= published
    assert published == {(e.id, e.hash) for e in read_event(RESULTS / "four-card-golf").entrants}


def test_the_readme_shows_the_reference_table():
    """The table in the README is what is made of the published log."""
    shown = render(table_of(RESULTS / "play-nine"), "md").split("\n\n")[0]
    assert shown in (REPOSITORY / "README.md").read_text(encoding="utf-8")
