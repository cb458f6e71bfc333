"""`arena log --regret`, `arena replay --regret` and the pages of bots."""

import json
import re
import shutil

import msgspec
import pytest
from click.testing import CliRunner

from arena import open_results
from arena.cli import commands
from arena.regret.summary import RegretReport
from arena.site.view import bot_slug
from tests.verify.conftest import restate


@pytest.fixture(scope="module")
def nine(tmp_path_factory, play_event):
    """Three bots, two matches a pair, on a few turns a hole."""
    folder = tmp_path_factory.mktemp("event") / "nine"
    return play_event(folder, ("ann@1", "bob@1", "cyd@1"), turn_cap=4)


@pytest.fixture(scope="module")
def four(tmp_path_factory, play_event):
    """Four bots at one table of four-card golf."""
    folder = tmp_path_factory.mktemp("event") / "four"
    names = tuple(f"bot{number}@1" for number in range(4))
    return play_event(folder, names, game="four-card-golf", seats=4, turn_cap=5)


def arena(*words, code=0):
    """What a command prints."""
    done = CliRunner().invoke(commands, [*map(str, words)])
    assert done.exit_code == code, done.output
    return done.output


def test_regret_of_an_event_is_told_in_text_and_as_json(nine):
    """The same figures; each dear move with the command that shows it, which works."""
    found = json.loads(arena("log", nine, "--regret", "--json"))
    typed = msgspec.convert(found, RegretReport)
    assert typed == open_results(nine).regret()
    assert (typed.matches, typed.of) == (6, 6)
    text = arena("log", nine, "--regret")
    for each in typed.bots:
        assert f"{each.bot}: {each.regret:.2f} strokes a match, in 4 matches" in text
        dear = each.dearest[0]
        assert f"{dear.regret:7.2f}  {dear.played}, where {dear.best} was best" in text
    command = re.search(r"arena (replay .* --regret)", text)[1].split()
    shown = " ".join(arena("replay", nine, *command[2:]).split())
    dear = typed.bots[0].dearest[0]
    assert f"(regret {dear.regret:.1f}: {dear.best} was best)" in shown


def test_regret_of_some_matches_and_of_one_bot(nine):
    """The newest of all, or of those that the bot has played."""
    assert "the newest 2 of 6 matches" in arena("log", nine, "--regret", "--newest", 2)
    text = arena("log", nine, "--regret", "--newest", 2, "--bot", "ann")
    assert "the newest 2 of 4 matches" in text
    assert "ann@1: " in text
    assert "bob@1: " not in text
    whole = json.loads(arena("log", nine, "--regret", "--newest", 0, "--json"))
    assert whole["matches"] == 6


def test_an_event_in_which_nothing_was_played_has_no_regret(tmp_path, play_event):
    """A line, and no table of nothing."""
    folder = play_event(tmp_path / "none", turn_cap=5)
    log = (folder / "matches.jsonl").read_bytes()
    (folder / "matches.jsonl").write_bytes(b"")
    (folder / "matches.index").unlink(missing_ok=True)
    assert log
    assert "so there is no regret" in arena("log", folder, "--regret", code=2)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--newest", "3"], "--newest goes with --regret"),
        (["--regret", "--lean"], "go with --transcript MATCH"),
        (["--regret", "--faults"], "take one"),
        (["--json"], "--json goes with --faults or --regret"),
        (["--regret", "--bot", "nobody"], "nobody"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(nine, flags, said):
    """One line each."""
    assert said in arena("log", nine, *flags, code=2)


def test_a_replay_without_the_flag_says_nothing_of_regret(nine):
    """Neither in words nor in JSON; with it both do, and a watching seat is told its own alone."""
    match = next(open_results(nine).matches()).id
    assert "regret" not in arena("replay", nine, match, "--print")
    assert "regret" not in arena("replay", nine, match, "--json")
    steps = json.loads(arena("replay", nine, match, "--json", "--regret"))
    told = [step for hole in steps["holes"] for step in hole["steps"] if "regret" in step]
    assert told
    assert all(step["regret"] > 0 and step["best"] != step["move"] for step in told)
    mine = arena("replay", nine, match, "--hole", 1, "--as", 0, "--regret", "--print")
    other = [step for step in steps["holes"][0]["steps"] if step["seat"] == 1]
    assert any(step.get("regret", 0) >= 50 for step in other)
    names = [seat["id"] for seat in steps["seats"]]
    assert not re.search(rf"{re.escape(names[1])} [^▸]*?\(regret", mine.split(names[0])[-1])
    assert "--regret" in arena("replay", nine, "--regret", code=2)


def test_a_bots_page_says_where_it_lost_strokes(nine, four, tmp_path):
    """Phases, mistakes and dear moves; each with a link that opens at the step."""
    arena("publish", nine, four, "--to", tmp_path / "site", "--regret", 3)
    for file in sorted((tmp_path / "site" / "e").glob("*/regret.json")):
        found = msgspec.json.decode(file.read_bytes(), type=RegretReport)
        assert found.matches == min(3, found.of)
        for each in found.bots:
            page = (file.parent / "b" / f"{bot_slug(each.bot)}.html").read_text()
            assert "Where it lost strokes" in page
            for dear in each.dearest:
                link = f"../replay.html#m={dear.match}&amp;h={dear.hole}&amp;s={dear.move}"
                assert link in page


def test_a_site_without_regret_has_none_and_an_alias_is_not_lifted(nine, tmp_path):
    """0 asks for none; where deals could be guessed, cards and regrets are left out alike."""
    arena("publish", nine, "--to", tmp_path / "none", "--regret", 0)
    assert not list((tmp_path / "none").rglob("regret.json"))
    assert not any("Where it lost" in p.read_text() for p in (tmp_path / "none").rglob("*.html"))
    key = tmp_path / "key"
    hide = ("--anonymous", "--alias-key", key, "--to")
    arena("publish", nine, *hide, tmp_path / "guessed")
    assert not list((tmp_path / "guessed").rglob("regret.json"))
    shutil.copytree(nine, tmp_path / "nine")
    restate(tmp_path / "nine", predictable=False)
    arena("publish", tmp_path / "nine", *hide, tmp_path / "hidden")
    (file,) = (tmp_path / "hidden").rglob("regret.json")
    index = json.loads((tmp_path / "hidden" / "arena-site.json").read_bytes())
    found = msgspec.json.decode(file.read_bytes(), type=RegretReport)
    assert {each.bot for each in found.bots} == {bot["id"] for bot in index["events"][0]["bots"]}
    own = {record.id for record in open_results(nine).matches()}
    assert not own & {dear.match for each in found.bots for dear in each.dearest}
