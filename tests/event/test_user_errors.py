"""The user's mistakes: one clear line each, exit 2 or 3, nothing half done."""

import json
import re
from pathlib import Path

import pytest

from arena.bots import count_bots

pytestmark = pytest.mark.process


def test_no_bots_named(arena):
    """The way to name them is shown."""
    assert "arena run bots/*" in arena("run", code=2).stderr


def test_everything_wrong_is_told_together(arena, bot, tmp_path):
    """A missing path, a typo in a manifest and a missing interpreter in one go."""
    good = bot("good")
    typo = bot("typo")
    (typo / "bot.toml").write_text('name = "typo"\nrnu = ["python3", "bot.py"]\n')
    lost = bot("lost", run=["no-such-language", "bot.x"])
    done = arena("run", good, typo, lost, "missing", code=2)
    assert "Traceback" not in done.stderr
    for words in ("rnu", "no-such-language", "missing", "--skip-broken"):
        assert words in done.stderr


def test_skip_broken_goes_on_and_lists_them_as_not_run(arena, bot, tmp_path):
    """The event is played, the table names who was left out and why."""
    bots = [bot("ann"), bot("bob"), bot("bad", "no-start")]
    done = arena("run", *bots, "missing", "--deals", "1", "--skip-broken", "--out", "out")
    assert "bad@1" in done.stdout
    assert "missing" in done.stdout
    event = json.loads((tmp_path / "out" / "event.json").read_text())
    assert 2 == len(event["entrants"])
    assert 2 == len(event["not_run"])
    reasons = {out["name"]: out["reason"] for out in event["not_run"]}
    assert reasons["bad@1"].endswith(" (exit 3)")
    assert f"bad@1: {reasons['bad@1']}" in done.stderr


def test_bots_that_can_t_start_are_reported_before_the_first_match(arena, bot, tmp_path):
    """Exit 3 with their stderr, each with its own reason; no results folder."""
    reasons = {
        "no-start": "cannot find my brain",
        "never-ready": "not ready within 2000 ms",
        "banner": "it writes something else before `ready`",
        "unflushed": "output is not flushed",
    }
    bots = [bot("ann"), bot("bob"), *(bot(how, how) for how in reasons)]
    done = arena("run", *bots, "--start-time", "2s", "--out", "out", code=3)
    _, *parts = re.split(r"^arena: (\S+)@1: can't start: ", done.stderr, flags=re.MULTILINE)
    told = dict(zip(parts[::2], parts[1::2], strict=True))
    assert reasons.keys() == told.keys()
    for how, words in reasons.items():
        assert words in told[how]
        assert f"what to do: arena check {tmp_path / 'bots' / how}\n" in told[how]
    assert "ann@1" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--seats", "7"], "2 to 6"),
        (["--game", "golf"], "play-nine"),
        (["--move-time", "fast"], "500ms"),
        (["--move-time", "500"], "say the unit"),
        (["--move-time", "2m"], "--match-time"),
        (["--seats", "3"], "at least 3"),
        (["--tables", "5"], "--tables 5"),
        (["--event", "nowhere.toml"], "nowhere.toml"),
        (["--sandbox", "firejail"], "bwrap"),
        (["--close", "1"], "--until-resolved"),
        (["--until-resolved", "--close", "nan"], "'nan' is not a number"),
        (["--name", ""], "--name: expected one printable line of 1 to 200 characters"),
        (["--gauntlet", "amn"], "none of the bots is called so; there are ann"),
    ],
)
def test_a_wrong_flag_is_one_line_that_says_what_is_right(arena, bot, flags, words):
    """Exit 2 and a way out."""
    done = arena("run", bot("ann"), bot("bob"), *flags, code=2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('bots = ["bots/*"]\ndeels = 3\n', "event.toml:2: there is no setting 'deels'"),
        ("deals = 'many'\n", "event.toml:1: deals"),
        ("deals = '3'\n", "event.toml:1: deals"),
        ("move-time = 500\n", "event.toml:1: move-time"),
        ("\ufeffseats = 9\n", "event.toml:1: seats"),
        ("deals = \n", "line 1"),
        ("bots = 3\n", "event.toml:1: bots"),
        ("playoff = 1\n", "true or false"),
    ],
)
def test_an_event_file_s_mistakes_are_named_by_line(arena, bot, tmp_path, text, words):
    """File, line, setting, and what was meant."""
    bot("ann")
    (tmp_path / "event.toml").write_text(text)
    assert words in arena("run", "--event", "event.toml", code=2).stderr.replace("\n", " ")


def test_a_race_s_dry_run_says_that_it_is_the_beginning(arena, bot):
    """How long it takes depends on results; how long at most, on its budget."""
    ask = ["--until-resolved", "--deals", "1", "--budget", "60", "--no-luck", "--dry-run"]
    done = arena("run", bot("ann"), bot("bob"), *ask)
    assert "20 matches to begin with; what follows depends on results, 60 matches at most" in (
        done.stdout
    )
    assert "rates on results and needs many more matches" in done.stderr


def test_results_are_never_overwritten(arena, bot):
    """A folder that holds an event, or anything else, is left alone."""
    bots = [bot("ann"), bot("bob")]
    arena("run", *bots, "--deals", "1", "--out", "out")
    assert "choose another folder" in arena("run", *bots, "--out", "out", code=2).stderr
    assert "is finished" in arena("run", "out", code=2).stderr
    assert "finished" in arena("resume", "out", code=2).stderr
    assert "arena resume out --repair" in arena("resume", "out", code=2).stderr


@pytest.mark.parametrize("words", [["run"], ["prepare"], ["compare"]], ids=str)
def test_where_results_can_t_go_is_said_before_bots_are_looked_at(refused, tmp_path, words):
    """What building and starting them takes would be lost."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    said = refused(*words, "not", "there", "--out", "full")
    assert said == "arena: full is not empty; choose another folder with --out\n"


def test_a_refused_event_leaves_no_folder(refused, tmp_path):
    """Neither the default one nor one that was named."""
    for out in ([], ["--out", "a/b"]):
        assert "nothere" in refused("run", "nothere", *out)
    assert not (tmp_path / "arena-results").exists()
    assert not (tmp_path / "a").exists()


def test_commands_on_a_folder_without_an_event(arena, tmp_path):
    """table, log, resume and stop say what is missing."""
    for command in ("table", "log", "resume", "stop"):
        assert "not a results folder" in arena(command, tmp_path, code=2).stderr


@pytest.mark.parametrize("value", ["abc", "", "0x" + "0" * 62, "5f2c…", "0" * 65])
def test_what_is_no_commitment_is_wrong_input(refused, value):
    """Before anything is read: a mistyped one is no difference."""
    said = str(refused("verify", "nowhere", "--commitment", value))
    assert said.startswith("arena: --commitment: ")
    assert said.endswith(" is none: it has 64 hex digits\n")
    assert "no such folder" in refused("verify", "nowhere", "--commitment", "0F" * 32)


def test_one_name_and_version_with_two_contents_is_an_error(arena, bot, tmp_path):
    """name@version is an identity."""
    one, two = bot("one", name="same"), bot("two", "crash", name="same")
    assert "same@1" in arena("run", one, two, code=2).stderr


def test_a_budget_that_can_not_do_is_refused_before_bots_are_read(bot, refused, environment):
    """By the names in their manifests; the cache stays as it is. Where bots may be left out, it can
    do for those that are left.
    """
    bots = [bot(f"early-{n}", name=f"early-{n}") for n in range(5)]
    cache = Path(environment["XDG_CACHE_HOME"])
    before = sorted(cache.rglob("*"))
    ask = ("--until-resolved", "--deals", "1", "--sandbox", "none", "--out", "out")
    told = refused("run", *bots, *ask, "--budget", "59")
    assert "--budget 59: the warm-up alone, 3 deals for each pair, has 60 matches" in told
    assert told == refused("prepare", *bots, *ask, "--budget", "59")
    assert before == sorted(cache.rglob("*"))
    optional = bot("may-be-left-out", optional=True)
    assert count_bots([*bots, bots[0], optional, cache, cache / "nowhere"]) == 5
