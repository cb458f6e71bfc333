"""Logs rated again without playing: alone, together, in part; and what is refused."""

import itertools
import json

import msgspec
import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.deals import secret_from_seed
from arena.event.rerate import RateOptions, rate_events
from arena.event.results import table_of
from arena.model import RaceSettings, Settings, UserError
from arena.registry import REPORTS, render
from arena.store import read_event, read_records

from .conftest import field, forge, lines, make, restate, rewrite

GOLF = Settings(game="four-card-golf", deals=2, series=2, turn_cap=2, evaluator="tests")


def event(folder, names=("ann", "bob", "cyd"), settings=GOLF, **options):
    """An event with a secret of its own."""
    return make(folder, settings, names, secret=secret_from_seed(folder.name), **options)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two events with a bot in common with a third; read only."""
    root = tmp_path_factory.mktemp("rerating")
    faults = {"cyd@1": (3, "crash")}
    return [
        event(root / "one", faults=faults, cut=["-s1"]),
        event(root / "two", ("bob", "cyd", "dan")),
    ]


def rows(table):
    """Rated deals and matches of each bot."""
    return {row.entrant: (row.deals, row.matches) for row in table.rows}


def dated(folder, when):
    """Have the matches of a log end when `when` says by their records."""
    for number, record in enumerate(list(read_records(folder)), 1):
        forge(folder, number, lambda old, r=record: msgspec.structs.replace(old, ended=when(r)))


# ----------------------------------------------------------------------------- alone, together


@pytest.mark.parametrize("kind", REPORTS)
def test_an_event_alone_has_its_own_table(two, kind):
    """Finished or not, with faults and a series that was played again: byte for byte."""
    assert render(table_of(two[0]), kind) == render(rate_events([two[0]]), kind)


def test_an_unfinished_event_is_rated_as_far_as_it_goes(tmp_path, two):
    """Alone as by `arena table`; with others it is told which of them it is."""
    half = event(tmp_path / "half", stop_after=7)
    assert table_of(half) == rate_events([half])
    found = rate_events([half, two[0]])
    assert not found.event.finished
    assert 1 == render(found, "text").count("THE EVENT IS NOT FINISHED")
    assert 12 < found.matches < 24 == found.planned


def test_several_events_are_rated_together(two):
    """Each bot with the deals of both; each event with its commitment and secret."""
    found = rate_events(two)
    assert {"ann@1": (4, 8), "bob@1": (8, 16), "cyd@1": (8, 16), "dan@1": (4, 8)} == rows(found)
    text = render(found, "md")
    for folder in two:
        assert read_event(folder).commitment in text
        assert read_event(folder).secret in text
    content = json.loads(render(found, "json", canonical=True))
    assert [12, 12] == [source["matches"] for source in content["sources"]]
    assert all("machine" not in source["event"] for source in content["sources"])


def test_the_order_of_folders_changes_nothing(tmp_path, two):
    """Nor naming one twice; in every format."""
    folders = [*two, event(tmp_path / "three", ("ann", "dan"))]
    expected = [render(rate_events(folders), kind) for kind in REPORTS]
    for order in itertools.permutations(folders):
        assert expected == [render(rate_events([*order, order[0]]), kind) for kind in REPORTS]


def test_a_bot_under_two_names_is_one(tmp_path, two):
    """By its content, and that is said."""
    (ann,) = field("ann")
    renamed = msgspec.structs.replace(ann, id="zed@2", name="zed", version="2")
    found = rate_events([two[0], event(tmp_path / "more", (renamed, "bob"))])
    assert "zed@2" not in rows(found)
    assert (6, 12) == rows(found)["ann@1"]
    assert "same bot: zed@2: the same content as ann@1" in render(found, "text")


def test_another_bot_of_the_same_name_is_refused(tmp_path, two):
    """By its id, with both folders."""
    (ann,) = field("ann")
    other = msgspec.structs.replace(ann, hash="f" * 64)
    folder = event(tmp_path / "more", (other, "bob"))
    with pytest.raises(UserError, match="ann@1 is one bot in .* and another in"):
        rate_events([two[0], folder])


def test_other_games_and_seats_are_refused(tmp_path, two):
    """With the reason, whatever the order."""
    nine = event(tmp_path / "nine", settings=Settings(game="play-nine", deals=1, turn_cap=2))
    three = event(tmp_path / "three", settings=msgspec.structs.replace(GOLF, seats=3))
    for folder, reason in ((nine, "game"), (three, "seats")):
        for order in ([two[0], folder], [folder, two[0]]):
            with pytest.raises(UserError, match=f"can't be rated together: their {reason}"):
                rate_events(order)


def test_a_shard_is_no_event(tmp_path):
    """What counts is decided at the merge."""
    folder = event(tmp_path / "shard", shard="1/2")
    with pytest.raises(UserError, match="shard 1/2 of an event.*arena merge"):
        rate_events([folder])


def test_a_copy_of_an_event_is_refused(tmp_path, two):
    """It would count double."""
    copy = make(tmp_path / "copy", GOLF, ("ann", "bob", "cyd"), secret=secret_from_seed("one"))
    with pytest.raises(UserError, match="are the same event"):
        rate_events([two[0], copy])


# ----------------------------------------------------------------------------------- in part


def test_a_part_of_the_bots(two):
    """As if the others had not been there; the table says who was left out."""
    found = rate_events(two, RateOptions(only=("bob", "cyd@1", "dan"), without=("dan",)))
    assert {"bob@1": (4, 8), "cyd@1": (4, 8)} == rows(found)
    assert ("without ann@1, dan@1",) == found.selected
    assert "a part of one event" in render(
        rate_events(two[:1], RateOptions(without=("ann",))), "text"
    )


def test_former_versions_count_without_a_row(tmp_path):
    """Ranks and duels are those of the latest; results are those against all."""
    old, new, other = field("ann", "ann", "bob")
    new = msgspec.structs.replace(new, id="ann@2", version="2", hash="2" * 64)
    folder = event(tmp_path / "event", (old, new, other))
    whole = {row.entrant: row for row in rate_events([folder]).rows}
    found = rate_events([folder], RateOptions(latest=True))
    assert {"ann@2": (4, 8), "bob@1": (4, 8)} == rows(found)
    assert ["ann@2", "bob@1"] == [entrant.id for entrant in found.event.entrants]
    assert {("ann@2", "bob@1"), ("bob@1", "ann@2")} == {(d.row, d.column) for d in found.duels}
    assert {1, 2} == {rank for row in found.rows for rank in (row.rank, row.rank_last)}
    for row in found.rows:
        same = ("mu", "sigma", "win", "delta", "wins", "losses")
        assert [getattr(row, name) for name in same] == [
            getattr(whole[row.entrant], name) for name in same
        ]
    told = "the latest version of each bot; 1 former version counts, without a row"
    assert (told,) == found.selected
    assert rate_events([folder]) == rate_events([folder], RateOptions(only=("*",)))


def test_rated_on_something_else(two):
    """Said in the table; the same thing as the event's own changes nothing."""
    found = rate_events(two[:1], RateOptions(rate_on="adjusted"))
    assert "adjusted" == found.event.settings.rate_on
    assert "rated on adjusted, which was not the event's own choice" in found.selected
    assert table_of(two[0]) == rate_events(two[:1], RateOptions(rate_on="results"))


def test_a_range_of_time(tmp_path):
    """A rated deal with one match outside of it is left out whole."""
    folder = event(tmp_path / "event")
    dated(folder, lambda record: 100.0 + 10 * record.deal + record.rotation)
    whole = dict.fromkeys(("ann@1", "bob@1", "cyd@1"), (4, 8))
    half = dict.fromkeys(whole, (2, 4))
    none = dict.fromkeys(whole, (0, 0))
    for since, until, expected, parted in (
        (100, 112, whole, 0),
        (101, 112, half, 3),
        (None, 111, half, 3),
        (100, 101, none, 6),
        (112, None, none, 6),
    ):
        found = rate_events([folder], RateOptions(since=since, until=until))
        assert expected == rows(found)
        assert f"{parted} rated events with a match that did not" in found.selected[0]


def test_a_void_match_has_no_time(tmp_path):
    """So a range leaves its rated deal out; withdrawals are those of the whole event."""
    faults = {"bob@1": (1, "crash")}
    settings = Settings(game="play-nine", deals=3, series=3, turn_cap=2)
    folder = event(tmp_path / "event", ("ann", "bob"), settings, faults=faults, last=9)
    dated(folder, lambda record: 100.0)
    whole = rate_events([folder])
    assert {"ann@1": (3, 3), "bob@1": (3, 3)} == rows(whole)
    found = rate_events([folder], RateOptions(since=0.0))
    assert {"ann@1": (0, 0), "bob@1": (0, 0)} == rows(found)
    assert ["bob@1"] == [out.entrant for out in whole.withdrawn]
    assert whole.withdrawn == found.withdrawn


# -------------------------------------------------------------------------------- damaged logs


def damaged(folder, number):
    """Flip a bit in a line of a log."""
    new = lines(folder)
    new[number - 1] = new[number - 1].replace(b'"', b"'", 1)
    rewrite(folder, new)
    return sum(map(len, new[: number - 1]))


def test_a_damaged_line_is_named(tmp_path):
    """With its byte, how much is whole, and both ways on; or the whole ones are rated."""
    folder = event(tmp_path / "event", ("ann", "bob"))
    byte = damaged(folder, 2)
    with pytest.raises(UserError) as refused:
        rate_events([folder])
    told = str(refused.value)
    assert f"line 2 (byte {byte}) is damaged" in told
    assert "3 of 4 lines are whole" in told
    assert "arena resume --repair" in told
    assert told.endswith("to rate what is whole: --skip-damaged")
    found = rate_events([folder], RateOptions(skip_damaged=True))
    assert {"ann@1": (0, 2), "bob@1": (0, 2)} == rows(found)
    assert "1 DAMAGED LINE OF ITS LOG PASSED OVER" in render(found, "text")


def test_what_a_race_has_decided_on_needs_all_lines(tmp_path):
    """Its later matches can't be placed, and that is said."""
    settings = msgspec.structs.replace(GOLF, format="racing", racing=RaceSettings(budget=40))
    folder = event(tmp_path / "race", settings=settings)
    assert table_of(folder) == rate_events([folder])
    damaged(folder, 1)
    with pytest.raises(UserError, match="racing decides by results .*arena resume --repair"):
        rate_events([folder], RateOptions(skip_damaged=True))


def test_missing_lines_are_told(tmp_path):
    """As by `arena table`; and half a line at the end is nobody's fault."""
    folder = event(tmp_path / "event", ("ann", "bob"))
    rewrite(folder, lines(folder)[:-1])
    with pytest.raises(UserError, match="2 of 4 matches are missing.* --skip-damaged"):
        rate_events([folder])
    found = rate_events([folder], RateOptions(skip_damaged=True))
    assert (2, 4) == (found.matches, found.planned)
    restate(folder, finished=False)
    rewrite(folder, [*lines(folder), b'{"half'])
    assert rate_events([folder]) == rate_events([folder], RateOptions(skip_damaged=True))


# ------------------------------------------------------------------------------- the command


RANGE = (
    "matches that ended from 1970-01-01 00:00:00 UTC to before 2030-01-01 10:00:00 UTC; "
    "0 rated events with a match that did not are left out whole"
)


def arena(*words):
    """Run a command of the arena's in this process."""
    return CliRunner().invoke(commands, [str(word) for word in words])


def test_the_command_prints_what_is_asked_for(two):
    """All flags reach their place; one event's table is that of `arena table`."""
    assert arena("table", two[0]).output == arena("rate", two[0]).output
    flags = ["--rate-on", "adjusted", "--without", "ann", "--since", "1970-01-01"]
    done = arena("rate", *two, *flags, "--until", "2030-01-01T12:00+02:00", "--format", "json")
    assert 0 == done.exit_code
    content = json.loads(done.output)
    assert [
        "rated on adjusted, which was not the event's own choice",
        "without ann@1",
        RANGE,
    ] == content["selected"]
    assert "ms/decision" not in arena("rate", *two, "--canonical", "--format", "md").output


def test_a_day_lasts_to_its_end(two):
    """--since has its beginning, --until its end; what is no date is said to be none."""
    done = arena(
        "rate", two[0], "--since", "2026-01-02", "--until", "2026-01-02", "--format", "json"
    )
    assert "from 2026-01-02 00:00:00 UTC to before 2026-01-03 00:00:00 UTC" in done.stdout
    assert "note: no rated event lies within that time\n" == done.stderr
    done = arena("rate", two[0], "--since", "2026-01-02", "--until", "2026-01-01")
    assert 2 == done.exit_code
    assert "there is no time between them" in done.output
    done = arena("rate", two[0], "--since", "friday")
    assert 2 == done.exit_code
    assert "'friday' is no date" in done.output
