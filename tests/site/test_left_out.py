"""Bots withdrawn or not run: a row, a reason, faults with their lines, matches; no number."""

import json
import re

import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.event.results import count_folder, table_of
from arena.live.event_state import EventState
from arena.live.pages import slow_fragments
from arena.model import NotRun, Settings
from arena.ratings.standings import table
from arena.site.pages import shared
from arena.site.pages.frame import Site
from arena.site.segments import unscript
from arena.site.state import Placed, Published
from arena.site.view import bot_slug
from arena.store import read_records
from arena.verify.whole import verify
from tests.live.test_showing import pace
from tests.site.conftest import index_of, slug_of
from tests.verify.conftest import make, restate


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Three bots of which one fails wherever it plays, and a fourth that could not be run."""
    folder = make(
        tmp_path_factory.mktemp("failing") / "event",
        Settings(game="play-nine", deals=6, series=3, turn_cap=6),
        ("ann", "bob", "cyd"),
        faults={"cyd@1": (7, "illegal")},
        last=6,
    )
    restate(folder, not_run=(NotRun(name="/home/x/dan", reason="no cargo on this machine"),))
    return folder


@pytest.fixture(scope="module")
def its_site(failing, tmp_path_factory, published):
    """It, published."""
    path = tmp_path_factory.mktemp("left-out") / "site"
    published(failing, "--to", path, "--jobs", 1)
    return path


def failed_in(folder):
    """The matches in which the bot failed."""
    return [record.id for record in read_records(folder) if record.faults]


def test_the_page_of_an_annulled_bot_says_why_and_shows_its_faults(its_site, failing):
    """The reason, each fault with its line and a way to its match; no figure that is none."""
    text = (its_site / "e" / slug_of(its_site) / "b" / f"{bot_slug('cyd@1')}.html").read_text()
    assert "withdrawn after 3 faulted matches in a row" in text
    faulted = failed_in(failing)
    assert len(faulted) == 3
    for match in faulted:
        assert f"replay.html#m={match}" in text
    assert text.count("fly 3") == 3
    told = re.findall(r'<dt><span data-t="(\w+)">', text)
    assert {"col_matches", "col_faults"} == {key for key in told if key.startswith("col_")}


def test_its_matches_are_listed_and_marked(its_site, failing):
    """They can be looked at, and don't count; the others' aren't marked."""
    folder = its_site / "e" / slug_of(its_site) / "m"
    index = unscript((folder / "index.js").read_bytes())
    marked = {}
    for bot in range(3):
        for line in unscript((folder / f"b{bot}-0.js").read_bytes()):
            marked[line[0]] = line[5:] == [1]
    assert index["names"] == ["ann@1", "bob@1", "cyd@1"]
    assert sorted(match for match, mark in marked.items() if mark) == sorted(failed_in(failing))
    assert len(marked) == len(list(read_records(failing)))


def test_nobody_has_numbers_from_matches_that_do_not_count(its_site, failing):
    """The opponent of the annulled bot has the holes of its own matches alone."""
    ann = (its_site / "e" / slug_of(its_site) / "b" / f"{bot_slug('ann@1')}.html").read_text()
    counted = [r for r in read_records(failing) if not r.faults and "ann@1" in r.seats]
    holes = sum(bool(hole.scores) for record in counted for hole in record.holes[:9])
    by_seat = re.findall(r'<td><span data-n="(\d+)">[\d,]+</span></td></tr>', ann)
    assert sum(map(int, by_seat[-11:-9])) == holes


def test_the_ranking_has_rows_for_all_and_the_index_no_number(its_site):
    """Also of who was not run, by its name alone: its path is nobody's business."""
    folder = its_site / "e" / slug_of(its_site)
    text = (folder / "index.html").read_text()
    assert text.count('data-t="mark_not_run"') == text.count('data-t="mark_annulled"') == 1
    assert "dan" in text
    assert "/home/x" not in text
    (event,) = index_of(its_site)["events"]
    gone = next(bot for bot in event["bots"] if bot["id"] == "cyd@1")
    measured = ("rank", "rank_last", "mu", "sigma", "sigma_field", "win", "strokes")
    assert {gone.get(name) for name in measured} == {None}
    career = (its_site / "bots" / f"{bot_slug('cyd')}.html").read_text()
    assert 'data-t="mark_annulled"' in career
    assert "25.00" not in career


def test_a_career_shows_no_number_of_an_older_site_that_was_none():
    """A bot that was not rated had rank 0 there, the prior's mu, and a share of 0."""
    placed = Placed(
        id="cyd@1", name="cyd", version="1", hash="", page="", rank=0, rank_last=0, mu=25.0,
        sigma=8.333, win=0.0, strokes=0.0, matches=0, note="annulled",
    )  # fmt: skip
    event = Published(
        slug="s", name="", game="play-nine", seats=2, format="round-robin", matches=1, planned=1,
        finished=True, predictable=False, commitment="", ended=0.0, replays=0, listed=0,
        bots=(placed,),
    )  # fmt: skip
    text = shared.career(Site(), "cyd", [(event, placed)], [])
    assert "25.00" not in text
    assert text.count("<td>-</td>") == 3


def test_a_live_page_says_it_too(failing):
    """While it is played: the row without a number, and the reason; no word of the bot."""
    event, counting = count_folder(failing)
    look = EventState(event).snapshot(pace(), table(event, counting.so_far()))
    parts = slow_fragments(look)
    assert 'data-t="mark_annulled"' in parts["ranking"]
    assert "3 faulted matches in a row" in parts["notes"]
    assert "fly 3" not in "".join(parts.values())


def test_the_table_on_the_screen_has_the_last_fault(failing):
    """Its line, and the command that repeats it."""
    done = CliRunner().invoke(commands, ["table", str(failing)])
    assert done.exit_code == 0
    last = table_of(failing).withdrawn[0].after
    assert "its line: fly 3" in done.stdout
    assert f"again: arena feed cyd@1 {failing} --match {last}" in done.stdout
    canonical = CliRunner().invoke(commands, ["table", "--canonical", str(failing)])
    assert "fly 3" not in canonical.stdout


def test_an_older_table_has_its_own_numbers_and_is_true(tmp_path):
    """By the first rule a bot that was not rated has the prior's numbers."""
    folder = make(
        tmp_path / "old",
        Settings(game="play-nine", deals=6, series=3, turn_cap=6),
        ("ann", "bob", "cyd"),
        faults={"cyd@1": (7, "illegal")},
        last=6,
        rule=1,
    )
    path = folder / "table.json"
    content = json.loads(path.read_text())
    gone = next(row for row in content["rows"] if row["entrant"] == "cyd@1")
    assert (0, 25.0) == (gone["rank"], gone["mu"])
    assert "reason" not in gone
    assert verify(folder, jobs=1).difference is None
    gone["mu"] += 0.001
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
    assert verify(folder, jobs=1).difference.file == "table.json"
