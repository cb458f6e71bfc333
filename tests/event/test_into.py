"""Bots that come to an event when it is over, with processes."""

import json
import shutil
from pathlib import Path

import pytest

from arena.event.rerate import rate_events
from arena.store import read_event

pytestmark = pytest.mark.process

GOLF = ["--game", "four-card-golf", "--deals", "2", "--turn-cap", "4"]


@pytest.fixture(scope="session")
def sandbox():
    """What is shown here doesn't depend on it, but for one test."""
    return "none"


@pytest.fixture
def bot(bot):
    """Make a bot whose name is part of its content: no two are the same."""

    def make(folder, /, *how, **fields):
        return bot(folder, *how, **{"name": folder, **fields})

    return make


@pytest.fixture
def friday(arena, bot, tmp_path):
    """A finished event of two bots."""
    out = tmp_path / "friday"
    arena("run", bot("ann"), bot("bob"), *GOLF, "--seed", "1", "--out", out)
    return out


def test_new_bots_play_what_is_missing(arena, bot, friday, confined):
    """From the cache, under the event's settings, with a commitment of their own; then again."""
    flags = ("--seed", "2", "--sandbox", confined)
    done = arena("run", "--into", friday, bot("cyd"), bot("dan"), *flags)
    assert done.stdout == arena("table", friday).stdout
    assert "2 events rated together" in done.stdout
    first = read_event(friday / "epoch-1")
    assert first.finished
    assert first.predictable
    assert ("gauntlet", ("cyd@1", "dan@1"), 4) == (
        first.settings.format,
        first.settings.heroes,
        first.settings.turn_cap,
    )
    assert first.commitment != read_event(friday).commitment
    arena("run", "--into", friday, bot("eve", "crash", 3))
    assert not read_event(friday / "epoch-2").predictable
    found = rate_events([friday])
    assert [4, 16, 20] == sorted(source.planned for source in found.sources)
    assert {f"{name}@1" for name in ("ann", "bob", "cyd", "dan", "eve")} == {
        row.entrant for row in found.rows
    }
    assert (
        arena("table", friday, "--canonical").stdout == arena("rate", friday, "--canonical").stdout
    )
    assert arena("verify", friday).stdout.count("verified: ") == 3
    told = arena("verify", friday / "epoch-1", "--rerun", "2", "--sandbox", confined).stdout
    assert "as recorded" in told


@pytest.mark.long("epochs")
def test_old_bots_can_be_named_when_the_cache_has_lost_them(
    arena, bot, friday, environment, tmp_path
):
    """By their content, of an older event that keeps none; one line says which are missing."""
    shutil.rmtree(friday / "bots")
    other = {**environment, "XDG_CACHE_HOME": str(tmp_path / "other-cache")}
    cyd, old = bot("cyd"), [tmp_path / "bots" / name for name in ("ann", "bob")]
    refused = arena("run", "--into", friday, cyd, code=2, env=other).stderr
    assert 1 == len(refused.splitlines())
    assert "no longer in the cache, of the event's bots: ann@1, bob@1; name them too" in refused
    refused = arena("run", "--into", friday, cyd, old[0], code=2, env=other).stderr
    assert "of the event's bots: bob@1; name them too" in refused
    done = arena("run", "--into", friday, cyd, *old, env=other)
    assert "in the event already, and no newcomers" in done.stderr
    assert ("cyd@1",) == read_event(friday / "epoch-1").settings.heroes


def test_nothing_is_wanted_of_a_cache_that_was_cleaned(arena, bot, friday, environment, tmp_path):
    """Bots are added and played again, and a match is fed, from what the results folder keeps."""
    empty = {**environment, "XDG_CACHE_HOME": str(tmp_path / "empty")}
    (tmp_path / "bots").rename(tmp_path / "gone")
    arena("run", "--into", friday, bot("cyd"), env=empty)
    assert ["place"] == [path.name for path in (friday / "epoch-1" / "bots").iterdir()]
    for folder in (friday, friday / "epoch-1"):
        shutil.rmtree(tmp_path / "empty")
        flags = ("--rerun", "2", "--sandbox", "none")
        assert "as recorded" in arena("verify", folder, *flags, env=empty).stdout
        shutil.rmtree(tmp_path / "empty")
        match = json.loads(arena("log", folder).stdout.splitlines()[0])
        words = ("feed", match["seats"][0], folder, "--match", match["id"], "--sandbox", "none")
        assert "as recorded" in arena(*words, env=empty).stdout
    known = json.loads((friday / "bots" / "sources.json").read_text())
    assert {"ann@1", "bob@1", "cyd@1"} == known.keys()
    assert "cyd@1:" in arena("table", friday, "--sources").stdout
    rows = arena("rate", friday, "--sources", "--format", "csv").stdout.splitlines()
    assert {f"{tmp_path}/bots/{name}" for name in ("ann", "bob", "cyd")} == {
        row.rpartition(",")[2] for row in rows[1:]
    }
    site = tmp_path / "site"
    arena("publish", friday, "--to", site)
    files = [path for path in site.rglob("*") if path.is_file()]
    assert not any(str(tmp_path).encode() in path.read_bytes() for path in files)


@pytest.mark.long("epochs")
def test_what_can_not_be_added_is_refused(arena, bot, friday, tmp_path):
    """In one line each, and nothing is written."""
    same = shutil.copytree(tmp_path / "bots" / "ann", tmp_path / "copy")
    other = bot("elsewhere", "fine", 6, name="ann")
    cyd = bot("cyd")
    for words, told in (
        ([friday], "name the bots to add"),
        ([friday, tmp_path / "bots" / "ann"], "(as ann@1)"),
        ([friday, same], "in the event already, with this content"),
        ([friday, other], "ann@1 is in the event already, with different content"),
        ([tmp_path, cyd], "not a results folder"),
        ([tmp_path / "nowhere", cyd], "there is no such folder"),
        ([friday, cyd, "--deals", "3"], "--deals: bots are added to an event by its own settings"),
        ([friday, cyd, "--out", "x"], "--out: bots are added"),
        ([friday, tmp_path / "nobody"], "does not exist"),
        ([friday, bot("broken", "no-start")], None),
    ):
        code = 2 if told else 3
        refused = arena("run", "--into", *words, code=code).stderr
        assert told is None or told in refused, refused
        lines = 2 if told == "does not exist" else 1  # the way out: --skip-broken
        assert told is None or lines == len(refused.splitlines()), refused
    assert not (friday / "epoch-1").exists()


@pytest.mark.long("epochs")
def test_broken_newcomers_stop_no_others(arena, bot, friday, tmp_path):
    """Whether they are no bots, can't start, or have another's id; each is named."""
    wrong = [tmp_path / "nobody", bot("mute", "no-start"), bot("elsewhere", "fine", 6, name="ann")]
    for path in wrong:
        arena("run", "--into", friday, path, "--skip-broken", code=2)
    done = arena("run", "--into", friday, bot("cyd"), *wrong, "--skip-broken")
    for line in ("nobody is left out", "mute@1: can't start", "ann@1 (", "elsewhere) is left out"):
        assert line in done.stderr
    epoch = read_event(friday / "epoch-1")
    assert ("cyd@1",) == epoch.settings.heroes
    assert ["ann@1", "bob@1", "cyd@1"] == [entrant.id for entrant in epoch.entrants]
    assert {"ann@1", "mute@1", "nobody"} == {out.name for out in epoch.not_run}


def test_a_former_version_is_retired(arena, bot, friday):
    """It is nobody's opponent in that epoch and the next, which doesn't ask; its results count."""
    arena("run", "--retire", friday, code=2)
    newer = bot("ann-2", name="ann", version="2")
    done = arena("run", "--into", friday, newer, "--retire")
    assert "retired, and no opponents any more: ann@1" in done.stderr
    arena("run", "--into", friday, bot("cyd"))
    for number, names in ((1, ["ann@2", "bob@1"]), (2, ["ann@2", "bob@1", "cyd@1"])):
        epoch = read_event(friday / f"epoch-{number}")
        assert ("ann@1",) == epoch.settings.retired
        assert names == [entrant.id for entrant in epoch.entrants]
        kept_out = "kept out: ann@1: is a former version of a bot that came later\n"
        assert kept_out in (friday / f"epoch-{number}" / "table.txt").read_text()
    assert arena("verify", friday).stdout.count("verified: ") == 3
    assert {"ann@1": 4, "ann@2": 8} == {
        row.entrant: row.matches for row in rate_events([friday]).rows if row.entrant[:3] == "ann"
    }


def test_who_has_started_here_is_not_tried_again(arena, bot, friday, environment):
    """Only newcomers are; an entry of the cache for each bot, command and greeting."""
    starts = Path(environment["XDG_CACHE_HOME"]) / "nine-arena" / "starts"
    before = {path: path.stat().st_mtime_ns for path in starts.iterdir()}
    arena("run", "--into", friday, bot("never-seen"))
    after = {path: path.stat().st_mtime_ns for path in starts.iterdir()}
    assert before.items() < after.items()
    assert len(before) + 1 == len(after)


@pytest.mark.long("epochs")
def test_an_epoch_and_an_unfinished_event_take_nobody(arena, bot, friday, tmp_path):
    """An epoch says where to add; a prepared event that it is to be run first."""
    arena("run", "--into", friday, bot("cyd"))
    refused = arena("run", "--into", friday / "epoch-1", bot("dan"), code=2).stderr
    assert f"is an epoch of the event in {friday}; add to that" in refused
    arena(
        "prepare", tmp_path / "bots" / "ann", tmp_path / "bots" / "bob", "--out", tmp_path / "new"
    )
    refused = arena("run", "--into", tmp_path / "new", tmp_path / "bots" / "cyd", code=2).stderr
    assert "the event is not finished; first: arena run" in refused


@pytest.mark.long("epochs")
def test_what_would_be_played_is_told(arena, bot, friday):
    """--dry-run writes nothing; --json tells the epoch as any event."""
    cyd = bot("cyd")
    arena("run", "--into", friday, cyd, "--dry-run")
    assert not (friday / "epoch-1").exists()
    out = arena("run", "--into", friday, cyd, "--json").stdout
    events = [json.loads(line) for line in out.splitlines()]
    assert 8 == events[0]["planned"]
    assert str(friday / "epoch-1") == events[0]["folder"]


@pytest.mark.long("epochs")
def test_who_was_withdrawn_meets_nobody_who_comes_later(arena, bot, tmp_path):
    """It isn't started again, and no newcomer wins by its forfeits."""
    out = tmp_path / "friday"
    bots = [bot("ann"), bot("bad", "crash", 1), bot("bob")]
    arena("run", *bots, *GOLF[:2], "--deals", "4", "--turn-cap", "4", "--seed", "1", "--out", out)
    done = arena("run", "--into", out, bot("cyd"), "--seed", "2")
    assert "withdrawn from the event, and no opponents any more: bad@1" in done.stderr
    epoch = read_event(out / "epoch-1")
    assert ("bad@1",) == epoch.settings.withdrawn
    assert ["ann@1", "bob@1", "cyd@1"] == [entrant.id for entrant in epoch.entrants]
    footer = (out / "epoch-1" / "table.txt").read_text()
    assert "kept out: bad@1: was withdrawn before this epoch\n" in footer
    rows = {row.entrant: row for row in rate_events([out]).rows}
    assert (16, "annulled") == (rows["cyd@1"].matches, rows["bad@1"].note)
    assert arena("verify", out).stdout.count("verified: ") == 2
